package collections

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// One is one collection in depth: when its round is done, whose players are listed, what its matches came to, and what
// it waits for.
type One struct {
	page.Collections
	instead engine.CollectionRow // until it has been asked for
	dead    block.DeadJobs
}

// NewOne makes the screen of a collection.
func NewOne(name string) *One { return &One{Collections: page.Collections{Name: name}} }

// Screen implements Page.
func (p *One) Screen() page.Screen { return page.ScreenCollection }

// Crumb implements Page.
func (p *One) Crumb(*page.View) string { return p.Name }

// row is the newest row there is; false = none has come.
func (p *One) row() (*engine.CollectionRow, bool) {
	if rows := p.Rows(); len(rows) > 0 {
		return &rows[0], true
	}
	return &p.instead, p.instead.ID != ""
}

// Want implements Page.
func (p *One) Want(v *page.View) engine.Query {
	if q := p.Collections.Want(v); q != nil {
		return q
	}
	return p.dead.Want(v, engine.CollectionQueue(p.Name))
}

// Got implements Page.
func (p *One) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	if p.Collections.Got(v, q, a, err) {
		return
	}
	if asked, ok := q.(engine.JobsQuery); ok && asked.Queue == engine.CollectionQueue(p.Name) {
		p.dead.TakeIn(v, a, err)
	}
}

// Cannot implements Page.
func (p *One) Cannot(v *page.View, a page.Action) string {
	r, ok := p.row()
	if _, steers := steers[a]; steers && !ok {
		return "there is no collection " + p.Name
	}
	return cannot(a, r)
}

// Act implements Page.
func (p *One) Act(v *page.View, a page.Action) page.Effect {
	r, _ := p.row()
	switch a {
	case page.Open:
		return page.Effect{Open: page.ToQueue(engine.CollectionQueue(p.Name))}
	case page.Trigger:
		return page.Effect{Ask: page.AskSync}
	}
	return steer(v, a, r)
}

// steers are what can be done to a collection.
var steers = map[page.Action]func(v *page.View, r *engine.CollectionRow) page.Effect{
	page.Pause: func(v *page.View, r *engine.CollectionRow) page.Effect {
		return page.PauseQueue(v, engine.CollectionQueue(r.Name))
	},
	page.Retry: func(_ *page.View, r *engine.CollectionRow) page.Effect {
		return page.Do(engine.Command{Op: engine.OpRetry, Select: &engine.Selection{Filter: &engine.JobFilter{
			Queue: engine.CollectionQueue(r.Name), States: []engine.State{engine.Retryable, engine.Discarded}}}})
	},
	page.Cancel: func(_ *page.View, r *engine.CollectionRow) page.Effect { return page.CancelCollection(r) },
	page.Forget: func(_ *page.View, r *engine.CollectionRow) page.Effect {
		e := page.Ask(engine.Command{Op: engine.OpForget, Collect: &engine.CollectAsk{Name: r.Name}}, r.Name)
		e.Confirm.Question, e.Confirm.Lines = "Forget the collection "+r.Name+"?", []string{
			"Its players, their places on the ladders, its jobs, and the matches that nobody else has go. It cannot be undone."}
		return e
	},
}

func steer(v *page.View, a page.Action, r *engine.CollectionRow) page.Effect {
	if does := steers[a]; does != nil {
		return does(v, r)
	}
	return page.Effect{}
}

// cannot says why an action has nothing to act on; "" = it can.
func cannot(a page.Action, r *engine.CollectionRow) string {
	return human.If(a == page.Cancel && r.Result != "", r.Name+" has ended: it is "+columns.CollectionWord(r))
}

