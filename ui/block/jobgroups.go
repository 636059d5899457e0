package block

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// GroupKey tells the groups of a list of jobs apart: by their state, and those that wait also by
// why they do. The jobs that are tried again are one group whatever they failed with, in line for it or not, and so
// are those that wait for others: their classes and numbers come and go, and groups would come and go with
// them.
type GroupKey struct {
	engine.ReasonKey
}

// GroupOf is the group that a job belongs to. A job that runs or has ended has no Shape in its key:
// it waits for nothing.
func GroupOf(j *engine.JobRow) GroupKey {
	switch key := (GroupKey{engine.ReasonKey{State: j.State}}); {
	case j.Retrying():
		key.State = engine.Retryable
		return key
	case j.State == engine.Running || j.State.Terminal() || j.State == engine.Pending && j.Stand == "":
		return key
	default:
		key.Held, key.Shape = j.State == engine.Scheduled && j.Hold != engine.HoldNone, j.ReasonShape()
		return key
	}
}

// groupOfReason is that of the jobs that the engine has counted. First in line is often one that is tried again.
func groupOfReason(r *engine.ReasonRow) GroupKey {
	first := r.First
	first.Tries = 0
	return GroupOf(&first)
}

// JobGroup are the jobs of a list that do not run for one reason, or that run, or that have ended.
type JobGroup struct {
	GroupKey
	Rows   []*engine.JobRow // those of the list, in its order
	Jobs   int              // all there are
	Why    engine.ReasonRow // of all of them; the zero one = the list has all
	Most   int              // how many have a line at most; 0 = as many as there is room for
	Folded bool
	Newest bool // others have ended before those that were read
	lines  int  // that it has on the screen, below its heading

	Left map[engine.JobID]part.Cell // those of Rows that have left, with what became of them

	Rest string // the end of its heading, which stands beside the list where the list has no room for it
}

// Word is the state as titles write it. A scheduled job that the limiter sent back is HELD there,
// so that it is not taken for one that was planned for later.
func (g *JobGroup) Word() string {
	return human.Either(g.Held, "HELD", strings.ToUpper(g.State.String()))
}

// Done reports whether the jobs have ended and need nobody.
func (g *JobGroup) Done() bool { return g.State == engine.Completed || g.State == engine.Cancelled }

// First is the job that goes first of the group: of the list's own, or else the one that the engine
// named; false = none is known.
func (g *JobGroup) First() (j *engine.JobRow, ok bool) {
	switch {
	case len(g.Rows) > 0:
		return g.Rows[0], true
	case g.Why.Jobs > 0:
		return &g.Why.First, true
	}
	return nil, false
}

// groupRank is the order of groups on a screen: what runs, what goes next, what failed, and
// last what waits for others.
var groupRank = [...]int{
	engine.Running: 0, engine.Available: 1, engine.Retryable: 3, engine.Scheduled: 4,
	engine.Discarded: 5, engine.Pending: 6, engine.Cancelled: 7, engine.Completed: 8,
}

// heldRank is the rank of what is held. It lies below what is in line: a hold of a second takes rows from there, and moves
// nothing else.
const heldRank = 2

func (g *JobGroup) rank() int { return human.Either(g.Held, heldRank, groupRank[g.State]) }

