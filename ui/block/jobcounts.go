package block

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
)

// ReasonCounts are the groups of all live jobs by why they do not run, however many there are. The
// engine looks at some of the jobs for each answer, so the groups come in pages that are added up
// here.
type ReasonCounts struct {
	page.Paged
	Groups  []engine.ReasonRow
	coming  engine.Reasons // of the pages that have come
	Growing bool           // groups are of the pages so far
}

// Want is the question about the jobs of a queue, "" = of all queues; nil = none is due.
func (r *ReasonCounts) Want(v *page.View, queue engine.Queue) engine.Query {
	if next, ask := r.DuePage(v, v.Seq); ask {
		return engine.ReasonsQuery{Page: next, Queue: queue}
	}
	return nil
}

// TakeIn adds a page to the groups. The very first look is shown while it grows, since there is
// nothing else to show. A later one is shown when its last page has come: until then the old groups
// stay, so that numbers do not fall to a part and rise again.
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

// DeadJobs are the newest jobs that gave up. They have ended, so Watch does not tell of them: they
// are asked for, and stand beside the live ones.
type DeadJobs struct {
	page.Answer
	Rows []engine.JobRow
}

// MostDead is how many jobs that gave up are asked for; the heading of their group counts all.
const MostDead = 100

// DeadQuery asks for the newest jobs of a queue that gave up; "" = of all queues.
func DeadQuery(queue engine.Queue) engine.JobsQuery {
	return engine.JobsQuery{
		Page: engine.Page{Limit: MostDead}, Queue: queue,
		States: []engine.State{engine.Discarded}, Ended: true,
	}
}

// MostEnded is how many jobs that have ended are asked for: they only fill a list that would be
// empty otherwise.
const MostEnded = 40

// EndedQuery asks for the newest jobs of a queue that were completed or cancelled; "" = of all
// queues. Those that gave up have a query of their own.
func EndedQuery(queue engine.Queue) engine.JobsQuery {
	return engine.JobsQuery{
		Page: engine.Page{Limit: MostEnded}, Queue: queue,
		States: []engine.State{engine.Completed, engine.Cancelled}, Ended: true,
	}
}

// LeavingNext is how many jobs are asked for of those that leave next: those of the calls made until the next answer too.
const LeavingNext = 100

// NextQuery asks for them; a list of jobs and a board of calls have the same.
var NextQuery = engine.JobsQuery{Soonest: true, Page: engine.Page{Limit: LeavingNext}}

// Want is the question for the jobs of a queue that gave up; nil = none is due.
func (d *DeadJobs) Want(v *page.View, queue engine.Queue) engine.Query {
	return d.Ask(v, v.Seq, DeadQuery(queue))
}

// TakeIn takes the answer to Want's question.
func (d *DeadJobs) TakeIn(v *page.View, a engine.Answer, err error) {
	if d.Take(v, err) {
		came, _ := a.(engine.JobsPage)
		d.Rows = came.Jobs
	}
}

// List gives the jobs as GroupJobs takes them. The pointers are good until the next answer.
func (d *DeadJobs) List() []*engine.JobRow {
	out := make([]*engine.JobRow, len(d.Rows))
	for i := range d.Rows {
		out[i] = &d.Rows[i]
	}
	return out
}
