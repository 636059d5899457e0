package page

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/part"
)

// Retries shows what will be tried again, when, and what of the limits that takes.
type Retries struct {
	listPage[engine.JobRow]
	zoom int // index of horizons
	answer
	plan engine.Forecast
}

// NewRetries makes the screen.
func NewRetries() *Retries {
	p := &Retries{zoom: usualHorizon}
	shown := columns.RetryList.Drawn("starts", byView(func(v *View, j *engine.JobRow) part.Cell {
		return startsCell(v, *j)
	}))
	p.list = newList(columns.Jobs, shown, jobKey)
	p.is = screenOf[engine.JobRow]{screen: ScreenRetries, file: "retries", fill: func(v *View) { p.put(v, madeOf{version: v.Version}, v.TryingAgain) }}
	return p
}

// replanEvery is how long a plan holds: it only gives an impression of what is to come.
const replanEvery = 2 * time.Second

// Want implements Page: what of the limits is promised. The next retries come with Watch.
func (p *Retries) Want(v *View) engine.Query {
	switch age := v.Now.Sub(p.answer.at); {
	case p.pending, !v.Ready, v.Frozen && p.have, v.Engine.State == engine.EngineBrowse:
		return nil
	case p.have && age >= 0 && age < v.unhurried(replanEvery):
		return nil
	}
	p.pending, p.answer.at = true, v.Now
	return engine.ForecastQuery{Ahead: 24 * time.Hour}
}

// Got implements Page.
func (p *Retries) Got(v *View, q engine.Query, a engine.Answer, err error) {
	if _, ok := q.(engine.ForecastQuery); ok && p.take(v, err) {
		p.plan, _ = a.(engine.Forecast)
	}
}

// Cannot implements Page.
func (p *Retries) Cannot(v *View, a Action) string {
	p.refresh(v)
	switch {
	case p.cur.MarkCount() > 0 && (a == Retry || a == Cancel):
		return ""
	case a == Pause:
		return v.keyed("{overview/pause} pauses a queue: go to the overview or to the jobs")
	case a == Open:
		return p.cannotOpen("retry")
	case a == Retry, a == Cancel, a == Due, a == Force:
		return p.missing("retry")
	case a == Nearer && p.zoom == 0:
		return v.keyed("this is the nearest: {farther} looks farther ahead")
	case a == Farther && p.zoom == len(horizons)-1:
		return v.keyed("this is a whole day: {nearer} looks less far ahead")
	}
	return ""
}

// Act implements Page.
func (p *Retries) Act(v *View, a Action) Effect {
	p.refresh(v)
	switch {
	case p.list.act(v, a):
		return Effect{}
	case a == Nearer:
		p.zoom = max(p.zoom-1, 0)
		return Effect{}
	case a == Farther:
		p.zoom = min(p.zoom+1, len(horizons)-1)
		return Effect{}
	case a == Trigger:
		return Effect{Ask: AskSync}
	case a == ByClass:
		return Effect{Open: &Target{Screen: ScreenClasses}}
	case a == ByReason:
		jobs := ScreenJobs
		return Effect{Go: &jobs}
	case p.cur.MarkCount() > 0 && (a == Retry || a == Cancel):
		all := v.TryingAgain()
		rows, hidden := p.marked(all)
		return wordForAll(bulk(v, a, rows, hidden), a, p.Filter() == "" && len(rows) == len(all))
	}
	if j, ok := p.selected(); ok {
		return actJob(v, j, a)
	}
	if id, ok := p.toOpen(); ok && a == Open {
		return Effect{Open: toJob(engine.JobID(id))}
	}
	return Effect{}
}

// SelectedJob implements Jobber.
func (p *Retries) SelectedJob(v *View) (engine.JobID, string) {
	p.refresh(v)
	return named(p.selected())
}
