// Package overview is the first screen, an airport's board: which calls leave next and what became of the
// last, what holds for another try, who is done when, and what needs a person.
package overview

import (
	"cmp"
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
	paneDepartures = iota
	paneNeeds
	paneAccounts
	paneCount
)

// Screen answers: is it healthy, what leaves next, who is done when, what needs me? It has three lists
// with a cursor each; tab goes from one to the next.
type Screen struct {
	panes [paneCount]lists.Pane
	// Which of the panes has the keys.
	focus int
	tape  page.Tape
	swept page.Tape // of the radar: each answer moves all of it
	plan  page.Forecast
	runs  calendarRuns
	board departures
	dead  block.DeadJobs
	fresh page.Freshness
	// What is collected arrives among the accounts.
	collections page.Collections
	plays       block.Played // of whom the report stands when all is done
	// Both keep the figures from changing faster than they can be read.
	pulse page.Pulse
	calm  page.Calm
	stack block.Most      // rows of the holding stack
	tall  int             // how many it had last
	axis  charts.TimeAxis // of the sawteeth, as they were last drawn
	// The timetable stands in the place of the board.
	timetable bool
}

// New makes the first screen.
func New() *Screen {
	return &Screen{tape: page.Tape{Every: boardEvery, Then: true}, swept: page.Tape{Every: page.OverviewTape, Then: true}}
}

// Screen implements Page.
func (o *Screen) Screen() page.Screen { return page.ScreenOverview }

// Tell implements [page.Teller]: the engine's sentence by the same reading as the figures below it.
func (o *Screen) Tell(v *page.View) string {
	e := &o.calm.Take(v).Engine
	return cmp.Or(e.Why, e.Pace)
}

// Crumb implements Page.
func (o *Screen) Crumb(*page.View) string { return "" }

