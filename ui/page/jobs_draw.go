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
		return p.box(v, 0, v.W)
	case v.Size == S && p.rail.on:
		return p.rail.draw(v, v.W, v.H)
	case v.Size == S:
		return p.box(v, 0, v.W)
	}
	p.rail.aim(v, p.queue)
	left := railWidth(v.W, v.Size == M && len(p.spare.on) > 0)
	panes := [][]string{p.rail.draw(v, left, v.H)}
	if v.Size == L {
		right := peekWidth(v.W)
		list := p.box(v, left, v.W-left-right) // first: what is looked at follows its cursor
		return part.Beside(append(panes, list, p.peek.draw(v, p, v.W-right, right, v.H))...)
	}
	return part.Beside(append(panes, p.box(v, left, v.W-left))...)
}

// box is the list of the jobs in a frame of w cells.
func (p *Jobs) box(v *View, x, w int) []string {
	which := shownNames[p.which]
	p.of = 0
	if p.more || p.sought.Filter != "" {
		p.of = p.inAll(v)
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
		more = p.far(p.inAll(v))
	case p.more && p.sought.Sifts():
		more = "the first of those that fit, " + count(p.looked) + " looked at"
	}
	s := p.section(v, v.inner(w), v.H-1, p.empty(v), part.Section{
		Title: "JOBS", Note: p.note(v, which, more, string(p.queue)), Focus: !p.rail.on && w < v.W, Tail: p.answer.told(v),
	})
	s.Click = s.Click.After(func() { p.rail.on = false })
	return v.sections(x, 0, w, v.H, s)
}

// firstOf says that a list holds only the first jobs of those asked for.
func (p *Jobs) firstOf(v *View) string {
	n := p.inAll(v)
	if n == 0 { // how many have ended is not counted by queue
		return "the first " + count(len(p.read)) + ", " + shownNames[p.which]
	}
	return "the first of " + count(max(n, len(p.shown))) + " " + shownNames[p.which]
}

// inAll is how many jobs there are of those that the list is of, whether they fit or not;
// 0 = that is not counted.
func (p *Jobs) inAll(v *View) int {
	switch {
	case p.part == nil && p.which == shownAll, p.part != nil && len(p.part.states) > 0:
		return 0
	case p.part == nil && p.which == shownFailed:
		q := everyQueue(v)
		if p.queue != "" {
			q, _ = v.Queue(p.queue)
		}
		return q.Counts[engine.Discarded]
	}
	return liveJobs(v, p.queue)
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
	p.queue, p.whole = q, false
	p.again()
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
