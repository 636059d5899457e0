// Package jobs is the screen of the jobs: of all queues or one, in groups by why they do not run, or as a
// list.
package jobs

import (
	"reflect"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
)

var shownNames = [...]string{"live", "failed", "live and ended"}

// Jobs lists jobs of one queue or of all.
//
// What is shown is made of three sources: the answer from disk (read), what Watch has told of the
// same jobs since, and the job that is looked at in detail. The newest revision of each counts: see
// merge.
type Jobs struct {
	lists.Page[engine.JobRow]
	page.Paged
	queue   engine.Queue
	which   page.Shown
	read    []engine.JobRow  // the first of those asked for, or those of all that fit
	coming  []engine.JobRow  // the same of a list that comes anew
	sought  engine.JobsQuery // what read is the answer to, without its page
	more    bool             // there are others than those read
	growing bool             // read is of the pages so far
	whole   bool             // without a filter, all there are have been read
	turned  bool             // other jobs were asked for than those shown
	part    *jobPart
	rail    rail
	peek    inspector.Peek
	groups  inGroups
}

// jobsMade are the same of the jobs of one queue.
type jobsMade struct {
	page.MadeOf
	queue engine.Queue
	flat  bool
	dead  time.Time // of the answer with those that gave up
	ended time.Time // of that with all that have ended
	newer uint64    // the revision of the job that is looked at
}

// New makes the list; queue "" means all.
func New(queue engine.Queue, shown page.Shown) *Jobs {
	p := &Jobs{queue: queue, which: shown, peek: inspector.Peek{Tape: block.Tape{Every: block.OverviewTape, Then: true}}}
	p.List = lists.New(columns.Jobs, columns.JobList, block.JobKey)
	p.stand()
	p.Is = lists.Declaration[engine.JobRow]{Screen: page.ScreenJobs, File: "jobs", Fill: func(v *page.View) { // the answer from disk, with what Watch has told since
		p.Put(v, jobsMade{page.MadeOf{Version: v.Version, Came: p.Came}, p.queue, p.groups.flat, p.groups.dead.Came, p.groups.ended.Came, p.peek.Rev()}, func() []engine.JobRow { return p.merge(v) })
	}}
	return p
}

// Crumb implements Page.
func (p *Jobs) Crumb(*page.View) string {
	if p.part != nil {
		return p.part.name
	}
	return string(p.queue)
}

// Want implements Page.
func (p *Jobs) Want(v *page.View) engine.Query {
	// The list first; then what its groups want to know; then the job under the cursor, on screens that
	// show it in detail.
	if next, ask := p.DuePage(v, v.Seq); ask {
		q := p.query()
		q.Page = next
		return q
	}
	if q := p.groups.want(v, p); q != nil {
		return q
	}
	if v.Size != page.L || p.part != nil || p.grouped() && p.groups.lines == nil { // before the first frame no row has the cursor
		return nil
	}
	return p.peek.Want(v, &p.List)
}

// query is what the list asks for: the first jobs, of very many those that go next, or
// those of all that fit.
func (p *Jobs) query() engine.JobsQuery {
	q := engine.JobsQuery{Queue: p.queue}
	switch {
	case p.part != nil:
		q.States, q.Class, q.Reason = p.part.states, p.part.class, p.part.reason
		q.Ended = slices.ContainsFunc(q.States, engine.State.Terminal)
	// the oldest first: of a queue too long to be read whole, those go next
	case p.which == page.ShownLive:
		q.Oldest = true
	case p.which == page.ShownFailed:
		q.States, q.Ended = []engine.State{engine.Discarded}, true
	case p.which == page.ShownAll:
		q.States, q.Ended = engine.States(), true
	}
	// Of a list that is here whole the filter looks at what is here; of another the engine has to.
	if p.On() && !p.whole {
		q.Filter = p.Used
	}
	return q
}

// SetFilter implements Filterer: a list that does not hold all jobs is asked for anew.
func (p *Jobs) SetFilter(text string) error {
	before := p.query().Filter
	err := p.List.SetFilter(text)
	if p.query().Filter != before {
		p.Again()
	}
	return err
}

// Got implements Page.
func (p *Jobs) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	if p.groups.got(v, p, q, a, err) {
		return
	}
	asked, ok := q.(engine.JobsQuery)
	if !ok {
		p.peek.Got(v, q, a, err)
		return
	}
	at := asked.Page
	if asked.Page = (engine.Page{}); !reflect.DeepEqual(asked, p.query()) { // other jobs are asked for meanwhile
		p.Pending = false
		p.Again()
		return
	}
	if p.Take(v, err) {
		came, _ := a.(engine.JobsPage)
		p.add(v, asked, at, came)
		p.Asked, p.turned = p.Asked || p.turned, false
	}
}

// add takes in a page. The first look of a kind is shown as it comes, a later one when it
// is complete.
func (p *Jobs) add(v *page.View, asked engine.JobsQuery, at engine.Page, came engine.JobsPage) {
	next := came.Next
	if !asked.Sifts() || len(p.coming)+len(came.Jobs) >= block.MostFound && at.After != "" {
		next = ""
	}
	first, last := p.Turn(v, at, next, came.Looked)
	if first {
		p.coming = nil
	}
	p.coming = append(p.coming, came.Jobs...)
	if same := reflect.DeepEqual(asked, p.sought); same && !last && !p.growing {
		return
	}
	p.growing = !last
	p.read, p.sought, p.more = p.coming[:len(p.coming):len(p.coming)], asked, came.Next != ""
	if asked.Filter == "" {
		p.whole = !p.more
	}
}

