package jobs

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// barStates are the states of the bar above the groups, in their order.
// What runs is at the left, what is given up at the right.
var barStates = [...]engine.State{
	engine.Running, engine.Available, engine.Retryable, engine.Scheduled, engine.Pending, engine.Discarded,
}

// barShares colour them and give each a short word, for where there is little room. What waits in
// line is calm: it is most of a busy queue, and nothing is wrong with it.
var barShares = map[engine.State]part.Share{
	engine.Running:   {Token: themes.Run, Short: "run"},
	engine.Available: {Token: themes.Planned(themes.Flow(0.3)), Short: "in line"},
	engine.Retryable: {Token: themes.Retry, Short: "retry"}, engine.Scheduled: {Token: themes.Held, Short: "later"},
	engine.Pending: {Token: themes.Tick, Short: "pending"}, engine.Discarded: {Token: themes.Err, Short: "gave up"},
}

// counts are the jobs of the queue that is shown, by their state.
// The engine's own counts come now and then; what runs and what is tried again is known by row, at
// once. What stands in line for another try counts as what waits for it.
// They may be changed: of one queue they are a copy, and those of all queues were summed up for it.
func (p *Screen) counts(v *page.View) map[engine.State]int {
	q := page.EveryQueue(v)
	if p.queue != "" {
		q, _ = v.Queue(p.queue)
		q.Counts = maps.Clone(q.Counts)
	}
	if q.Counts != nil && v.Ready { // each of these is known by itself
		count := func(rows []engine.JobRow) (n int) {
			for i := range rows {
				n += page.Btoi(p.inQueue(&rows[i]))
			}
			return n
		}
		again := count(v.TryingAgain())
		q.Counts[engine.Available] = max(q.Counts[engine.Available]-again+count(v.Retries()), 0)
		q.Counts[engine.Running], q.Counts[engine.Retryable] = count(v.Running()), again
	}
	return q.Counts
}

// sum is all jobs as one bar, with its legend: each state where it stood before, at 0 too.
// Two rows and an empty one; none on a low screen.
func (p *Screen) sum(v *page.View, w int) []string {
	if v.H < leastSummed {
		return nil
	}
	shares := make([]part.Share, len(barStates))
	for i, state := range barStates {
		shares[i] = barShares[state]
		shares[i].Name, shares[i].N = state.String(), p.groups.counts[state]
		word := strings.ToUpper(state.String())
		if state == engine.Scheduled { // it shares its sign with what is pending
			word = "HELD"
		}
		shares[i].Sign = v.Theme.State(word).Glyph
	}
	bar := shares
	if page.LiveJobs(v, p.queue) == 0 { // all is done: those that gave up would be all of the bar
		bar = nil
	}
	return []string{
		part.NewLine(v.Theme, w).Gap(1).Stack(w-2, bar).String(),
		part.NewLine(v.Theme, w).Gap(1).Legend(shares).String(), "",
	}
}

// sumRows is how many rows they take.
const sumRows = 3

// leastSummed is the height below which the list has all rows, without bar and sentence.
const leastSummed = 16

// groupNote says what stands in the groups.
// Such as "1,204 of ingest.summoner.full · grouped by why they wait".
func (p *Screen) groupNote(v *page.View) string {
	n, ended := 0, 0
	for _, s := range barStates {
		n += p.groups.counts[s]
	}
	for i := range p.groups.groups {
		if g := &p.groups.groups[i]; g.Done() {
			ended += g.Jobs
		}
	}
	if p.which == page.ShownAll {
		n = max(n+ended, p.All)
	}
	p.Of = n // beside the prompt too
	text := page.Count(n)
	switch {
	case n == 0 && ended > 0 && !p.On():
		return p.Noted(v, "none live", "the newest that ended")
	case p.On() || p.which == page.ShownFailed:
		text = page.Count(len(p.Shown)) + " of " + text
	case p.queue == "":
		text += " of all queues"
	}
	text += human.If(p.queue != "", " of "+string(p.queue))
	// While the pages of a long list come in, how far the reading has got.
	more := ""
	switch {
	case p.growing:
		more = p.Far(p.inAll(v))
	case p.groups.reasons.Growing:
		more = p.groups.reasons.Far(p.inAll(v))
	}
	note := p.Noted(v, text, "grouped by why they wait", more)
	if p.which != page.ShownLive {
		note = p.Noted(v, text, shownNames[p.which], more)
	}
	return note
}

// groupTail names the keys that change the list.
// What went wrong with the last answer goes before that.
func (p *Screen) groupTail(v *page.View) string {
	if told := p.Answer.Told(v); told != "" {
		return told
	}
	return v.Keyed("{reasons} flat list") + "   " + v.Keyed("{queues} queue: ") + cmp.Or(string(p.queue), "all")
}

