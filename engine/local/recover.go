package local

import (
	"errors"
	"fmt"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/wall"
)

// recover gives running jobs back of which no run is here.
func (b *Backend) recover(s *session) error {
	orphans := b.idx.orphans()
	crash.Point("recovery-found")
	for len(orphans) > 0 {
		some := orphans[:min(b.opt.PerWrite, len(orphans))]
		orphans = orphans[len(some):]
		if err := b.recoverSome(s, some); err != nil {
			return err
		}
	}
	return nil
}

// recoverSome gives one batch back in one write. Its count begins at zero inside of it, since a
// transaction may run twice.
func (b *Backend) recoverSome(s *session, ids []engine.JobID) error {
	n := 0
	err := b.persist(s, func(tx engine.Tx) error {
		n = 0
		for _, id := range ids {
			j, err := b.opt.Store.Job(tx, id)
			if ofTheJob(err) || err == nil && j.State != engine.Running {
				continue // settled meanwhile
			}
			if err != nil {
				return fmt.Errorf("read job %s: %w", id, err)
			}
			if err := b.interruptJob(tx, j, "its process ended", engine.ByRescue); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return err
	}
	crash.Point("recovery-given-back")
	if n > 0 {
		b.opt.Log.Info().Int("jobs", n).Msg("orphans given back")
	}
	return nil
}

// orphans are the running jobs of which no run is here.
func (x *index) orphans() []engine.JobID {
	x.mu.Lock()
	defer x.mu.Unlock()
	var ids []engine.JobID
	here := make(map[engine.JobID]bool, len(x.runs))
	for r := range x.runs {
		here[r.job.ID] = true
	}
	for id, e := range x.jobs {
		if e.state == engine.Running && !here[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// handBack makes a job available again that was claimed here: uncharged, first in
// its line.
func (b *Backend) handBack(s *session, claimed engine.Job) {
	err := b.persist(s, func(tx engine.Tx) error {
		return b.interruptIn(tx, claimed, "the engine stopped", engine.ByDrain)
	})
	// A record that cannot be read is found at the next start, which discards it.
	if err != nil && !errors.Is(err, engine.ErrStale) && !errors.Is(err, engine.ErrUnreadable) {
		s.fail(fmt.Errorf("hand job %s back: %w", claimed.ID, err))
	}
}

// interruptIn ends the attempt of a running job as interrupted. A drain is no
// crash; a rescue and an orphan are. engine.ErrStale when the job has moved on since the claim: whoever
// moved it has closed the attempt.
func (b *Backend) interruptIn(tx engine.Tx, claimed engine.Job, why string, cause engine.Cause) error {
	j, err := b.opt.Store.Job(tx, claimed.ID)
	if err != nil {
		return fmt.Errorf("read job %s: %w", claimed.ID, err)
	}
	if !holds(j, claimed.Rev) {
		return engine.ErrStale
	}
	return b.interruptJob(tx, j, why, cause)
}

// interruptJob is interruptIn for a job that was read in this transaction. One that was told to stop
// ends as cancelled instead of going back.
func (b *Backend) interruptJob(tx engine.Tx, j engine.Job, why string, cause engine.Cause) error {
	v := interrupted(j, why, cause, wall.Now())
	if err := b.opt.Store.AddAttempt(tx, j.ID, v.attempt); err != nil {
		return fmt.Errorf("close attempt %d of job %s: %w", j.Attempts, j.ID, err)
	}
	if v.job.State == engine.Cancelled {
		cause = engine.ByOperator // who had asked for it before the process died
	}
	return b.move(tx, j, v.job, because{
		cause: cause, reason: v.reason, outcome: engine.Outcome{Verb: v.attempt.Verb}, now: atLeast(wall.Now()),
	})
}
