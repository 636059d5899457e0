package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/storage/internal/commit"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// Write runs fn in the next group commit and returns after it. It returns fn's error; such an fn
// leaves no trace. When the commit itself fails it returns ErrDiskFull (nothing was written) or
// ErrUnknown.
//
// fn must check before it writes, touch nothing but the transaction and variables of its own that
// it assigns (not adds to), and call neither Write nor Read: it runs again when a neighbour of the
// same group has failed half way. Write needs Serve; without it, Write waits for ctx. A context
// that ends while fn is queued gives its cause; once fn has been taken, Write waits for the answer.
func (db *DB) Write(ctx context.Context, fn func(engine.Tx) error) error {
	if db.readOnly {
		return disk.ErrReadOnly
	}
	if db.share != nil {
		if _, err := db.share.leads(); err != nil {
			return err
		}
	}
	return db.writer.Write(ctx, fn)
}

// group is the transaction of a group commit, as the committer sees it.
type group struct {
	db *DB
	t  *txn
}

// beginGroup begins a transaction that uses the memory of the one before.
func (db *DB) beginGroup() (commit.Group, error) {
	b, err := db.bolt.Begin(true)
	if err != nil {
		return nil, err
	}
	if db.anew.Swap(false) {
		db.reuse = newReuse()
	}
	t := db.located(db.reuse.begin(b))
	if db.share != nil {
		t.Logs()
	}
	return group{db, t}, nil
}

func (g group) Bytes() int { return g.t.Size }

func (g group) Rollback() {
	if g.t.Bolt.DB() != nil {
		_ = g.t.Bolt.Rollback() // fails only when it is closed already
	}
}

// Try implements commit.Group.
func (g group) Try(fn func(engine.Tx) error) (wrote bool, err error) {
	t := g.t
	wasDirty, changes, touched := t.Dirty, len(t.changes), len(t.touched)
	t.Dirty = false
	err = commit.Call(fn, t)
	wrote = t.Dirty
	t.Dirty = t.Dirty || wasDirty
	// An fn that has written and failed ends the whole transaction; one that only announced is
	// taken back here.
	if err != nil && !wrote {
		t.changes, t.touched = t.changes[:changes], t.touched[:touched]
	}
	return wrote, err
}

// Commit adds the rows of touched accounts, commits and publishes. A group that wrote nothing costs
// no commit.
func (g group) Commit() error {
	db, t := g.db, g.t
	if !t.Dirty {
		return nil
	}
	for _, finish := range db.finish {
		if err := finish(t); err != nil {
			return fmt.Errorf("%w: %w", disk.ErrUnknown, err)
		}
	}
	id := t.Bolt.ID()
	seq := uint64(id)
	crash.Point("before-state-commit")
	began := time.Now()
	if db.beforeCommit != nil {
		db.beforeCommit()
	}
	if db.share != nil {
		seq = db.Seq() + 1
		if err := errors.Join(t.PutNumber(tMeta, metaLog, seq), db.share.append(t, seq)); err != nil {
			return err
		}
	}
	err := t.commit()
	db.commits.Add(began)
	if err != nil && db.share != nil {
		return fmt.Errorf("%s: %w: a commit that is in the log: %w", disk.StatePath(db.dir), disk.ErrUnknown, err)
	}
	if err != nil {
		return db.judge(id, err)
	}
	crash.Point("after-state-commit")
	db.reuse.committed(t)
	db.publish(seq, t.changes)
	db.reuse.takeBack(t.changes)
	return nil
}

// commit writes the transaction to disk.
func (t *txn) commit() error {
	if err := crash.Fault("state-commit"); err != nil {
		return err
	}
	return t.Bolt.Commit()
}

// publish hands the changes of one commit on, in commit order and before any of the group's callers
// is answered.
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

// giveUpBallast frees what Room has kept for orders, and reports whether there was any.
func (db *DB) giveUpBallast(full error) bool {
	// A state.db that has reached its largest size is not helped by room on the disk.
	_, server := errors.AsType[interface {
		error
		Closed() string
	}](full) // it is another disk that is full
	given := !server && !errors.Is(full, berrors.ErrMaxSizeReached) && disk.GiveUpBallast(db.dir)
	if given {
		db.log.Warn().Msg("the disk is full: what was kept free for commands is used")
	}
	return given
}

// judge reads the file again to find out what a failed commit has left. Measured: a sync that fails
// on the meta page returns an error although the new data is visible and may survive.
func (db *DB) judge(id int, cause error) error {
	visible := true
	err := db.bolt.View(func(b *bolt.Tx) error {
		visible = b.ID() >= id
		return nil
	})
	// The old state is what is on disk, and the disk is full: the group may be tried again. In all
	// other cases nobody knows.
	if err == nil && !visible && (disk.NoRoom(cause) || errors.Is(cause, berrors.ErrMaxSizeReached)) {
		return fmt.Errorf("%w: %w", disk.ErrDiskFull, cause)
	}
	return fmt.Errorf("%s: %w: %w", disk.StatePath(db.dir), disk.ErrUnknown, cause)
}
