package accounts

import (
	"cmp"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Account is one account in depth: when its sync is done, every match as a cell, where the time
// goes, what was stored last and when they play. It is a screen of its own, and stands below a
// short list of accounts as well (see [Screen.drawSummed]).
type Account struct {
	// Of the account, whose row may be unknown as long as no answer has come.
	id      string
	still   bool // it is a summary: no cursor stands in its list
	matches lists.Pane
	page.Answer
	// What the engine keeps of the account besides its row: runs, waits, the report. It is the zero
	// value until the first answer, which every block has to bear.
	detail engine.AccountDetail
	wall   wall
	played block.Played
	calls  *page.Forecast
	next   outlook
}

// NewAccount makes the screen of an account.
func NewAccount(id string) *Account { return &Account{id: id, calls: new(page.Forecast)} }

// Screen implements Page.
func (p *Account) Screen() page.Screen { return page.ScreenAccount }

// Crumb implements Page.
// Empty until a row is known.
func (p *Account) Crumb(v *page.View) string { return p.row(v).RiotID }

// row is the newest row there is: Watch's, else the answer's.
// Watch holds only the first accounts of very many, so the account may be missing there.
func (p *Account) row(v *page.View) engine.AccountRow {
	if row, ok := v.Account(p.id); ok {
		return row
	}
	return p.detail.Row
}

// Even implements [page.Evener].
func (p *Account) Even(d *page.Data) { p.wall.even(d) }

// Want implements Page: the detail moves with what is stored, since a match of an account
// is no change of the account itself.
func (p *Account) Want(v *page.View) engine.Query {
	if p.Due(v, v.Seq) {
		return engine.AccountQuery{ID: p.id}
	}
	row := p.row(v)
	for _, want := range []func() engine.Query{
		func() engine.Query { return p.wall.want(v, p.id) },
		func() engine.Query { return p.foresee(v, row) },
		func() engine.Query { return p.played.Want(v, row, p.detail.Report) },
		func() engine.Query { return p.next.want(v, row) },
	} {
		if q := want(); q != nil { // one at a time: to want is to wait for the answer
			return q
		}
	}
	return nil
}

// foresee asks which calls come next while the account syncs.
// An account at rest has no planned call, and its screen draws no chart of them.
func (p *Account) foresee(v *page.View, row engine.AccountRow) engine.Query {
	if !row.Status.Open() {
		return nil
	}
	return p.calls.Want(v, 0)
}

// Got implements Page.
// Answers about another account are dropped: below a list the cursor may have moved on before they
// came.
func (p *Account) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	switch q := q.(type) {
	case engine.MatchCellsQuery:
		if q.Account == p.id {
			p.wall.got(v, a, err)
		}
	case engine.PlayQuery:
		if q.Account == p.id {
			p.played.Got(v, a, err)
		}
	case engine.AccountQuery:
		if q.ID == p.id && p.Take(v, err) {
			p.detail, _ = a.(engine.AccountDetail)
		}
	default: // the rest carries no account to compare, or the outlook compares it
		_ = p.calls.Got(v, q, a, err) || p.next.got(v, q, a, err)
	}
}

// source lists the matches that were stored last, newest first.
// Recent holds the last matches that were settled, oldest first, and those that failed as well.
func (p *Account) source(v *page.View) part.Slice[engine.MatchRow] {
	items := make([]engine.MatchRow, 0, len(p.detail.Recent))
	for i := len(p.detail.Recent) - 1; i >= 0; i-- {
		if p.detail.Recent[i].Status == "success" {
			items = append(items, p.detail.Recent[i])
		}
	}
	return part.Slice[engine.MatchRow]{Items: items, Key: func(m engine.MatchRow) string { return m.ID },
		Cells: page.CellsOf(v, storedColumns)}
}

// Cannot implements Page.
func (p *Account) Cannot(v *page.View, a page.Action) string {
	switch a {
	case page.Cancel:
		return page.CannotCancelSync(p.row(v))
	case page.Open:
		return lists.Missing(&p.matches, p.source(v), "match")
	case page.Retry:
		if p.row(v).Status.Open() {
			return v.Keyed("this sync runs: {retry} retries a job, {open} opens one")
		}
	case page.Pause:
		return v.Keyed(page.PauseElsewhere)
	}
	return ""
}

