// Package jobs is the screen of the jobs: of all queues or one, in groups by why they do not run, or as a
// list.
package jobs

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
)

// peekStays is how long a job stands beside the list while nobody has chosen one: from its line to its end.
const peekStays = 10 * time.Second

// shownNames name the choices of [page.Shown] in a title.
var shownNames = [...]string{"live", "failed", "live and ended"}

// Screen lists jobs of one queue or of all.
//
// What is shown is made of three sources: the answer from disk (read), what Watch has told of the
// same jobs since, and the job that is looked at in detail. The newest revision of each counts: see
// merge.
type Screen struct {
	lists.Page[engine.JobRow]
	page.Paged
	queue engine.Queue
	which page.Shown
	// At most [page.ListMost] of them, or with a filter that the engine looks through,
	// [block.MostFound].
	read    []engine.JobRow  // the first of those asked for, or those of all that fit
	coming  []engine.JobRow  // the same of a list that comes anew
	sought  engine.JobsQuery // what read is the answer to, without its page
	more    bool             // there are others than those read
	growing bool             // read is of the pages so far
	// It says that a filter may be applied here, without asking.
	whole  bool // without a filter, all there are have been read
	turned bool // other jobs were asked for than those shown
	// nil = all jobs of the queue.
	subset *subset
	rail   rail
	peek   inspector.Peek
	groups inGroups
	calm   page.Calm
	came   came // of the answers that the list was last drawn of
}

// made names the versions of all that the rows are merged from: when none of them has changed,
// neither has the list.
type made struct {
	version uint64
	came
	queue engine.Queue
	flat  bool
	newer uint64 // the revision of the job that is looked at
}

// came is when each answer came that the rows are merged from: that with the list, with those that gave up, with all
// that have ended, and with those that go next.
type came struct{ list, dead, ended, soon time.Time }

func (p *Screen) answers() came {
	return came{p.Came, p.groups.dead.Came, p.groups.ended.Came, p.groups.soon.Came}
}

// New makes the list; queue "" means all.
// The list stands in groups at first.
func New(queue engine.Queue, shown page.Shown) page.Page {
	p := &Screen{queue: queue, which: shown,
		calm: page.Calm{Every: time.Second}}
	p.List = lists.New(columns.Jobs, columns.JobList, block.JobKey)
	p.stand()
	p.peek.Stays = peekStays
	// the answer from disk, with what Watch has told since
	p.Is = lists.Declaration[engine.JobRow]{Screen: page.ScreenJobs, File: "jobs", Fill: func(v *page.View) {
		v = p.follow(v) // a key is of what is shown
		p.Put(v, made{v.Version, p.came, p.queue, p.groups.flat, p.peek.Rev()}, func() []engine.JobRow { return p.merge(v) })
	}}
	return p
}

// Crumb implements Page.
// It names the part of the jobs, else the queue; "" = all of them.
func (p *Screen) Crumb(*page.View) string {
	if p.subset != nil {
		return p.subset.name
	}
	return string(p.queue)
}

// Want implements Page.
func (p *Screen) Want(v *page.View) engine.Query {
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
	// before the first frame no row has the cursor
	if v.Size != page.L || p.subset != nil || p.grouped() && p.groups.lines == nil {
		return nil
	}
	return p.peek.Want(v, &p.List)
}

