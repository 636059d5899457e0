package page

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/part"
)

// Reasons groups the jobs that do not run by the one reason that each has (I-1):
// what holds how many, and when it ends.
type Reasons struct {
	listPage[engine.ReasonRow]
	paged
	queue   engine.Queue // "" = all
	groups  []engine.ReasonRow
	coming  engine.Reasons // of the pages that have come
	growing bool           // groups are of the pages so far
}

// NewReasons makes the list of a queue; "" means all.
func NewReasons(queue engine.Queue) *Reasons {
	p := &Reasons{queue: queue}
	p.list = newList(columns.Reasons, columns.ReasonList, func(r *engine.ReasonRow) string { return r.Shape })
	p.is = screenOf[engine.ReasonRow]{
		screen: ScreenReasons, crumb: "Reasons", file: "reasons", row: "reason",
		fill: func(v *View) { p.put(v, madeOf{got: p.got}, func() []engine.ReasonRow { return p.groups }) },
		does: map[Action]func(*View, engine.ReasonRow) Effect{
			Open: func(_ *View, r engine.ReasonRow) Effect {
				return Effect{Open: &Target{Screen: ScreenJobs, Queue: p.queue, Row: r}}
			},
		},
	}
	return p
}

// Want implements Page: of all live jobs, page by page.
func (p *Reasons) Want(v *View) engine.Query {
	if page, ask := p.due(v, v.Seq); ask {
		return engine.ReasonsQuery{Page: page, Queue: p.queue}
	}
	return nil
}

// Got implements Page: the first look is shown as it comes, a later one when it is
// complete.
func (p *Reasons) Got(v *View, q engine.Query, a engine.Answer, err error) {
	asked, ok := q.(engine.ReasonsQuery)
	if !ok || asked.Queue != p.queue {
		return
	}
	initial := !p.have || p.groups == nil
	if !p.take(v, err) {
		return
	}
	page, _ := a.(engine.ReasonsAnswer)
	first, last := p.turn(v, asked.Page, page.Next, page.Looked)
	if first {
		p.coming = engine.Reasons{}
	}
	p.coming.Add(page.Reasons...)
	if last || initial || p.growing {
		p.groups = p.coming.Rows()
	}
	p.growing = !last && (initial || p.growing)
}

// SelectedJob implements Jobber: the first one of the group.
func (p *Reasons) SelectedJob(v *View) (engine.JobID, string) {
	p.refresh(v)
	r, ok := p.selected()
	return named(r.First, ok)
}

// Draw implements Page.
func (p *Reasons) Draw(v *View) []string {
	p.refresh(v)
	waiting := 0
	for _, r := range p.shown {
		waiting += r.Jobs
	}
	told := human.Counted(waiting, "job waits", "jobs wait")
	far := ""
	if p.growing {
		far = p.far(liveJobs(v, p.queue))
	}
	return v.whole(p.section(v, v.inner(v.W), v.H-1, p.empty(v), part.Section{
		Title: "WHY JOBS DO NOT RUN", Note: p.note(v, told, far, string(p.queue)), Tail: or(p.answer.told(v), p.about(v.keyed("{open} lists them"))),
	}))
}

func (p *Reasons) empty(v *View) string {
	return or(p.absent(v, "the jobs", "jobs"), or(p.list.empty(v), "no job waits"))
}