// whySection is the sentence about the job under the cursor.
// Its height is fixed, so that the list does not change with each move of the cursor.
func (p *Screen) whySection(v *page.View, w int) part.Section {
	j, ok := p.Selected()
	if !ok {
		return part.Section{Title: "WHY", Height: whyRows, Empty: p.noWhy(v)}
	}
	p.ahead(&j)
	s := charts.WhyOf(v, &j, w)
	s.Height = whyRows
	return s
}

// whyRows is how many rows the sentence has.
const whyRows = 2

// noWhy stands in the place of the sentence where no job is under the cursor.
func (p *Screen) noWhy(v *page.View) string {
	if _, ok := p.lineUnder(); ok {
		return v.Keyed("{open} folds or lists the group; {down} goes to its jobs")
	}
	return cmp.Or(p.Away(v, "job", len(p.Shown)), p.empty(v))
}

// groupRows is the list with its header, and beside it the life of each job on one axis.
// Both have the same rows: a job's life stands beside its line.
// The cursor's row is lit across both.
func (p *Screen) groupRows(v *page.View, w, h int) []string {
	life := charts.LifeWidth(w)
	p.groups.width, p.groups.life = w-life, life
	rows := p.List.Draw(v, w-life, h, p.empty(v))
	if life == 0 {
		return rows
	}
	c := part.NewChart(v.Theme, p.lifeAxis(v, life-1), h)
	c.Put(0, 0, themes.Dim, " ") // parts the axis from the last title of the list
	c.Words(0)
	src := p.Rows(v)
	for y := 1; y < h; y++ {
		i, ok := p.Cur.Row(src, y-1)
		if !ok {
			continue
		}
		switch at := &p.groups.lines[i]; at.Kind {
		case block.RowLine:
			if at.Left == nil {
				charts.DrawLife(v, c, y, at.Row)
				break
			}
			past := *at.Row // what it has ahead is drawn where it stands now
			past.State, past.Finished = engine.Completed, v.Beat()
			charts.DrawLife(v, c, y, &past)
			c.Put(y, c.Back+2, at.Left.Token, at.Left.Text)
		case block.HeadLine:
			if g := &p.groups.groups[at.Group]; charted(g) {
				p.groupChart(v, c, y)
			} else {
				c.Put(y, 0, themes.Text, safe.CutEnd(g.Rest, c.Width, v.Theme.Glyphs.Ellipsis))
			}
		}
	}
	// The seam at now ends with the last line that holds something.
	c.Seam(1, min(p.groups.used(), h-1))
	page.Beside(v, rows, c, life, p.OnRow(len(p.groups.lines)))
	return rows
}

// used is how many lines there are up to the last that holds something.
func (g *inGroups) used() int {
	n := len(g.lines)
	for n > 0 && g.lines[n-1].Kind == block.GapLine {
		n--
	}
	return n
}

// lifeAxis is the axis of the jobs that have a line. Its past stands still, and what is to come is as
// near as the lines that are in line reach, so that they are stairs: a retry far ahead, or the rest of
// the line, would press them together. Where nothing goes it reaches as far ahead as back.
func (p *Screen) lifeAxis(v *page.View, w int) part.Axis {
	g := &p.groups
	var next, all time.Duration
	inLine := false
	for _, l := range g.lines {
		if l.Row == nil || l.Left != nil || l.Row.State.Terminal() {
			continue
		}
		goes := page.GoesAt(l.Row).Sub(v.Beat())
		if all = max(all, goes); charted(&g.groups[l.Group]) {
			next, inLine = max(next, goes), true
		}
	}
	if inLine && next == 0 { // all of them go now
		next = g.zoom * time.Duration(max(w-w/2-2, 1))
	}
	back := w / 2
	fine := cmp.Or(next, all, lifePast) / time.Duration(max(w-back-2, 1))
	const ms = time.Millisecond
	for _, step := range append([]time.Duration{50 * ms, 100 * ms, 200 * ms, 500 * ms}, charts.AxisSteps...) {
		if step < fine {
			continue
		}
		// It is drawn nearer only when half of it would do: a line that moves would move the axis.
		if step > g.zoom || 2*step < g.zoom {
			g.zoom = step
		}
		break
	}
	axis := part.NewAxis(v.Beat(), charts.StepOf(lifePast/time.Duration(max(back, 1))), back, w)
	axis.Now, axis.Ahead = v.Beat(), g.zoom
	return axis
}

// lifePast is how far the past of the axis reaches, at least.
const lifePast = time.Minute

