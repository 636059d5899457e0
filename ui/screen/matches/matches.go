// Package matches is the screen of what is stored, and why the rest is not.
package matches

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// screen lists what is stored and says why the rest is not: of one account, or of all.
//
// A store has hundreds of thousands of matches: the list reads pages as the cursor comes near its
// end, and its filter is over those that were read. What is told of the whole (stored, gave up, too
// old) comes from the engine's own counters.
type screen struct {
	lists.Page[engine.MatchRow]
	page.Answer
	account string // id; "" = all
	status  int    // index in states
	hidden  int    // permanently unfetchable ones that are left out (S0-8)
	all     bool   // they are shown
	// Once the answer to that is here, the cursor goes to a row that is there.
	turned bool // other matches were asked for than those shown

	read    []engine.MatchRow
	next    string // cursor of the page that follows
	pages   int
	sums    [len(sums)][]block.Bar // of those read
	waitFor engine.MatchesQuery    // the question that is under way
	figures []part.Cell            // see counts, by the reading that the rows are of
	total   int                    // and by the same, see matches
}

// faultCell is what is wrong with a match, in two words on a narrow screen.
// Such as "503" and "503: Service unavailable".
func faultCell(v *page.View, m *engine.MatchRow) part.Cell {
	fault := columns.FaultOf(m)
	if fault != "" && v.Size == page.S {
		return part.As(themes.Err, columns.Answer("", fault))
	}
	return part.As(themes.Err, columns.InShort(fault))
}

// states are what `s` goes through: the statuses of a match as they are stored, with their words.
var states = []struct{ status, word string }{
	{"", ""}, {"success", "stored"}, {"temporary_failure", "retrying"}, {notFetched, "not fetched"},
	{"permanently_unfetchable", "gave up"}, {"outside_retention_window", "too old"},
}

// New makes the list of an account's matches; "" means all matches.
func New(account string) page.Page {
	shown := human.Either(account == "", columns.AllMatches, columns.AccountMatches)
	p := &screen{account: account}
	p.List = lists.New(columns.Matches, shown.Drawn("err", page.ByView(faultCell)),
		func(m *engine.MatchRow) string { return m.ID })
	p.Is = lists.Declaration[engine.MatchRow]{Screen: page.ScreenMatches, Crumb: "Matches", File: "matches",
		Fill: func(v *page.View) {
			p.Put(v, made{page.MadeOf{Came: p.Came}, len(p.read), p.status}, p.ofStatus)
		}}
	return p
}

// nearEnd is how many rows before the last one the next page is asked for, and
// mostPages how many pages a list holds: what is older is found by a filter on
// the command line.
const (
	nearEnd   = 50
	mostPages = 40
)

// Want implements Page: the first page again when the database has moved, the
// next one when the cursor comes near the end. A list of several pages stays as
// it is until it is asked for again.
func (p *screen) Want(v *page.View) engine.Query {
	if p.Have {
		p.Refresh(v)
	}
	version := human.Either(p.pages > 1, p.Seq, v.Seq)
	q := engine.MatchesQuery{Page: engine.Page{Limit: page.ListMost}, Account: p.account, All: p.all}
	switch {
	case p.Due(v, version):
	case p.Have && !p.Pending && p.next != "" && p.pages < mostPages && p.Cur.At() > len(p.Shown)-nearEnd:
		q.After, p.Pending, p.Answer.At = p.next, true, v.Now
	default:
		return nil
	}
	p.waitFor = q
	return q
}

// Got implements Page. An answer to another question than the last is dropped: its rows would be
// put behind a list that they do not follow.
func (p *screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	asked, ok := q.(engine.MatchesQuery)
	if !ok || asked != p.waitFor || !p.Take(v, err) {
		return
	}
	came, _ := a.(engine.MatchesPage)
	p.next, p.hidden = came.Next, came.Hidden
	if asked.After == "" {
		p.read, p.pages = nil, 0
	}
	// A new array: the list that is shown may still hold the old one.
	p.read = append(p.read[:len(p.read):len(p.read)], came.Matches...)
	p.pages++
	p.figures, p.total = p.counts(v), p.matches(v)
	p.weigh()
	for i, sum := range sums {
		p.sums[i] = block.Tallied(p.read, func(m *engine.MatchRow) string { return sum.of(m, v.Now.Location()) })
		if sum.order != 0 {
			slices.SortStableFunc(p.sums[i], func(a, b block.Bar) int { return sum.order * strings.Compare(a.Name, b.Name) })
		}
	}
	p.List.Asked, p.turned = p.List.Asked || p.turned, false
}

