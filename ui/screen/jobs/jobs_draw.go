package jobs

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Draw implements Page.
func (p *Jobs) Draw(v *page.View) []string {
	p.Refresh(v)
	switch {
	case p.part != nil:
		return p.box(v, 0, v.W)
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
		panes = append(panes, p.peek.Draw(v, &p.List, v.W-right, right, v.H))
	}
	return part.Beside(panes...)
}

// middle is the list in a block of w cells, in groups or flat.
func (p *Jobs) middle(v *page.View, x, w int) []string {
	if !p.grouped() {
		return p.box(v, x, w)
	}
	inner, roomy := v.Inner(w), v.H >= leastSummed
	p.groups.counts = p.counts(v)
	sum := p.sum(v, inner)
	h := v.H - 1 - len(sum)
	if roomy {
		h -= whyRows + 2
	}
	p.arrange(v, max(h-1, 1)) // below the header
	list := part.Section{
		Title: "JOBS", Note: p.groupNote(v), Tail: p.groupTail(v), Focus: p.rail.on && w < v.W,
		Rows: append(sum, p.groupRows(v, inner, h)...), Height: len(sum) + h,
		Click: func(cx, y int) string { return p.clickedAt(v, cx, y-len(sum)) },
	}
	if !roomy {
		return v.Sections(x, 0, w, v.H, list)
	}
	return v.Sections(x, 0, w, v.H, list, p.whySection(v, inner)) // after the list has put the cursor
}

// box is the list of the jobs in a frame of w cells.
func (p *Jobs) box(v *page.View, x, w int) []string {
	which := shownNames[p.which]
	p.Of = 0
	if p.more || p.sought.Filter != "" {
		p.Of = p.inAll(v)
	}
	switch {
	case p.part != nil:
		which = p.part.name
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
	inner, why := v.Inner(w), p.whySection(v, v.Inner(w))
	h := v.H - 1
	if why.Height > 0 {
		h -= why.Height + 2
	}
	s := p.Section(v, inner, h, p.empty(v), part.Section{
		Title: "JOBS", Note: p.Note(v, which, more, string(p.queue)), Focus: !p.rail.on && w < v.W, Tail: page.Or(p.Answer.Told(v), p.flatTail(v)),
	})
	s.Click = s.Click.After(func() { p.rail.on = false })
	if why.Height == 0 {
		return v.Sections(x, 0, w, v.H, s)
	}
	return v.Sections(x, 0, w, v.H, s, p.whySection(v, inner)) // once more: the list has put the cursor
}

// flatTail names the keys that change the list.
func (p *Jobs) flatTail(v *page.View) string {
	if p.part != nil {
		return ""
	}
	return v.Keyed("{reasons} in groups") + "   " + v.Keyed("{queues} queue: ") + page.Or(string(p.queue), "all")
}

// firstOf says that a list holds only the first jobs of those asked for.
func (p *Jobs) firstOf(v *page.View) string {
	n := p.inAll(v)
	if n == 0 { // how many have ended is not counted by queue
		return "the first " + page.Count(len(p.read)) + ", " + shownNames[p.which]
	}
	return "the first of " + page.Count(max(n, len(p.Shown))) + " " + shownNames[p.which]
}

// inAll is how many jobs there are of those that the list is of, whether they fit or not;
// 0 = that is not counted.
func (p *Jobs) inAll(v *page.View) int {
	switch {
	case p.part == nil && p.which == page.ShownAll, p.part != nil && len(p.part.states) > 0:
		return 0
	case p.part == nil && p.which == page.ShownFailed:
		q := page.EveryQueue(v)
		if p.queue != "" {
			q, _ = v.Queue(p.queue)
		}
		return q.Counts[engine.Discarded]
	}
	return page.LiveJobs(v, p.queue)
}

// Back implements Backer: the keys go back to the jobs.
func (p *Jobs) Back() bool {
	was := p.rail.on
	p.rail.on = false
	return was
}

// actRail carries out what a key means for the queues; false when it means
// something else.
func (p *Jobs) actRail(v *page.View, a page.Action) bool {
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
func (p *Jobs) choose(q engine.Queue) {
	if q == p.queue {
		return
	}
	p.queue, p.whole = q, false
	p.Again()
	p.groups.again()
	p.Asked, p.turned = true, true
}

// cannotInRail says what a key cannot do while the keys go to the queues.
func (p *Jobs) cannotInRail(v *page.View, a page.Action) string {
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