// GroupJobs puts the jobs of a list into groups, in the order of groupRank.
//
// reasons are the groups of all jobs as the engine counted them, where the list holds only some of
// the jobs; nil = the list has all that it is to show. counts is how many jobs each state has now,
// and is newer than reasons: the difference is that of the largest groups of the state, so that
// headings add up to what other screens say. kept are groups that are there with no job
// too, while there is any.
func GroupJobs(rows []*engine.JobRow, reasons []engine.ReasonRow, counts map[engine.State]int, kept ...GroupKey) []JobGroup {
	at := map[GroupKey]*JobGroup{}
	open := func(key GroupKey) *JobGroup {
		g := at[key]
		if g == nil {
			g = &JobGroup{GroupKey: key}
			at[key] = g
		}
		return g
	}
	var last *JobGroup
	for _, j := range rows { // neighbours mostly are of one group
		if key := GroupOf(j); last == nil || last.GroupKey != key {
			last = open(key)
		}
		last.Rows = append(last.Rows, j)
	}
	// Two reasons of the engine may be of one group here, as those of all that back off are.
	for _, r := range reasons {
		g := open(groupOfReason(&r))
		if r.Jobs += g.Why.Jobs; g.Why.Jobs > 0 {
			r.Last = engine.Latest(r.Last, g.Why.Last)
		}
		g.Why = r
	}
	for _, j := range rows { // the engine has counted those that are tried again with the others that wait for the same
		if !j.InLineAgain() {
			continue
		}
		if g := at[GroupKey{engine.ReasonKey{State: engine.Available, Shape: j.ReasonShape()}}]; g != nil {
			g.Why.Jobs = max(g.Why.Jobs-1, 0)
		}
	}
	// While jobs are in line or run, or will be when a try comes or for a sync that waits, the groups of both are there,
	// though nothing is in them for a moment or all that are known have gone since: what stands below would move with
	// each call.
	if counts[engine.Available]+counts[engine.Running]+counts[engine.Retryable]+counts[engine.Pending] > 0 || len(kept) > 0 && len(rows) > 0 {
		inLine := GroupKey{engine.ReasonKey{State: engine.Available, Shape: engine.ShapeInLine}}
		if all := largest(at, engine.Available); len(all) > 0 {
			inLine = all[0].GroupKey
		}
		kept = append(kept, inLine)
		if _, counted := counts[engine.Running]; counted {
			kept = append(kept, GroupKey{engine.ReasonKey{State: engine.Running}})
		}
		for _, key := range kept {
			open(key)
		}
	}
	for _, g := range at {
		g.Jobs = max(g.Why.Jobs, len(g.Rows))
	}
	for state, n := range counts {
		all := largest(at, state)
		for _, g := range all {
			n -= g.Jobs
		}
		for _, g := range all { // what was counted a moment ago differs a little from now
			more := max(n, len(g.Rows)-g.Jobs)
			g.Jobs, n = g.Jobs+more, n-more
		}
	}
	out := make([]JobGroup, 0, len(at))
	for _, g := range at {
		if g.Jobs > 0 || slices.Contains(kept, g.GroupKey) { // the others have gone since the reasons were told
			out = append(out, *g)
		}
	}
	slices.SortStableFunc(out, inOrder)
	return out
}

// largest are the groups in a state, that with the most jobs first. Of groups that are as
// large as each other it is the first by shape: a map's order would change from frame to frame.
func largest(at map[GroupKey]*JobGroup, state engine.State) (all []*JobGroup) {
	for _, g := range at {
		if g.State == state {
			all = append(all, g)
		}
	}
	slices.SortFunc(all, func(a, b *JobGroup) int {
		return cmp.Or(cmp.Compare(max(b.Why.Jobs, len(b.Rows)), max(a.Why.Jobs, len(a.Rows))), strings.Compare(a.Shape, b.Shape), page.Btoi(a.Held)-page.Btoi(b.Held))
	})
	return all
}

// Deal shares h lines between groups. Each group has its heading and its jobs, and an empty line
// before the next one while there is room for that; gaps says whether there is. A group with more
// jobs than lines says so in its last line. keeps gives how many lines a group had lately: it keeps
// them, so that what stands below does not move with each job that comes and goes.
func Deal(groups []JobGroup, h int, keeps func(key GroupKey, need int) int) (gaps bool) {
	need := make([]int, len(groups))
	for i := range groups {
		g := &groups[i]
		if g.Folded {
			continue
		}
		if need[i] = len(g.Rows); g.Jobs > len(g.Rows) || g.State == engine.Running && len(g.Rows) == 0 {
			need[i]++
		}
		need[i] = keeps(g.GroupKey, need[i])
	}
	// upTo gives every group the lines it needs, but no more than level, and adds them up. The
	// highest level that fits is found by a search, so that small groups are shown whole and large
	// ones share the rest alike.
	upTo := func(level int) (sum int) {
		for i := range groups {
			groups[i].lines = min(need[i], level)
			sum += groups[i].lines
		}
		return sum
	}
	room := h - len(groups)
	if gaps = room-(len(groups)-1) >= upTo(2*LeastLines); gaps {
		room -= len(groups) - 1
	}
	level := max(sort.Search(max(room, 0)+1, func(level int) bool { return upTo(level) > room })-1, LeastLines)
	left := room - upTo(level)
	for i := range groups { // the rest goes to the first that can take it
		if more := min(need[i]-groups[i].lines, left); more > 0 {
			groups[i].lines, left = groups[i].lines+more, left-more
		}
	}
	return gaps
}