// The errors have their room before most other columns, or after all of them while
// there are none.
const firstColumn, lastColumn = 2, 11

// weigh makes room for the errors of matches where there are any.
// An empty column of errors would take the place of one that tells something.
// The errors are the last column of either list.
func (p *screen) weigh() {
	priority := lastColumn
	if slices.ContainsFunc(p.read, func(m engine.MatchRow) bool { return columns.FaultOf(&m) != "" }) {
		priority = firstColumn
	}
	p.Fields[len(p.Fields)-1].Head.Priority = priority
}

// The room that an error has at least: "503: Service unavailable" is whole where there is
// room for more than the match and its state.
const leastError, wholeError = 14, 24

// roomForErrors gives it to them.
func (p *screen) roomForErrors(v *page.View) {
	f := &p.Fields[len(p.Fields)-1].Head
	f.Min = leastError
	if v.Size != page.S && f.Priority == firstColumn {
		f.Min = wholeError
	}
}

// made names the versions of what the list is made of.
type made struct {
	page.MadeOf
	rows, status int
}

// notFetched is the status of a match of which nothing but its id is known.
const notFetched = "unfetched"

// ofStatus keeps the matches of the chosen state; of all states those first of which there is something to tell.
// It looks through the rows that were read and does not ask: s is pressed several times in a row.
func (p *screen) ofStatus() []engine.MatchRow {
	want := states[p.status].status
	if want == "" {
		rows := slices.Clone(p.read)
		sort.SliceStable(rows, func(i, j int) bool { return rows[i].Status != notFetched && rows[j].Status == notFetched })
		return rows
	}
	var fit []engine.MatchRow
	for i := range p.read {
		if p.read[i].Status == want {
			fit = append(fit, p.read[i])
		}
	}
	return fit
}

// Cannot implements Page.
func (p *screen) Cannot(v *page.View, a page.Action) string {
	p.Refresh(v)
	switch a {
	case page.Open:
		return p.CannotOpen("match")
	case page.Retry:
		return p.Missing("match")
	case page.Cancel:
		return v.Keyed("{open} opens the job of a match: {job/cancel} cancels it there")
	case page.Pause:
		return v.Keyed(page.PauseElsewhere)
	}
	return ""
}

// Act implements Page.
func (p *screen) Act(v *page.View, a page.Action) page.Effect {
	p.Refresh(v)
	if p.List.Act(v, a) {
		return page.Effect{}
	}
	switch a {
	case page.Trigger:
		return p.trigger(v)
	case page.States:
		p.status = (p.status + 1) % len(states)
		p.List.Asked = true
		// They are hidden unless asked for, and this asks for them.
		if states[p.status].status == "permanently_unfetchable" && !p.all {
			p.show(true)
		}
	case page.Hidden:
		p.show(!p.all)
	case page.Open, page.Retry:
		if id, ok := p.ToOpen(); ok {
			return page.Effect{Open: &page.Target{Screen: page.ScreenJob, Key: "match:" + id}}
		}
	}
	return page.Effect{}
}

// show turns the matches that could not be had on or off.
// They are left out by the engine, so the list is read anew.
func (p *screen) show(all bool) {
	p.all, p.turned = all, true
	p.Forget()
}

// trigger syncs the account of the list.
// In the list of all matches there is none: the name of one is asked for.
func (p *screen) trigger(v *page.View) page.Effect {
	if row, ok := v.Account(p.account); ok {
		return page.StartSync(row)
	}
	return page.Effect{Ask: page.AskSync}
}

