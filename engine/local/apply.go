package local

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Apply takes in the changes of one commit. The store's owner calls it for every
// commit, in commit order and before the writer is answered. It does not block.
func (b *Backend) Apply(seq uint64, changes []engine.Change) {
	lanes := b.lanesOf(changes)
	cancelled := b.idx.apply(seq, changes, lanes, time.Now())
	// Who was told to stop hears of it after the index is let go: a handler may end at once and come
	// back to it.
	for _, r := range cancelled {
		r.cancel(engine.ErrCancelled)
	}
	b.arrive()
	b.wake.Ring()
}

// lanesOf asks the admitter for the lanes before the index is locked; nil when
// no change needs one.
func (b *Backend) lanesOf(changes []engine.Change) []string {
	var lanes []string
	for i := range changes {
		j := changes[i].Job
		if j == nil || j.State.Terminal() || b.kinds[j.Kind] == nil {
			continue
		}
		name := b.admitter.Lane(*j)
		if name == "" {
			continue
		}
		if lanes == nil {
			lanes = make([]string, len(changes))
		}
		lanes[i] = name
	}
	return lanes
}

// apply is Apply under the index's lock. lanes are by change; nil = none has one. It gives the runs
// whose jobs were told to stop.
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
			lane := ""
			if lanes != nil {
				lane = lanes[i]
			}
			if r := x.put(c.Job, lane, now); r != nil {
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
	lanes := b.lanesOf([]engine.Change{{Job: &j}})
	b.idx.apply(0, []engine.Change{{Job: &j}}, lanes, time.Now())
}