// FillUp puts groups of what has ended below that of what is in line, on those of h lines that all others leave: these
// stand where they stood, whether much is in line or nothing. A few lines may stay empty for that.
func FillUp(groups, ended []JobGroup, h int, gaps bool) []JobGroup {
	at := slices.IndexFunc(groups, func(g JobGroup) bool { return g.State == engine.Available }) + 1
	left, gap := h, page.Btoi(gaps)
	for i := range groups {
		left -= groups[i].lines + 1 + page.Btoi(i > 0)*gap
	}
	for len(ended) > 0 && left < len(ended)*(gap+1+LeastLines) {
		ended = ended[:len(ended)-1]
	}
	Deal(ended, left-len(ended)*gap, func(_ GroupKey, need int) int { return need })
	for i := range ended {
		left -= gap + 1 + ended[i].lines
	}
	groups = slices.Insert(groups, at, ended...)
	if last := at + len(ended) - 1; last >= 0 && left > 0 && left <= mostBlank {
		groups[last].lines += left
	}
	return groups
}

// mostBlank is how many lines may stay empty so that what stands below them does not move.
const mostBlank = 8

// LeastLines is how many lines a group has at least, even where they go beyond the screen: a list
// scrolls.
const LeastLines = 2

// KeepLines is for how long a group keeps its lines after it has come to need fewer.
const KeepLines = 10 * time.Second

// Most keeps what each group needed at most lately, and since when. The zero Most is ready.
type Most struct {
	lines map[GroupKey]int
	at    map[GroupKey]time.Time
}

// fewLines is up to how many lines a group keeps for jobs that it does not have now: a large group
// that has emptied would leave half of the screen blank.
const fewLines = 6

// Keeps is how many lines a group gets that needs so many now: as Deal asks.
func (m *Most) Keeps(key GroupKey, need int, now time.Time) int {
	if m.lines == nil {
		m.lines, m.at = map[GroupKey]int{}, map[GroupKey]time.Time{}
	}
	if need >= m.lines[key] || now.Sub(m.at[key]) > KeepLines || now.Before(m.at[key]) {
		m.lines[key], m.at[key] = need, now
	}
	return max(need, min(m.lines[key], fewLines))
}

// inOrder is the order of groups on a screen.
func inOrder(a, b JobGroup) int {
	return cmp.Or(
		cmp.Compare(a.rank(), b.rank()),
		page.Btoi(b.Shape == engine.ShapeInLine)-page.Btoi(a.Shape == engine.ShapeInLine), // what goes next
		strings.Compare(a.Shape, b.Shape), cmp.Compare(a.Word(), b.Word()),
	)
}

// lineKind says what stands in a line of a list in groups.
type lineKind uint8

const (
	GapLine  lineKind = iota
	HeadLine          // of a group
	RowLine           // a job
	MoreLine          // how many more there are
)

// JobLine is one line of a list in groups. Row is nil in a line that is no job.
type JobLine struct {
	Kind  lineKind
	Group int
	Row   *engine.JobRow
	Place int        // within the group: rows further down fade
	Left  *part.Cell // what became of the row, which has left; nil = it is there
}

// LinesOf are the lines of groups after Deal. A group has exactly the lines it was dealt: those
// that it has no job for stay empty.
func LinesOf(groups []JobGroup, gaps bool) (lines []JobLine) {
	for i := range groups {
		g := &groups[i]
		if i > 0 && gaps {
			lines = append(lines, JobLine{Kind: GapLine, Group: i})
		}
		head := JobLine{Kind: HeadLine, Group: i}
		if g.Jobs == 0 && (g.Held || g.State == engine.Pending) { // it leaves its place, and nothing else
			head.Kind = GapLine
		}
		lines = append(lines, head)
		rows := g.Rows
		if over := len(rows) - g.lines; over > 0 && len(g.Left) > 0 { // what is there goes before what has left
			rows = slices.DeleteFunc(slices.Clone(rows), func(j *engine.JobRow) bool {
				if _, left := g.Left[j.ID]; !left || over == 0 {
					return false
				}
				over--
				return true
			})
		}
		shown, more := g.shows()
		there := 0
		for n, j := range rows[:shown] {
			line := JobLine{Kind: RowLine, Group: i, Row: j, Place: n}
			if became, left := g.Left[j.ID]; left {
				line.Left = &became
			} else {
				there++
			}
			lines = append(lines, line)
		}
		if more {
			lines = append(lines, JobLine{Kind: MoreLine, Group: i, Place: there})
			shown++
		}
		for ; shown < g.lines; shown++ {
			lines = append(lines, JobLine{Kind: GapLine, Group: i})
		}
	}
	return lines
}