// query is what the list asks for: the first jobs, of very many those that go next, or
// those of all that fit.
func (p *Screen) query() engine.JobsQuery {
	q := engine.JobsQuery{Queue: p.queue}
	switch {
	case p.subset != nil:
		q.States, q.Class, q.Reason = p.subset.states, p.subset.class, p.subset.reason
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
// The error is of the text that was typed; the query before it stays in force.
func (p *Screen) SetFilter(text string) error {
	before := p.query().Filter
	err := p.List.SetFilter(text)
	if p.query().Filter != before {
		p.Again()
	}
	return err
}

// Got implements Page.
func (p *Screen) Got(v *page.View, q engine.Query, a engine.Answer, err error) {
	if p.groups.got(v, p, q, a, err) {
		return
	}
	asked, ok := q.(engine.JobsQuery)
	if !ok {
		p.peek.Got(v, q, a, err)
		return
	}
	at := asked.Page
	// A question is compared without its page: every page of one list belongs to it.
	if asked.Page = (engine.Page{}); !reflect.DeepEqual(asked, p.query()) { // other jobs are asked for meanwhile
		p.Pending = false
		p.Again()
		return
	}
	if p.Take(v, err) {
		came, _ := a.(engine.JobsPage)
		p.add(v, asked, at, came)
		// Rows of another choice of jobs have come: the cursor shall not hold on to a job of the
		// old one.
		p.Asked, p.turned = p.Asked || p.turned, false
	}
}

// add takes in a page. The first look of a kind is shown as it comes, a later one when it
// is complete.
// That keeps a list that is read anew from shrinking to its first page for a moment.
func (p *Screen) add(v *page.View, asked engine.JobsQuery, at engine.Page, came engine.JobsPage) {
	next := came.Next
	// A list without a filter has one page. One with a filter goes on until enough jobs were found.
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
	// Only an answer to the question without a filter can say that the list is whole.
	if asked.Filter == "" {
		p.whole = !p.more
	}
}

// soonest are the jobs that go next, where they were read after the list.
type soonest struct {
	jobs   map[engine.JobID]engine.JobRow
	last   time.Time      // when the last of those in line goes
	places map[string]int // of the last of each line
}

func (p *Screen) goNext() soonest {
	next := soonest{map[engine.JobID]engine.JobRow{}, time.Time{}, map[string]int{}}
	if p.came.soon.After(p.came.list) {
		for _, j := range p.groups.next {
			next.jobs[j.ID] = j
			if j.State == engine.Available && j.Stand == "" {
				next.last = engine.Latest(next.last, j.Until)
				next.places[j.Line] = max(next.places[j.Line], j.Place)
			}
		}
	}
	return next
}

// behind puts a job in line that is not among them after them: by the list's own reading, from before a sync brought
// jobs that go first, it would stand between them.
func (s *soonest) behind(j *engine.JobRow) {
	if j.State == engine.Available && j.Stand == "" && j.Place > 0 && !j.Until.IsZero() {
		j.Until, j.Place = engine.Latest(j.Until, s.last), s.places[j.Line]+j.Place
	}
}

// newest is a job of the list as it was told last, and whether Watch tells of it. The revision (Rev) of a job grows with
// each change, which tells the newer of two rows.
func (p *Screen) newest(v *page.View, j engine.JobRow, next *soonest) (_ engine.JobRow, watched bool) {
	if newer, ok := next.jobs[j.ID]; ok {
		j = newer
	} else {
		next.behind(&j)
	}
	now, watched := v.Job(j.ID)
	if watched && now.Rev > j.Rev {
		j = now
	}
	if newer, ok := p.peek.Newer(&j); ok {
		j = newer
	}
	return j, watched
}

// merge makes the rows of the list from all that is known of the jobs.
func (p *Screen) merge(v *page.View) []engine.JobRow {
	rows := make([]engine.JobRow, 0, len(p.read))
	seen := make(map[engine.JobID]bool, len(p.read))
	whole := p.which != page.ShownFailed && p.subset == nil
	live := whole && p.which == page.ShownLive
	next := p.goNext()
	for _, j := range p.read {
		was := j.State
		j, watched := p.newest(v, j, &next)
		// It has ended, or left its line, since it was read: Watch tells of all that run or are tried again.
		told := v.Engine.State != engine.EngineBrowse && (j.State == engine.Running || j.Retrying())
		if whole && was.Live() && (live && j.State.Terminal() || told && !watched) {
			continue
		}
		seen[j.ID] = true
		if p.subset.has(&j) && p.inQueue(&j) {
			rows = append(rows, j)
		}
	}
	// The list from disk ends somewhere; what runs or is due next is always shown.
	for _, j := range v.Jobs {
		if p.which != page.ShownFailed && !seen[j.ID] && p.inQueue(&j) && p.subset.has(&j) {
			rows = append(rows, j)
		}
	}
	if p.grouped() && p.which != page.ShownFailed {
		more := p.groups.dead.Rows
		if p.more { // else the list has all, and what goes next is asked for no more
			more = slices.Concat(more, p.groups.next)
		}
		if p.which == page.ShownLive && p.endedToo(v) {
			more = slices.Concat(more, p.groups.ended.Rows)
		}
		for _, j := range more {
			if _, watched := v.Job(j.ID); !watched && !seen[j.ID] && p.inQueue(&j) {
				rows = append(rows, j)
			}
		}
	}
	v.Hold(rows)
	page.SortJobs(rows)
	return rows
}

// inQueue reports whether a job is of the queue that is shown; every job is of "".
func (p *Screen) inQueue(j *engine.JobRow) bool { return p.queue == "" || p.queue == j.Queue }

// Cannot implements Page.
func (p *Screen) Cannot(v *page.View, a page.Action) string {
	p.Refresh(v)
	if (a == page.Queues || a == page.NextPane || a == page.States) && p.subset != nil {
		return "this list is of " + human.If(p.subset.class != "", "jobs that failed with ") + p.subset.name + v.Keyed(": {back} goes back to all jobs")
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
func (p *Screen) Act(v *page.View, a page.Action) page.Effect {
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
	case a == page.ByReason && p.subset != nil:
		return page.Effect{Open: &page.Target{Screen: page.ScreenJobs, Queue: p.queue}}
	case a == page.ByReason:
		// Groups and flat list each remember their own columns and order while the screen is there.
		chosen := p.State()
		p.groups.flat = !p.groups.flat
		p.stand()
		p.Restore(p.groups.other)
		p.groups.other = chosen
		p.Asked = true // a row that left was drawn in the other columns
		return page.Effect{}
	case a == page.States:
		p.which, p.whole = (p.which+1)%page.Shown(len(shownNames)), false
		p.Again()
		p.turned = true
		return page.Effect{}
	case p.Cur.MarkCount() > 0 && (a == page.Retry || a == page.Cancel):
		// Marks hold through filters, so marked jobs are looked up among all.
		all := p.merge(v)
		rows, hidden := p.Marked(all)
		// When all jobs there are would be hit, a word has to be typed.
		return lists.WordForAll(lists.Bulk(v, a, rows, hidden), a,
			p.Filter() == "" && p.subset == nil && len(rows) == len(all))
	}
	j, ok := p.Selected()
	// Of all queues the key pauses that of the job under the cursor.
	if a == page.Pause {
		return page.PauseQueue(v, engine.Queue(cmp.Or(string(p.queue), string(j.Queue))))
	}
	if id, left := p.ToOpen(); left && a == page.Open {
		return page.Effect{Open: page.ToJob(engine.JobID(id))}
	}
	if !ok {
		return page.Effect{}
	}
	return page.ActJob(v, j, a)
}

// empty says why no job is listed, and which key changes that.
func (p *Screen) empty(v *page.View) string {
	dot := " " + v.Theme.Glyphs.Sep + " "
	switch none := p.List.Empty(v); {
	case p.Loading():
		return "loading jobs…"
	case none != "":
		return none
	case p.subset != nil:
		return "there are no jobs of " + p.subset.name + " any more"
	case p.which == page.ShownFailed:
		return "no job has failed for good" + dot + v.Keyed("{states} shows the others")
	}
	if p.which == page.ShownLive && v.Engine.Stored+v.Engine.Failed > 0 {
		return v.Start("every job has ended", "{states} shows the failed, again all")
	}
	return v.Start("no jobs yet", "{sync} starts a sync")
}

// SelectedJob implements Jobber.
func (p *Screen) SelectedJob(v *page.View) (engine.JobID, string) {
	p.Refresh(v)
	return page.Named(p.Selected())
}
