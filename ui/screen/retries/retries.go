// Package retries is the screen of what was tried and failed, and when it is tried again.
package retries

import (
	"cmp"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Screen shows what was tried and failed, when it is tried again, and what of the limits that
// takes: each job is a ladder on one axis. The jobs are those that wait for another try; what gave
// up is no retry any more.
type Screen struct {
	lists.Page[engine.JobRow]
	zoom  int // steps of the axis: below 0 nearer than what is due needs, above it farther
	plan  page.Forecast
	tries tryCounts
	tape  page.Tape
	peek  inspector.Peek // what became of the last try of the job under the cursor
	// It is placed with each frame; the keys that zoom look at it.
	axis charts.TimeAxis
	sum  totals
	rows highest // how many there were
	step highest // of the axis that they needed
}

// New makes the screen.
func New() page.Page {
	p := &Screen{tape: page.Tape{Every: page.TapeEvery}}
	p.List = lists.New(columns.Jobs, shownColumns, block.JobKey)
	p.Is = lists.Declaration[engine.JobRow]{Screen: page.ScreenRetries, File: "retries",
		Fill: func(v *page.View) { p.Put(v, page.MadeOf{Version: v.Version}, v.TryingAgain) }}
	return p
}

// shownColumns are the list's. What needs a view, such as the engine's clock or a player's name, is
// drawn by it.
var shownColumns = columns.RetryList.
	Drawn("called", page.ByView(func(_ *page.View, j *engine.JobRow) part.Cell {
		return part.Plain(cmp.Or(j.Player, columns.JobCalled(j)))
	})).
	Drawn("for", page.ByView(func(v *page.View, j *engine.JobRow) part.Cell {
		return part.Plain(block.ForWhom(v, j))
	})).
	Drawn("late", page.ByView(lateCell)).
	Drawn("starts", page.ByView(func(v *page.View, j *engine.JobRow) part.Cell { return startsCell(v, *j) }))

// tryCounts are how the tries of the last hour ended, by their number.
// Index 0 of Tries is the first try.
type tryCounts struct {
	page.Answer
	counted engine.Metrics
	// By the number of the try: waits[2] is before the second one.
	waits []delays // before each
}

// delays are the shortest and the longest wait before a try; 0 = none is known.
type delays struct{ low, high time.Duration }

// triesEvery is how often they are counted anew.
const triesEvery = 10 * time.Second

// want asks for the counts; nil where they hold still, or where no engine runs that would count.
func (t *tryCounts) want(v *page.View) engine.Query {
	if t.Have && v.Now.Sub(t.Answer.At) < v.Unhurried(triesEvery) || v.Engine.State == engine.EngineBrowse ||
		!t.Due(v, v.Seq) {
		return nil
	}
	return engine.MetricsQuery{}
}

func (t *tryCounts) got(v *page.View, q engine.Query, a engine.Answer, err error) {
	page.Receive[engine.MetricsQuery](&t.Answer, v, q, a, err, &t.counted)
}

// learn takes in what the policies of jobs say of the waits before their tries.
// Delay is the wait that runs now, and Then are those that would follow. Their policies are not
// known here, so that what jobs tell is the only source.
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

// wait takes in one wait before a try. A wait of 0 stands for none, which no policy has.
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
func (t *tryCounts) name(v *page.View, try int) string {
	name := human.Ordinal(try)
	if try >= len(t.waits) || t.waits[try].high == 0 {
		return name + " try"
	}
	w := t.waits[try]
	name += ", after " + human.If(w.low < w.high, strings.TrimSuffix(human.Window(w.low), " s")+v.Theme.Glyphs.Range)
	return name + human.Window(w.high)
}

// Want implements Page: what of the limits is promised, how tries ended, and the last try of
// the job under the cursor. The next retries come with Watch.
func (p *Screen) Want(v *page.View) engine.Query {
	if q := p.plan.Want(v, page.FarAhead); q != nil {
		return q
	}
	if q := p.tries.want(v); q != nil {
		return q
	}
	return p.peek.Want(v, &p.List)
}

// Got implements Page.
func (p *Screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	if p.plan.Got(v, q, a, err) {
		return
	}
	if _, ok := q.(engine.JobQuery); ok {
		p.peek.Got(v, q, a, err)
		return
	}
	p.tries.got(v, q, a, err)
}

// Reload makes the page ask again at once.
func (p *Screen) Reload() {
	p.plan.Forget()
	p.tries.Forget()
}

// Cannot implements Page.
// What a retry cannot do besides is told by the engine when it is asked.
func (p *Screen) Cannot(v *page.View, a page.Action) string {
	p.Refresh(v)
	switch {
	case p.Cur.MarkCount() > 0 && (a == page.Retry || a == page.Cancel):
		return ""
	case a == page.Pause:
		return v.Keyed(page.PauseElsewhere)
	case a == page.Open:
		return p.CannotOpen("retry")
	case a == page.Retry, a == page.Cancel, a == page.Due, a == page.Force:
		return p.Missing("retry")
	case a == page.Nearer && p.axis.Step == charts.AxisSteps[0]:
		return v.Keyed("this is the nearest: {farther} looks farther ahead")
	case a == page.Farther && p.axis.Step >= farthestStep:
		return v.Keyed("this is a whole day: {nearer} looks less far ahead")
	}
	return ""
}

// Act implements Page.
func (p *Screen) Act(v *page.View, a page.Action) page.Effect {
	p.Refresh(v)
	switch {
	case p.List.Act(v, a):
		return page.Effect{}
	case a == page.Nearer:
		p.zoom--
		return page.Effect{}
	case a == page.Farther:
		p.zoom++
		return page.Effect{}
	case a == page.Trigger:
		return page.Effect{Ask: page.AskSync}
	case a == page.ByClass:
		return page.Effect{Open: &page.Target{Screen: page.ScreenClasses}}
	// The reasons of all jobs are the groups of Jobs.
	case a == page.ByReason:
		jobs := page.ScreenJobs
		return page.Effect{Go: &jobs}
	case p.Cur.MarkCount() > 0 && (a == page.Retry || a == page.Cancel):
		// Marks hold through filters, so marked jobs are looked up among all.
		all := v.TryingAgain()
		rows, hidden := p.Marked(all)
		return lists.WordForAll(lists.Bulk(v, a, rows, hidden), a, p.Filter() == "" && len(rows) == len(all))
	}
	if j, ok := p.Selected(); ok {
		return page.ActJob(v, j, a)
	}
	if id, ok := p.ToOpen(); ok && a == page.Open {
		return page.Effect{Open: page.ToJob(engine.JobID(id))}
	}
	return page.Effect{}
}

// SelectedJob implements Jobber.
func (p *Screen) SelectedJob(v *page.View) (engine.JobID, string) {
	p.Refresh(v)
	return page.Named(p.Selected())
}
