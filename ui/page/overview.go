package page

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
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
	panes   [overviewPanes]Pane
	focus   int
	tape    tape
	past    past
	plan    forecast
	runs    calendarRuns
	reasons reasonCounts
	dead    deadJobs
	fresh   freshness
	day     dayTraffic
	pulse   pulse
	calm    calm
}

// NewOverviewPage makes the first screen.
func NewOverviewPage() *overviewPage {
	return &overviewPage{tape: tape{every: overviewTape, then: true}}
}

// Screen implements Page.
func (o *overviewPage) Screen() Screen { return ScreenOverview }

// Crumb implements Page.
func (o *overviewPage) Crumb(*View) string { return "" }

// Want implements Page: the rows come with Watch; what was, what is foreseen and why the
// rest waits is asked for.
func (o *overviewPage) Want(v *View) engine.Query {
	if q := o.plan.want(v, farAhead); q != nil {
		return q
	}
	for _, want := range []func(*View) engine.Query{o.past.want, func(v *View) engine.Query { return o.reasons.want(v, "") }, o.gaveUp, o.runs.want, o.fresh.want, o.day.want} {
		if q := want(v); q != nil {
			return q
		}
	}
	return nil
}

// gaveUp is the question about the jobs that gave up, asked when there is another.
func (o *overviewPage) gaveUp(v *View) engine.Query {
	if v.Engine.Failed > 0 && o.dead.Due(v, uint64(v.Engine.Failed)) {
		return deadQuery("")
	}
	return nil
}

// Got implements Page.
func (o *overviewPage) Got(v *View, q engine.Query, a engine.Answer, err error) {
	o.past.got(v, q, a, err)
	o.plan.got(v, q, a, err)
	switch asked := q.(type) {
	case engine.ReasonsQuery:
		o.reasons.takeIn(v, asked, a, err)
	case engine.JobsQuery:
		o.dead.takeIn(v, a, err)
	}
	o.runs.got(v, q, a, err)
	o.fresh.got(v, q, a, err)
	o.day.got(q, a, err)
}

// Reload makes the page ask again at once.
func (o *overviewPage) Reload() {
	o.past.Forget()
	o.plan.Forget()
	o.reasons.Reload()
}

// calendarRuns are the plans of what recurs. They move seldom: by the minute.
type calendarRuns struct {
	Answer
	plans engine.SchedulesPage
}

func (r *calendarRuns) want(v *View) engine.Query {
	switch {
	case r.Pending, !v.Ready, v.Frozen, v.Engine.State == engine.EngineBrowse:
		return nil
	case r.Have && v.Acts == r.acts && r.At.Truncate(time.Minute).Equal(v.Now.Truncate(time.Minute)):
		return nil
	}
	r.Pending, r.At, r.acts = true, v.Now, v.Acts
	return engine.SchedulesQuery{}
}

func (r *calendarRuns) got(v *View, q engine.Query, a engine.Answer, err error) {
	Receive[engine.SchedulesQuery](&r.Answer, v, q, a, err, &r.plans)
}

func (o *overviewPage) why(v *View) part.Slice[whyGroup] {
	return part.Slice[whyGroup]{Items: v.whyGroups(o.reasons.groups), Key: func(g whyGroup) string { return g.text }, Cells: noCells[whyGroup]}
}

func (o *overviewPage) needs(v *View) part.Slice[Need] {
	items := append(slices.Clone(v.Needs()), o.fresh.needs(v)...)
	for i := range items {
		if items[i].ID == "failed" && len(o.dead.rows) > 0 {
			items[i].More = classesOf(o.dead.list())
		}
	}
	if v.Size == S { // which has no room for the limits
		items = append(v.downNeeds(), items...)
	}
	return part.Slice[Need]{Items: items, Key: func(n Need) string { return n.ID }, Cells: noCells[Need]}
}

func (o *overviewPage) syncing(v *View) part.Slice[engine.AccountRow] {
	return part.Slice[engine.AccountRow]{Items: v.Syncing(), Key: accountID, Cells: noCells[engine.AccountRow]}
}

func accountID(a engine.AccountRow) string { return a.ID }

// source is the list of the pane in focus.
func (o *overviewPage) source(v *View) part.Source {
	switch o.focus {
	case paneNeeds:
		return o.needs(v)
	case paneAccounts:
		return o.syncing(v)
	}
	return o.why(v)
}

