package jobs

import (
	"cmp"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// inGroups is what the list of jobs is while it stands in groups. A group is of jobs that do not
// run for the same reason, such as "in line", "held after a 429" or "waiting for matches".
type inGroups struct {
	reasons block.ReasonCounts
	dead    block.DeadJobs          // those that gave up: a live list shows them too, as they need somebody
	ended   block.DeadJobs          // the newest of all that have ended, where nothing is left to do
	soon    block.DeadJobs          // those that go next, of a list that has others before them
	next    []engine.JobRow         // they, when the list was last drawn
	flat    bool                    // the operator has turned the groups off
	other   page.ListState          // what was chosen of the columns when it was the other way
	folds   map[block.GroupKey]bool // that the operator has folded or opened
	most    block.Most              // how many rows each group had lately: see deal
	counts  map[engine.State]int    // of the queue that is shown, when it was drawn last
	inLine  bool                    // some of the groups is of what is in line: a filter may leave none
	still   []*engine.JobRow        // those of the list whose turn has not come since it was asked for
	groups  []block.JobGroup
	// What the screen shows row by row: headings, jobs, "… 40 more" and gaps.
	lines   []block.JobLine
	at      map[string]int   // the line of an id
	slots   []slot           // the rows of what runs, in their places
	gaveWay time.Time        // when one of them gave way to a call that had just begun
	kept    []block.GroupKey // those that come and go: their places stay
	live    time.Time        // when a job of any queue was live last
	top     float64          // of the chart beside what is in line, in calls a second
	zoom    time.Duration    // what a cell of the axis ahead stands for
	width   int              // of the list, when it was drawn last
	// cells; 0 = it is not drawn
	life int // what the life of the jobs takes beside it
}

// grouped reports whether the list stands in groups: of one class or reason it has one.
func (p *Screen) grouped() bool { return !p.groups.flat && p.subset == nil }

// stand gives the list the columns and lines that belong to how it stands.
// Groups have other columns than the flat list: what all rows of a group share stands in its
// heading.
func (p *Screen) stand() {
	if p.grouped() {
		p.List.Choose(block.JobGroupColumns)
		p.Laid = func(v *page.View) lists.LaidOut { return groupedJobs{p, v} }
		return
	}
	p.List.Choose(columns.JobList)
	p.Laid = nil
}

// want is what the groups ask the engine besides the jobs of the list; nil = nothing now.
// The list holds the first jobs of a queue; how many there are of each reason in all, only the
// engine knows. What is asked for first is what is missing on the screen: jobs that gave up, then
// the counts of reasons.
// A filter over a list that is not whole is the engine's, and then groups would count only what
// fits.
func (g *inGroups) want(v *page.View, p *Screen) engine.Query {
	if !p.grouped() || p.which == page.ShownFailed || p.On() && !p.whole {
		return nil
	}
	if p.which == page.ShownAll && !p.more {
		return nil
	}
	if q := g.dead.Want(v, p.queue); q != nil {
		return q
	}
	// All there are have been read: their reasons are counted here.
	if p.more {
		if q := g.reasons.Want(v, p.queue); q != nil {
			return q
		}
		if q := g.wantNext(v, p); q != nil {
			return q
		}
	}
	if p.which != page.ShownAll && p.endedToo(v) {
		if q := g.ended.Ask(v, v.Seq, block.EndedQuery(p.queue)); q != nil {
			return q
		}
	}
	return nil
}

// wantNext asks for what goes next, after each answer with the list: of two readings the newer is then always this one,
// which says of every job in line where it stands.
func (g *inGroups) wantNext(v *page.View, p *Screen) engine.Query {
	if p.queue != "" { // the question is about all queues
		return nil
	}
	if p.Came.After(g.soon.At) {
		g.soon.At = time.Time{}
	}
	return g.soon.Ask(v, v.Seq, block.NextQuery)
}

// endedToo reports whether the list of live jobs has room for those that have ended.
func (p *Screen) endedToo(v *page.View) bool {
	n := page.LiveJobs(v, p.queue)
	return n == 0 || n < v.H && v.H >= roomyList
}

// got takes an answer to that; false = it is to another question.
func (g *inGroups) got(v *page.View, p *Screen, q engine.Query, a engine.Answer, err error) bool {
	switch q := q.(type) {
	case engine.ReasonsQuery:
		if g.reasons.Pending = false; q.Queue == p.queue {
			// An answer about a queue that was left meanwhile is dropped; another question may be
			// asked then.
			g.reasons.TakeIn(v, q, a, err)
		}
		return true
	case engine.JobsQuery:
		kind := &g.dead
		switch {
		// The kinds of question about jobs are told apart by what they ask for.
		case q.Soonest:
			kind = &g.soon
		case !q.Ended || q.Limit != block.MostDead && q.Limit != block.MostEnded:
			return false
		case q.Limit == block.MostEnded:
			kind = &g.ended
		}
		if kind.Pending = false; q.Queue == p.queue {
			kind.TakeIn(v, a, err)
		}
		return true
	}
	return false
}

// again makes all be asked anew: they are of another queue.
// What belongs to the old queue goes at once: its jobs would stand below the name of the new one.
func (g *inGroups) again() {
	g.reasons.Again()
	g.reasons.Groups, g.dead.Rows, g.ended.Rows, g.soon.Rows, g.next = nil, nil, nil, nil, nil
	g.kept, g.soon.Came = nil, time.Time{}
	g.dead.Forget()
	g.ended.Forget()
	g.soon.Forget()
}

// arrange makes the groups and their lines for h rows of the screen.
// It is done once for each frame: the cursor, the mouse and the drawing all go by the same lines.
func (p *Screen) arrange(v *page.View, h int) {
	g := &p.groups
	counts := p.liveCounts(v)
	p.gather(v, counts, h)
	if len(g.groups) == 0 || g.groups[0].State != engine.Running || p.On() {
		g.slots = nil
	} else {
		if p.which == page.ShownLive {
			g.forgetEnded()
		}
		g.keepRunning(v, &g.groups[0], h)
	}
	g.fold(h)
	gaps := p.deal(v, counts, h)
	g.lines = p.drawnOnce(block.LinesOf(g.groups, gaps))
	g.at = make(map[string]int, len(g.lines))
	for i := range g.lines {
		if id := g.lines[i].ID(g.groups); id != "" {
			g.at[id] = i
		}
	}
}

// liveCounts are the engine's counts of the states that the list shows. With a filter the groups hold what fits, and the
// counts of all would contradict them: nil.
func (p *Screen) liveCounts(v *page.View) map[engine.State]int {
	if p.On() {
		return nil
	}
	counts := map[engine.State]int{}
	for s, n := range p.groups.counts {
		if s.Live() && p.which != page.ShownFailed || s == engine.Discarded {
			counts[s] = n
		}
	}
	if v.Engine.State != engine.EngineLive && counts[engine.Running] == 0 {
		delete(counts, engine.Running) // nothing is to begin
	}
	return counts
}

// The groups that come and go with each call.
var (
	retries = block.GroupKey{ReasonKey: engine.ReasonKey{State: engine.Retryable}}
	pending = block.GroupKey{ReasonKey: engine.ReasonKey{State: engine.Pending}}
)

// gather puts the jobs into their groups.
func (p *Screen) gather(v *page.View, counts map[engine.State]int, h int) {
	g := &p.groups
	var reasons []engine.ReasonRow
	if counts != nil && p.more && p.which != page.ShownFailed {
		reasons = g.reasons.Groups
	}
	asked := p.came.list
	if !p.came.soon.IsZero() && p.came.soon.Before(asked) {
		asked = p.came.soon
	}
	g.still = stillThere(v, p.Shown, asked)
	if page.LiveJobs(v, "") > 0 {
		g.live = v.Now
	}
	switch over := v.Now.Sub(g.live) > block.KeepLines; { // nothing comes and goes any more
	case over || p.which == page.ShownFailed || p.On():
		g.kept = nil
	case h >= roomyList: // they have their place before there are any
		g.kept = append(g.kept, retries, pending)
	case page.LiveJobs(v, p.queue) == 0:
		g.kept = nil
	}
	g.groups = block.GroupJobs(g.still, reasons, counts, g.kept...)
	if i := slices.IndexFunc(g.groups, func(o block.JobGroup) bool { return o.GroupKey == retries }); i >= 0 { // as their rows say
		slices.SortStableFunc(g.groups[i].Rows, func(a, b *engine.JobRow) int { return columns.ZeroLast(page.GoesAt(a), page.GoesAt(b)) })
	}
	g.inLine = false
	for i := range g.groups {
		g.inLine = g.inLine || g.groups[i].State == engine.Available && g.groups[i].Jobs > 0
		if charted(&g.groups[i]) && p.By == 0 {
			v.TakeTurns(g.groups[i].Rows)
		}
		g.groups[i].Newest = p.which == page.ShownAll && p.more && g.groups[i].Done()
	}
	if counts == nil {
		return
	}
	for i := range g.groups { // the bar and the title count what stands below them
		g.counts[g.groups[i].State] = 0
	}
	for i := range g.groups {
		g.counts[g.groups[i].State] += g.groups[i].Jobs
	}
}

// fold says which groups show no rows, and which keep their place. Jobs that are pending wait for others of the same list,
// and a hold is over soon: both are folded until somebody wants to see them.
func (g *inGroups) fold(h int) {
	low := h < lowList && g.inLine && len(g.groups) > 1
	g.kept = g.kept[:0]
	for i := range g.groups {
		group := &g.groups[i]
		retried := group.GroupKey == retries
		if retried || group.Held {
			g.kept = append(g.kept, group.GroupKey)
		}
		if retried && h >= roomyList && g.fewLines(group.Jobs, h) { // the last line is for how many more
			group.Most = runLines - 1
		}
		folded, chosen := g.folds[group.GroupKey]
		group.Folded = folded || !chosen && (group.State == engine.Pending || group.Held || low && (group.State == engine.Discarded || retried))
	}
}

// deal gives each group as many rows as its jobs need and the screen can spare: see [block.Deal]. On a list with room what
// has ended gets those that are left.
func (p *Screen) deal(v *page.View, counts map[engine.State]int, h int) (gaps bool) {
	g, roomy := &p.groups, h >= roomyList
	var ended []block.JobGroup
	if roomy && p.which == page.ShownLive && counts != nil {
		n := slices.IndexFunc(g.groups, func(o block.JobGroup) bool { return o.Done() })
		if n >= 0 { // they are the last
			g.groups, ended = g.groups[:n:n], g.groups[n:]
		}
	}
	gaps = block.Deal(g.groups, h, func(key block.GroupKey, need int) int {
		if len(g.groups) == 1 { // nothing to leave lines to
			return need
		}
		if roomy && p.Loading() && key.State == engine.Available { // its rows come
			return h
		}
		return g.keeps(v, key, need, h)
	})
	if roomy {
		g.groups = block.FillUp(g.groups, ended, h, gaps)
	}
	return gaps
}

// keeps is how many lines of h a group gets that needs so many now. What runs has a few,
// whatever runs, and what failed has as many as it ever had: they come and go with each call. A low list is of what goes next.
func (g *inGroups) keeps(v *page.View, key block.GroupKey, need, h int) int {
	low := h < lowList && g.inLine
	switch {
	case key.State == engine.Running && low:
		return 1
	case key.State == engine.Running:
		return min(max(need, v.Engine.Workers), max(runLines, h/12))
	case low && key.State != engine.Available:
		return min(need, block.LeastLines)
	case key.State == engine.Available: // though all have gone
		if need = max(need, 1); h >= roomyList { // others fill its place
			return need
		}
	case key.State == engine.Retryable || key.State == engine.Discarded:
		if g.fewLines(need, h) {
			need = min(need, runLines)
		}
		if key.State == engine.Retryable && h >= roomyList {
			need = max(need, runLines)
		}
		return g.most.Keeps(key, max(need, block.LeastLines), time.Time{}) // for good
	}
	return g.most.Keeps(key, need, v.Now)
}

// fewLines reports whether what failed gets no more lines than what runs, of h: while something is in line, or as long as
// it is little, which would come and go with that.
func (g *inGroups) fewLines(need, h int) bool {
	return g.inLine || h >= roomyList && need <= 2*runLines
}

// runLines is how many lines what runs has at least.
const runLines = 3

// roomyList is how many lines a list has that can keep some of them free.
const roomyList = 24

// lowList is how many lines a list has that has room for what goes next and little else.
const lowList = 16

// lastCall is the last call that a job made since it was begun; false = it has made none.
func lastCall(v *page.View, j *engine.JobRow) (engine.CallRow, bool) {
	for i := len(v.Calls) - 1; i >= 0 && !v.Calls[i].At.Before(j.Started); i-- {
		if v.Calls[i].Job == j.ID {
			return v.Calls[i], true
		}
	}
	return engine.CallRow{}, false
}

// drawnOnce makes room in lines for the row of a job that has left under a chosen cursor, which the cursor draws where it
// stands: the line that says what became of it, or the last one of its group. Where the job stands elsewhere the cursor
// goes there.
func (p *Screen) drawnOnce(lines []block.JobLine) []block.JobLine {
	id, _ := p.Cur.Selected()
	if at := p.Cur.At(); p.Cur.Held() && at < len(lines) && !slices.ContainsFunc(lines, func(l block.JobLine) bool { return l.ID(p.groups.groups) == id }) {
		gives := slices.IndexFunc(lines, func(l block.JobLine) bool { return l.Row != nil && string(l.Row.ID) == id })
		for i := len(lines) - 1; gives < 0 && i >= 0; i-- {
			if lines[i].Row != nil && lines[i].Group == lines[at].Group {
				gives = i
			}
		}
		if gives >= 0 {
			return slices.Delete(lines, gives, gives+1)
		}
	}
	return lines
}

// stillThere leaves out jobs in line that have left it since the engine was asked for them: they have made a call, or
// should have long ago. Those that have not after all come back with the next answer.
//
// The engine is asked again every few seconds, and jobs leave the line many times a second; without
// this the list would show for seconds what has long begun.
// rows is never changed; without such a job it is returned as it is.
func stillThere(v *page.View, rows []*engine.JobRow, asked time.Time) []*engine.JobRow {
	called := map[engine.JobID]bool{}
	for i := len(v.Calls) - 1; i >= 0 && v.Calls[i].At.After(asked); i-- {
		called[v.Calls[i].Job] = true
	}
	gone := func(j *engine.JobRow) bool {
		return j.State == engine.Available && j.Stand == "" && j.ReasonShape() == engine.ShapeInLine &&
			(called[j.ID] || !j.Until.IsZero() && v.Beat().Sub(j.Until) > overdue)
	}
	if !slices.ContainsFunc(rows, gone) {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), gone)
}