// Draw implements Page.
// On a wide screen the sums stand beside the list, on a middle one the selected match below it.
func (p *screen) Draw(v *page.View) []string {
	p.Refresh(v)
	p.roomForErrors(v)
	if v.Now.Sub(p.Came) < stands && len(p.figures) > 0 {
		v.Ticks = true
	} else {
		p.figures, p.total = p.counts(v), p.matches(v)
	}
	w := v.Inner(v.W)
	h := max(v.H-4, 0)
	head := part.Section{Title: p.heading(v), Tail: p.hiddenText(v), Rows: []string{page.Spaced(v, w, p.figures)},
		Height: 1}
	matches := part.Section{Title: "MATCHES",
		Note: p.Note(v, p.loaded(), p.cut(), p.orderText(v), states[p.status].word), Tail: p.foot(v)}
	if v.Size == page.L && len(p.read) > 0 {
		left := v.W - sideWidth
		return part.Stack(v.Sections(0, 0, v.W, 3, head), part.Beside(
			v.Sections(0, 3, left, v.H-3, p.Section(v, v.Inner(left), h, p.empty(v), matches)),
			v.Sections(left, 3, sideWidth, v.H-3, p.side(v, v.Inner(sideWidth))...)))
	}
	facts := 0
	if v.Size != page.S && h >= 16 {
		facts = 3
		h = block.Shorter(h-facts-2, len(p.Shown))
	}
	all := []part.Section{head, p.Section(v, w, h, p.empty(v), matches)}
	if m, ok := p.Selected(); ok && facts > 0 {
		all = append(all, part.Section{Title: m.ID, Note: v.Keyed("{open} opens its job"), Rows: p.facts(v, &m, w),
			Height: facts})
	}
	return v.Whole(all...)
}

// stands is how long the figures above the list stay those of its reading: while matches are fetched the next one comes
// before that.
const stands = 2 * page.ReloadEvery

// sideWidth is what a wide screen has beside the list.
const sideWidth = 56

// side is the selected match, and what those that were read add up to.
// Each sum has a section, with at least one row, so that they keep their places.
func (p *screen) side(v *page.View, w int) (out []part.Section) {
	selected := part.Section{Title: "SELECTED", Height: 4}
	if m, ok := p.Selected(); ok {
		selected.Title, selected.Note, selected.Rows = m.ID, v.Keyed("{open} opens its job"), p.facts(v, &m, w)
	}
	out = append(out, selected)
	for i, sum := range sums {
		rows := block.Bars(v, p.sums[i][:min(len(p.sums[i]), mostSums)], sum.token, w)
		out = append(out, part.Section{Title: sum.title, Note: "of " + page.Count(len(p.read)) + " read", Rows: rows,
			Height: max(len(rows), 1), Empty: "none"})
	}
	return out
}

// sums are what a wide screen counts the matches by.
// The sums are worked out when a page comes, and not with each frame.
var sums = [...]struct {
	title string
	token themes.Token
	of    func(m *engine.MatchRow, zone *time.Location) string // "" = it is not counted

	order int // of the words: 1 = rising, -1 = falling; 0 = of how many there are
}{
	{"BY STATE", themes.Run, func(m *engine.MatchRow, _ *time.Location) string {
		return strings.ToLower(columns.MatchWord(m.Status))
	}, 0},
	{"BY QUEUE", themes.Run, func(m *engine.MatchRow, _ *time.Location) string { return columns.Mode(m) }, 0},
	{"ERRORS", themes.Err, func(m *engine.MatchRow, _ *time.Location) string {
		if fault := columns.FaultOf(m); fault != "" {
			return columns.Answer("", fault)
		}
		return ""
	}, 0},
	{"TRIES", themes.Run, func(m *engine.MatchRow, _ *time.Location) string {
		return human.If(m.Attempts != 0, human.Counted(m.Attempts, "try", "tries"))
	}, 1},
	{"LENGTH", themes.Run, func(m *engine.MatchRow, _ *time.Location) string {
		if m.FetchedAt.IsZero() || m.Duration <= 0 {
			return ""
		}
		from := int(m.Duration/lengthStep) * int(lengthStep/time.Minute)
		return page.Count(from) + " to " + page.Count(from+int(lengthStep/time.Minute)) + " min"
	}, 1},
	{"PLAYED AT", themes.OK, func(m *engine.MatchRow, zone *time.Location) string {
		if m.Played.IsZero() {
			return ""
		}
		from := m.Played.In(zone).Hour() / hoursStep * hoursStep
		return fmt.Sprintf("%02d to %02d h", from, from+hoursStep)
	}, 1},
	{"PLAYED IN", themes.OK, func(m *engine.MatchRow, zone *time.Location) string {
		return human.If(!m.Played.IsZero(), m.Played.In(zone).Format("2006-01"))
	}, -1},
}

