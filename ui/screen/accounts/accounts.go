// Package accounts is the screen of the accounts and how their syncs stand, and of one in depth.
package accounts

import (
	"cmp"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Screen lists the accounts and how their syncs stand.
//
// What is below or beside the list is of the account under the cursor: the account's own screen
// below a short list, facts in three rows, or the stages of its run at the right.
type Screen struct {
	lists.Page[engine.AccountRow]
	fresh page.Freshness
	plan  page.Forecast
	turns turns
	below *Account // the selected one, summed up below a short list; nil = there is no room
	calls charts.CallsInPlace
}

// recipe names the versions of what the list is made of.
type recipe struct {
	page.MadeOf
	foreseen time.Time
}

// New makes the screen.
func New() page.Page {
	p := &Screen{}
	p.List = lists.New(columns.Accounts, p.columns(), func(a *engine.AccountRow) string { return a.ID })
	// Keys are handled below and not declared: with marks they act on many accounts, and `t` works
	// without any row.
	p.Is = lists.Declaration[engine.AccountRow]{Screen: page.ScreenAccounts, File: "accounts",
		Fill: func(v *page.View) {
			made := recipe{page.MadeOf{Version: v.Version}, p.plan.Came}
			if p.below != nil {
				made.Came = p.below.wall.Came
			}
			p.Put(v, made, func() []engine.AccountRow {
				return append(p.plan.ByEnd(v), v.Accounts[len(v.Syncing()):]...)
			})
		}}
	return p
}

// Even implements [page.Evener].
func (p *Screen) Even(d *page.Data) {
	if p.below != nil {
		p.below.Even(d)
	}
}

// Want implements Page: accounts come with Watch, how fresh they can be kept does
// not.
func (p *Screen) Want(v *page.View) engine.Query {
	if q := p.fresh.Want(v); q != nil {
		return q
	}
	if q := p.turns.want(v); q != nil {
		return q
	}
	if len(v.Syncing()) > 0 {
		if q := p.plan.Want(v, 0); q != nil {
			return q
		}
	}
	if p.below == nil {
		return nil
	}
	return p.below.Want(v)
}

// Got implements Page.
func (p *Screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	if !p.fresh.Got(v, q, a, err) && !p.turns.got(v, q, a, err) && !p.plan.Got(v, q, a, err) && p.below != nil {
		p.below.Got(v, q, a, err)
	}
}

// columns are those of the list; some tell of the account's job and queue, when its next call leaves and when its run ends.
func (p *Screen) columns() columns.List[engine.AccountRow] {
	return columns.AccountList.
		Drawn("state", page.ByView(func(v *page.View, a *engine.AccountRow) part.Cell { return v.State(v.SyncWord(*a)) })).
		Drawn("progress_bar", page.ByView(func(v *page.View, a *engine.AccountRow) part.Cell {
			return charts.ProgressOf(v, *a)
		})).
		Drawn("next", page.ByView(p.next)).
		Drawn("eta", page.ByView(func(v *page.View, a *engine.AccountRow) part.Cell { return charts.EtaOf(v, *a) })).
		Drawn("stage_words", page.ByView(p.stage))
}

// Cannot implements Page.
// Marked accounts are checked one by one when the command is made, not here.
func (p *Screen) Cannot(v *page.View, a page.Action) string {
	p.Refresh(v)
	if p.Cur.MarkCount() > 0 && (a == page.Trigger || a == page.Cancel) {
		return ""
	}
	row, ok := p.Selected()
	switch a {
	case page.Open:
		return p.CannotOpen("account")
	case page.Cancel:
		if !ok {
			return lists.None(&p.Pane, "account")
		}
		return page.CannotCancelSync(row)
	case page.Track:
		return p.Missing("account")
	case page.Retry:
		return v.Keyed("{sync} syncs an account again; {account/retry} retries a job: {open} opens the account")
	case page.Pause:
		return v.Keyed(page.PauseElsewhere)
	}
	return ""
}

// Act implements Page.
func (p *Screen) Act(v *page.View, a page.Action) page.Effect {
	p.Refresh(v)
	if p.List.Act(v, a) {
		return page.Effect{}
	}
	if p.Cur.MarkCount() > 0 && (a == page.Trigger || a == page.Cancel) {
		rows, hidden := p.Marked(v.Accounts)
		return lists.BulkSyncs(v, a, rows, hidden)
	}
	if id, ok := p.ToOpen(); ok && a == page.Open {
		return page.Effect{Open: page.ToAccount(id)}
	}
	row, ok := p.Selected()
	switch {
	case a == page.Trigger && ok:
		return page.StartSync(row)
	// Without an account under the cursor the key asks for a name to sync.
	case a == page.Trigger:
		return page.Effect{Ask: page.AskSync}
	case a == page.Collected:
		return page.Effect{Open: &page.Target{Screen: page.ScreenCollections}}
	case !ok:
		return page.Effect{}
	case a == page.Cancel:
		return page.CancelSync(v, row)
	case a == page.Track:
		return page.TrackAccount(row)
	}
	return page.Effect{}
}

// Draw implements Page.
// A list of few accounts leaves most of the screen to the one that is selected.
func (p *Screen) Draw(v *page.View) []string {
	p.Refresh(v)
	// Title and header stand above the rows.
	list := len(p.Shown) + 2
	row, ok := p.Selected()
	switch {
	case len(p.Shown) == 0:
		return v.Whole(p.panel(v, v.Inner(v.W), list))
	case ok && v.H-list-1 >= leastSummary:
		return p.drawSummed(v, row.ID, list)
	case v.Size == page.L:
		p.below = nil
		return p.drawL(v)
	case v.Size == page.M && v.H >= 14:
		return p.drawM(v)
	}
	return v.Whole(p.panel(v, v.Inner(v.W), v.H-1))
}

// leastSummary is what the summary of an account takes below the list.
const leastSummary = 9

// drawSummed has the selected account's own screen below a list that is short.
// It is the account's own screen, drawn into the rows that are left; its rectangles are not
// recorded, since the keys go to the list.
// A summary is made anew for each account: answers that are on their way to the old one are
// dropped.
func (p *Screen) drawSummed(v *page.View, id string, list int) []string {
	if p.below == nil || p.below.id != id {
		p.below = NewAccount(id)
		p.below.still, p.below.calls = true, &p.plan
	}
	// A copy of the view with less room; what it learns of the clock is carried back below.
	under := *v
	under.Y, under.H, under.Hits = v.Y+list+1, v.H-list-1, nil
	rows := part.Stack(v.Sections(0, 0, v.W, list, p.panel(v, v.Inner(v.W), list-1)),
		part.Height(v.Theme, v.W, 1, nil), p.below.Draw(&under))
	v.Ticks = v.Ticks || under.Ticks
	return rows
}

// drawM has what is known of the selected account below the list.
func (p *Screen) drawM(v *page.View) []string {
	const facts = 3
	h := v.H - facts - 3
	list := p.panel(v, v.Inner(v.W), h)
	row, ok := p.Selected()
	below := part.Section{Height: facts, Title: "SELECTED"}
	if ok {
		below.Title = row.RiotID
		below.Rows = block.AccountFacts(v, row, v.Inner(v.W))
	}
	return v.Whole(list, below)
}

// drawL has the stages of the selected account's run at the right.
// Its width is fixed: the stages of a run do not get longer.
func (p *Screen) drawL(v *page.View) []string {
	right := 64
	left := v.W - right
	a := v.Sections(0, 0, left, v.H, p.panel(v, v.Inner(left), v.H-1))
	row, ok := p.Selected()
	if !ok {
		return part.Beside(a, v.Sections(left, 0, right, v.H, part.Section{Title: "SELECTED"}))
	}
	facts := block.AccountFacts(v, row, v.Inner(right))
	side := part.Section{Title: row.RiotID,
		Rows: append(block.StageList(v, row, v.Inner(right)), "", facts[0], facts[2])}
	side.Height = len(side.Rows)
	panels := []part.Section{side}
	if row.Status.Open() {
		panels = append(panels, block.JobsPanel(v, block.JobsOf(v, row.ID), v.Inner(right), 6))
	}
	return part.Beside(a, v.Sections(left, 0, right, v.H, block.Aside(v, panels, v.Inner(right), v.H, true, &p.calls)...))
}

// panel is the list with its title. A console holds the first accounts of very many: the note says
// of how many.
func (p *Screen) panel(v *page.View, w, h int) part.Section {
	work := ""
	if p.Filter() == "" {
		work = charts.SyncsText(v)
	}
	cut := ""
	if n := v.Known(); n > len(v.Accounts) {
		p.Of, cut = n, "the first "+page.Count(len(v.Accounts))+" of "+page.Count(n)
	}
	return p.Section(v, w, h, p.empty(v),
		part.Section{Title: "ACCOUNTS", Note: p.Note(v, cut, work), Tail: p.fresh.Text(v)})
}

// empty says why there are no rows.
func (p *Screen) empty(v *page.View) string {
	return cmp.Or(p.List.Empty(v), cmp.Or(v.Waiting(), v.Start("no accounts yet", "{sync} starts a sync of one")))
}

// SelectedAccount implements AccountHolder.
func (p *Screen) SelectedAccount(v *page.View) string {
	p.Refresh(v)
	row, _ := p.Selected()
	return row.ID
}
