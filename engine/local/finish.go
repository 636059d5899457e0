package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/wall"
)

// finishing is one outcome on its way to disk, with the claim of the worker's
// next job.
type finishing struct {
	run     *run
	outcome engine.Outcome
	took    time.Duration
	next    []claim // none or one
	stale   bool    // set by the transaction: the job has moved on
	bad     error   // the same: its record cannot be read
	verdict verdict // the same: what follows
}

// finish writes an outcome. The jobs of next are claimed in the same write. An
// error has ended Run. The run is taken out of the index after the write: until then it tells that the
// job is in hand, whatever it took.
func (b *Backend) finish(s *session, r *run, o engine.Outcome, next []claim) error {
	f := &finishing{run: r, outcome: o, took: time.Since(r.began), next: next}
	crash.Point("before-outcome")
	err := b.writeOutcome(s, f)
	crash.Point("after-outcome")
	b.idx.unregister(r)
	r.cancel(nil)
	if err != nil {
		// The job is an orphan for the next start.
		for i := range f.next {
			f.next[i].ok = false
			b.unclaimed(&f.next[i])
		}
		s.fail(fmt.Errorf("write the outcome of job %s: %w", f.run.job.ID, err))
		return err
	}
	b.finished(f)
	return nil
}

// writeOutcome writes an outcome, or what is made of it when the domain refuses its rows. The second
// write has no Commit. What the domain refuses then, by its OnMove, ends Run.
func (b *Backend) writeOutcome(s *session, f *finishing) error {
	err := b.persistClaims(s, func(tx engine.Tx) error { return b.finishIn(tx, f) })
	if refusal, ok := errors.AsType[*domainError](err); ok {
		f.outcome = b.refused(f.run.job, f.outcome, refusal)
		err = b.persistClaims(s, func(tx engine.Tx) error { return b.finishIn(tx, f) })
	}
	return err
}

// finishIn is the transaction: fencing, the handler's rows, the move, the attempt,
// and the next claim. The next claim stands in the same write also when the outcome is stale.
func (b *Backend) finishIn(tx engine.Tx, f *finishing) error {
	now := wall.Now()
	j, err := b.opt.Store.Job(tx, f.run.job.ID)
	if err != nil && !ofTheJob(err) {
		return fmt.Errorf("read job %s: %w", f.run.job.ID, err)
	}
	f.bad, f.stale = nil, err != nil || !holds(j, f.run.job.Rev)
	if errors.Is(err, engine.ErrUnreadable) {
		f.bad = err
	}
	if !f.stale {
		if err := b.close(tx, j, f, now); err != nil {
			return err
		}
	}
	for i := range f.next {
		if err := b.claimIn(tx, &f.next[i], now); err != nil {
			return err
		}
	}
	return nil
}

// close ends the attempt in its job's favour or not, and moves the job. The domain's rows come first:
// the children that a Commit inserts belong to the group that decides how the job goes on.
func (b *Backend) close(tx engine.Tx, j engine.Job, f *finishing, now time.Time) error {
	e := ending{
		job: j, outcome: onTheWall(f.outcome), policy: b.policyOf(j), bears: b.bears(j), now: atLeast(now),
		took: f.took, paced: f.run.paced, stopped: stoppedBy(f.run, f.outcome),
	}
	if err := b.commitDomain(tx, &e); err != nil {
		return err
	}
	v := &f.verdict
	v.decide(e)
	if err := b.opt.Store.AddAttempt(tx, j.ID, v.attempt); err != nil {
		return fmt.Errorf("close attempt %d of job %s: %w", j.Attempts, j.ID, err)
	}
	cause := engine.ByOutcome
	if v.attempt.Verb == engine.VerbInterrupted {
		cause = engine.ByDrain
	}
	carried := e.outcome
	carried.Verb = v.attempt.Verb
	return b.move(tx, j, v.job, because{cause: cause, reason: v.reason, outcome: carried, now: e.now})
}