// lengthStep and hoursStep are by how much matches are counted together.
const (
	lengthStep = 10 * time.Minute
	hoursStep  = 6
)

// mostSums is how many rows a sum of the matches has at most.
const mostSums = 10

// facts tell of a match what its row cuts: the game, what is stored of it, and what
// went wrong. A match in a list of all has no player.
// Three rows where there is room beside each other, else four.
func (p *screen) facts(v *page.View, m *engine.MatchRow, w int) []string {
	game := []part.Cell{v.State(columns.MatchWord(m.Status))}
	if mode := columns.Mode(m); mode != "" {
		game = append(game, part.Plain(mode))
	}
	if result, token := columns.Result(m); result != "" {
		game = append(game, part.Plain(m.Champion), part.Plain(columns.Score(m)), part.As(token, result))
	}
	// A match that was never fetched has no time of play, and nothing is kept of it.
	tried, kept := []part.Cell{part.As(themes.Dim, human.Counted(m.Attempts, "try", "tries"))}, []part.Cell(nil)
	if !m.FetchedAt.IsZero() {
		tried = append(tried, part.As(themes.Dim, "played "+v.Clock(m.Played)+" for "+columns.GameLength(m.Duration)))
		kept = append(kept, part.As(themes.Dim, "stored "+v.Clock(m.FetchedAt)),
			part.As(themes.Dim, human.Bytes(int64(m.Bytes))),
			part.As(themes.Dim, human.Either(m.Timeline == "unfetched", "no timeline", "timeline "+strings.ToLower(columns.MatchWord(m.Timeline)))))
	} else if !m.LastAttemptAt.IsZero() {
		tried = append(tried, part.As(themes.Dim, "last tried "+v.Clock(m.LastAttemptAt)))
	}
	row := func(facts ...part.Cell) string {
		return v.Row(w, append([]part.Cell{part.Plain(" ")}, v.Fitting(w-2, facts...)...)...)
	}
	fault := row(part.As(themes.Err, columns.FaultOf(m)))
	if w < sideWidth {
		return []string{row(game...), row(tried...), row(kept...), fault}
	}
	return []string{row(game...), row(append(tried, kept...)...), fault}
}

// loaded says that the list is not whole, and which part of it was read. An account's matches
// come newest first, those of all accounts by their ids, platform by platform.
// "" = it is whole.
func (p *screen) loaded() string {
	if p.next == "" {
		return ""
	}
	which := human.Either(p.account == "", "the first", "the newest")
	if states[p.status].status != "" {
		return "of " + which + " " + page.Count(len(p.read))
	}
	return which + human.If(p.total > len(p.read), " of "+page.Count(p.total))
}

// matches are how many there are to list.
func (p *screen) matches(v *page.View) int {
	if p.account != "" {
		row, _ := v.Account(p.account)
		return row.Matches.Total
	}
	e := &v.Engine
	return int(e.Stored+e.Waiting) + page.Btoi(p.all)*int(e.Failed+e.TooOld)
}

// cut says that no more pages are read, although there are others; "" = they are.
func (p *screen) cut() string {
	return human.Either(p.next == "" || p.pages < mostPages, "", "no more are read here, farsight matches has all")
}

