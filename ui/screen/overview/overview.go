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
	paneCount
)

// Screen answers: is it healthy, what is it doing and what comes next, why does the rest wait, what
// needs me? It has three lists with a cursor each; tab goes from one to the next.
type Screen struct {
	panes [paneCount]lists.Pane
	// Which of the panes has the keys.
	focus   int
	tape    block.Tape
	past    charts.Past
	plan    page.Forecast
	runs    calendarRuns
	reasons block.ReasonCounts
	dead    block.DeadJobs
	fresh   page.Freshness
	day     charts.DayTraffic
	// Both keep the figures from changing faster than they can be read.
	pulse page.Pulse
	calm  page.Calm
}

// New makes the first screen.
func New() *Screen {
	return &Screen{tape: block.Tape{Every: block.OverviewTape, Then: true}}
}

// Screen implements Page.
func (o *Screen) Screen() page.Screen { return page.ScreenOverview }

// Crumb implements Page.
func (o *Screen) Crumb(*page.View) string { return "" }

// Want implements Page: the rows come with Watch; what was, what is foreseen and why the
// rest waits is asked for.
// The first question that is due is asked; the others follow with the next frames.
func (o *Screen) Want(v *page.View) engine.Query {
	if q := o.plan.Want(v, page.FarAhead); q != nil {
		return q
	}
	reasons := func(v *page.View) engine.Query { return o.reasons.Want(v, "") }
	for _, want := range []func(*page.View) engine.Query{
		o.past.Want, reasons, o.gaveUp, o.runs.want, o.fresh.Want, o.day.Want,
	} {
		if q := want(v); q != nil {
			return q
		}
	}
	return nil
}

// gaveUp is the question about the jobs that gave up, asked when there is another.
// Their number is the version: the rows of jobs that gave up do not change otherwise.
func (o *Screen) gaveUp(v *page.View) engine.Query {
	if v.Engine.Failed > 0 && o.dead.Due(v, uint64(v.Engine.Failed)) {
		return block.DeadQuery("")
	}
	return nil
}

// Got implements Page.
// Each part takes what it has asked for and leaves the rest alone.
func (o *Screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
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
func (o *Screen) Reload() {
	o.past.Forget()
	o.plan.Forget()
	o.reasons.Reload()
}

// calendarRuns are the plans of what recurs. They move seldom: by the minute.
type calendarRuns struct {
	page.Answer
	plans engine.SchedulesPage
}

// A command of this console (Acts) may have paused a schedule, and has it asked for at once.
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

// why lists the reasons why jobs wait. These three lists are drawn in words of their own, so their
// sources have no cells.
func (o *Screen) why(v *page.View) part.Slice[whyGroup] {
	return part.Slice[whyGroup]{Items: whyGroups(v, o.reasons.Groups), Key: func(g whyGroup) string { return g.text },
		Cells: lists.NoCells[whyGroup]}
}

// needs lists what a person has to settle: what every screen counts in its title, then accounts
// that are late. Of the jobs that gave up it names the classes, once they are known.
func (o *Screen) needs(v *page.View) part.Slice[page.Need] {
	items := append(slices.Clone(v.Needs()), needs(&o.fresh, v)...)
	for i := range items {
		if items[i].ID == "failed" && len(o.dead.Rows) > 0 {
			items[i].More = block.ClassesOf(o.dead.List())
		}
	}
	if v.Size == page.S { // which has no room for the limits
		items = append(block.DownNeeds(v), items...)
	}
	return part.Slice[page.Need]{Items: items, Key: func(n page.Need) string { return n.ID },
		Cells: lists.NoCells[page.Need]}
}

// syncing lists the accounts at work, which are the lanes of the timetable.
func (o *Screen) syncing(v *page.View) part.Slice[engine.AccountRow] {
	return part.Slice[engine.AccountRow]{Items: v.Syncing(), Key: func(a engine.AccountRow) string { return a.ID },
		Cells: lists.NoCells[engine.AccountRow]}
}

// source is the list of the pane in focus.
func (o *Screen) source(v *page.View) part.Source {
	switch o.focus {
	case paneNeeds:
		return o.needs(v)
	case paneAccounts:
		return o.syncing(v)
	}
	return o.why(v)
}

// Cannot implements Page.
// With the keys elsewhere than where an action works it names the pane to go to.
func (o *Screen) Cannot(v *page.View, a page.Action) string {
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
// A need has the id "pause:report.weekly" when it is about a queue that stands still.
func (o *Screen) queue(v *page.View) engine.Queue {
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
func (o *Screen) Act(v *page.View, a page.Action) page.Effect {
	if a == page.NextPane {
		o.focus = (o.focus + 1) % paneCount
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
// A reason opens the list of its jobs; a need whatever settles it; an account its own screen.
func (o *Screen) open(v *page.View) page.Effect {
	p := &o.panes[o.focus]
	switch o.focus {
	case paneWhy:
		if g, ok := lists.Selected(p, o.why(v)); ok {
			return page.Effect{Open: &page.Target{Screen: page.ScreenJobs,
				Row: block.JobGroup{GroupKey: block.GroupOf(&g.First), Why: g.ReasonRow}}}
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
// Accounts and needs have none.
func (o *Screen) SelectedJob(v *page.View) (engine.JobID, string) {
	if o.focus != paneWhy {
		return "", ""
	}
	g, ok := lists.Selected(&o.panes[paneWhy], o.why(v))
	return page.Named(g.First, ok)
}

// Hold implements Holder.
func (o *Screen) Hold() { o.panes[o.focus].Hold() }

// Place implements Holder.
func (o *Screen) Place() string { return o.panes[o.focus].Place() }

// needs is what tracked accounts need of a person: that they are late.
// Nil when all of them are as fresh as they are meant to be.
func needs(f *page.Freshness, v *page.View) []page.Need {
	if f.Data.Lates == 0 {
		return nil
	}
	return []page.Need{{
		ID: "late", Word: "WARN", Text: human.Counted(f.Data.Lates, "tracked account is", "tracked accounts are") +
			" late" + f.Until(v), More: f.Need(), Key: "{open}",
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
// What needs a person is a sentence and no record: it is not copied.
func (o *Screen) Copies(v *page.View) []page.Copy {
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
func (o *Screen) SelectedAccount(v *page.View) string {
	if o.focus != paneAccounts {
		return ""
	}
	row, _ := lists.Selected(&o.panes[paneAccounts], o.syncing(v))
	return row.ID
}
