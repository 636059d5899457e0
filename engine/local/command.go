package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Insert stores new jobs. A key that a live job holds is no error: see Enqueued.
// Errors are *engine.Problem for a spec that makes no sense.
func (b *Backend) Insert(ctx context.Context, specs ...engine.Spec) ([]engine.Enqueued, error) {
	for _, s := range specs {
		if err := b.checkSpec(s); err != nil {
			return nil, err
		}
	}
	var out []engine.Enqueued
	err := b.write(ctx, func(tx engine.Tx) (err error) {
		out, err = tx.Enqueue(specs...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("insert %d jobs: %w", len(specs), err)
	}
	return out, nil
}

func (b *Backend) checkSpec(s engine.Spec) error {
	if s.Kind == "" || s.Queue == "" {
		return engine.Problemf(engine.ErrInvalid, "name both", "a job needs a kind and a queue")
	}
	if _, ok := b.policies[s.Policy]; s.Policy != "" && !ok {
		return engine.Problemf(engine.ErrInvalid, "use a policy that the configuration names", "there is no retry policy %q", s.Policy)
	}
	return nil
}

// Cancel ends a job for good. One that runs is told at once and ends as cancelled
// whatever it brings; a parent takes the children along that only it wants. ifRev
// 0 = any revision. Errors are *engine.Problem.
func (b *Backend) Cancel(ctx context.Context, id engine.JobID, ifRev engine.Revision, by engine.Actor, reason string) (engine.Receipt, error) {
	return b.command(ctx, id, ifRev, func(tx engine.Tx, j engine.Job) (engine.Receipt, error) {
		why := because{cause: engine.ByOperator, reason: reason, actor: nameOf(by), now: atLeast(time.Now())}
		switch {
		case j.State == engine.Cancelled:
			return nothing(j, "it is cancelled already"), nil
		case j.State.Terminal():
			return engine.Receipt{}, conflict(j, "it has ended: %s", j.State)
		case j.CancelAsked:
			return nothing(j, "it is being cancelled already"), nil
		case j.State == engine.Running:
			return receipt(j, "job %s is told to stop", j.ID), b.askToStop(tx, j, why)
		}
		return receipt(j, "job %s is cancelled", j.ID), b.cancel(tx, j, why)
	})
}

// Retry lets a job run now, in queue order and through the limiter. Attempts it
// has used are not counted any more: a new round begins. A completed or running
// job, and one whose key another live job holds, is refused. Errors are
// *engine.Problem.
func (b *Backend) Retry(ctx context.Context, id engine.JobID, ifRev engine.Revision, by engine.Actor, reason string) (engine.Receipt, error) {
	return b.command(ctx, id, ifRev, func(tx engine.Tx, j engine.Job) (engine.Receipt, error) {
		if r, err := b.mayRetry(tx, j); r.Nothing || err != nil {
			return r, err
		}
		now := atLeast(time.Now())
		after := runNow(j, now)
		why := because{cause: engine.ByOperator, reason: reason, actor: nameOf(by), now: now}
		return receipt(after, "job %s runs when its turn comes", j.ID), b.move(tx, j, after, why)
	})
}

// mayRetry says what stands against a retry.
func (b *Backend) mayRetry(tx engine.Tx, j engine.Job) (engine.Receipt, error) {
	switch j.State {
	case engine.Available:
		return nothing(j, "it may run already"), nil
	case engine.Running:
		return engine.Receipt{}, conflict(j, "it is running now (rev %d)", j.Rev)
	case engine.Completed:
		return engine.Receipt{}, refusal(j, "it is completed", "a completed job can only be forced")
	case engine.Pending:
		return engine.Receipt{}, b.waitsForChildren(tx, j)
	case engine.Discarded, engine.Cancelled:
		return engine.Receipt{}, b.keyIsFree(tx, j)
	}
	return engine.Receipt{}, nil
}

func (b *Backend) waitsForChildren(tx engine.Tx, j engine.Job) error {
	g, err := b.store.Group(tx, engine.GroupID{Parent: j.ID, Group: j.Group})
	if err != nil || g.Settled() {
		return err
	}
	return refusal(j, fmt.Sprintf("it waits for %d children", g.Open), "retry or cancel those")
}

// keyIsFree refuses to revive a job whose key another live job has taken (P-06).
func (b *Backend) keyIsFree(tx engine.Tx, j engine.Job) error {
	if j.Key == "" {
		return nil
	}
	holder, err := b.store.JobByKey(tx, j.Key)
	if errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p := refusal(j, fmt.Sprintf("unique: #%s holds %s", holder.ID, j.Key), "look at that job instead")
	p.Job = holder.ID
	return p
}

// runNow is a job as an operator's retry leaves it.
func runNow(j engine.Job, now time.Time) engine.Job {
	if j.State == engine.Pending {
		j = goOn(j, now)
	} else if j.Tries > 0 {
		j = newRound(j)
	}
	j.Rev++
	j.State, j.Due, j.Hold, j.Front = engine.Available, now, engine.HoldNone, false
	j.CancelAsked, j.Crashes, j.Finished = false, 0, time.Time{}
	return j
}

// Reschedule moves a waiting job to an instant; the past means now. Errors are
// *engine.Problem.
func (b *Backend) Reschedule(ctx context.Context, id engine.JobID, ifRev engine.Revision, at time.Time, by engine.Actor, reason string) (engine.Receipt, error) {
	return b.command(ctx, id, ifRev, func(tx engine.Tx, j engine.Job) (engine.Receipt, error) {
		after := j
		switch j.State {
		case engine.Scheduled, engine.Retryable:
		case engine.Available:
			after.State = engine.Scheduled
		case engine.Running:
			return engine.Receipt{}, conflict(j, "it is running now (rev %d)", j.Rev)
		default:
			return engine.Receipt{}, refusal(j, fmt.Sprintf("it is %s", j.State), "only a job that waits for its turn has an instant")
		}
		now := time.Now()
		after.Rev++
		after.Due, after.Hold = atLeast(latest(at, now)), engine.HoldNone
		why := because{cause: engine.ByOperator, reason: reason, actor: nameOf(by), now: atLeast(now)}
		return receipt(after, "job %s is due at %s", j.ID, after.Due.Format(time.RFC3339)), b.move(tx, j, after, why)
	})
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// command carries out one command on one job: found, unchanged since shown, done
// in one transaction.
func (b *Backend) command(ctx context.Context, id engine.JobID, ifRev engine.Revision, do func(engine.Tx, engine.Job) (engine.Receipt, error)) (engine.Receipt, error) {
	var r engine.Receipt
	err := b.write(ctx, func(tx engine.Tx) error {
		j, err := b.store.Job(tx, id)
		if errors.Is(err, engine.ErrNotFound) {
			return notFound(id)
		}
		if err != nil {
			return fmt.Errorf("read job %s: %w", id, err)
		}
		if ifRev != 0 && ifRev != j.Rev {
			return conflict(j, "changed since shown: now %s (rev %d)", j.State, j.Rev)
		}
		r, err = do(tx, j)
		return err
	})
	if err != nil {
		return engine.Receipt{}, err
	}
	r.Seq = b.idx.version()
	return r, nil
}

func (x *index) version() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seq
}

func receipt(j engine.Job, format string, args ...any) engine.Receipt {
	return engine.Receipt{Job: j.ID, Matched: 1, Applied: 1, Due: j.Due, Text: fmt.Sprintf(format, args...)}
}

func nothing(j engine.Job, why string) engine.Receipt {
	return engine.Receipt{Job: j.ID, Matched: 1, Nothing: true, Text: fmt.Sprintf("nothing to do for job %s: %s", j.ID, why)}
}

func notFound(id engine.JobID) *engine.Problem {
	p := engine.Problemf(engine.ErrNotFound, "look at the list of jobs for its id", "there is no job %s", id)
	p.Job = id
	return p
}

func conflict(j engine.Job, format string, args ...any) *engine.Problem {
	p := engine.Problemf(engine.ErrConflict, "look at it again", "job %s: %s", j.ID, fmt.Sprintf(format, args...))
	p.Job = j.ID
	return p
}

func refusal(j engine.Job, why, do string) *engine.Problem {
	p := engine.Problemf(engine.ErrRefused, do, "job %s is not retried: %s", j.ID, why)
	p.Job = j.ID
	return p
}
