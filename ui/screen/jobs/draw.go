package jobs

import (
	"cmp"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Draw implements Page.
// The queues stand left and the job under the cursor right, each where there is room for it. A list
// of one class or reason has the whole width. Jobs begin and end with each call: the rows move once a second.
func (p *Screen) Draw(v *page.View) []string {
	calm := *p.follow(v)
	rows := p.draw(&calm)
	v.Ticks = v.Ticks || p.came != p.answers()
	v.Ticks = v.Ticks || calm.Ticks
	return rows
}

// follow gives the view to draw, and lets the list follow its answer when that moves.
func (p *Screen) follow(v *page.View) *page.View {
	calm := p.calm.Take(v)
	if p.calm.Fresh(v) || len(p.Shown) == 0 {
		p.came, p.groups.next = p.answers(), p.groups.soon.Rows
		p.peek.Beat()
	}
	return calm
}

// Tell implements [page.Teller]: the engine's sentence by the same reading as the list below it.
func (p *Screen) Tell(v *page.View) string {
	e := &p.follow(v).Engine
	return cmp.Or(e.Why, e.Pace)
}

func (p *Screen) draw(v *page.View) []string {
	p.Refresh(v)
	switch {
	case p.subset != nil:
		return p.box(v, 0, v.W)
	// In one pane the queues take the place of the jobs.
	case p.rail.on && (v.Size == page.S || v.W < railNarrow*2):
		return p.rail.draw(v, v.W, v.H)
	}
	var panes [][]string
	left, right := 0, 0
	if p.rail.on || !p.grouped() && v.Size == page.L { // beside a list that has its reasons whole
		p.rail.aim(v, p.queue)
		left = railWidth(v.W, v.Size == page.M && len(p.Spare.On) > 0)
		panes = append(panes, p.rail.draw(v, left, v.H))
	}
	if v.Size == page.L {
		right = inspector.PeekWidth(v.W)
	}
	panes = append(panes, p.middle(v, left, v.W-left-right)) // before what is looked at: that follows its cursor
	if right > 0 {
		panes = append(panes, p.peek.Draw(v, &p.List, v.W-right, right, v.H, p.foot(v) == 0))
	}
	return part.Beside(panes...)
}

// middle is the list in a block of w cells, in groups or flat.
// x is where it begins, for what is clicked.
func (p *Screen) middle(v *page.View, x, w int) []string {
	if !p.grouped() {
		return p.box(v, x, w)
	}
	inner, roomy, foot := v.Inner(w), v.H >= leastSummed, p.foot(v)
	p.groups.counts = p.counts(v)
	// The title's row is taken off, then the bar, then the sentence with its title.
	h := v.H - 1 - foot
	if roomy {
		h -= sumRows + whyRows + 2
	}
	p.arrange(v, max(h-1, 1)) // below the header
	none := len(p.groups.lines) == 0
	if none { // its header, and why
		h = 2
	} else {
		h = block.Shorter(h, p.groups.used())
	}
	sum := p.sum(v, inner) // of the groups as they stand
	list := part.Section{
		Title: "JOBS", Note: p.groupNote(v), Tail: p.groupTail(v), Focus: !p.rail.on && w < v.W,
		Rows: append(sum, p.groupRows(v, inner, h)...), Height: len(sum) + h,
		Click: func(cx, y int) string { return p.clickedAt(v, cx, y-len(sum)) },
	}
	all := []part.Section{list}
	if roomy && !none {
		all = append(all, p.whySection(v, inner)) // after the list has put the cursor
	}
	rows := v.Sections(x, 0, w, v.H-foot, all...)
	if foot > 0 {
		rows = append(rows, v.Row(w))
		half := v.Inner(w / 2)
		rows = append(rows, part.Beside(v.Sections(x, len(rows), w/2, foot-2, block.Limits(v, half, foot-3)),
			v.Sections(x+w/2, len(rows), w-w/2, foot-2, charts.Day(v, v.Inner(w-w/2), foot-3)))...)
	}
	return part.Height(v.Theme, w, v.H, rows)
}

// foot is how many rows the limits and the day take below the list with their title and the empty rows around them, on a
// screen that has them to spare: a longer list would change more than can be read.
func (p *Screen) foot(v *page.View) int {
	return human.Either(v.Size == page.L && v.H >= footed && p.grouped() && p.which == page.ShownLive, 2*charts.DayRows+3, 0)
}

// footed is how many rows such a screen has.
const footed = 50

// box is the list of the jobs in a frame of w cells.
// Of is the number of all jobs where the list holds some of them, for "12 of 1,204".
func (p *Screen) box(v *page.View, x, w int) []string {
	which := shownNames[p.which]
	p.Of = 0
	if p.more || p.sought.Filter != "" {
		p.Of = p.inAll(v)
	}
	switch {
	case p.subset != nil:
		which = p.subset.name
	case p.more && p.sought.Filter == "":
		which = p.firstOf(v)
	}
	more := ""
	switch {
	case p.growing:
		more = p.Far(p.inAll(v))
	case p.more && p.sought.Sifts():
		more = "the first of those that fit, " + page.Count(p.Looked) + " looked at"
	}
	inner, h := v.Inner(w), v.H-1-whyRows-2
	if w == v.W {
		h = block.Shorter(h, len(p.Shown))
	}
	s := p.Section(v, inner, h, p.empty(v), part.Section{
		Title: "JOBS", Note: p.Note(v, which, more, string(p.queue)), Focus: !p.rail.on && w < v.W,
		Tail: cmp.Or(p.Answer.Told(v), p.flatTail(v)),
	})
	s.Click = s.Click.After(func() { p.rail.on = false })
	return v.Sections(x, 0, w, v.H, s, p.whySection(v, inner)) // after the list has put the cursor
}

// flatTail names the keys that change the list.
// A part of the jobs has no queue to choose.
func (p *Screen) flatTail(v *page.View) string {
	if p.subset != nil {
		return ""
	}
	return v.Keyed("{reasons} in groups") + "   " + v.Keyed("{queues} queue: ") + cmp.Or(string(p.queue), "all")
}

// firstOf says that a list holds only the first jobs of those asked for.
func (p *Screen) firstOf(v *page.View) string {
	n := p.inAll(v)
	if n == 0 { // how many have ended is not counted by queue
		return "the first " + page.Count(len(p.read)) + ", " + shownNames[p.which]
	}
	return "the first of " + page.Count(max(n, len(p.Shown))) + " " + shownNames[p.which]
}

// inAll is how many jobs there are of those that the list is of, whether they fit or not;
// 0 = that is not counted.
// The engine counts live jobs and those that gave up by queue, and no others.
func (p *Screen) inAll(v *page.View) int {
	switch {
	case p.subset == nil && p.which == page.ShownAll, p.subset != nil && len(p.subset.states) > 0:
		return 0
	case p.subset == nil && p.which == page.ShownFailed:
		q := page.EveryQueue(v)
		if p.queue != "" {
			q, _ = v.Queue(p.queue)
		}
		return q.Counts[engine.Discarded]
	}
	return page.LiveJobs(v, p.queue)
}

// Back implements Backer: the keys go back to the jobs.
// It returns false when they were there already: then the screen is left.
func (p *Screen) Back() bool {
	was := p.rail.on
	p.rail.on = false
	return was
}

// actRail carries out what a key means for the queues; false when it means
// something else.
// Moving in the queues lists the jobs of each that the cursor comes to.
func (p *Screen) actRail(v *page.View, a page.Action) bool {
	switch {
	case a == page.Queues || a == page.NextPane:
		p.rail.on = !p.rail.on
		p.rail.aim(v, p.queue)
		return true
	case !p.rail.on:
		return false
	case a == page.Open || a == page.Right:
		p.rail.on = false
		return true
	case !p.rail.Steer(p.rail.source(v), a):
		return false
	}
	p.choose(p.rail.queue(v))
	return true
}

// choose lists the jobs of another queue; "" = all.
// Filter and marks stay: somebody who looks for a job looks in the next queue as well.
func (p *Screen) choose(q engine.Queue) {
	if q == p.queue {
		return
	}
	p.queue, p.whole = q, false
	p.Again()
	p.groups.again()
	p.Asked, p.turned = true, true
}

// cannotInRail says what a key cannot do while the keys go to the queues.
func (p *Screen) cannotInRail(v *page.View, a page.Action) string {
	switch a {
	case page.Pause:
		if p.queue == "" {
			return v.Keyed("choose one queue to pause: {down} goes to the next")
		}
	case page.Retry, page.Cancel, page.Due, page.Force:
		return v.Keyed("the keys are in the queues: {open} goes to the jobs")
	}
	return ""
}
