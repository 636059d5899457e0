// Package overview is the first screen: is it healthy, what is it doing, what comes next, why does the
// rest wait, and what needs a person.
package overview

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Panes of the overview, in the order in which the keys go to them.
const (
	paneWhy = iota
	paneNeeds
	paneAccounts
	overviewPanes
)

// Overview answers: is it healthy, what is it doing and what comes next, why does the rest
// wait, what needs me?
type overviewPage struct {
	panes   [overviewPanes]lists.Pane
	focus   int
	tape    block.Tape
	past    charts.Past
	plan    page.Forecast
	runs    calendarRuns
	reasons block.ReasonCounts
	dead    block.DeadJobs
	fresh   page.Freshness
	day     charts.DayTraffic
	pulse   page.Pulse
	calm    page.Calm
}

// New makes the first screen.
func New() *overviewPage {
	return &overviewPage{tape: block.Tape{Every: block.OverviewTape, Then: true}}
}

// Screen implements Page.
func (o *overviewPage) Screen() page.Screen { return page.ScreenOverview }

// Crumb implements Page.
func (o *overviewPage) Crumb(*page.View) string { return "" }

// Want implements Page: the rows come with Watch; what was, what is foreseen and why the
// rest waits is asked for.
func (o *overviewPage) Want(v *page.View) engine.Query {
	if q := o.plan.Want(v, page.FarAhead); q != nil {
		return q
	}
	for _, want := range []func(*page.View) engine.Query{o.past.Want, func(v *page.View) engine.Query { return o.reasons.Want(v, "") }, o.gaveUp, o.runs.want, o.fresh.Want, o.day.Want} {
		if q := want(v); q != nil {
			return q
		}
	}
	return nil
}

// gaveUp is the question about the jobs that gave up, asked when there is another.
func (o *overviewPage) gaveUp(v *page.View) engine.Query {
	if v.Engine.Failed > 0 && o.dead.Due(v, uint64(v.Engine.Failed)) {
		return block.DeadQuery("")
	}
	return nil
}

// Got implements Page.
func (o *overviewPage) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	o.past.Got(v, q, a, err)
	o.plan.Got(v, q, a, err)
	switch asked := q.(type) {
	case engine.ReasonsQuery:
		o.reasons.TakeIn(v, asked, a, err)
	case engine.JobsQuery:
		o.dead.TakeIn(v, a, err)
	}
	o.runs.got(v, q, a, err)
	o.fresh.Got(v, q, a, err)
	o.day.Got(q, a, err)
}

// Reload makes the page ask again at once.
func (o *overviewPage) Reload() {
	o.past.Forget()
	o.plan.Forget()
	o.reasons.Reload()
}

// calendarRuns are the plans of what recurs. They move seldom: by the minute.
type calendarRuns struct {
	page.Answer
	plans engine.SchedulesPage
}

func (r *calendarRuns) want(v *page.View) engine.Query {
	switch {
	case r.Pending, !v.Ready, v.Frozen, v.Engine.State == engine.EngineBrowse:
		return nil
	case r.Have && v.Acts == r.Acts && r.At.Truncate(time.Minute).Equal(v.Now.Truncate(time.Minute)):
		return nil
	}
	r.Pending, r.At, r.Acts = true, v.Now, v.Acts
	return engine.SchedulesQuery{}
}

func (r *calendarRuns) got(v *page.View, q engine.Query, a engine.Answer, err error) {
	page.Receive[engine.SchedulesQuery](&r.Answer, v, q, a, err, &r.plans)
}

func (o *overviewPage) why(v *page.View) part.Slice[whyGroup] {
	return part.Slice[whyGroup]{Items: whyGroups(v, o.reasons.Groups), Key: func(g whyGroup) string { return g.text }, Cells: lists.NoCells[whyGroup]}
}

func (o *overviewPage) needs(v *page.View) part.Slice[page.Need] {
	items := append(slices.Clone(v.Needs()), needs(&o.fresh, v)...)
	for i := range items {
		if items[i].ID == "failed" && len(o.dead.Rows) > 0 {
			items[i].More = block.ClassesOf(o.dead.List())
		}
	}
	if v.Size == page.S { // which has no room for the limits
		items = append(block.DownNeeds(v), items...)
	}
	return part.Slice[page.Need]{Items: items, Key: func(n page.Need) string { return n.ID }, Cells: lists.NoCells[page.Need]}
}

func (o *overviewPage) syncing(v *page.View) part.Slice[engine.AccountRow] {
	return part.Slice[engine.AccountRow]{Items: v.Syncing(), Key: accountID, Cells: lists.NoCells[engine.AccountRow]}
}

func accountID(a engine.AccountRow) string { return a.ID }

// source is the list of the pane in focus.
func (o *overviewPage) source(v *page.View) part.Source {
	switch o.focus {
	case paneNeeds:
		return o.needs(v)
	case paneAccounts:
		return o.syncing(v)
	}
	return o.why(v)
}

