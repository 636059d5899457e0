package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Follow shows the jobs of a store that a backend of another process works on, until ctx ends: it
// knows what is live and why it does not run, and carries out commands, which are transactions on
// the store. It begins nothing, gives nothing back and mends nothing.
func (b *Backend) Follow(ctx context.Context) error {
	passOver := func(engine.JobID, error) {} // a job that cannot be read is left to the backend that runs
	switch err := b.load(ctx, passOver); {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("read the jobs: %w", err)
	}
	b.idx.open()
	<-ctx.Done()
	return nil
}

// load builds the index from the store. Commits that are applied meanwhile win.
//
//	begin    commits are let in and win by their revision
//	Queues   switches, but for those turned since
//	Live     each stored job: put, unless a commit has ended it meanwhile
func (b *Backend) load(ctx context.Context, unreadable func(engine.JobID, error)) error {
	b.idx.begin()
	queues, err := b.opt.Store.Queues(ctx)
	if err != nil {
		return fmt.Errorf("read the queues: %w", err)
	}
	b.idx.loadQueues(queues)
	for j, err := range b.opt.Store.Live(ctx) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			if j.ID == "" || !errors.Is(err, engine.ErrUnreadable) {
				return err // not one job: the table, or the store
			}
			unreadable(j.ID, err)
			continue
		}
		b.idx.load(j, b.laneOf(j), time.Now())
	}
	return nil
}

// begin forgets all jobs, and lets changes in.
func (x *index) begin() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clear()
	x.loading = true
}

// loadQueues takes in the stored switches, but for those that a commit has just
// changed.
func (x *index) loadQueues(queues []engine.QueueState) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, q := range queues {
		if _, turned := x.turned[q.Name]; !turned {
			x.turn(q)
		}
	}
}

// load takes in one stored job, unless a commit has ended it meanwhile.
func (x *index) load(j engine.Job, lane string, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, gone := x.gone[j.ID]; !gone {
		x.upsert(&j, lane, now)
	}
}

// open lets jobs be chosen.
func (x *index) open() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loading, x.loaded = false, true
	clear(x.gone)
}

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
			if r := x.upsert(c.Job, lanes[i], now); r != nil {
				cancelled = append(cancelled, r)
			}
		case c.Deleted != "":
			x.drop(c.Deleted)
		case c.Queue != nil:
			if x.loading {
				x.turned[c.Queue.Name] = struct{}{}
			}
			x.turn(*c.Queue)
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
