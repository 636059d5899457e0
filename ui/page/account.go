package page

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Account is one account in depth: the stages of its run, its last matches, and
// where the time goes.
type Account struct {
	id      string
	matches pane
	answer
	detail engine.AccountDetail
	wall   wall
}

// NewAccount makes the screen of an account.
func NewAccount(id string) *Account { return &Account{id: id} }

// Screen implements Page.
func (p *Account) Screen() Screen { return ScreenAccount }

// Crumb implements Page.
func (p *Account) Crumb(v *View) string { return p.row(v).RiotID }

// row is the newest row there is: Watch's, else the answer's.
func (p *Account) row(v *View) engine.AccountRow {
	if row, ok := v.Account(p.id); ok {
		return row
	}
	return p.detail.Row
}

// Want implements Page: the detail moves with what is stored, since a match of an account
// is no change of the account itself.
func (p *Account) Want(v *View) engine.Query {
	if !p.due(v, v.Seq) {
		return p.wall.want(v, p.id, v.Seq)
	}
	return engine.AccountQuery{ID: p.id}
}

// Got implements Page.
func (p *Account) Got(v *View, q engine.Query, a engine.Answer, err error) {
	if asked, ok := q.(engine.MatchesQuery); ok {
		p.matches.asked = p.matches.asked || p.wall.all == nil // the list grows to all matches
		p.wall.got(v, asked, a, err)
		return
	}
	if asked, ok := q.(engine.AccountQuery); ok && asked.ID == p.id && p.take(v, err) {
		p.detail, _ = a.(engine.AccountDetail)
	}
}

// source lists the last matches, newest first.
func (p *Account) source(v *View) part.Slice[engine.MatchRow] {
	items := p.wall.all // on a wide screen: the cells of the wall
	if v.Size != L || items == nil {
		items = slices.Clone(p.detail.Recent)
		slices.Reverse(items)
	}
	return part.Slice[engine.MatchRow]{Items: items, Key: func(m engine.MatchRow) string { return m.ID }, Cells: cellsOf(v, columns.RecentMatches)}
}

// Cannot implements Page.
func (p *Account) Cannot(v *View, a Action) string {
	switch a {
	case Cancel:
		return cannotCancelSync(p.row(v))
	case Open:
		return missing(&p.matches, p.source(v), "match")
	case Retry:
		if p.row(v).Status.Open() {
			return v.keyed("this sync runs: {retry} retries a job, {open} opens one")
		}
	case Pause:
		return v.keyed("{overview/pause} pauses a queue: go to the overview or to the jobs")
	}
	return ""
}

// Act implements Page.
func (p *Account) Act(v *View, a Action) Effect {
	src := p.source(v)
	if p.matches.act(src, a) {
		return Effect{}
	}
	switch a {
	case Trigger, Retry:
		return startSync(p.row(v))
	case Cancel:
		return cancelSync(v, p.row(v))
	case Track:
		return track(p.row(v))
	case Matches:
		return Effect{Open: &Target{Screen: ScreenMatches, ID: p.id}}
	case Report:
		return Effect{Open: &Target{Screen: ScreenReports, ID: p.id}}
	case Open:
		if m, ok := selected(&p.matches, src); ok {
			return Effect{Open: &Target{Screen: ScreenJob, Key: "match:" + m.ID}}
		}
	}
	return Effect{}
}

// Draw implements Page.
func (p *Account) Draw(v *View) []string {
	row := p.row(v)
	if v.Size == S {
		return p.drawS(v, row)
	}
	left := max(v.W/2, min(v.W*3/5, stagesFit))
	right := v.W - left
	stages := stageRows(v, row, p.eta(v), v.inner(left))
	history := p.history(v, v.inner(right))
	spent := p.spent(v, v.inner(right))
	top := max(len(stages), len(history)+len(spent)+1) + 2
	a := v.sections(0, 0, left, top, part.Section{Title: "SYNC", Note: p.about(v, row), Tail: p.told(v), Rows: stages})
	b := v.sections(left, 0, right, top,
		part.Section{Title: "LAST " + count(len(p.recent(v, v.inner(right)))) + " SETTLED", Note: "old to new", Rows: history, Height: len(history)},
		part.Section{Title: "WHERE THE TIME WENT", Note: "median of a fetch", Rows: spent})
	if v.Size == L && v.H-top > 2 {
		list := p.matchBox(v, top, v.W-wallWidth, v.H-top)
		at, _ := p.matches.cur.Selected()
		walled := v.sections(v.W-wallWidth, top, wallWidth, v.H-top, p.wall.panel(v, v.inner(wallWidth), v.H-top-1, at))
		return part.Stack(part.Beside(a, b), part.Beside(list, walled))
	}
	return part.Stack(part.Beside(a, b), p.matchBox(v, top, v.W, v.H-top))
}

