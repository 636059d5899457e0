package traffic

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// prove gives the proof that is under way on a lane. begun says that there was none:
// the caller makes its call, the turn-th, and ends it. While it is under way check lets nobody else
// call on the lane.
func (g *gate) prove(l Lane) (p *proof, turn int, begun bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.lane(l)
	if b.proof == nil {
		b.proof, begun = &proof{over: make(chan struct{})}, true
		b.asked++
	}
	return b.proof, b.asked, begun
}

// proved ends a proof: what it asked for was answered, or the lane is down. Its fields are written
// before over is closed and never after: those who wait read them without the lock.
func (g *gate) proved(l Lane, job engine.JobID, p *proof, now time.Time) {
	g.mu.Lock()
	b := g.lane(l)
	b.proof = nil
	switch tries := b.prober == job; {
	case p.fails():
		b.blow(job, now)
		b.proven, p.next = true, later(b.probe, now)
	case p.asked:
		r, _ := g.judge(l, job, p.err, now)
		p.next = r.next
		if tries && !b.blown { // its own call is the first of those that return by steps
			b.ramp.enter(job)
		}
	}
	close(p.over)
	g.mu.Unlock()
	g.changed()
}

// declare takes a lane to be down of which nothing is known to be good.
func (g *gate) declare(l Lane, job engine.JobID, now time.Time) (r ruling) {
	g.change(func() bool {
		b := g.lane(l)
		b.blow(job, now)
		r = g.ruleLane(b, now)
		return true
	})
	return r
}

// noteIll keeps whether the last call about an account failed: it is none of those
// that are known to be good.
func (g *gate) noteIll(l Lane, account string, ill bool) {
	if account == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if b := g.lane(l); ill {
		b.ill[account] = true
	} else {
		delete(b.ill, account)
	}
}

func (g *gate) isIll(l Lane, account string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lane(l).ill[account]
}

// tries reports whether the job is the one that was let through to see whether a
// lane is still down.
func (g *gate) tries(l Lane, job engine.JobID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.lane(l)
	return b.blown && b.prober == job
}

// answered reports whether a lane has answered well since an instant.
func (g *gate) answered(l Lane, since time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lane(l).good.After(since)
}
