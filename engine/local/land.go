package local

import "github.com/farsight-console/farsight/engine"

// sendAway notes that another process carries out what was claimed here at a revision. It may
// have done so already. Then it is put among those that have come back, in the same way.
func (x *index) sendAway(s sent, claimed engine.Revision) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.jobs[s.id]; e == nil || !holds(engine.Job{State: e.state, Rev: e.rev, CancelAsked: e.cancel}, claimed) {
		x.back = append(x.back, s)
		return
	}
	x.away[s.id] = s
}

// landed gives the attempts that have ended elsewhere, once, and frees their workers.
func (x *index) landed() []sent {
	x.mu.Lock()
	defer x.mu.Unlock()
	back := x.back
	x.back = nil
	for _, s := range back {
		x.slots--
		if s.worker > 0 && s.worker <= len(x.seats) {
			x.seats[s.worker-1] = false
		}
	}
	return back
}

// arrive takes note of attempts that have ended elsewhere.
func (b *Backend) arrive() {
	back := b.idx.landed()
	for _, s := range back {
		if s.lane != "" {
			b.opt.Admitter.Withdraw(s.id)
		}
	}
	if len(back) > 0 {
		b.wake.Ring()
	}
}