func (p *Account) drawS(v *View, row engine.AccountRow) []string {
	stages := stageRows(v, row, p.eta(v), v.inner(v.W))
	if len(p.detail.Waits) > 0 && v.H > 16 {
		stages = append(stages, p.pacing(v, v.inner(v.W), " of the time"))
	}
	h := max(v.H-len(stages)-3, 0)
	src := p.source(v)
	t := part.Table{Columns: columns.RecentMatches.Heads(), Empty: p.empty()}
	return v.whole(
		part.Section{Title: "SYNC", Note: p.about(v, row), Tail: p.told(v), Rows: stages, Height: len(stages)},
		p.matches.section(v, t, v.inner(v.W), h, src, part.Section{Title: "LAST MATCHES"}))
}

func (p *Account) matchBox(v *View, y, w, h int) []string {
	if h < 2 {
		return nil
	}
	src := p.source(v)
	t := part.Table{Columns: columns.RecentMatches.Heads(), Empty: p.empty()}
	name := "LAST MATCHES"
	if v.Size == L && p.wall.all != nil {
		name = "MATCHES"
	}
	return v.sections(0, y, w, h, p.matches.section(v, t, v.inner(w), h-1, src, part.Section{Title: name, Note: some(len(src.Items))}))
}

// about names the kind of the sync and its job.
func (p *Account) about(v *View, row engine.AccountRow) string {
	if row.Job == "" {
		return row.Kind
	}
	return strings.TrimSpace(row.Kind + " " + v.Theme.Glyphs.Sep + " job " + short(string(row.Job)))
}

func (p *Account) eta(v *View) engine.ETA {
	if a, ok := v.Account(p.id); ok {
		return a.ETA
	}
	return p.detail.ETA
}

func (p *Account) empty() string {
	if p.loading() {
		return "loading matches…"
	}
	return "no match of this account is settled yet"
}

// stagesFit is what the stages of a run need to be told whole.
const stagesFit = 61

// recent are the matches that were settled last, as many as fill whole rows.
func (p *Account) recent(v *View, w int) []engine.MatchRow {
	all, most := p.detail.Recent, len(p.detail.Recent)
	switch {
	case v.Size == S:
		most = 20
	case most > w-2 && w > 2:
		most -= most % (w - 2)
	}
	return all[max(len(all)-most, 0):]
}

// history is one sign for each of the last matches, and what they add up to.
func (p *Account) history(v *View, w int) []string {
	recent := p.recent(v, w)
	cells := max(v.inner(w), 1)
	h := clamp((len(recent)+cells-1)/cells, 1, 4)
	rows := part.Wall(v.Theme, cells, h, len(recent), func(i int) themes.State {
		return v.Theme.State(columns.MatchWord(recent[i].Status))
	})
	for i := range rows {
		rows[i] = " " + rows[i]
	}
	return append(rows, spaced(v, w, matchCounts(v, recent)))
}

// spent says where the time of a fetch goes: pacing or the wire.
func (p *Account) spent(v *View, w int) []string {
	limiter, http := medians(p.detail.Waits)
	if limiter+http <= 0 {
		return []string{v.row(w, part.As(themes.Dim, " no call was measured yet"))}
	}
	bar := clamp(w-34, 4, 24)
	long := func(name string, t themes.Token, d time.Duration) string {
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.Plain(name), 9, part.Words)
		return l.Bar(t, bar, float64(d)/float64(max(limiter, http))).Gap(1).Cells(part.Plain(human.Secs(d))).String()
	}
	return []string{long("limiter", themes.Held, limiter), long("HTTP", themes.Run, http), p.pacing(v, w, "")}
}

// pacing is how much of the time of a fetch was spent on waiting for a limit, and
// for which; measure says what of.
func (p *Account) pacing(v *View, w int, measure string) string {
	limiter, http := medians(p.detail.Waits)
	if limiter+http <= 0 {
		return v.row(w)
	}
	why := human.Percent(float64(limiter)/float64(limiter+http)) + measure + " is pacing"
	if b := p.eta(v).Bucket; b != "" {
		why += " for " + v.bucket(b)
	}
	return v.row(w, part.As(themes.Dim, " "+why))
}

// medians of the limiter's and the wire's share.
func medians(spent []engine.Spent) (limiter, http time.Duration) {
	if len(spent) == 0 {
		return 0, 0
	}
	l, h := make([]time.Duration, len(spent)), make([]time.Duration, len(spent))
	for i, s := range spent {
		l[i], h[i] = max(s.Limiter, 0), max(s.HTTP, 0)
	}
	slices.Sort(l)
	slices.Sort(h)
	return l[len(l)/2], h[len(h)/2]
}

// SelectedJob implements Jobber: the sync of the account.
func (p *Account) SelectedJob(v *View) (engine.JobID, string) {
	row := p.row(v)
	return row.Job, row.RiotID
}

// Hold implements Holder.
func (p *Account) Hold() { p.matches.Hold() }

// Place implements Holder.
func (p *Account) Place() string { return p.matches.Place() }