// overdue is how long after its turn a job is taken to have left its line.
const overdue = 2 * time.Second

// groupedJobs is the list as its lines.
// Its rows are lines of four kinds: a heading, a job, "… 40 more", and an empty one between groups.
type groupedJobs struct {
	p *Screen
	v *page.View
}

// Len implements part.Source.
func (s groupedJobs) Len() int { return len(s.p.groups.lines) }

// ID implements part.Source.
// Empty for the lines between groups, on which no cursor can stand.
func (s groupedJobs) ID(i int) string { return s.p.groups.lines[i].ID(s.p.groups.groups) }

// Find implements part.Source.
// Headings have ids too: the cursor stays on one when the jobs below it change.
func (s groupedJobs) Find(id string) (int, bool) {
	i, ok := s.p.groups.at[id]
	return i, ok
}

// Row implements part.Source.
func (s groupedJobs) Row(i int, cells []part.Cell) []part.Cell {
	if l := &s.p.groups.lines[i]; l.Kind == block.RowLine {
		return s.p.Cells(s.v, l.Row, cells, s.p.Shows)
	}
	return cells
}

// First is where a cursor at rest stands: the job that goes next; where none is in line, the one that it stood on, or else
// one that is not done. What runs comes and goes too fast to be read.
func (s groupedJobs) First() int {
	first, on := -1, -1
	at, _ := s.p.Cur.Selected()
	for i, l := range s.p.groups.lines {
		switch {
		case l.Kind != block.RowLine, l.Left != nil:
		case l.Row.State == engine.Available:
			return i
		case l.Row.State == engine.Running || l.Row.State == engine.Completed || l.Row.State == engine.Cancelled:
			if first < 0 {
				first = i
			}
		case on < 0 || string(l.Row.ID) == at:
			on = i
		}
	}
	return max(cmp.Or(on+1, first+1)-1, 0)
}