// merge makes the rows of the list from all that is known of the jobs.
func (p *Jobs) merge(v *page.View) []engine.JobRow {
	rows := make([]engine.JobRow, 0, len(p.read))
	seen := make(map[engine.JobID]bool, len(p.read))
	live := p.which == page.ShownLive && p.part == nil
	for _, j := range p.read {
		was := j.State
		now, watched := v.Job(j.ID)
		if watched && now.Rev > j.Rev {
			j = now
		}
		if newer, ok := p.peek.Newer(&j); ok {
			j = newer
		}
		if live && was.Live() && (j.State.Terminal() || j.State == engine.Running && !watched) { // it has ended since it was read
			continue
		}
		seen[j.ID] = true
		if p.part.has(&j) && p.inQueue(&j) {
			rows = append(rows, j)
		}
	}
	// The list from disk ends somewhere; what runs or is due next is always shown.
	for _, j := range v.Jobs {
		if p.which != page.ShownFailed && !seen[j.ID] && p.inQueue(&j) && p.part.has(&j) {
			rows = append(rows, j)
		}
	}
	if p.grouped() && p.which == page.ShownLive {
		more := p.groups.dead.Rows
		if page.LiveJobs(v, p.queue) == 0 {
			more = slices.Concat(more, p.groups.ended.Rows)
		}
		for _, j := range more {
			if !seen[j.ID] && p.inQueue(&j) {
				rows = append(rows, j)
			}
		}
	}
	page.SortJobs(rows)
	return rows
}

func (p *Jobs) inQueue(j *engine.JobRow) bool { return p.queue == "" || p.queue == j.Queue }

// Cannot implements Page.
func (p *Jobs) Cannot(v *page.View, a page.Action) string {
	p.Refresh(v)
	if (a == page.Queues || a == page.NextPane) && p.part != nil {
		return "this list is of " + p.part.name + v.Keyed(": {back} goes back to all jobs")
	}
	if p.rail.on {
		return p.cannotInRail(v, a)
	}
	if p.Cur.MarkCount() > 0 && (a == page.Retry || a == page.Cancel) {
		return ""
	}
	j, ok := p.Selected()
	if _, isLine := p.lineUnder(); isLine && a == page.Open {
		return ""
	}
	switch {
	case a == page.Pause && p.queue != "":
		return ""
	case a == page.States && p.part != nil:
		return "this list is of " + p.part.name + v.Keyed(": {back} goes back to all jobs")
	case a == page.Open:
		return p.CannotOpen("job")
	case a == page.Retry || a == page.Cancel || a == page.Pause || a == page.Due || a == page.Force:
		if !ok {
			return lists.None(&p.Pane, "job")
		}
	}
	return page.CannotOn(a, j)
}

// Act implements Page.
func (p *Jobs) Act(v *page.View, a page.Action) page.Effect {
	p.Refresh(v)
	switch {
	case p.actRail(v, a):
		return page.Effect{}
	case p.List.Act(v, a):
		p.overGaps(v, a)
		return page.Effect{}
	case a == page.Open:
		if e, ok := p.openLine(); ok {
			return e
		}
	case a == page.Trigger:
		return page.Effect{Ask: page.AskSync}
	case a == page.Purge:
		return page.Ask(engine.Command{Op: engine.OpPrune}, "")
	case a == page.ByClass:
		return page.Effect{Open: &page.Target{Screen: page.ScreenClasses, Queue: p.queue}}
	case a == page.ByReason && p.part != nil:
		return page.Effect{Open: &page.Target{Screen: page.ScreenJobs, Queue: p.queue}}
	case a == page.ByReason:
		chosen := p.State()
		p.groups.flat = !p.groups.flat
		p.stand()
		p.Restore(p.groups.other)
		p.groups.other = chosen
		return page.Effect{}
	case a == page.States:
		p.which, p.whole = (p.which+1)%page.Shown(len(shownNames)), false
		p.Again()
		p.turned = true
		return page.Effect{}
	case p.Cur.MarkCount() > 0 && (a == page.Retry || a == page.Cancel):
		all := p.merge(v)
		rows, hidden := p.Marked(all)
		return lists.WordForAll(lists.Bulk(v, a, rows, hidden), a, p.Filter() == "" && p.part == nil && len(rows) == len(all))
	}
	j, ok := p.Selected()
	if a == page.Pause {
		return page.PauseQueue(v, engine.Queue(page.Or(string(p.queue), string(j.Queue))))
	}
	if id, left := p.ToOpen(); left && a == page.Open {
		return page.Effect{Open: page.ToJob(engine.JobID(id))}
	}
	if !ok {
		return page.Effect{}
	}
	return page.ActJob(v, j, a)
}

func (p *Jobs) empty(v *page.View) string {
	dot := " " + v.Theme.Glyphs.Sep + " "
	switch none := p.List.Empty(v); {
	case p.Loading():
		return "loading jobs…"
	case none != "":
		return none
	case p.part != nil:
		return "there are no jobs of " + p.part.name + " any more"
	case p.which == page.ShownFailed:
		return "no job has failed for good" + dot + v.Keyed("{states} shows the others")
	}
	if p.which == page.ShownLive && v.Engine.Stored+v.Engine.Failed > 0 {
		return v.Start("every job has ended", "{states} shows the failed, again all")
	}
	return v.Start("no jobs yet", "{sync} starts a sync")
}

// SelectedJob implements Jobber.
func (p *Jobs) SelectedJob(v *page.View) (engine.JobID, string) {
	p.Refresh(v)
	return page.Named(p.Selected())
}
