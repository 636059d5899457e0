package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/wall"
)

// pick chooses at most n jobs that the admitter lets go now.
func (b *Backend) pick(s *session, n int) []claim {
	b.picking.Lock()
	defer b.picking.Unlock()
	b.tellBacklog() // the admitter paces by it: a stale one would let a burst through
	var out []claim
	for len(out) < n && s.ctx.Err() == nil {
		c, ok := b.idx.next(time.Now())
		if !ok {
			break
		}
		out = append(out, c)
		if last := len(out) - 1; !b.admit(s, &out[last]) {
			out = out[:last]
		}
	}
	return out
}

// admit asks the admitter for a job that makes a call, with the job as stored. It reads the record
// because an index entry does not have the arguments, and because a permit for a job that has moved on
// would be taken from another.
func (b *Backend) admit(s *session, c *claim) bool {
	if c.lane == "" {
		return true
	}
	err := b.opt.Store.Read(s.write, func(tx engine.Tx) error { return b.inspect(tx, c) })
	if err != nil {
		b.idx.giveBack(c.e)
		s.fail(fmt.Errorf("before its claim: %w", err))
		return false
	}
	if c.moved != nil || c.gone || c.bad != nil {
		b.unclaimed(c)
		return false
	}
	now := time.Now()
	if a := b.opt.Admitter.Admit(c.job); !a.OK {
		b.idx.refuse(*c, a, now)
		return false
	}
	b.idx.admitted(c, now)
	return true
}

// inspect reads the job of a claim and notes what stands against it. An error is the
// store's: it says nothing about the job. It begins by taking back what it noted before: the
// transaction may run twice.
func (b *Backend) inspect(tx engine.Tx, c *claim) error {
	c.ok, c.moved, c.gone, c.bad, c.groups, c.paused = false, nil, false, nil, nil, nil
	j, err := b.opt.Store.Job(tx, c.id)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		c.gone = true
	case errors.Is(err, engine.ErrUnreadable):
		c.bad = err
	case err != nil:
		return fmt.Errorf("read job %s: %w", c.id, err)
	case j.Rev != c.rev:
		moved := j
		c.moved = &moved
	default:
		c.job = j
	}
	return nil
}

// ofTheJob tells an error of a read that is about the one job from the store's own.
func ofTheJob(err error) bool {
	return errors.Is(err, engine.ErrNotFound) || errors.Is(err, engine.ErrUnreadable)
}

// claimIn moves the chosen job to running: compare-and-set on its revision and
// state. A job that has moved on is skipped; that is no error. The attempt is charged here and not at
// its end: whatever becomes of the process, it counts as begun, and who does not want it charged takes
// it back (uncharge).
func (b *Backend) claimIn(tx engine.Tx, c *claim, now time.Time) error {
	if err := b.inspect(tx, c); err != nil {
		return err
	}
	if c.moved != nil || c.gone || c.bad != nil || c.refused != nil {
		return nil
	}
	if c.job.State != engine.Available {
		c.moved = &c.job
		return nil
	}
	q, err := b.opt.Store.Queue(tx, c.job.Queue) // another process may have paused it
	if err != nil {
		return fmt.Errorf("read the queue of job %s: %w", c.id, err)
	}
	if q.Paused {
		c.paused = &q
		return nil
	}
	before := c.job
	j := &c.job
	j.Rev++
	j.State, j.Hold, j.Boot, j.CancelAsked = engine.Running, engine.HoldNone, b.opt.Boot, false
	j.Worker = c.worker
	j.Tries++
	j.Attempts++
	j.Started = atLeast(now)
	err = b.move(tx, before, *j, because{cause: engine.ByClaim, now: now})
	if refusal, ok := errors.AsType[*domainError](err); ok {
		return &claimError{c, refusal.err}
	}
	if err != nil {
		return fmt.Errorf("claim job %s: %w", c.id, err)
	}
	groups, err := b.opt.Store.Groups(tx, c.id)
	if err != nil {
		return fmt.Errorf("read the groups of job %s: %w", c.id, err)
	}
	c.groups, c.ok = groups, true
	return nil
}

// claimError says which claim of a write the domain has refused. It is not that
// domain's word on whatever else the write holds, so it does not unwrap to it.
type claimError struct {
	claim *claim
	err   error
}

func (e *claimError) Error() string { return fmt.Sprintf("claim job %s: %v", e.claim.id, e.err) }

// persistClaims is persist for a write that claims jobs: without those that the
// domain refuses. Each round marks one claim as refused, which claimIn then passes over.
func (b *Backend) persistClaims(s *session, fn func(engine.Tx) error) error {
	for {
		err := b.persist(s, fn)
		refusal, ok := errors.AsType[*claimError](err)
		if !ok {
			return err
		}
		refusal.claim.refused = refusal.err
	}
}