// shows is how many jobs have a line after Deal, and whether one says how many more there are. What runs is counted
// in its heading: a line that says so would come and go with each call.
func (g *JobGroup) shows() (rows int, more bool) {
	if rows = min(g.lines, len(g.Rows)); g.Most > 0 {
		rows = min(rows, g.Most)
	}
	more = g.Jobs > rows && g.lines > 0 && g.State != engine.Running
	if more && rows == g.lines {
		rows--
	}
	return rows, more
}

// ID is what a cursor holds on to; "" = the cursor cannot stand on the line.
func (l *JobLine) ID(groups []JobGroup) string {
	switch l.Kind {
	case RowLine:
		if l.Left != nil { // only what became of it: the job itself may have a line in another group
			return ""
		}
		return string(l.Row.ID)
	case HeadLine:
		return groupLine + groups[l.Group].Word() + " " + groups[l.Group].Shape
	case MoreLine:
		return groupLine + "more " + groups[l.Group].Word() + " " + groups[l.Group].Shape
	}
	return ""
}

// groupLine begins the ids of lines that are no jobs. The id of a job never has a zero byte in it,
// so the two cannot be taken for each other.
const groupLine = "\x00"

// HeadText says what the jobs of a group wait for, in a few words.
func (g *JobGroup) HeadText(v *page.View) string {
	first, ok := g.First()
	switch {
	case g.State == engine.Running && v.Engine.Workers == 0: // no engine is here, or none that has said how many
		return ""
	case g.State == engine.Running:
		return page.Count(g.Jobs) + " of " + page.Count(max(g.Jobs, v.Engine.Workers)) + " workers" // rows come before the ceiling
	case g.State == engine.Pending: // of a list without them their number alone is known
		return openOf(v, g.Rows, g.Jobs)
	case !ok:
		return ""
	case g.State == engine.Retryable && (first.Stand == "" || slices.ContainsFunc(g.Rows, func(j *engine.JobRow) bool { return j.Reason() != first.Reason() })):
		known := human.Either(len(g.Rows) > 0, g.Rows, []*engine.JobRow{first})
		return "back off after " + strings.TrimSuffix(ClassesOf(known), " ×"+page.Count(len(known))) + inLineOf(g.Rows) // a single one has all
	case g.State == engine.Discarded:
		return ClassesOf(g.Rows) + GaveUp(g.Rows)
	case g.State.Terminal(): // by when they were made, as the store has them: others may have ended later
		return human.If(g.Newest || g.Jobs == MostEnded, "the newest of them")
	case first.Stand == "" && g.State == engine.Available && g.Shape == engine.ShapeInLine:
		line := first.Line
		for i := 0; line == "" && i < len(g.Rows); i++ { // one that starts now has left it
			line = g.Rows[i].Line
		}
		if b, held := v.HeldBy(line); held {
			return human.If(!page.OneHost(v), b.Host+" is ") + "held by a " + b.BlockedBy + ", it ends in " + charts.Soon(v, b.Blocked)
		}
		host, _ := page.LaneOf(line)
		if b, ok := v.Limits.Pacing(host); ok && (host != "" || page.OneHost(v)) {
			limit := page.Count(b.Limit)
			return fmt.Sprintf("%*s of ", len(limit), page.Count(b.Counted(v.Now))) + limit +
				" calls of " + engine.WindowOf(b.Host, "", b.Window, page.OneHost(v)) + " used"
		}
		return g.Shape // nothing is known to pace its host
	}
	return strings.TrimPrefix(page.BriefWhy(v, first.Reason()), "held: ") // its word says HELD
}

// ClassesOf are the classes of failed jobs, the most frequent first: "503 ×8, timeout ×1". A single
// answer is told in its own words, for which there is room then.
func ClassesOf(rows []*engine.JobRow) string {
	n, order := countedClasses(rows)
	switch {
	case len(order) == 1 && order[0] == "404":
		return "404: Riot does not have it"
	case len(order) == 1 && rows[0].LastError != "" && !slices.ContainsFunc(rows, func(j *engine.JobRow) bool { return saidOf(j) != saidOf(rows[0]) }):
		return saidOf(rows[0])
	}
	var words []string
	for _, c := range order {
		words = append(words, cmp.Or(string(c), "a failure")+" ×"+page.Count(n[c]))
	}
	return strings.Join(words, ", ")
}

func saidOf(j *engine.JobRow) string { return columns.InShort(j.LastError) }