// Want implements Page: the rows come with Watch; what is foreseen and what leaves next is asked for.
// The first question that is due is asked; the others follow with the next frames.
func (o *Screen) Want(v *page.View) engine.Query {
	if q := o.plan.Want(v, max(page.FarAhead, time.Duration(o.axis.Width)*o.axis.Step)); q != nil {
		return q
	}
	for _, want := range []func(*page.View) engine.Query{
		o.board.want, o.gaveUp, o.collections.Any, o.runs.want, o.fresh.Want,
	} {
		if q := want(v); q != nil {
			return q
		}
	}
	if a, done := o.allDone(v); done {
		return o.plays.Want(v, a, nil)
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
	o.plan.Got(v, q, a, err)
	switch asked := q.(type) {
	case engine.JobsQuery:
		if !o.board.got(v, asked, a, err) {
			o.dead.TakeIn(v, a, err)
		}
	}
	o.runs.got(v, q, a, err)
	o.fresh.Got(v, q, a, err)
	o.collections.Got(v, q, a, err)
	if _, ok := q.(engine.PlayQuery); ok {
		o.plays.Got(v, a, err)
	}
}

// Reload makes the page ask again at once.
func (o *Screen) Reload() {
	o.plan.Forget()
	o.board.Reload()
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

// needs lists what a person has to settle: what every screen counts in its title, then accounts
// that are late. Of the jobs that gave up it names the classes, once they are known.
func (o *Screen) needs(v *page.View) part.Slice[page.Need] {
	items := append(slices.Clone(v.Needs()), needs(&o.fresh, v)...)
	for i := range items {
		if items[i].ID == "failed" && len(o.dead.Rows) > 0 {
			items[i].More = block.ClassesOf(o.dead.List())
		}
	}
	if v.Engine.State != engine.EngineAPIDown { // which says so itself
		items = append(block.DownNeeds(v), items...)
	}
	return part.Slice[page.Need]{Items: items, Key: func(n page.Need) string { return n.ID },
		Cells: lists.NoCells[page.Need]}
}

// arrival is an account at work, or a collection.
type arrival struct {
	engine.AccountRow
	collection *engine.CollectionRow // nil = an account
	last       bool                  // it is done last, and stands in the place of others that have no row
}

// syncing lists the accounts at work by what is done next, which are the lanes of the timetable too, and where the board
// stands the collections among them.
func (o *Screen) syncing(v *page.View) part.Slice[arrival] {
	all := part.Slice[arrival]{Key: func(a arrival) string { return a.ID }, Cells: lists.NoCells[arrival]}
	for _, a := range o.plan.Arriving(v) {
		all.Items = append(all.Items, arrival{AccountRow: a})
	}
	if o.timetable && len(v.Syncing()) > 0 {
		return all
	}
	for _, c := range o.collections.Open(v) {
		ends := o.collections.Ends(v, c)
		at := slices.IndexFunc(all.Items, func(a arrival) bool {
			end := o.plan.EndOf(a.ID)
			return a.collection == nil && ends.After(v.Now) && (end.IsZero() || end.After(ends))
		})
		if at < 0 {
			at = len(all.Items)
		}
		all.Items = slices.Insert(all.Items, at, arrival{AccountRow: engine.AccountRow{ID: c.ID, RiotID: c.Name}, collection: c})
	}
	rows := o.panes[paneAccounts].Height
	if at := slices.IndexFunc(all.Items, func(a arrival) bool { return a.ID == o.plan.Last }); at >= 0 && rows > 1 && len(all.Items) > rows {
		for at != rows-1 { // it may be the newest, and stand higher
			next := at + cmp.Compare(rows-1, at)
			all.Items[at], all.Items[next] = all.Items[next], all.Items[at]
			at = next
		}
		all.Items[at].last = true
	}
	return all
}

// source is the list of the pane in focus.
func (o *Screen) source(v *page.View) part.Source {
	switch o.focus {
	case paneNeeds:
		return o.needs(v)
	case paneAccounts:
		return o.syncing(v)
	}
	return o.leaving()
}

// Cannot implements Page.
// With the keys elsewhere than where an action works it names the pane to go to.
func (o *Screen) Cannot(v *page.View, a page.Action) string {
	switch {
	case a == page.Pause && o.queue(v) == "":
		return v.Keyed("{pause} pauses the queue of a call: {next pane} to the departures")
	case (a == page.Retry || a == page.Cancel) && o.focus == paneDepartures:
		return o.whyNot(v, a)
	case a == page.Retry:
		return v.Keyed("{retry} retries a job: {next pane} to the departures")
	case a == page.Cancel && o.focus == paneAccounts:
		return lists.Missing(&o.panes[paneAccounts], o.syncing(v), "sync")
	case a == page.Cancel:
		return v.Keyed("{cancel} cancels a call or a sync: {next pane} goes there")
	}
	return ""
}

// queue is what a pause is of: the queue of the job under the cursor, or the one that is paused
// already; "" = none.
// A need has the id "pause:report.weekly" when it is about a queue that stands still.
func (o *Screen) queue(v *page.View) engine.Queue {
	switch o.focus {
	case paneDepartures:
		j, _ := o.job(v)
		return j.Queue
	case paneNeeds:
		if n, ok := lists.Selected(&o.panes[paneNeeds], o.needs(v)); ok {
			if name, paused := strings.CutPrefix(n.ID, "pause:"); paused {
				return engine.Queue(name)
			}
		}
	}
	return ""
}

// Timetable tells whether it stands in the place of the board.
func (o *Screen) Timetable() bool { return o.timetable }

// Act implements Page.
func (o *Screen) Act(v *page.View, a page.Action) page.Effect {
	switch a {
	case page.NextPane:
		o.focus = (o.focus + 1) % paneCount
		if o.timetable && o.focus == paneDepartures {
			o.focus = paneNeeds
		}
		return page.Effect{}
	case page.Timetable:
		if o.timetable = !o.timetable; o.timetable && o.focus == paneDepartures {
			o.focus = paneAccounts
		}
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
	case page.Collected:
		return page.Effect{Open: &page.Target{Screen: page.ScreenCollections}}
	case page.Calendar:
		return page.Effect{Open: &page.Target{Screen: page.ScreenSchedules}}
	case page.Open:
		return o.open(v)
	case page.Pause:
		if name := o.queue(v); name != "" {
			return page.PauseQueue(v, name)
		}
	case page.Retry, page.Cancel:
		if j, ok := o.job(v); ok {
			return page.ActJob(v, j, a)
		}
		if row, ok := lists.Selected(&o.panes[paneAccounts], o.syncing(v)); ok && a == page.Cancel && o.focus == paneAccounts {
			if row.collection != nil {
				return page.CancelCollection(row.collection)
			}
			return page.CancelSync(v, row.AccountRow)
		}
	}
	return page.Effect{}
}

// open opens what is under the cursor of the pane in focus.
// A call opens its job; a need whatever settles it; an account its own screen.
func (o *Screen) open(v *page.View) page.Effect {
	p := &o.panes[o.focus]
	switch o.focus {
	case paneDepartures:
		if j, ok := o.job(v); ok {
			return page.Effect{Open: page.ToJob(j.ID)}
		}
	case paneNeeds:
		if n, ok := lists.Selected(p, o.needs(v)); ok && n.Open != nil {
			return n.Open(v)
		}
	case paneAccounts:
		if row, ok := lists.Selected(p, o.syncing(v)); ok && row.collection != nil {
			return page.Effect{Open: page.ToCollection(row.collection.Name)}
		}
		if id, ok := lists.Openable(p, o.syncing(v)); ok {
			return page.Effect{Open: page.ToAccount(id)}
		}
	}
	return page.Effect{}
}

// SelectedJob implements Jobber: the job of a call. Accounts and needs have none.
func (o *Screen) SelectedJob(v *page.View) (engine.JobID, string) { return page.Named(o.job(v)) }

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
	case paneDepartures:
		if j, ok := o.job(v); ok {
			return page.CopiesOf(v, []any{j}, func(int) string { return string(j.ID) })
		}
	case paneAccounts:
		if a, ok := lists.Selected(p, o.syncing(v)); ok && a.collection != nil {
			return page.CopiesOf(v, []any{*a.collection}, func(int) string { return a.collection.Name })
		} else if ok {
			return page.CopiesOf(v, []any{a.AccountRow}, func(int) string { return a.ID })
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
	if row.collection != nil {
		return ""
	}
	return row.ID
}