// Cannot implements Page.
func (o *overviewPage) Cannot(v *View, a Action) string {
	switch {
	case a == Pause && o.focus == paneWhy && o.reasons.Loading() && v.Engine.State != engine.EngineBrowse:
		return "why jobs wait is still being read"
	case a == Pause && o.queue(v) == "" && o.focus == paneWhy:
		return "no job waits: there is no queue to pause here"
	case a == Pause && o.queue(v) == "":
		return v.Keyed("{pause} pauses the queue of a reason: {next pane} to the reasons")
	case a == Retry:
		return v.Keyed("{retry} retries a job: {open} on a reason lists its jobs")
	case a == Cancel && o.focus == paneAccounts:
		return missing(&o.panes[paneAccounts], o.syncing(v), "sync")
	case a == Cancel:
		return v.Keyed("{cancel} cancels a sync: {next pane} to the accounts")
	}
	return ""
}

// queue is what a pause is of: the queue of the first job of a reason, or the one that is
// paused already; "" = none.
func (o *overviewPage) queue(v *View) engine.Queue {
	switch o.focus {
	case paneWhy:
		if g, ok := Selected(&o.panes[paneWhy], o.why(v)); ok {
			return g.First.Queue
		}
	case paneNeeds:
		if n, ok := Selected(&o.panes[paneNeeds], o.needs(v)); ok {
			if name, paused := strings.CutPrefix(n.ID, "pause:"); paused {
				return engine.Queue(name)
			}
		}
	}
	return ""
}

// Act implements Page.
func (o *overviewPage) Act(v *View, a Action) Effect {
	if a == NextPane {
		o.focus = (o.focus + 1) % overviewPanes
		return Effect{}
	}
	if o.panes[o.focus].Steer(o.source(v), a) {
		return Effect{}
	}
	switch a {
	case Trigger:
		return Effect{Ask: AskSync}
	case ByMember:
		return Effect{Open: &Target{Screen: ScreenMembers}}
	case Calendar:
		return Effect{Open: &Target{Screen: ScreenSchedules}}
	case Open:
		return o.open(v)
	case Pause:
		if name := o.queue(v); name != "" {
			return pauseQueue(v, name)
		}
	case Cancel:
		if row, ok := Selected(&o.panes[paneAccounts], o.syncing(v)); ok && o.focus == paneAccounts {
			return cancelSync(v, row)
		}
	}
	return Effect{}
}

// open opens what is under the cursor of the pane in focus.
func (o *overviewPage) open(v *View) Effect {
	p := &o.panes[o.focus]
	switch o.focus {
	case paneWhy:
		if g, ok := Selected(p, o.why(v)); ok {
			return Effect{Open: &Target{Screen: ScreenJobs, Row: JobGroup{groupKey: groupOf(&g.First), why: g.ReasonRow}}}
		}
	case paneNeeds:
		if n, ok := Selected(p, o.needs(v)); ok && n.open != nil {
			return n.open(v)
		}
	case paneAccounts:
		if id, ok := openable(p, o.syncing(v)); ok {
			return Effect{Open: ToAccount(id)}
		}
	}
	return Effect{}
}

// SelectedJob implements Jobber: the first job of a reason.
func (o *overviewPage) SelectedJob(v *View) (engine.JobID, string) {
	if o.focus != paneWhy {
		return "", ""
	}
	g, ok := Selected(&o.panes[paneWhy], o.why(v))
	return named(g.First, ok)
}

// Hold implements Holder.
func (o *overviewPage) Hold() { o.panes[o.focus].Hold() }

// Place implements Holder.
func (o *overviewPage) Place() string { return o.panes[o.focus].Place() }

// needs is what tracked accounts need of a person: that they are late.
func (f *freshness) needs(v *View) []Need {
	if f.data.Lates == 0 {
		return nil
	}
	return []Need{{
		ID: "late", Word: "WARN", Text: human.Counted(f.data.Lates, "tracked account is", "tracked accounts are") + " late" + f.until(v), More: f.need(), Key: "{open}",
		open: func(*View) Effect { s := ScreenAccounts; return Effect{Go: &s} },
	}}
}

// uptime is how long the engine has been up; "" = none runs. It moves with the clock in
// the title and never between two minutes: an idle screen must stay silent.
func uptime(v *View) string {
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
func (o *overviewPage) Copies(v *View) []Copy {
	p := &o.panes[o.focus]
	switch o.focus {
	case paneWhy:
		if g, ok := Selected(p, o.why(v)); ok {
			return CopiesOf(v, []any{g.ReasonRow}, func(int) string { return string(g.First.ID) })
		}
	case paneAccounts:
		if a, ok := Selected(p, o.syncing(v)); ok {
			return CopiesOf(v, []any{a}, func(int) string { return a.ID })
		}
	}
	return nil
}

// SelectedAccount implements AccountHolder: a sync under way.
func (o *overviewPage) SelectedAccount(v *View) string {
	if o.focus != paneAccounts {
		return ""
	}
	row, _ := Selected(&o.panes[paneAccounts], o.syncing(v))
	return row.ID
}