// onTheWall moves the instant of an outcome from this process's own clock, by which the handler told it, to
// the wall clock: what the handler asked for is a wait.
func onTheWall(o engine.Outcome) engine.Outcome {
	if !o.At.IsZero() {
		wait := time.Until(o.At)
		o.At = wall.Now().Add(wait)
	}
	return o
}

// commitDomain lets the handler write its rows, if its word still counts, and
// looks at the group that it wants to wait for.
func (b *Backend) commitDomain(tx engine.Tx, e *ending) error {
	o := e.outcome
	if e.job.CancelAsked || e.stopped || o.Verb != engine.VerbDone && o.Verb != engine.VerbWait {
		return nil
	}
	if o.Commit != nil {
		if err := o.Commit(tx); err != nil {
			return &domainError{err}
		}
	}
	if o.Verb != engine.VerbWait {
		return nil
	}
	g, err := b.opt.Store.Group(tx, engine.GroupID{Parent: e.job.ID, Group: o.Group})
	if err != nil {
		return fmt.Errorf("read group %d of job %s: %w", o.Group, e.job.ID, err)
	}
	e.group = g
	return nil
}

// stoppedBy reports whether the attempt ended because the engine stops. What the
// other side has answered still counts; an error about the end of the context
// does not.
func stoppedBy(r *run, o engine.Outcome) bool {
	if !errors.Is(context.Cause(r.ctx), engine.ErrShutdown) {
		return false
	}
	return o.Verb == engine.VerbRetry || errors.Is(o.Err, context.Canceled) || errors.Is(o.Err, engine.ErrShutdown)
}

// policyOf is the job's own retry policy, else its kind's.
func (b *Backend) policyOf(j engine.Job) engine.Policy {
	if p, ok := b.opt.Policies[j.Policy]; ok {
		return p
	}
	return b.opt.Policies[b.kinds[j.Kind].Policy]
}

// refused makes a charged retry of an outcome whose domain rows were refused.
func (b *Backend) refused(j engine.Job, o engine.Outcome, why *domainError) engine.Outcome {
	if p, ok := errors.AsType[*panicError](why); ok {
		return b.panicked(j, p).With(o.Call)
	}
	of(b.opt.Log.Warn(), j).Int("attempt", j.Attempts).Err(why).Msg("commit refused; attempt charged")
	return engine.Retry(why.err).As("commit").With(o.Call)
}

// finished tells what became of an attempt, after the commit. What was done for a job whose record
// cannot be read any more is lost with it: nobody knows where it would belong. A stale one is no fault of
// this engine, but somebody should know that work was done for nothing.
func (b *Backend) finished(f *finishing) {
	j := f.run.job
	if f.bad != nil {
		b.giveUpUnreadable(j.ID, f.bad)
		return
	}
	if f.stale {
		b.counts.late.Add(1)
		of(b.opt.Log.Warn(), j).Uint64("rev", uint64(j.Rev)).
			Str("verb", f.outcome.Verb.String()).Err(engine.ErrStale).Msg("late result discarded")
		b.note(engine.LevelWarn, j.ID, "late result discarded: job %s has moved on since revision %d", j.ID, j.Rev)
		return
	}
	b.counts.finished.Add(1)
	b.logOutcome(f)
}

// logOutcome writes one line for each attempt: failures as warnings, the rest for whoever asks for
// debug.
func (b *Backend) logOutcome(f *finishing) {
	j := &f.verdict.job
	ev := b.opt.Log.Debug()
	if j.State == engine.Retryable || j.State == engine.Discarded {
		ev = b.opt.Log.Warn()
	}
	if !ev.Enabled() {
		return
	}
	ev = of(ev, *j).Str("queue", string(j.Queue)).Int("attempt", f.run.job.Attempts)
	if !j.Due.IsZero() {
		ev = ev.Time("due", j.Due)
	}
	ev.Str("state", j.State.String()).AnErr("err", f.outcome.Err).Dur("took", human.Logged(f.took)).Msg("attempt ended")
}