// unclaimed gives a chosen job back that was not claimed: its permit to the
// admitter, itself to the index, as the store has it. It goes back into its line before the index
// learns what the store has: that lifts it from wherever it stands.
func (b *Backend) unclaimed(c *claim) {
	if c.lane != "" {
		b.opt.Admitter.Withdraw(c.id)
	}
	b.idx.giveBack(c.e)
	switch {
	case c.refused != nil && !c.gone && c.bad == nil:
		b.leaveAlone(c.id, "cannot be claimed", c.refused)
	case c.paused != nil:
		b.idx.apply(0, []engine.Change{{Queue: c.paused}}, nil, time.Now())
	default:
		b.asStored(c)
	}
}

// asStored brings the index to what inspect has found of a job in the store.
func (b *Backend) asStored(c *claim) {
	switch {
	case c.gone:
		b.idx.forget(c.id)
	case c.bad != nil:
		b.giveUpUnreadable(c.id, c.bad)
	case c.moved != nil:
		b.resync(*c.moved)
	}
}

// claimAll claims a batch in one write.
func (b *Backend) claimAll(s *session, batch []claim) error {
	crash.Point("before-claim")
	err := b.persistClaims(s, func(tx engine.Tx) error {
		now := wall.Now()
		for i := range batch {
			if err := b.claimIn(tx, &batch[i], now); err != nil {
				return err
			}
		}
		return nil
	})
	crash.Point("after-claim")
	return err
}

// withdraw gives the run's permit back, once, before its job can be admitted
// again. It is called by whoever is first: the worker at the handler's end, or a rescue.
func (b *Backend) withdraw(r *run) {
	r.mu.Lock()
	first := r.lane != "" && !r.withdrawn
	r.withdrawn = true
	r.mu.Unlock()
	if first {
		b.opt.Admitter.Withdraw(r.job.ID)
	}
}

// tellBacklog tells the admitter how many jobs wait or run in lanes that changed.
// The caller holds picking, so that an older count never follows a newer one.
func (b *Backend) tellBacklog() {
	for _, l := range b.idx.changedLanes() {
		b.opt.Admitter.Backlog(l.name, l.jobs)
	}
}

// Lanes is how many jobs may run as soon as the limits let them, or do, by the name of their lane.
func (b *Backend) Lanes() map[string]int {
	b.idx.mu.Lock()
	defer b.idx.mu.Unlock()
	jobs := make(map[string]int, len(b.idx.lanes))
	for name, l := range b.idx.lanes {
		jobs[name] = l.jobs
	}
	return jobs
}

// laneJobs is how many jobs of a lane wait or run.
type laneJobs struct {
	name string
	jobs int
}

// changedLanes gives the lanes whose counts have changed since the last call.
func (x *index) changedLanes() []laneJobs {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.dirty) == 0 {
		return nil
	}
	out := make([]laneJobs, len(x.dirty))
	for i, l := range x.dirty {
		out[i], l.dirty = laneJobs{l.name, l.jobs}, false
	}
	x.dirty = x.dirty[:0]
	return out
}

// giveUpUnreadable ends one job whose record cannot be read (P-28): it alone is
// discarded, who waits for it goes on, and its raw bytes are kept. If even that is
// not possible it is left alone.
func (b *Backend) giveUpUnreadable(id engine.JobID, cause error) {
	err := b.write(context.Background(), func(tx engine.Tx) error { return b.discardIn(tx, id) })
	if err != nil {
		b.leaveAlone(id, "cannot be read", fmt.Errorf("%w (and it cannot be discarded: %w)", cause, err))
		return
	}
	b.idx.forget(id) // its revision may have been lost
	b.opt.Log.Error().Str("job", string(id)).Err(cause).Msg("job cannot be read; discarded, its raw record is kept")
	b.note(engine.LevelErr, id, "job %s cannot be read and is discarded; its raw record is kept", id)
}

// discardIn does what move does beside saving the job: the store has done that, by what it could still
// read.
func (b *Backend) discardIn(tx engine.Tx, id engine.JobID) error {
	j, err := b.opt.Store.DiscardUnreadable(tx, id)
	if err != nil {
		return err
	}
	now := atLeast(wall.Now())
	before := j
	before.State = engine.Available // nobody can tell any more
	if err := b.chronicle(tx, before, j, because{cause: engine.ByRescue, reason: j.LastError, now: now}); err != nil {
		return err
	}
	groups, err := b.opt.Store.Mark(tx, id, engine.MarkDead, 0, 0)
	if err != nil {
		return fmt.Errorf("mark job %s in its groups: %w", id, err)
	}
	if err := b.tellKind(tx, before, j, because{}); err != nil {
		return err
	}
	return b.wakeParents(tx, groups, now)
}

// leaveAlone keeps one job that cannot be worked from holding up the others. It
// comes back when it is changed, or at the next start.
func (b *Backend) leaveAlone(id engine.JobID, why string, err error) {
	b.counts.alone.Add(1)
	b.idx.forget(id)
	b.opt.Log.Error().Str("job", string(id)).Err(err).Msg("job " + why + "; it is left alone")
	b.note(engine.LevelErr, id, "job %s %s and is left alone: %v", id, why, err)
}
