// Package classes is the screen of error classes: failures of one fingerprint as one thing to act on.
package classes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
)

// screen lists error classes: failures of one fingerprint as one thing to act on. Jobs share a
// class when Riot's answer, the method and the shape of the message agree, with numbers and ids
// taken out. A patch day's ten thousand failures are three rows.
type screen struct {
	lists.Page[engine.ClassRow]
	page.Answer
	queue engine.Queue // "" = all
	// The classes, and how many jobs are in them all.
	found  engine.ClassesAnswer
	jobs   classJobs
	latest *inspector.Job // the one of the selected class that failed last: what Riot answered it
}

// askEvery is how often classes are asked for again at most: the engine walks all failed jobs to
// answer.
const askEvery = 10 * time.Second

// New makes the list of a queue; "" means all.
func New(queue engine.Queue) page.Page {
	p := &screen{queue: queue}
	p.List = lists.New(columns.Classes, columns.ClassList, func(r *engine.ClassRow) string { return r.ID })
	p.Is = lists.Declaration[engine.ClassRow]{
		Screen: page.ScreenClasses, Crumb: "Error classes", File: "classes", Row: "error class",
		Fill: func(v *page.View) {
			p.Put(v, page.MadeOf{Came: p.Came}, func() []engine.ClassRow { return p.found.Classes })
		},
		Does: map[page.Action]func(*page.View, engine.ClassRow) page.Effect{
			page.Open: func(_ *page.View, r engine.ClassRow) page.Effect {
				return page.Effect{Open: &page.Target{Screen: page.ScreenJobs, Queue: p.queue, Row: r}}
			},
			page.Retry:  func(_ *page.View, r engine.ClassRow) page.Effect { return onClass(page.Retry, p.queue, r) },
			page.Reopen: func(_ *page.View, r engine.ClassRow) page.Effect { return onClass(page.Reopen, p.queue, r) },
		},
		Cannot: func(v *page.View, a page.Action, r engine.ClassRow) string {
			// Only what gave up can be opened again.
			return human.If(a == page.Reopen && r.Dead == 0, v.Keyed("none of its jobs gave up: {retry} retries those that wait"))
		},
	}
	return p
}

// Want implements Page: the classes, then the jobs of the selected one, then what Riot answered to
// the one that failed last. One question is under way at a time.
func (p *screen) Want(v *page.View) engine.Query {
	p.Refresh(v)
	// What failed may be asked again at once; Due sets its own pace for that.
	late := !p.Have || p.Answer.Err != nil || v.Now.Sub(p.Answer.At) >= askEvery
	switch r, ok := p.Selected(); {
	case late && p.Due(v, v.Seq):
		return engine.ClassesQuery{Queue: p.queue}
	case ok && p.jobs.wants(v, r.ID):
		return engine.JobsQuery{Page: engine.Page{Limit: mostOfClass}, Queue: p.queue, States: block.FailedStates,
			Class: engine.Class(r.ID), Ended: true}
	case ok && r.Latest != "":
		if p.latest == nil || p.latest.ID != r.Latest {
			// The inspector brings the question, the answer and the drawing of one job.
			p.latest = inspector.NewJob(r.Latest)
		}
		if q := p.latest.Ask(v); q != nil {
			return q
		}
	}
	return nil
}

// Got implements Page.
func (p *screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	switch q := q.(type) {
	case engine.ClassesQuery:
		if p.Take(v, err) {
			p.found, _ = a.(engine.ClassesAnswer)
		}
	case engine.JobsQuery:
		p.jobs.got(v, q, a, err)
	case engine.JobQuery:
		if p.latest != nil {
			p.latest.Got(v, q, a, err)
		}
	}
}

// Reload makes the page ask again at once.
// Both the classes and the jobs of the selected one are read anew.
func (p *screen) Reload() {
	p.Answer.Forget()
	p.jobs.Forget()
}

// onClass acts on a whole class. The engine counts first what it would act on and
// what that costs; one job goes first, the others when it has succeeded.
// The canary: if the first job fails again in the same way, the others are not tried, and Riot is
// not called ten thousand times for nothing.
func onClass(a page.Action, queue engine.Queue, r engine.ClassRow) page.Effect {
	c := engine.Command{Op: engine.Op(a), Canary: true,
		Select: &engine.Selection{Filter: &engine.JobFilter{Class: engine.Class(r.ID), Queue: queue}}}
	e := page.Ask(c, string(r.Class))
	// To open jobs again asks by itself; a retry does so here.
	if a == page.Retry {
		e.Try, e.Confirm = true, &page.Confirm{Question: "Retry the class " + string(r.Class) + "?", Yes: "retry it",
			Lines: []string{operation.CanaryLine}}
	}
	e.Confirm.Lines = slices.Insert(e.Confirm.Lines, 0,
		human.Counted(r.Jobs, "job", "jobs")+", "+page.Count(r.Waiting)+" waiting and "+page.Count(r.Dead)+
			" that gave up, such as "+strings.Join(r.Sample, ", ")+".")
	return e
}

// empty says why no class is listed; that none is, is good news.
func (p *screen) empty(v *page.View) string {
	return cmp.Or(p.Absent(v, "the error classes", "error classes"),
		cmp.Or(p.List.Empty(v), "no job waits after a failure, and none gave up"))
}
