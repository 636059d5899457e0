package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Return gives a running job back that another process was to carry out, at the revision of its
// claim: uncharged. gone says that the process took it up and is gone, which counts as a crash of
// the job. also is called in the same transaction; its error refuses the return.
// engine.ErrStale, engine.ErrNotFound: the job has moved on.
func (b *Backend) Return(
	ctx context.Context, id engine.JobID, rev engine.Revision, why string, gone bool,
	also func(tx engine.Tx) error,
) error {
	cause := engine.ByDrain
	if gone {
		cause = engine.ByRescue
	}
	return b.write(ctx, func(tx engine.Tx) error {
		if err := also(tx); err != nil {
			return err
		}
		return b.interruptIn(tx, engine.Job{ID: id, Rev: rev}, why, cause)
	})
}

// An outcome that waits for its store has a call to Riot behind it: thrown away, that is made again.
const (
	// awayPatience is how long an outcome is kept for a store that does not take it.
	awayPatience = 5 * time.Minute
	// awayPause is between two tries.
	awayPause = time.Second
)

// Attempt carries out, here, the attempt of a job that another process has claimed at a revision,
// and writes its outcome. It needs no Run, but Apply or the follower's index to be told of a
// cancel. also is called in the transaction that ends the attempt, whether or not the job has moved
// on meanwhile. When the job has moved on before the handler is called, engine.ErrStale is
// returned, and also is not called. When ctx ends, the handler is told so, and its job goes back
// uncharged.
func (b *Backend) Attempt(
	ctx context.Context, id engine.JobID, rev engine.Revision, also func(tx engine.Tx) error,
) error {
	c := claim{id: id, rev: rev}
	if err := b.opt.Store.Read(ctx, func(tx engine.Tx) error { return b.lookAway(tx, &c) }); err != nil {
		return err
	}
	s, done := newSession(context.WithoutCancel(ctx)) // it ends by its outcome, not by ctx
	defer done()
	defer context.AfterFunc(ctx, func() { s.stop(engine.ErrShutdown) })()

	r := b.begin(s, &c)
	b.counts.claimed.Add(1)
	f := &finishing{run: r, outcome: b.call(r, c.groups), also: also}
	f.took = time.Since(r.began)
	b.quit(r)
	err := b.writeOutcome(s, f)
	for began := time.Now(); isAway(err) && time.Since(began) < patienceOf(ctx); {
		// ctx does not end it: an attempt that is told to stop still writes what it has, for as long as
		// patienceOf says.
		time.Sleep(awayPause)
		err = b.writeOutcome(s, f)
	}
	b.idx.unregister(r)
	r.cancel(nil)
	if err != nil {
		return fmt.Errorf("write the outcome of job %s: %w", id, err)
	}
	b.finished(f)
	return nil
}

// lookAway reads what an attempt begins with. The revision is put back to that of the claim, which a
// cancel may have bumped since.
func (b *Backend) lookAway(tx engine.Tx, c *claim) (err error) {
	c.job, err = b.opt.Store.Job(tx, c.id)
	switch {
	case errors.Is(err, engine.ErrNotFound), err == nil && !holds(c.job, c.rev):
		return engine.ErrStale
	case err != nil:
		return fmt.Errorf("read job %s: %w", c.id, err)
	case b.kinds[c.job.Kind] == nil:
		return fmt.Errorf("job %s is of kind %s, which this version does not know: %w", c.id, c.job.Kind, engine.ErrRefused)
	}
	c.job.Rev = c.rev
	if c.groups, err = b.opt.Store.Groups(tx, c.id); err != nil {
		return fmt.Errorf("read the groups of job %s: %w", c.id, err)
	}
	return nil
}

// isAway tells an error of a store that may come back.
func isAway(err error) bool {
	_, broken := errors.AsType[*storeError](err)
	return broken && !errors.Is(err, engine.ErrShutdown)
}

// patienceOf is how long an outcome is kept.
func patienceOf(ctx context.Context) time.Duration {
	if ctx.Err() != nil {
		return stopPatience
	}
	return awayPatience
}
