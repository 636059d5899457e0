package page

import (
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Panes of the overview, in reading order.
const (
	paneQueues = iota
	paneNeeds
	paneRetries
	paneSyncing
	overviewPanes
)

// Overview answers: is it healthy, what is it doing, what needs me?
type Overview struct {
	panes [overviewPanes]pane
	focus int
	tape  tape
	fresh freshness
	day   dayTraffic
	pulse pulse
	calm  calm
}

// NewOverview makes the first screen.
func NewOverview() *Overview { return &Overview{tape: tape{every: overviewTape, then: true}} }

// Screen implements Page.
func (o *Overview) Screen() Screen { return ScreenOverview }

// Crumb implements Page.
func (o *Overview) Crumb(*View) string { return "" }

// Want implements Page: all but the freshness and the last day comes with Watch.
func (o *Overview) Want(v *View) engine.Query {
	if q := o.fresh.want(v); q != nil {
		return q
	}
	return o.day.want(v)
}

// Got implements Page.
func (o *Overview) Got(v *View, q engine.Query, a engine.Answer, err error) {
	o.fresh.got(v, q, a, err)
	o.day.got(q, a, err)
}

func (o *Overview) queues(v *View) part.Slice[engine.QueueRow] {
	return part.Slice[engine.QueueRow]{
		Items: v.Queues,
		Key:   func(q engine.QueueRow) string { return string(q.Name) },
		Cells: func(q engine.QueueRow, cells []part.Cell) []part.Cell { return queueCells(v, q, cells) },
	}
}

func (o *Overview) needs(v *View) part.Slice[Need] {
	return part.Slice[Need]{
		Items: v.Needs(),
		Key:   func(n Need) string { return n.ID },
		Cells: func(n Need, cells []part.Cell) []part.Cell {
			return append(cells, v.state(n.Word), part.Plain(n.Text), part.As(themes.Accent, v.keyed(n.Key)))
		},
	}
}

func (o *Overview) retries(v *View) part.Slice[engine.JobRow] {
	return part.Slice[engine.JobRow]{
		Items: v.Retries(),
		Key:   jobID,
		Cells: func(j engine.JobRow, cells []part.Cell) []part.Cell {
			return append(cells,
				part.As(themes.Retry, v.until(j.Due)),
				part.Plain(columns.JobName(&j)),
				part.Plain("try "+nextOf(j)),
				part.As(themes.Dim, columns.LastResult(pen{v}, &j)),
			)
		},
	}
}

func (o *Overview) syncing(v *View) part.Slice[engine.AccountRow] {
	return part.Slice[engine.AccountRow]{Items: v.Syncing(), Key: accountID, Cells: func(a engine.AccountRow, cells []part.Cell) []part.Cell {
		return syncCells(v, a, cells)
	}}
}

func jobID(j engine.JobRow) string         { return string(j.ID) }
func accountID(a engine.AccountRow) string { return a.ID }

// nextOf is the try that comes next: 3/5.
func nextOf(j engine.JobRow) string {
	j.Tries++
	return columns.Tries(&j, j.Tries)
}

// source is the list of the pane in focus.
func (o *Overview) source(v *View) part.Source {
	switch o.focus {
	case paneQueues:
		return o.queues(v)
	case paneNeeds:
		return o.needs(v)
	case paneRetries:
		return o.retries(v)
	}
	return o.syncing(v)
}

// Cannot implements Page.
func (o *Overview) Cannot(v *View, a Action) string {
	p := &o.panes[o.focus]
	switch {
	case a == Pause && o.focus == paneQueues:
		return missing(p, o.queues(v), "queue")
	case a == Pause && o.focus == paneNeeds:
		if q := o.pausedNeed(v); q != "" {
			return ""
		}
		return v.keyed("nothing to resume here: {next pane} to the queues")
	case a == Pause:
		return v.keyed("{pause} pauses a queue: {next pane} to the queues")
	case a == Retry && o.focus == paneRetries:
		return missing(p, o.retries(v), "retry")
	case a == Retry:
		return v.keyed("{retry} retries a job: {next pane} to the next retries")
	case a == Cancel && o.focus == paneRetries:
		return missing(p, o.retries(v), "retry")
	case a == Cancel && o.focus == paneSyncing:
		return missing(p, o.syncing(v), "sync")
	case a == Cancel:
		return v.keyed("{cancel} cancels a sync or a retry: {next pane} to one")
	}
	return ""
}

// pausedNeed is the queue of the need under the cursor, if it is one.
func (o *Overview) pausedNeed(v *View) engine.Queue {
	n, ok := selected(&o.panes[paneNeeds], o.needs(v))
	name, isPause := strings.CutPrefix(n.ID, "pause:")
	if !ok || !isPause {
		return ""
	}
	return engine.Queue(name)
}

// Act implements Page.
func (o *Overview) Act(v *View, a Action) Effect {
	if a == NextPane {
		o.focus = (o.focus + 1) % overviewPanes
		return Effect{}
	}
	if o.panes[o.focus].act(o.source(v), a) {
		return Effect{}
	}
	switch a {
	case Trigger:
		return Effect{Ask: AskSync}
	case Calendar:
		return Effect{Open: &Target{Screen: ScreenSchedules}}
	}
	if a == Open {
		return o.open(v)
	}
	switch o.focus {
	case paneQueues:
		return o.actQueue(v, a)
	case paneNeeds:
		return o.actNeed(v, a)
	case paneRetries:
		if j, ok := selected(&o.panes[paneRetries], o.retries(v)); ok {
			return actJob(v, j, a)
		}
	case paneSyncing:
		return o.actSync(v, a)
	}
	return Effect{}
}

func (o *Overview) actQueue(v *View, a Action) Effect {
	q, ok := selected(&o.panes[paneQueues], o.queues(v))
	switch {
	case ok && a == Pause:
		return pauseQueue(v, q.Name)
	}
	return Effect{}
}

func (o *Overview) actNeed(v *View, a Action) Effect {
	if a == Pause {
		return pauseQueue(v, o.pausedNeed(v))
	}
	return Effect{}
}

// open opens what is under the cursor of the pane in focus.
func (o *Overview) open(v *View) Effect {
	p := &o.panes[o.focus]
	switch o.focus {
	case paneQueues:
		if name, ok := openable(p, o.queues(v)); ok {
			return Effect{Open: toQueue(engine.Queue(name))}
		}
	case paneNeeds:
		if n, ok := selected(p, o.needs(v)); ok && n.open != nil {
			return n.open(v)
		}
	case paneRetries:
		if id, ok := openable(p, o.retries(v)); ok {
			return Effect{Open: toJob(engine.JobID(id))}
		}
	case paneSyncing:
		if id, ok := openable(p, o.syncing(v)); ok {
			return Effect{Open: toAccount(id)}
		}
	}
	return Effect{}
}

func (o *Overview) actSync(v *View, a Action) Effect {
	row, ok := selected(&o.panes[paneSyncing], o.syncing(v))
	switch {
	case ok && a == Cancel:
		return cancelSync(v, row)
	}
	return Effect{}
}

// queueCells are a queue's row: what waits, runs, was held, is dead.
func queueCells(v *View, q engine.QueueRow, cells []part.Cell) []part.Cell {
	n := func(s engine.State, t themes.Token) part.Cell {
		if q.Counts[s] == 0 {
			return part.As(themes.Dim, "0")
		}
		return part.As(t, count(q.Counts[s]))
	}
	return append(cells, part.Plain(string(q.Name)), queueState(v, q),
		n(engine.Available, themes.Text), n(engine.Running, themes.Run), n(engine.Retryable, themes.Retry),
		n(engine.Discarded, themes.Err), n(engine.Scheduled, themes.Held),
		part.As(themes.Dim, settledRate(v, q)), part.As(themes.Dim, queueWhy(v, q)))
}

// settledRate is how many jobs of a queue end in a minute, once one has passed.
func settledRate(v *View, q engine.QueueRow) string {
	if v.Engine.SinceStart {
		return part.None
	}
	return strconv.Itoa(int(q.PerMin + 0.5))
}

// queueState is the one word of a queue.
func queueState(v *View, q engine.QueueRow) part.Cell {
	switch {
	case q.Paused:
		return v.state("PAUSED")
	case q.Stand != "":
		return v.state(string(q.Stand))
	case q.Counts[engine.Running] > 0:
		return v.state("RUNNING")
	case q.Counts[engine.Available]+q.Counts[engine.Scheduled]+q.Counts[engine.Retryable] > 0:
		return v.state("QUEUED")
	}
	return part.As(themes.Dim, "  idle")
}

// SelectedJob implements Jobber: a job of the next retries.
func (o *Overview) SelectedJob(v *View) (engine.JobID, string) {
	if o.focus != paneRetries {
		return "", ""
	}
	return named(selected(&o.panes[paneRetries], o.retries(v)))
}

// Hold implements Holder.
func (o *Overview) Hold() { o.panes[o.focus].Hold() }

// Place implements Holder.
func (o *Overview) Place() string { return o.panes[o.focus].Place() }