// Act implements Page.
func (p *Account) Act(v *page.View, a page.Action) page.Effect {
	src := p.source(v)
	if p.matches.Steer(src, a) {
		return page.Effect{}
	}
	switch a {
	// To retry an account is to sync it again: its single jobs are retried on their own screens.
	case page.Trigger, page.Retry:
		return page.StartSync(p.row(v))
	case page.Cancel:
		return page.CancelSync(v, p.row(v))
	case page.Track:
		return page.TrackAccount(p.row(v))
	case page.Matches:
		return page.Effect{Open: &page.Target{Screen: page.ScreenMatches, ID: p.id}}
	case page.Report:
		return page.Effect{Open: &page.Target{Screen: page.ScreenReports, ID: p.id}}
	case page.Open:
		if m, ok := lists.Selected(&p.matches, src); ok {
			// The job's own number is not in the row, but its key is, such as
			// "match:KR_7214550881".
			return page.Effect{Open: &page.Target{Screen: page.ScreenJob, Key: "match:" + m.ID}}
		}
	}
	return page.Effect{}
}

// longNames is by how much the matches have more than a third: Heimerdinger is whole.
const longNames = 2

// Draw implements Page: how far it is and when it will be done, what it does now, every
// match, then what explains the pace, what has just come, and when they play.
// What stands lowest in the order of Keep is never given up. On 80x24 that is the head with its
// bar, and the wall.
func (p *Account) Draw(v *page.View) []string {
	row := p.row(v)
	if row.ID == "" {
		return v.Whole(part.Section{Title: "ACCOUNT", Tail: p.Told(v),
			Rows: v.Said(v.Inner(v.W), cmp.Or(p.Absent(v, "the account", "the account"), "there is no such account"))})
	}
	w := v.Inner(v.W)
	// Rows of the bar with its ticks, of the wall's cells at most, of the columns and of the hours.
	bar, wallRows, facts, hours := 3, wallHeight, 7, 5
	if v.Size == page.S {
		bar, wallRows, facts, hours = 2, 4, 5, 6
	}
	all := []page.Band{
		{Least: 1 + bar, Most: 1 + bar, Keep: 0, Draw: func(int, int) []string {
			return v.Padded(append([]string{p.head(v, row, w)}, p.timeBar(v, row, w, bar)...))
		}},
		{Least: 3, Most: 3, Keep: 2, Draw: func(int, int) []string { return v.Padded(block.StageRows(v, row, w)) }},
		{Least: leastWall + 3, Most: p.wall.height(v, wallRows, row), Keep: 1, Draw: func(y, h int) []string {
			return v.Sections(0, y, v.W, h, p.wall.section(v, w, h-1, row, p.nextRetry(v)))
		}},
		{Least: facts, Most: facts + 5*page.Btoi(v.Size != page.S), Keep: 3,
			Draw: func(y, h int) []string { return p.columns(v, row, y, h) }},
		{Least: hours, Most: hours + 2*page.Btoi(v.Size != page.S) + 3*page.Btoi(v.Size == page.L), Keep: 4,
			Draw: func(y, h int) []string {
				return v.Sections(0, y, v.W, h, p.plays(v, row, w, h-1))
			}},
	}
	if v.Size == page.L {
		all = append(all, page.Band{Least: charts.WeekRows, Most: charts.WeekRows, Keep: 5,
			Draw: func(y, h int) []string { return p.week(v, row, y, h) }})
	}
	return v.Bands(all...)
}