// orderText says in which order matches of all accounts come, while no column
// orders them.
func (p *screen) orderText(v *page.View) string {
	if p.account != "" || p.By > 0 {
		return ""
	}
	n := len(p.Shown)
	last := n > 0 && states[p.status].status == "" && p.Shown[n-1].Status == notFetched
	return "by id " + v.Theme.Glyphs.Down + human.If(last, ", the unfetched last")
}

// heading says whose matches they are; an account that is not known any more by its id.
// Such as "Matches of 카인#KR1".
func (p *screen) heading(v *page.View) string {
	if p.account == "" {
		return "Matches of all accounts"
	}
	if row, ok := v.Account(p.account); ok {
		return "Matches of " + row.RiotID
	}
	return "Matches of " + page.ShortID(p.account)
}

// foot says that the list is not the newest, or what is wrong with it.
// A list of several pages is not read anew by itself.
func (p *screen) foot(v *page.View) string {
	if told := p.Told(v); told != "" {
		return told
	}
	if p.pages > 1 {
		return "as of " + v.Clock(p.Came) + v.Keyed(", {reload} reads again")
	}
	return ""
}

// hiddenText says how many matches are left out, and the key that shows them.
// "" = none are left out, and none would be.
func (p *screen) hiddenText(v *page.View) string {
	switch {
	case p.hidden > 0:
		return human.Counted(p.hidden, "cannot be had and is hidden", "cannot be had and are hidden") + v.Keyed(", {hidden rows} shows ") +
			human.Either(p.hidden == 1, "it", "them")
	case p.all:
		return v.Keyed("those that cannot be had are shown, {hidden rows} hides them")
	}
	return ""
}

// counts are the account's or the engine's own figures: the list may be only a
// part of them.
// An account that is not among the first of very many has zeros here.
func (p *screen) counts(v *page.View) []part.Cell {
	if p.account == "" {
		e := v.Engine
		return []part.Cell{page.Figure(themes.OK, "stored", e.Stored), page.Figure(themes.Err, "gave up", e.Failed),
			page.Figure(themes.Off, "too old", e.TooOld)}
	}
	row, _ := v.Account(p.account)
	m := row.Matches
	return []part.Cell{
		part.As(themes.OK, page.Count(m.Stored+m.Had)+" stored"), tally(themes.Retry, m.Retrying, "retrying"),
		tally(themes.Err, m.Failed, "gave up"),
		tally(themes.Off, m.TooOld, "too old"), tally(themes.Text, m.Open-m.Retrying, "not fetched"),
		part.If(m.Cancelled > 0, tally(themes.Off, m.Cancelled, "cancelled")),
		part.If(m.Unaskable > 0, tally(themes.Off, m.Unaskable, "cannot be asked for")),
		part.If(m.Total > 0, part.As(themes.Dim, "of "+page.Count(m.Total))),
	}
}

// tally is a count with its name, dim when it is nothing.
// The account's row may be older than its jobs, so that a difference of two of its counts may be
// below 0 for a moment.
func tally(t themes.Token, n int, name string) part.Cell {
	if n <= 0 {
		t, n = themes.Dim, 0
	}
	return part.As(t, page.Count(n)+" "+name)
}

// empty says why there are no rows, and what key changes that.
// What went wrong comes first, then what is still loading, then what hides the rows.
func (p *screen) empty(v *page.View) string {
	dot := " " + v.Theme.Glyphs.Sep + " "
	switch none := p.List.Empty(v); {
	case !p.Have && p.Err != nil:
		return v.Failed("the matches")
	case p.Loading():
		return "loading matches…"
	case none != "":
		return none
	case p.status > 0 && len(p.read) > 0:
		return "none of " + page.Count(len(p.read)) + " is " + states[p.status].word + dot +
			v.Keyed("{states} shows the next state")
	}
	return v.Start("no matches yet", "{sync} starts a sync")
}

// SelectedAccount implements AccountHolder: whose matches are listed.
// "" where matches of all accounts are listed.
func (p *screen) SelectedAccount(*page.View) string { return p.account }
