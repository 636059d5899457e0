package block

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
)

// ReasonCounts are the groups of all live jobs by why they do not run, however many there
// are: the engine looks at a part of them for each answer.
type ReasonCounts struct {
	page.Paged
	Groups  []engine.ReasonRow
	coming  engine.Reasons // of the pages that have come
	Growing bool           // groups are of the pages so far
}

// Want is the question about a queue's jobs; nil = none is due.
func (r *ReasonCounts) Want(v *page.View, queue engine.Queue) engine.Query {
	if next, ask := r.DuePage(v, v.Seq); ask {
		return engine.ReasonsQuery{Page: next, Queue: queue}
	}
	return nil
}

// TakeIn takes a page in: the first look is shown as it comes, a later one when it is complete.
func (r *ReasonCounts) TakeIn(v *page.View, asked engine.ReasonsQuery, a engine.Answer, err error) {
	initial := !r.Have || r.Groups == nil
	if !r.Take(v, err) {
		return
	}
	came, _ := a.(engine.ReasonsAnswer)
	first, last := r.Turn(v, asked.Page, came.Next, came.Looked)
	if first {
		r.coming = engine.Reasons{}
	}
	r.coming.Add(came.Reasons...)
	if last || initial || r.Growing {
		r.Groups = r.coming.Rows()
	}
	r.Growing = !last && (initial || r.Growing)
}

// DeadJobs are the newest jobs that gave up: they stand beside the live ones.
type DeadJobs struct {
	page.Answer
	Rows []engine.JobRow
}

// MostDead is how many of them are asked for.
const MostDead = 100

func DeadQuery(queue engine.Queue) engine.JobsQuery {
	return engine.JobsQuery{Page: engine.Page{Limit: MostDead}, Queue: queue, States: []engine.State{engine.Discarded}, Ended: true}
}

// MostEnded is how many jobs that have ended are asked for where nothing else is to be shown.
const MostEnded = 40

func EndedQuery(queue engine.Queue) engine.JobsQuery {
	return engine.JobsQuery{Page: engine.Page{Limit: MostEnded}, Queue: queue, States: []engine.State{engine.Completed, engine.Cancelled}, Ended: true}
}

func (d *DeadJobs) Want(v *page.View, queue engine.Queue) engine.Query {
	if d.Due(v, v.Seq) {
		return DeadQuery(queue)
	}
	return nil
}

func (d *DeadJobs) TakeIn(v *page.View, a engine.Answer, err error) {
	if d.Take(v, err) {
		came, _ := a.(engine.JobsPage)
		d.Rows = came.Jobs
	}
}

// List are the jobs as groups take them.
func (d *DeadJobs) List() []*engine.JobRow {
	out := make([]*engine.JobRow, len(d.Rows))
	for i := range d.Rows {
		out[i] = &d.Rows[i]
	}
	return out
}
