package page

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/part"
)

// Retries shows what was tried and failed, when it is tried again, and what of the limits that
// takes: each job is a ladder on one axis.
type Retries struct {
	ListPage[engine.JobRow]
	zoom  int // steps of the axis: below 0 nearer than what is due needs, above it farther
	plan  forecast
	tries tryCounts
	peek  peek // what became of the last try of the job under the cursor
	axis  axis
	sum   retrySum
	rows  highest // how many there were
	step  highest // of the axis that they needed
}

// NewRetryPage makes the screen.
func NewRetryPage() *Retries {
	p := &Retries{}
	p.List = NewList(columns.Jobs, retryColumns, jobKey)
	p.Is = ScreenOf[engine.JobRow]{Screen: ScreenRetries, File: "retries", Fill: func(v *View) { p.Put(v, MadeOf{Version: v.Version}, v.TryingAgain) }}
	return p
}

// retryColumns are the list's: what needs a view is drawn by it.
var retryColumns = columns.RetryList.
	Drawn("called", ByView(func(_ *View, j *engine.JobRow) part.Cell { return part.Plain(Or(j.Player, columns.JobCalled(j))) })).
	Drawn("for", ByView(func(v *View, j *engine.JobRow) part.Cell { return part.Plain(forWhom(v, j)) })).
	Drawn("late", ByView(lateCell)).
	Drawn("starts", ByView(func(v *View, j *engine.JobRow) part.Cell { return startsCell(v, *j) }))

// tryCounts are how the tries of the last hour ended, by their number.
type tryCounts struct {
	Answer
	counted engine.Metrics
	waits   []delays // before each
}

// delays are the shortest and the longest wait before a try; 0 = none is known.
type delays struct{ low, high time.Duration }

// triesEvery is how often they are counted anew.
const triesEvery = 10 * time.Second

func (t *tryCounts) want(v *View) engine.Query {
	if t.Have && v.Now.Sub(t.Answer.At) < v.unhurried(triesEvery) || v.Engine.State == engine.EngineBrowse || !t.Due(v, v.Seq) {
		return nil
	}
	return engine.MetricsQuery{}
}

func (t *tryCounts) got(v *View, q engine.Query, a engine.Answer, err error) {
	Receive[engine.MetricsQuery](&t.Answer, v, q, a, err, &t.counted)
}

// learn takes in what the policies of jobs say of the waits before their tries.
func (t *tryCounts) learn(jobs []*engine.JobRow) {
	for _, j := range jobs {
		if j.Delay > 0 {
			t.wait(j.Tries+1, j.Delay)
		}
		for i, d := range j.Then {
			t.wait(j.Tries+2+i, d)
		}
	}
}

func (t *tryCounts) wait(try int, d time.Duration) {
	for len(t.waits) <= try {
		t.waits = append(t.waits, delays{})
	}
	w := &t.waits[try]
	if w.low == 0 {
		w.low = d
	}
	w.low, w.high = min(w.low, d), max(w.high, d)
}

// name is what a try is called: 2nd, after 3 s; after 5–30 s where jobs follow several policies.
func (t *tryCounts) name(v *View, try int) string {
	name := human.Ordinal(try)
	if try >= len(t.waits) || t.waits[try].high == 0 {
		return name + " try"
	}
	w := t.waits[try]
	name += ", after "
	if w.low < w.high {
		name += strings.TrimSuffix(human.Window(w.low), " s") + v.Theme.Glyphs.Range
	}
	return name + human.Window(w.high)
}

// Want implements Page: what of the limits is promised, how tries ended, and the last try of
// the job under the cursor. The next retries come with Watch.
func (p *Retries) Want(v *View) engine.Query {
	if q := p.plan.want(v, farAhead); q != nil {
		return q
	}
	if q := p.tries.want(v); q != nil {
		return q
	}
	return p.peek.want(v, &p.List)
}

// Got implements Page.
func (p *Retries) Got(v *View, q engine.Query, a engine.Answer, err error) {
	if p.plan.got(v, q, a, err) {
		return
	}
	if _, ok := q.(engine.JobQuery); ok {
		p.peek.got(v, q, a, err)
		return
	}
	p.tries.got(v, q, a, err)
}

// Reload makes the page ask again at once.
func (p *Retries) Reload() {
	p.plan.Forget()
	p.tries.Forget()
}

// Cannot implements Page.
func (p *Retries) Cannot(v *View, a Action) string {
	p.Refresh(v)
	switch {
	case p.Cur.MarkCount() > 0 && (a == Retry || a == Cancel):
		return ""
	case a == Pause:
		return v.Keyed(PauseElsewhere)
	case a == Open:
		return p.CannotOpen("retry")
	case a == Retry, a == Cancel, a == Due, a == Force:
		return p.Missing("retry")
	case a == Nearer && p.axis.Step == axisSteps[0]:
		return v.Keyed("this is the nearest: {farther} looks farther ahead")
	case a == Farther && p.axis.Step >= farthestStep:
		return v.Keyed("this is a whole day: {nearer} looks less far ahead")
	}
	return ""
}

// Act implements Page.
func (p *Retries) Act(v *View, a Action) Effect {
	p.Refresh(v)
	switch {
	case p.List.Act(v, a):
		return Effect{}
	case a == Nearer:
		p.zoom--
		return Effect{}
	case a == Farther:
		p.zoom++
		return Effect{}
	case a == Trigger:
		return Effect{Ask: AskSync}
	case a == ByClass:
		return Effect{Open: &Target{Screen: ScreenClasses}}
	case a == ByReason:
		jobs := ScreenJobs
		return Effect{Go: &jobs}
	case p.Cur.MarkCount() > 0 && (a == Retry || a == Cancel):
		all := v.TryingAgain()
		rows, hidden := p.marked(all)
		return wordForAll(bulk(v, a, rows, hidden), a, p.Filter() == "" && len(rows) == len(all))
	}
	if j, ok := p.Selected(); ok {
		return actJob(v, j, a)
	}
	if id, ok := p.ToOpen(); ok && a == Open {
		return Effect{Open: ToJob(engine.JobID(id))}
	}
	return Effect{}
}

// SelectedJob implements Jobber.
func (p *Retries) SelectedJob(v *View) (engine.JobID, string) {
	p.Refresh(v)
	return named(p.Selected())
}
