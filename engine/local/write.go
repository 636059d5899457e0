package local

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
)

// storeError is a failure of the store itself, not a refusal of what was written.
type storeError struct{ err error }

func (e *storeError) Error() string { return e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// fnError is what the function of a transaction says, wrapped so that it is told from the
// store's own error, which the domain may have passed on as it met it.
type fnError struct{ err error }

func (e *fnError) Error() string { return e.err.Error() }
func (e *fnError) Unwrap() error { return e.err }

// write runs fn in a transaction. A refusal is fn's own error; anything else is a
// *storeError, or the cause of ctx. A panic of fn is a *domainError with a *panicError in it: it must
// not take the committer along, which writes for others, too.
func (b *Backend) write(ctx context.Context, fn func(engine.Tx) error) error {
	err := b.opt.Store.Write(ctx, func(tx engine.Tx) error {
		err := engine.Guard(func() error { return fn(tx) }, func(panicked any) error {
			return &domainError{&panicError{value: panicked, stack: debug.Stack()}}
		})
		if err != nil {
			return &fnError{err}
		}
		return nil
	})
	if refused, ok := errors.AsType[*fnError](err); ok {
		return refused.err
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &storeError{err}
}

// panicError is a panic of a handler or of its Commit.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// persist is write for the engine's own moves: while the store takes no writes, as on a full
// disk, it waits, chooses no more jobs, and tries again. It gives up when the session's patience
// ends; the jobs are then orphans for the next start.
func (b *Backend) persist(s *session, fn func(engine.Tx) error) error {
	var shut *closed
	for {
		err := b.write(s.write, fn)
		if broken, ok := errors.AsType[*storeError](err); !ok || !b.opt.NoRoom(broken.err) {
			if shut != nil && err == nil {
				b.resumeWrites(shut)
			}
			return err
		}
		if shut == nil {
			shut = closedBy(err)
			b.haltWrites(shut, err)
		}
		if !await.Pause(s.ctx, roomEvery) {
			return fmt.Errorf("%s still: %w", shut.says, err)
		}
	}
}

// closed is why a store takes no writes for now: in a word beside a job, in a sentence, until when,
// and what is said then.
type closed struct{ word, says, until, over string }

// closedBy asks the error of a store that is elsewhere; else it is the disk here.
func closedBy(err error) *closed {
	type store interface {
		error
		// Closed says why the store takes no writes: read-only.
		Closed() string
	}
	if e, ok := errors.AsType[store](err); ok {
		return &closed{engine.StoreShut + e.Closed(), "the database is " + e.Closed(), "it takes writes",
			"the database takes writes again"}
	}
	return &closed{"disk full", "the disk is full", "there is room", "there is room on the disk again"}
}

// haltWrites stops the choosing and says so, once for each write that waits.
func (b *Backend) haltWrites(c *closed, err error) {
	b.idx.halt(c.word)
	b.opt.Log.Error().Err(err).Msg("a write was refused, " + c.says + "; no job is started until " + c.until)
	b.note(engine.LevelErr, "", "%s: nothing is lost, and work goes on when %s", c.says, c.until)
}

// resumeWrites lets the choosing go on, as soon as one of the writes that waited has got through.
func (b *Backend) resumeWrites(c *closed) {
	b.idx.halt("")
	b.opt.Log.Info().Msg(c.over + "; jobs are started")
	b.note(engine.LevelOK, "", "%s: work goes on", c.over)
	b.wake.Ring()
}
