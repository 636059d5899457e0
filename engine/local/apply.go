package local

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Apply takes in the changes of one commit. The store's owner calls it for every
// commit, in commit order and before the writer is answered. It does not block.
func (b *Backend) Apply(seq uint64, changes []engine.Change) {
	// The admitter is asked before the index is locked, under which nobody else is called.
	lanes := make([]string, len(changes))
	for i := range changes {
		if j := changes[i].Job; j != nil {
			lanes[i] = b.laneOf(*j)
		}
	}
	cancelled := b.idx.apply(seq, changes, lanes, time.Now())
	// Who was told to stop hears of it after the index is let go: a handler may end at once and come
	// back to it.
	for _, r := range cancelled {
		r.cancel(engine.ErrCancelled)
	}
	b.wake.Ring()
}

// laneOf is the lane of a job's next call; "" = it makes none, has ended, or is of no kind that runs
// here.
func (b *Backend) laneOf(j engine.Job) string {
	if j.State.Terminal() || b.kinds[j.Kind] == nil {
		return ""
	}
	return b.opt.Admitter.Lane(j)
}

// apply is Apply under the index's lock. lanes are those of the changed jobs, by change. It gives the
// runs whose jobs were told to stop.
func (x *index) apply(seq uint64, changes []engine.Change, lanes []string, now time.Time) (cancelled []*run) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seq = max(x.seq, seq)
	// Trees grow also while nothing is loaded: who joined is in the change alone, and load does not ask
	// for it.
	x.grow(changes, now)
	if !x.loading && !x.loaded {
		return nil // what is committed now, load will find
	}
	for i := range changes {
		switch c := &changes[i]; {
		case c.Job != nil:
			if r := x.put(c.Job, lanes[i], now); r != nil {
				cancelled = append(cancelled, r)
			}
		case c.Deleted != "":
			x.drop(c.Deleted)
		case c.Queue != nil:
			if x.loading {
				x.turned[c.Queue.Name] = struct{}{}
			}
			x.queueOf(c.Queue.Name).QueueState = *c.Queue
		}
	}
	return cancelled
}

// resync brings the index up to a job as the store has it. Every commit is
// applied, so this mends what cannot happen; a job that is skipped for ever is
// worse than a look too many.
func (b *Backend) resync(j engine.Job) {
	b.idx.apply(0, []engine.Change{{Job: &j}}, []string{b.laneOf(j)}, time.Now())
}