// inLineOf says how many of the jobs that are tried again stand in line for it; "" = none does.
func inLineOf(rows []*engine.JobRow) string {
	n := 0
	for _, j := range rows {
		n += page.Btoi(j.InLineAgain())
	}
	return human.If(n > 0, ", "+page.Count(n)+" in line for it")
}

// GaveUp says of discarded jobs that another try would not help, where that is known of all of
// them: Riot answers 404 for a match that it has deleted, and will not have it later either.
func GaveUp(rows []*engine.JobRow) string {
	for _, j := range rows {
		if j.Class != "404" {
			return ""
		}
	}
	return ", a retry will not help"
}

// openOf names the players whose syncs wait for their matches, with how many matches and timelines
// are still to come: "waits for what it has asked for: 카인 745".
func openOf(v *page.View, rows []*engine.JobRow, n int) string {
	var names []string
	for _, j := range rows {
		a, ok := v.Account(j.Owner)
		if ok && a.Job == j.ID && a.Matches.Open+a.Timelines.Open > 0 {
			names = append(names, charts.PlayerName(a.RiotID)+" "+page.Count(a.Matches.Open+a.Timelines.Open))
		}
	}
	text := human.Either(n == 1, "waits for what it has asked for", "wait for what they have asked for")
	text += human.If(len(names) > 0, ": ")
	return text + strings.Join(names, ", ")
}

// FailedStates are those of jobs that failed last and are not done.
var FailedStates = append(engine.LiveStates(), engine.Discarded)

// ForWhom is the player for whose sync a job works; part.None for a job that works for nobody, such
// as a weekly report.
func ForWhom(v *page.View, j *engine.JobRow) string {
	return human.Either(j.Owner == "" && j.Player == "", part.None, charts.PlayerName(v.Whose(j)))
}

// JobKey is the id of a job, as the key of lists.
func JobKey(j *engine.JobRow) string { return string(j.ID) }

// MostFound is how many jobs that fit a filter a list holds. More would be read on for minutes and
// held in memory, and nobody looks through them by eye.
const MostFound = 20_000

// JobGroupColumns are the columns of jobs in groups. The three that need a view are drawn here.
var JobGroupColumns = columns.JobGroups.
	Drawn("for", page.ByView(func(v *page.View, j *engine.JobRow) part.Cell { return part.Plain(ForWhom(v, j)) })).
	Drawn("dots", page.ByView(func(v *page.View, j *engine.JobRow) part.Cell { return triesCell(v, j) })).
	Drawn("goes", page.ByView(goesCell))

// triesCell has a sign for each try: those that failed, the present or next one, and those left,
// such as "××◌··" of a job that has failed twice, waits for its third try, and has two left after
// that.
func triesCell(v *page.View, j *engine.JobRow) part.Cell {
	failed := j.Tries
	// Tries counts the present try too, which has not failed, and so it does with one that was
	// done.
	if j.State == engine.Running || j.State == engine.Completed {
		failed = max(failed-1, 0)
	}
	bad, now := v.Theme.State("FAILED"), v.Theme.State(columns.StateWord(&j.Job))
	c := part.Cell{}
	add := func(t themes.Token, sign string) {
		c.Text += sign
		c.Parts = append(c.Parts, part.Cell{Text: sign, Token: t, Clean: true})
	}
	// A job that was retried by hand has more tries behind it than its policy has.
	most := min(max(j.MaxAttempts, failed), engine.KeptFailures)
	for range min(failed, most) {
		add(bad.Token, bad.Glyph)
	}
	n := failed
	if !j.State.Terminal() || j.State == engine.Completed {
		add(now.Token, now.Glyph)
		n++
	}
	for ; n < most; n++ {
		add(themes.Tick, v.Theme.Glyphs.BarNone)
	}
	return c
}

// goesCell says when a job goes by itself, or for how long it has run.
func goesCell(v *page.View, j *engine.JobRow) part.Cell {
	switch at := page.GoesAt(j); {
	case j.State == engine.Running:
		return part.As(themes.Run, human.Either(j.Started.Before(v.Beat()), v.Age(j.Started), "now"))
	case j.State == engine.Discarded:
		return part.As(themes.Err, "never")
	case j.State.Terminal() || at.IsZero():
		return part.As(themes.Dim, part.None)
	case charts.Within(v, at) != "":
		return part.As(themes.Run, charts.Within(v, at))
	case j.State == engine.Retryable:
		return part.As(themes.Retry, strings.TrimPrefix(v.Until(at), "+"))
	default:
		return part.Plain(charts.Soon(v, at))
	}
}