// groupChart draws beside the heading of what stands in line how fast the line has moved: the calls a second that were
// made. What is to come are the stairs below it.
func (p *Screen) groupChart(v *page.View, c *part.Chart, y int) {
	values := make([]float64, c.Width)
	top := 0.0
	// Calls are in order of time: from the newest back to where the axis begins.
	for i := len(v.Calls) - 1; i >= 0; i-- {
		at := c.At(v.Calls[i].At.Truncate(c.Step)) // counted once: they would be shared out anew each second
		if v.Calls[i].At.After(v.Beat()) {         // it moves with the axis
			continue
		}
		if at < 0 {
			break
		}
		if at < c.Back {
			values[at] += 1 / c.Step.Seconds()
			top = max(top, values[at])
		}
	}
	// A scale that followed each call would move all of it.
	if g := &p.groups; top > g.top || 2*top < g.top {
		g.top = top
	}
	c.Area(y, 1, part.Series{Values: values, Top: p.groups.top})
}

// clickedAt does what a click into the list means: the header sorts, a heading folds.
// y counts from the header. It returns the action that the click stands for; "" = none.
func (p *Screen) clickedAt(v *page.View, x, y int) string {
	p.rail.on = false
	if y == 0 {
		p.SortAt(v, p.groups.width, x)
		return ""
	}
	p.Clicked(p.Rows(v), y-1)
	if _, ok := p.lineUnder(); ok {
		return string(page.Open)
	}
	return ""
}

// Layer implements laidOut: within a group rows fade down.
// Each row fades by 0.055 more than the one above it.
func (s groupedJobs) Layer(i int) themes.Layer {
	switch l := s.p.groups.lines[i]; {
	// What runs is as bright as what has just left: a row that changed its colours with each call would flicker.
	case l.Kind == block.RowLine && s.p.groups.groups[l.Group].State == engine.Running:
		return themes.Fade(0.2)
	case l.Kind == block.RowLine:
		return themes.Fade(0.055 * float64(l.Place))
	}
	return themes.OnPlain
}

// Line implements laidOut.
// The function that it returns draws the line into one that is empty; nil = the line is a job,
// which the table draws itself.
func (s groupedJobs) Line(i int) func(l *part.Line) {
	at := s.p.groups.lines[i]
	if at.Kind == block.RowLine {
		return nil
	}
	return func(l *part.Line) {
		g := &s.p.groups.groups[at.Group]
		switch at.Kind {
		case block.HeadLine:
			s.head(l, g)
		case block.MoreLine:
			if s.p.Loading() && at.Place == 0 { // its rows come: an empty place would say that there are none
				l.Gap(4).Cells(part.As(themes.Dim, "loading jobs…"))
				break
			}
			more := s.v.Theme.Glyphs.Ellipsis + " " + page.Count(g.Jobs-at.Place)
			l.Gap(2).Cells(part.As(themes.Dim, fmt.Sprintf("%7s more", more)+lastGoes(s.v, g)+"  "))
			if g.Most > 0 { // it comes and goes
				break
			}
			l.Cells(part.As(themes.Accent, s.v.Keyed("{open}")), part.As(themes.Dim, " shows them"))
		}
	}
}

// head writes the heading of a group. Its count has room for more digits, so that the words behind it stand still (V-7v).
// What of it the list has no room for goes on beside it.
// Such as "▾ 732 AVAILABLE  in line: 2 min window paces".
func (s groupedJobs) head(l *part.Line, g *block.JobGroup) {
	sign := human.Either(g.Folded, s.v.Theme.Glyphs.Shut, s.v.Theme.Glyphs.Open)
	state := s.v.Theme.State(g.Word())
	l.Glyph(themes.Dim, sign, 1).Gap(1).Cells(part.As(themes.Figure, fmt.Sprintf("%5s", page.Count(g.Jobs)))).Gap(1).
		Cells(part.As(state.Token, g.Word())).Gap(2)
	g.Rest = ""
	head, rest := page.CutAt(safe.Text(g.HeadText(s.v)), l.Room())
	if lifeShown := s.p.groups.life > 0 && !charted(g); lifeShown {
		g.Rest = rest
	} else if rest != "" && g.State == engine.Pending { // as many names as have room
		head = safe.CutEnd(head+rest, l.Room(), s.v.Theme.Glyphs.Ellipsis)
	} else if rest != "" {
		head = cmp.Or(part.Clause(head+rest, l.Room()), safe.Cut(head+rest, l.Room()))
	}
	l.Cells(part.Plain(head))
}

// charted reports whether a chart stands beside a group's heading.
// Only of jobs in line is there a pace to show: the others do not wait for calls.
func charted(g *block.JobGroup) bool {
	return g.State == engine.Available && !g.Folded && g.Shape == engine.ShapeInLine
}

// lastGoes says when the last of a group goes; "" = nobody knows.
// Nobody knows for jobs of an endpoint that is down, or behind a refused key: how long it stays so is not foreseen.
func lastGoes(v *page.View, g *block.JobGroup) string {
	if g.Why.First.Asked() {
		return ""
	}
	last := g.Why.Last
	for _, j := range g.Rows {
		last = engine.Latest(last, page.GoesAt(j))
	}
	if !last.After(v.Now) || g.State.Terminal() {
		return ""
	}
	return ", the last goes in " + v.In(last)
}