// Draw implements Page.
func (p *One) Draw(v *page.View) []string {
	r, ok := p.row()
	if !ok {
		return v.Whole(part.Section{Title: "COLLECTION", Tail: p.Told(v),
			Rows: v.Said(v.Inner(v.W), cmp.Or(p.Absent(v, "the collection", "the collection"), "there is no such collection"))})
	}
	w := v.Inner(v.W)
	bar := 1 + page.Btoi(v.Size != page.S)
	section := func(draw func(w, h int) part.Section) func(y, h int) []string {
		return func(y, h int) []string { return v.Sections(0, y, v.W, h, draw(w, h-1)) }
	}
	all := []page.Band{
		{Least: 2 + bar, Most: 2 + bar, Draw: func(int, int) []string { return v.Padded(p.head(v, r, w, bar)) }},
		page.Band{Least: 3, Most: 3, Keep: 2, Draw: section(func(w, h int) part.Section { return matches(v, r, w, h) })}.If(r.Collected.Found > 0),
	}
	if n := len(r.Parts); n > 0 {
		blocks := []func(w, h int) part.Section{func(w, h int) part.Section { return parts(v, r, w, h) }}
		if v.Size != page.S && len(r.Last) > 0 {
			blocks = append(blocks, func(w, h int) part.Section { return players(v, r, w, h) })
			n = max(n, min(len(r.Last), 5+10*page.Btoi(v.Size == page.L)))
		}
		all = append(all, page.Band{Least: min(n, 3) + 1, Most: n + 1, Keep: 3, Draw: func(y, h int) []string { return v.Abreast(y, h, blocks) }})
	}
	if len(r.Days) > 0 {
		all = append(all, page.Band{Least: 4, Most: 4 + 2*page.Btoi(v.Size != page.S) + 8*page.Btoi(v.Size == page.L), Keep: 5, Draw: section(func(w, h int) part.Section { return days(v, r, w, h) })})
	}
	facts, title := p.facts(v, r), "WHAT IT WAITS FOR"
	if r.Result != "" {
		title = "WHAT IT CAME TO"
	}
	jobs, wide := block.JobsOf(v, r.ID), v.W
	if v.Size != page.S && len(jobs) > 0 {
		wide /= 2
	}
	rows := len(block.FactRows(v, v.Inner(wide), facts)) // a long one takes several
	least := human.Either(v.Size == page.S, min(rows, 3), rows)
	all = append(all, page.Band{Least: least + 1, Most: max(rows, min(len(jobs), 12)) + 1, Keep: 1, Draw: func(y, h int) []string {
		blocks := []func(w, h int) part.Section{
			func(w, h int) part.Section {
				return part.Section{Title: title, Height: h, Rows: block.FactRows(v, w, facts)}
			},
		}
		if v.Size != page.S && len(jobs) > 0 {
			blocks = append(blocks, func(w, h int) part.Section { return block.JobsPanel(v, jobs, w, h) })
		}
		return v.Abreast(y, h, blocks)
	}})
	if v.Size != page.S {
		all = append(all, page.Band{Least: 4, Most: v.H, Keep: 4, Draw: section(func(w, h int) part.Section { return block.LogPanel(v, w, h) })})
	}
	return v.Bands(all...)
}

// head is the collection in a row, what it asks for and when its round is done, above the bar of its players.
func (p *One) head(v *page.View, r *engine.CollectionRow, w, bar int) []string {
	done := p.DoneText(v, r)
	switch at := p.Ends(v, r); {
	case at.After(v.Now):
		done = "done " + done + ", in " + v.In(at)
	case r.Result != "":
		done = "ended " + done
	case done == part.None:
		done = columns.CollectionStage(r)
	}
	state := v.State(v.CollectionWord(r))
	l := part.NewLine(v.Theme, w).Gap(1).Put(themes.Figure, r.Name).Gap(2)
	l.Cells(v.Fitting(max(l.Room()-len(state.Text)-len(done)-5, 0), part.As(themes.Dim, columns.Ladder(r)), part.As(themes.Dim, limits(r)))...)
	rows := []string{l.Gap(2).Cells(state).Right(part.Plain(done + " ")).String()}
	for range bar {
		l := part.NewLine(v.Theme, w).Gap(1)
		if r.Players == 0 {
			rows = append(rows, l.NoBar(w-2).String())
			continue
		}
		rows = append(rows, l.Meter(w-2, float64(r.Done())/float64(r.Players), r.Result == "").String())
	}
	l = part.NewLine(v.Theme, w).Gap(1).Put(themes.Figure, page.Count(r.Done())).Put(themes.Dim, " of "+human.Counted(r.Players, "player", "players"))
	if r.Failed > 0 {
		l.Gap(2).Put(themes.Err, page.Count(r.Failed)+" not listed")
	}
	return append(rows, l.Right(part.As(themes.Dim, p.PaceText(v, r)+" ")).String())
}

// limits are how much of its ladders a collection asks for: "since 14d · 50,000 matches · every 1 d".
func limits(r *engine.CollectionRow) string {
	return human.List(
		human.If(r.Since != "", "since "+r.Since),
		human.If(r.Matches > 0, "to "+human.Counted(r.Matches, "match", "matches")),
		human.If(r.Timelines == "none", "no timelines"),
		human.If(r.Every > 0, "every "+human.Span(r.Every)),
		human.If(r.Priority > 0, fmt.Sprintf("priority %d", r.Priority)),
	)
}

