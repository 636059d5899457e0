package page

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Classes lists error classes: failures of one fingerprint as one thing to act on
// (I-6).
type Classes struct {
	listPage[engine.ClassRow]
	answer
	queue engine.Queue // "" = all
	found engine.ClassesAnswer
}

// classesEvery is how often classes are asked for again at most: the engine walks
// all failed jobs to answer.
const classesEvery = 10 * time.Second

// NewClasses makes the list of a queue; "" means all.
func NewClasses(queue engine.Queue) *Classes {
	p := &Classes{queue: queue}
	p.list = newList(columns.Classes, columns.ClassList, func(r *engine.ClassRow) string { return r.ID })
	p.is = screenOf[engine.ClassRow]{
		screen: ScreenClasses, crumb: "Error classes", file: "classes", row: "error class",
		fill: func(v *View) { p.put(v, madeOf{got: p.got}, func() []engine.ClassRow { return p.found.Classes }) },
		does: map[Action]func(*View, engine.ClassRow) Effect{
			Open: func(_ *View, r engine.ClassRow) Effect {
				return Effect{Open: &Target{Screen: ScreenJobs, Queue: p.queue, Row: r}}
			},
			Retry:  func(_ *View, r engine.ClassRow) Effect { return onClass(Retry, p.queue, r) },
			Reopen: func(_ *View, r engine.ClassRow) Effect { return onClass(Reopen, p.queue, r) },
		},
		cannot: func(v *View, a Action, r engine.ClassRow) string {
			if a == Reopen && r.Dead == 0 {
				return v.keyed("none of its jobs is DISCARDED: {retry} retries those that wait")
			}
			return ""
		},
	}
	return p
}

// Want implements Page.
func (p *Classes) Want(v *View) engine.Query {
	if p.have && p.answer.err == nil && v.Now.Sub(p.answer.at) < classesEvery || !p.due(v, v.Seq) {
		return nil
	}
	return engine.ClassesQuery{Queue: p.queue}
}

// Got implements Page.
func (p *Classes) Got(v *View, q engine.Query, a engine.Answer, err error) {
	asked, ok := q.(engine.ClassesQuery)
	if ok && asked.Queue == p.queue && p.take(v, err) {
		p.found, _ = a.(engine.ClassesAnswer)
	}
}

// onClass acts on a whole class. The engine counts first what it would act on and
// what that costs; one job goes first, the others when it has succeeded.
func onClass(a Action, queue engine.Queue, r engine.ClassRow) Effect {
	c := engine.Command{Op: engine.Op(a), Canary: true, Select: &engine.Selection{Filter: &engine.JobFilter{Class: engine.Class(r.ID), Queue: queue}}}
	e := Ask(c, string(r.Class))
	if a == Retry {
		e.Try, e.Confirm = true, &Confirm{Question: "Retry the class " + string(r.Class) + "?", Yes: "retry it", Lines: []string{operation.CanaryLine}}
	}
	e.Confirm.Lines = slices.Insert(e.Confirm.Lines, 0,
		human.Counted(r.Jobs, "job", "jobs")+", "+count(r.Waiting)+" waiting and "+count(r.Dead)+" discarded, such as "+strings.Join(r.Sample, ", ")+".")
	return e
}

// classRows is how many rows the selected class gets at least.
const classRows = 4

// Draw implements Page.
func (p *Classes) Draw(v *View) []string {
	p.refresh(v)
	h, below := p.parts(v, classRows)
	list := p.section(v, v.inner(v.W), h, p.empty(v), part.Section{Title: "ERROR CLASSES", Note: p.note(v, string(p.queue), p.jobs()), Tail: p.told(v)})
	title, note := "SELECTED", ""
	r, ok := p.selected()
	if ok {
		title, note = string(r.Class), columns.ClassWhere(&r)
	}
	return v.whole(
		list,
		part.Section{Title: title, Note: note, Tail: p.about(v.keyed("{open} lists its jobs")), Rows: append(classDetail(v, &r, v.inner(v.W), below), classHour(v, &r, v.inner(v.W))...), Height: below})
}

// jobs is how many failed jobs there are.
func (p *Classes) jobs() string {
	if p.found.Jobs == 0 {
		return ""
	}
	return human.Counted(p.found.Jobs, "failed job", "failed jobs")
}

// classDetail tells all of the selected class: where there is no room to tell it
// whole, each fact has one row.
func classDetail(v *View, r *engine.ClassRow, w, h int) []string {
	if r.ID == "" {
		return []string{v.row(w, part.As(themes.Dim, " no class is selected"))}
	}
	facts := []fact{
		{"latest", or(r.Error, part.None)}, {"jobs", strings.Join(r.Sample, ", ")},
		{"seen", "first " + v.clock(r.First) + ", last " + v.clock(r.Last) + ", " + human.Percent(r.Share) + " of all failures"},
		{"shape", or(r.Shape, part.None)},
	}
	if rows := factRows(v, w, facts); len(rows) <= h {
		return rows
	}
	var rows []string
	for _, f := range facts {
		rows = append(rows, factRow(v, w, f))
	}
	return rows[:min(len(rows), h)]
}

// classChart is how many rows the chart of a class takes.
const classChart = 5

// classHour are the failures of a class in the past hour; none where they are not known.
func classHour(v *View, r *engine.ClassRow, w int) []string {
	k := (w - 12) / engine.ClassSteps
	if len(r.Lately) != engine.ClassSteps || k < 1 || v.Size == S {
		return nil
	}
	a := axis{part.NewAxis(v.Now, time.Hour/time.Duration(k*engine.ClassSteps), k*engine.ClassSteps, k*engine.ClassSteps+2)}
	values, top := a.unknown(), 3
	for i := range k * engine.ClassSteps {
		values[i] = float64(r.Lately[i/k])
		top = max(top, r.Lately[i/k])
	}
	c := part.NewChart(v.Theme, a.Axis, classChart)
	c.Words(1)
	c.Area(2, classChart-2, part.Series{Values: values, Top: float64(top), Token: themes.Err})
	c.Seam(2, classChart-2)
	labels := map[int]string{2: "failed", 3: "per " + human.Window(time.Hour/engine.ClassSteps), 4: "up to " + count(top)}
	rows := make([]string, classChart)
	l := part.NewLine(v.Theme, w)
	for y := range rows {
		l.Reset(w, false)
		rows[y] = c.Row(l.Gap(1).Field(part.As(themes.Dim, labels[y]), 9, part.Words), y).String()
	}
	return rows
}

func (p *Classes) empty(v *View) string {
	return or(p.absent(v, "the error classes", "error classes"), or(p.list.empty(v), "no job waits after a failure, and none is discarded"))
}