// lineUnder is the line under the cursor that is no job; false = it is one.
// The line is the zero value then.
func (p *Screen) lineUnder() (l block.JobLine, ok bool) {
	id, ok := p.Cur.Selected()
	if i, found := p.groups.at[id]; ok && found && p.Laid != nil {
		l = p.groups.lines[i]
	}
	return l, l.Kind == block.HeadLine || l.Kind == block.MoreLine
}

// openLine is what enter does on a line that is no job: it folds a group, or lists it all.
// What somebody has folded or opened stays so while the screen is there.
// ok is false where the cursor is on a job, which the caller opens.
func (p *Screen) openLine() (e page.Effect, ok bool) {
	at, ok := p.lineUnder()
	if !ok {
		return e, false
	}
	g := &p.groups.groups[at.Group]
	if at.Kind == block.MoreLine {
		return page.Effect{Open: &page.Target{Screen: page.ScreenJobs, Queue: p.queue, Row: *g}}, true
	}
	if p.groups.folds == nil {
		p.groups.folds = map[block.GroupKey]bool{}
	}
	p.groups.folds[g.GroupKey] = !g.Folded
	return e, true
}

// overGaps moves the cursor on from an empty line, the way it went.
// At an end of the list it turns round: the first and the last line are never empty.
func (p *Screen) overGaps(v *page.View, a page.Action) {
	step := human.Either(a == page.Up || a == page.PageUp || a == page.HalfUp || a == page.Home, -1, 1)
	if p.Laid == nil {
		return
	}
	src := p.Rows(v)
	// Bounded, so that a list of nothing but gaps could not hold the screen up.
	for range len(p.groups.lines) {
		at := p.Cur.At()
		// A cursor that holds on to a job which left the list stands where it is.
		if _, left := p.Cur.Left(); left || at >= src.Len() || src.ID(at) != "" {
			return
		}
		if p.Cur.Move(src, step, p.Height); p.Cur.At() == at { // the end of the list
			step = -step
			p.Cur.Move(src, step, p.Height)
		}
	}
}