// matches is what those that it has found have come to.
func matches(v *page.View, r *engine.CollectionRow, w, h int) part.Section {
	c := r.Collected
	shares := []part.Share{
		{Token: themes.Run, Name: "stored", Sign: v.Theme.State("STORED").Glyph, N: r.Fetched()},
		{Token: themes.Planned(themes.OK), Name: "were here", Short: "here", Sign: v.Theme.State("SCHEDULED").Glyph, N: c.Had},
		{Token: themes.Planned(themes.Flow(0.3)), Name: "to come", Sign: v.Theme.State("AVAILABLE").Glyph, N: c.Open()},
		{Token: themes.Err, Name: "lost", Sign: v.Theme.State("FAILED").Glyph, N: c.Lost},
		{Token: themes.Off, Name: "too old", Sign: v.Theme.State("TOO OLD").Glyph, N: c.TooOld},
	}
	return part.Section{Title: "MATCHES", Note: page.Count(c.Found) + " found", Height: h,
		Tail: "listed again and fetched once: " + page.Count(c.Again),
		Rows: []string{part.NewLine(v.Theme, w).Gap(1).Stack(w-2, shares).String(),
			part.NewLine(v.Theme, w).Gap(1).Legend(slices.DeleteFunc(shares, func(s part.Share) bool { return s.N == 0 })).String()}}
}

// days are those on which its matches were played, up to today, each as wide as there is room.
func days(v *page.View, r *engine.CollectionRow, w, h int) part.Section {
	const day = 24 * time.Hour
	at := func(d engine.DayPlayed) time.Time {
		t, _ := time.Parse(time.DateOnly, d.Day) // storage wrote it
		return t
	}
	room, today := max(w-2, 0), v.Now.UTC().Truncate(day)
	wide := page.Clamp(room/max(int(today.Sub(at(r.Days[0]))/day)+1, 1), 1, 8)
	room -= room % wide
	axis, most := part.Axis{Step: day / time.Duration(wide), Now: today.Add(day), Back: room, Width: room}, engine.DayPlayed{}
	values := make([]float64, room)
	for _, d := range r.Days {
		from := room - wide*(int(today.Sub(at(d))/day)+1)
		if from < 0 || from >= room {
			continue
		}
		for i := range wide {
			values[from+i] = float64(d.Matches)
		}
		if d.Matches > most.Matches {
			most = d
		}
	}
	c := part.NewChart(v.Theme, axis, h)
	c.Area(0, h-1, part.Series{Values: values, Top: float64(most.Matches), Token: themes.Text})
	for back := 0; back < room/wide; back += max(12/wide, 1) {
		c.Mid(h-1, room-back*wide-(wide+1)/2, themes.Dim, today.AddDate(0, 0, -back).Format("2 Jan"))
	}
	s := part.Section{Title: "PLAYED", Tail: "matches by day, UTC", Height: h}
	if most.Matches > 0 {
		s.Note = "most on " + at(most).Format("2 Jan") + ": " + page.Count(most.Matches)
	}
	for y := range h {
		s.Rows = append(s.Rows, c.Row(part.NewLine(v.Theme, w).Gap(w-1-room), y).String())
	}
	return s
}

// parts are its players by where they came from, in the order in which they are listed.
func parts(v *page.View, r *engine.CollectionRow, w, h int) part.Section {
	read, at := 0, 0
	for i, p := range r.Parts {
		read += page.Btoi(p.Read)
		if p.Page > 0 || at == 0 && p.Done > 0 && p.Done < p.Players {
			at = i
		}
	}
	s := part.Section{Title: "LADDERS", Height: h, Note: page.Count(read) + " of " + page.Count(r.Ladders) +
		" read, " + human.Counted(r.Pages, "page", "pages")}
	if r.Ladders == 0 {
		s.Title, s.Note = "PLAYERS", ""
	}
	// Of very many those around where it is are shown.
	from := page.Clamp(at-1, 0, max(len(r.Parts)-h, 0))
	name, figure, word := 0, 0, 0
	for _, p := range r.Parts {
		name, figure = max(name, len(p.Name)), max(figure, len(part.Of(int64(p.Done), int64(p.Players))))
		word = max(word, len(partText(&p)))
	}
	for _, p := range r.Parts[from:min(from+h, len(r.Parts))] {
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.Plain(p.Name), name, part.Words).Gap(2)
		bar := max(w-name-figure-word-7, 8)
		if p.Players == 0 {
			l.NoBar(bar)
		} else {
			l.Bar(themes.Run, bar, float64(p.Done)/float64(p.Players))
		}
		l.Gap(1).Field(part.As(themes.Figure, part.Of(int64(p.Done), int64(p.Players))), figure, part.Number).Gap(2)
		s.Rows = append(s.Rows, l.Put(human.Either(p.Page > 0, themes.Run, themes.Dim), partText(&p)).String())
	}
	return s
}