// Cannot implements Page.
func (o *overviewPage) Cannot(v *page.View, a page.Action) string {
	switch {
	case a == page.Pause && o.focus == paneWhy && o.reasons.Loading() && v.Engine.State != engine.EngineBrowse:
		return "why jobs wait is still being read"
	case a == page.Pause && o.queue(v) == "" && o.focus == paneWhy:
		return "no job waits: there is no queue to pause here"
	case a == page.Pause && o.queue(v) == "":
		return v.Keyed("{pause} pauses the queue of a reason: {next pane} to the reasons")
	case a == page.Retry:
		return v.Keyed("{retry} retries a job: {open} on a reason lists its jobs")
	case a == page.Cancel && o.focus == paneAccounts:
		return lists.Missing(&o.panes[paneAccounts], o.syncing(v), "sync")
	case a == page.Cancel:
		return v.Keyed("{cancel} cancels a sync: {next pane} to the accounts")
	}
	return ""
}

// queue is what a pause is of: the queue of the first job of a reason, or the one that is
// paused already; "" = none.
func (o *overviewPage) queue(v *page.View) engine.Queue {
	switch o.focus {
	case paneWhy:
		if g, ok := lists.Selected(&o.panes[paneWhy], o.why(v)); ok {
			return g.First.Queue
		}
	case paneNeeds:
		if n, ok := lists.Selected(&o.panes[paneNeeds], o.needs(v)); ok {
			if name, paused := strings.CutPrefix(n.ID, "pause:"); paused {
				return engine.Queue(name)
			}
		}
	}
	return ""
}

// Act implements Page.
func (o *overviewPage) Act(v *page.View, a page.Action) page.Effect {
	if a == page.NextPane {
		o.focus = (o.focus + 1) % overviewPanes
		return page.Effect{}
	}
	if o.panes[o.focus].Steer(o.source(v), a) {
		return page.Effect{}
	}
	switch a {
	case page.Trigger:
		return page.Effect{Ask: page.AskSync}
	case page.ByMember:
		return page.Effect{Open: &page.Target{Screen: page.ScreenMembers}}
	case page.Calendar:
		return page.Effect{Open: &page.Target{Screen: page.ScreenSchedules}}
	case page.Open:
		return o.open(v)
	case page.Pause:
		if name := o.queue(v); name != "" {
			return page.PauseQueue(v, name)
		}
	case page.Cancel:
		if row, ok := lists.Selected(&o.panes[paneAccounts], o.syncing(v)); ok && o.focus == paneAccounts {
			return page.CancelSync(v, row)
		}
	}
	return page.Effect{}
}

// open opens what is under the cursor of the pane in focus.
func (o *overviewPage) open(v *page.View) page.Effect {
	p := &o.panes[o.focus]
	switch o.focus {
	case paneWhy:
		if g, ok := lists.Selected(p, o.why(v)); ok {
			return page.Effect{Open: &page.Target{Screen: page.ScreenJobs, Row: block.JobGroup{GroupKey: block.GroupOf(&g.First), Why: g.ReasonRow}}}
		}
	case paneNeeds:
		if n, ok := lists.Selected(p, o.needs(v)); ok && n.Open != nil {
			return n.Open(v)
		}
	case paneAccounts:
		if id, ok := lists.Openable(p, o.syncing(v)); ok {
			return page.Effect{Open: page.ToAccount(id)}
		}
	}
	return page.Effect{}
}

// SelectedJob implements Jobber: the first job of a reason.
func (o *overviewPage) SelectedJob(v *page.View) (engine.JobID, string) {
	if o.focus != paneWhy {
		return "", ""
	}
	g, ok := lists.Selected(&o.panes[paneWhy], o.why(v))
	return page.Named(g.First, ok)
}

// Hold implements Holder.
func (o *overviewPage) Hold() { o.panes[o.focus].Hold() }

// Place implements Holder.
func (o *overviewPage) Place() string { return o.panes[o.focus].Place() }

// needs is what tracked accounts need of a person: that they are late.
func needs(f *page.Freshness, v *page.View) []page.Need {
	if f.Data.Lates == 0 {
		return nil
	}
	return []page.Need{{
		ID: "late", Word: "WARN", Text: human.Counted(f.Data.Lates, "tracked account is", "tracked accounts are") + " late" + f.Until(v), More: f.Need(), Key: "{open}",
		Open: func(*page.View) page.Effect { s := page.ScreenAccounts; return page.Effect{Go: &s} },
	}}
}

// uptime is how long the engine has been up; "" = none runs. It moves with the clock in
// the title and never between two minutes: an idle screen must stay silent.
func uptime(v *page.View) string {
	if v.Engine.Started.IsZero() || v.Engine.State == engine.EngineBrowse {
		return ""
	}
	d := v.Now.Truncate(time.Minute).Sub(v.Engine.Started.Truncate(time.Minute))
	if d < time.Minute {
		return "up <1 min"
	}
	return "up " + human.Age(d)
}

// Copies implements Copier: the row under the cursor of the pane in focus.
func (o *overviewPage) Copies(v *page.View) []page.Copy {
	p := &o.panes[o.focus]
	switch o.focus {
	case paneWhy:
		if g, ok := lists.Selected(p, o.why(v)); ok {
			return page.CopiesOf(v, []any{g.ReasonRow}, func(int) string { return string(g.First.ID) })
		}
	case paneAccounts:
		if a, ok := lists.Selected(p, o.syncing(v)); ok {
			return page.CopiesOf(v, []any{a}, func(int) string { return a.ID })
		}
	}
	return nil
}

// SelectedAccount implements AccountHolder: a sync under way.
func (o *overviewPage) SelectedAccount(v *page.View) string {
	if o.focus != paneAccounts {
		return ""
	}
	row, _ := lists.Selected(&o.panes[paneAccounts], o.syncing(v))
	return row.ID
}
