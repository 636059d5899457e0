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
// *storeError, or the cause of ctx.
func (b *Backend) write(ctx context.Context, fn func(engine.Tx) error) error {
	err := b.store.Write(ctx, func(tx engine.Tx) error {
		if err := guard(fn, tx); err != nil {
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

// guard turns a panic of the domain's code into its refusal. The store must not
// be entered by an unwinding stack.
func guard(fn func(engine.Tx) error, tx engine.Tx) (err error) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if _, fault := r.(interface{ Addr() uintptr }); fault {
			panic(r) // a page that cannot be read: the store's own affair
		}
		err = &domainError{&panicError{value: r, stack: debug.Stack()}}
	}()
	return fn(tx)
}

// panicError is a panic of a handler or of its Commit.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// persist is write for the engine's own moves: while the disk is full it waits,
// chooses no more jobs, and tries again. It gives up when the session's patience
// ends; the jobs are then orphans for the next start.
func (b *Backend) persist(s *session, fn func(engine.Tx) error) error {
	full := false
	for {
		err := b.write(s.write, fn)
		if broken, ok := errors.AsType[*storeError](err); !ok || !b.noRoom(broken.err) {
			if full {
				b.resumeAfterRoom(err)
			}
			return err
		}
		if !full {
			full = true
			b.haltForRoom(err)
		}
		if !await.Pause(s.ctx, roomEvery) {
			return fmt.Errorf("the disk is still full: %w", err)
		}
	}
}

func (b *Backend) haltForRoom(err error) {
	b.idx.halt("disk full")
	b.log.Error().Err(err).Msg("write failed for want of room; no job is started until there is room")
	b.note(engine.LevelErr, "", "the disk is full: nothing is lost, and work goes on when there is room")
}

func (b *Backend) resumeAfterRoom(err error) {
	if err != nil {
		return
	}
	b.idx.halt("")
	b.log.Info().Msg("there is room again; jobs are started")
	b.note(engine.LevelOK, "", "there is room on the disk again: work goes on")
	b.wake.Ring()
}
