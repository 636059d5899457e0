package page

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/part"
)

// Draw implements Page.
func (p *Jobs) Draw(v *View) []string {
	p.refresh(v)
	switch {
	case p.part != nil || v.W < railNarrow*2:
		return p.box(v, v.W)
	case v.Size == S && p.rail.on:
		return p.rail.draw(v, v.W, v.H)
	case v.Size == S:
		return p.box(v, v.W)
	}
	p.rail.aim(v, p.queue)
	left := railWidth(v.W, v.Size == M && len(p.spare.on) > 0)
	panes := [][]string{p.rail.draw(v, left, v.H)}
	if v.Size == L {
		right := peekWidth(v.W)
		list := p.box(v, v.W-left-right) // first: what is looked at follows its cursor
		return part.Beside(append(panes, list, p.peek.draw(v, p, right, v.H))...)
	}
	return part.Beside(append(panes, p.box(v, v.W-left))...)
}

// box is the list of the jobs in a frame of w cells.
func (p *Jobs) box(v *View, w int) []string {
	which := shownNames[p.which]
	switch {
	case p.part != nil:
		which = p.part.name
	case p.page.Next != "":
		which = p.firstOf(v)
	}
	return part.Box(v.Theme, w, v.H, part.Panel{
		Title: p.title(v, "Jobs", which, string(p.queue)), Focus: !p.rail.on, Tail: p.told(v), Rows: p.draw(v, w-2, v.H-2, p.empty(v)), Height: v.H - 2,
	})
}

// firstOf says that a list holds only the first jobs of those asked for. Jobs that
// ended are not counted by queue.
func (p *Jobs) firstOf(v *View) string {
	if p.which != shownLive {
		return "the first " + count(len(p.page.Jobs)) + ", " + shownNames[p.which]
	}
	q := everyQueue(v)
	if p.queue != "" {
		q, _ = v.Queue(p.queue)
	}
	n := 0
	for s, jobs := range q.Counts {
		if s.Live() {
			n += jobs
		}
	}
	return "the first of " + count(max(n, len(p.shown))) + " " + shownNames[p.which]
}

// Back implements Backer: the keys go back to the jobs.
func (p *Jobs) Back() bool {
	was := p.rail.on
	p.rail.on = false
	return was
}

// actRail carries out what a key means for the queues; false when it means
// something else.
func (p *Jobs) actRail(v *View, a Action) bool {
	switch {
	case a == Queues || a == NextPane:
		p.rail.on = !p.rail.on
		p.rail.aim(v, p.queue)
		return true
	case !p.rail.on:
		return false
	case a == Open || a == Right:
		p.rail.on = false
		return true
	case !p.rail.act(p.rail.source(v), a):
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
	p.queue = q
	p.forget()
	p.asked, p.turned = true, true
}

// cannotInRail says what a key cannot do while the keys go to the queues.
func (p *Jobs) cannotInRail(v *View, a Action) string {
	switch a {
	case Pause:
		if p.queue == "" {
			return v.keyed("choose one queue to pause: {down} goes to the next")
		}
	case Retry, Cancel, Due, Force:
		return v.keyed("the keys are in the queues: {open} goes to the jobs")
	}
	return ""
}
