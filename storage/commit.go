package storage

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// errAgain: an op failed after it had written, so the group is rolled back and tried again without it.
var errAgain = errors.New("try the group again")

// Write runs fn in the next group commit and returns after it. It returns fn's error; such an fn leaves no trace. When the
// commit itself fails it returns ErrDiskFull (nothing was written) or ErrUnknown.
//
// fn must check before it writes, touch nothing but the transaction and variables of its own that it assigns (not adds
// to), and call neither Write nor Read: it runs again when a neighbour of the same group has failed half way. Write needs
// Serve; without it, Write waits for ctx. A context that ends while fn is queued gives its cause; once fn has been taken,
// Write waits for the answer.
func (db *DB) Write(ctx context.Context, fn func(engine.Tx) error) error {
	if db.readOnly {
		return disk.ErrReadOnly
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if why := db.brokenBy.Load(); why != nil {
		return fmt.Errorf("%w: %w", disk.ErrClosed, *why)
	}
	o := db.queue.op(fn)
	if err := db.queue.push(o); err != nil {
		return err
	}
	err := db.queue.wait(ctx, o)
	db.queue.done(o)
	return err
}

// commitQueued commits a group of what is queued, if anything is.
func (db *DB) commitQueued() error {
	if o := db.queue.pop(); o != nil {
		return db.commitGroup(o)
	}
	return nil
}

// commitGroup commits first and whatever else is queued, and answers all of them. An error means that the store takes no
// more writes.
func (db *DB) commitGroup(first *op) error {
	if why := db.brokenBy.Load(); why != nil {
		first.done <- fmt.Errorf("%w: %w", disk.ErrClosed, *why)
		return *why
	}
	db.gather(1)
	g := append(db.reuse.group[:0], first)
	err := errAgain
	for err == errAgain {
		err = db.tryGroup(&g)
	}
	for i, o := range g {
		answer := o.err
		if answer == nil {
			answer = err
		}
		g[i] = nil
		o.done <- answer // from here on it may be another Write's
	}
	db.reuse.group, db.reuse.before = g[:0], len(g)
	if errors.Is(err, disk.ErrDiskFull) {
		return nil
	}
	return err
}

// tryGroup runs the ops of g, and those that are queued meanwhile and join it, in one transaction, and commits it.
func (db *DB) tryGroup(g *[]*op) (err error) {
	b, err := db.bolt.Begin(true)
	if err != nil {
		return fmt.Errorf("%w: begin: %w", disk.ErrUnknown, err)
	}
	defer func() {
		if r := recover(); r != nil { // bbolt fell over a damaged page
			err = fmt.Errorf("%w: %v", disk.ErrUnknown, r)
		}
		if b.DB() != nil {
			_ = b.Rollback() // fails only when it is closed already
		}
	}()
	t := db.groupTx(b)
	for i := 0; ; i++ {
		if i == len(*g) && !db.takeNext(g, t) {
			break
		}
		o := (*g)[i]
		if o.out {
			continue
		}
		if err := o.run(t); err != nil {
			return err
		}
	}
	return db.finishGroup(t)
}

// takeNext adds one queued op to the group, if there is one and room for it.
func (db *DB) takeNext(g *[]*op, t *txn) bool {
	if len(*g) >= disk.MaxGroupOps || t.bytes >= disk.MaxGroupBytes {
		return false
	}
	o := db.queue.pop()
	if o == nil {
		db.gather(len(*g))
		if o = db.queue.pop(); o == nil {
			return false
		}
	}
	*g = append(*g, o)
	return true
}

// gather lets those whom the last group has answered queue what they write next: as long as more and more do, and no longer
// than until the group, which has so many already, is as large as that one. A commit costs about the same for few as for
// many.
func (db *DB) gather(have int) {
	for n := -1; have+n < db.reuse.before; {
		runtime.Gosched()
		queued := db.queue.len()
		if queued <= n {
			return
		}
		n = queued
	}
}

// run lets the op do its part. A refusal before its first write costs nobody anything; one after it asks for a new try.
func (o *op) run(t *txn) error {
	wasDirty, changes, touched := t.dirty, len(t.changes), len(t.touched)
	t.dirty = false
	o.err = call(o.fn, t)
	wrote := t.dirty
	t.dirty = t.dirty || wasDirty
	if o.err == nil {
		return nil
	}
	if fault, ok := errors.AsType[*pageFault](o.err); ok {
		o.err = nil // answered as all others of the group
		return fmt.Errorf("%w: %w", disk.ErrUnknown, fault)
	}
	if wrote {
		o.out = true
		return errAgain
	}
	t.changes, t.touched = t.changes[:changes], t.touched[:touched]
	return nil
}

// pageFault is a page of the mapped file that could not be read: the disk, not the caller, is at fault.
type pageFault struct{ cause error }

func (e *pageFault) Error() string {
	return fmt.Sprintf("a page of the file cannot be read: %v", e.cause)
}

// call runs fn and turns a panic into its error.
func call(fn func(engine.Tx) error, t *txn) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = asError(r)
		}
	}()
	return fn(t)
}

func asError(r any) error {
	if e, ok := r.(interface {
		error
		Addr() uintptr
	}); ok {
		return &pageFault{e}
	}
	return &opPanic{value: r, stack: debug.Stack()}
}

// finishGroup adds the rows of touched accounts, commits and publishes. A group that wrote nothing costs no commit.
func (db *DB) finishGroup(t *txn) error {
	if !t.dirty {
		return nil
	}
	for _, finish := range db.finish {
		if err := finish(t); err != nil {
			return fmt.Errorf("%w: %w", disk.ErrUnknown, err)
		}
	}
	id := t.b.ID()
	crash.Point("before-state-commit")
	began := time.Now()
	if db.beforeCommit != nil {
		db.beforeCommit()
	}
	err := t.commit()
	db.commits.Add(began)
	if err != nil {
		return db.judge(id, err)
	}
	crash.Point("after-state-commit")
	db.reuse.committed(t)
	db.publish(uint64(id), t.changes)
	db.reuse.takeBack(t.changes)
	return nil
}

// commit writes the transaction to disk.
func (t *txn) commit() error {
	if err := crash.Fault("state-commit"); err != nil {
		return err
	}
	return t.b.Commit()
}

// publish hands the changes of one commit on, in commit order and before any of the group's callers is answered.
func (db *DB) publish(seq uint64, changes []engine.Change) {
	for i := range changes {
		changes[i].Seq = seq
	}
	db.seq.Store(seq)
	if db.onCommit != nil {
		db.onCommit(seq, changes)
	}
	crash.Point("after-publish")
}

// judge reads the file again to find out what a failed commit has left. Measured: a sync that fails on the meta page
// returns an error although the new data is visible and may survive.
func (db *DB) judge(id int, cause error) error {
	visible := true
	err := db.bolt.View(func(b *bolt.Tx) error {
		visible = b.ID() >= id
		return nil
	})
	if err == nil && !visible && (disk.NoRoom(cause) || errors.Is(cause, berrors.ErrMaxSizeReached)) {
		return fmt.Errorf("%w: %w", disk.ErrDiskFull, cause)
	}
	return fmt.Errorf("%s: %w: %w", disk.StatePath(db.dir), disk.ErrUnknown, cause)
}

// opPanic is the error of an operation that panicked.
type opPanic struct {
	value any
	stack []byte
}

func (e *opPanic) Error() string { return fmt.Sprintf("panic in a write: %v\n%s", e.value, e.stack) }