// players are those whose listing began last.
func players(v *page.View, r *engine.CollectionRow, w, h int) part.Section {
	s := part.Section{Title: "LAST PLAYERS", Note: "listed, new", Height: h}
	for _, p := range r.Last[:min(h, len(r.Last))] {
		name := p.Name
		if len(name) == engine.PUUIDLength {
			name = "puuid " + name[:8]
		}
		ago := part.As(themes.Dim, v.Ago(p.At)+" ")
		l := part.NewLine(v.Theme, w).Gap(1).Field(page.Pen{View: v}.Sign(strings.ToUpper(p.Status), name), page.Clamp(w-44, 12, 26), part.Words).Gap(2)
		rank := strings.TrimSpace(strings.ToLower(p.Tier) + " " + p.Division)
		switch p.Tier {
		case "":
		case "CHALLENGER", "GRANDMASTER", "MASTER":
			rank = fmt.Sprintf("%s %d", strings.ToLower(p.Tier), p.Points)
		}
		l.Field(part.As(themes.Dim, rank), 16, part.Words).Gap(1)
		l.Field(part.As(themes.Figure, page.Count(p.Listed)), 5, part.Number).Gap(1)
		l.Field(part.As(themes.Figure, page.Count(p.New)), 5, part.Number).Gap(1)
		s.Rows = append(s.Rows, l.Right(ago).String())
	}
	return s
}

// partText says how far the reading of a ladder is; "" = it is read.
func partText(p *engine.CollectionPart) string {
	switch {
	case p.Page > 0:
		return fmt.Sprintf("reads page %d", p.Page)
	case p.Ladder && !p.Read:
		return "to be read"
	case p.Ladder && p.Players == 0:
		return "nobody new"
	}
	return ""
}

// facts say what it waits for, what it has cost, and what failed.
func (p *One) facts(v *page.View, r *engine.CollectionRow) (facts []block.Fact) {
	put := func(key, value string) {
		if value != "" {
			facts = append(facts, block.Fact{Key: key, Value: value})
		}
	}
	q, _ := v.Queue(engine.CollectionQueue(r.Name))
	switch {
	case r.Result != "":
		put("round", fmt.Sprintf("%d is %s: %s", r.Round, r.Result, columns.InShort(cmp.Or(r.Error, "nothing waits"))))
	case q.Paused:
		put("waits", q.Pause())
	default:
		put("waits", cmp.Or(page.BriefWhy(v, q.Why), columns.CollectionStage(r)))
		put("round", fmt.Sprintf("%d, since %s", r.Round, v.Clock(r.Started)))
	}
	if !r.Next.IsZero() {
		put("next", "round at "+engine.When(r.Next, v.Now))
	}
	put("calls", fmt.Sprintf("%s for ladders, %s for lists, %s matches fetched", page.Count(r.Pages), page.Count(r.Calls), page.Count(r.Fetched())))
	if all := r.Collected.Found + r.Collected.Again; all > 0 {
		put("new", fmt.Sprintf("%s of the %s that were listed", human.Percent(float64(r.Collected.Found)/float64(all)), page.Count(all)))
	}
	if r.Moved > 0 {
		put("missed", fmt.Sprintf("about %s who moved while the ladders were read", page.Count(r.Moved)))
	}
	if r.Short > 0 {
		put("short", human.Counted(r.Short, "player", "players")+" of whom something is missing")
	}
	if len(p.dead.Rows) > 0 {
		put("failed", block.ClassesOf(p.dead.List()))
	}
	if r.By != "" {
		put("by", r.By+", "+v.Ago(r.Created))
	}
	return facts
}

// Copies implements Copier.
func (p *One) Copies(v *page.View) []page.Copy {
	r, ok := p.row()
	if !ok {
		return nil
	}
	return page.CopiesOf(v, []any{*r}, func(int) string { return r.Name })
}

// SelectedJob implements Jobber: the job of its round.
func (p *One) SelectedJob(*page.View) (engine.JobID, string) {
	r, _ := p.row()
	return r.Job, p.Name
}