// ahead puts a job in line at the place that it has by now among those of the list.
// The place that the engine told is of when it was asked; jobs that have left since were before it. A list that does not
// have those before it leaves its place as it is.
func (p *Screen) ahead(j *engine.JobRow) {
	if j.Line == "" || p.On() || p.more && !p.sought.Oldest && !p.goesNext(j.ID) {
		return
	}
	rows := p.groups.still
	if !p.grouped() { // those of the groups are of an earlier frame
		rows = p.Shown
	}
	before := 0
	for _, o := range rows { // jobs of another line go by a place of their own
		before += page.Btoi(o.ID != j.ID && o.Line == j.Line && o.Place < j.Place)
	}
	j.Place = min(before+1, j.Place)
}

// goesNext reports whether a job is one of those that go next.
func (p *Screen) goesNext(id engine.JobID) bool {
	for i := range p.groups.next {
		if p.groups.next[i].ID == id {
			return true
		}
	}
	return false
}

// Export implements Exporter: a file has the same columns however the list stands.
// Those of the flat list: a script must not depend on how the screen was left.
func (p *Screen) Export(v *page.View, only bool) (string, [][]string) {
	p.Refresh(v)
	drawn := p.Fields
	defer func() { p.Fields = drawn }()
	p.Fields = columns.JobList
	return p.Is.File, p.ExportRows(v, only)
}