// columns are the sections side by side, the most telling first; an account that does not
// sync has no pace, but what comes next.
// Of two columns one is always what came last, which is what most people open an account for.
func (p *Account) columns(v *page.View, row engine.AccountRow, y, h int) []string {
	// How many columns there is room for: 2 of 80 cells, 3 of 120, 5 of 200.
	n := max(v.W/page.ColumnWidth, 1)
	type section func(v *page.View, w, h int) part.Section
	of := func(f func(*page.View, engine.AccountRow, int, int) part.Section) section {
		return func(v *page.View, w, h int) part.Section { return f(v, row, w, h) }
	}
	all := []section{of(p.pace), of(p.oneTakes), p.justStored, p.lastSyncs}
	wide := 0 // the section that takes a block that is to spare
	if !row.Status.Open() {
		all = []section{p.lastSyncs, of(p.comes), p.justStored, of(p.oneTakes)}
	}
	if n == 2 {
		all = []section{all[0], p.justStored}
	}
	all = all[:min(n, len(all))]
	var blocks [][]string
	x := 0
	for i, draw := range all {
		w := page.ColumnWidth
		switch {
		case n > 2 && i == 1:
			w -= longNames
		case n > 2 && i == 2:
			w += longNames
		}
		if i == wide && n > len(all) {
			w += (n - len(all)) * page.ColumnWidth
		}
		if i == len(all)-1 {
			w = v.W - x
		}
		// A chart of the pace that is taller than the wall says no more than one as tall.
		height := human.Either(i != wide || !row.Status.Open(), h, min(h, 1+wallHeight))
		blocks = append(blocks, part.Height(v.Theme, w, h, v.Sections(x, y, w, height, draw(v, v.Inner(w), height-1))))
		x += w
	}
	return part.Beside(blocks...)
}

// plays is when they play: by the report, else by a draft of it.
// A report of no match would be an empty map; what makes one is said instead.
func (p *Account) plays(v *page.View, row engine.AccountRow, w, h int) part.Section {
	s := part.Section{Title: "WHEN THEY PLAY", Tail: v.Keyed("{report} report"), Height: h, Empty: "known with the first match that is stored"}
	r, note := p.played.Report(row, p.detail.Report)
	if r == nil || r.Matches == 0 {
		return s
	}
	if s.Note = note; p.played.IsDraft(r) {
		s.Note += ", a draft until the report is built"
	}
	s.Rows = block.HourRows(v, r, w, h)
	return s
}

// week is when they play by the day of the week, and with whom.
func (p *Account) week(v *page.View, row engine.AccountRow, y, h int) []string {
	left := v.W - 2*page.ColumnWidth
	s := part.Section{Title: "BY WEEKDAY", Height: h - 1}
	if r, _ := p.played.Report(row, p.detail.Report); r != nil && r.Matches > 0 {
		s.Rows = charts.WeekMap(v, r, v.Inner(left))
	}
	return part.Beside(v.Sections(0, y, left, h, s),
		v.Sections(left, y, v.W-left, h, p.played.Champions(v, v.Inner(v.W-left), h-1)))
}

// nextRetry is how far away the next retry of the account is; "" = none is due.
// As a stopwatch shows it: 0:12.
func (p *Account) nextRetry(v *page.View) string {
	next := block.NextTry(v, func(j *engine.JobRow) bool { return j.Owner == p.id })
	if next.IsZero() {
		return ""
	}
	v.Ticks = true
	return human.Stopwatch(next.Sub(v.Beat()))
}

// eta is when the sync is expected to end: the estimate of the newest row, else that of the answer.
func (p *Account) eta(v *page.View) engine.ETA {
	if a, ok := v.Account(p.id); ok {
		return a.ETA
	}
	return p.detail.ETA
}

// empty says why no match is listed. With cells that are stored the list is empty only because all
// of them are older than the fetches that the engine remembers.
func (p *Account) empty(v *page.View) string {
	if p.wall.stored() > 0 {
		return "no match was stored lately"
	}
	return cmp.Or(p.Absent(v, "the last matches", "matches"), "none is stored yet")
}

// SelectedJob implements Jobber: the sync of the account.
func (p *Account) SelectedJob(v *page.View) (engine.JobID, string) {
	row := p.row(v)
	return row.Job, row.RiotID
}

// Hold implements Holder.
func (p *Account) Hold() { p.matches.Hold() }

// Place implements Holder.
func (p *Account) Place() string { return p.matches.Place() }

// Copies implements Copier.
// None is offered before the account is known: a copied empty record would look like a lost one.
func (p *Account) Copies(v *page.View) []page.Copy {
	row := p.row(v)
	if row.ID == "" {
		return nil
	}
	return page.CopiesOf(v, []any{row}, func(int) string { return row.ID })
}

// SelectedAccount implements AccountHolder.
func (p *Account) SelectedAccount(*page.View) string { return p.id }
