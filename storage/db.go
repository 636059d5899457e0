package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/storage/internal/commit"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

const (
	// watchEvery is how often the file's identity is compared and idle shards are closed.
	watchEvery = time.Minute
	// closePatience bounds Close: bbolt waits for ever for an open reader, and a crash is safe.
	closePatience = 5 * time.Second
)

// DB is an open data directory. Its methods may be called by many goroutines at once.
type DB struct {
	dir      string
	bolt     *bolt.DB
	lock     *disk.Lock
	log      zerolog.Logger
	readOnly bool
	boot     Boot
	self     os.FileInfo    // the open state file, to notice that another took its name
	files    *payload.Store // of this directory
	payloads payloadStore   // files, or where all have them who share the store
	region   func(platform string) string
	pages    disk.Pages
	sized    time.Time // when the size was last noted; Serve's own

	writer       *commit.Committer
	reuse        *reuse // Serve's own
	onCommit     func(seq uint64, changes []engine.Change)
	beforeCommit func()             // nil = nothing
	finish       []func(*txn) error // complete a group's transaction, before its commit
	tick         func() error       // runs between groups, now and then
	closing      func() error       // runs when the store is closed in order
	leading      func() error       // runs before this process leads
	seq          atomic.Uint64
	commits      disk.WriteTimes
	forgets      sync.Mutex // one account at a time

	share *share      // nil = the store is this process's alone
	anew  atomic.Bool // the committer may keep nothing of what it knew: others have written
}

// lookAgain is between two looks at what cannot be had.
const lookAgain = 250 * time.Millisecond

// Dir is the data directory.
func (db *DB) Dir() string { return db.dir }

// Seq is the version of the last commit.
func (db *DB) Seq() uint64 { return db.seq.Load() }

// OnCommit names the one function that gets the changes of every commit, in commit order and before
// the writers are answered. It must not block and must not keep the slice's array. Call it before
// Serve.
func (db *DB) OnCommit(f func(seq uint64, changes []engine.Change)) { db.onCommit = f }

// Serve commits what Write asks for until ctx ends, then what is still queued, and returns nil. It
// ends early with an error when the disk cannot be trusted any more; then the store must be closed
// and opened again. Serve is called once.
func (db *DB) Serve(ctx context.Context) error {
	if db.readOnly {
		<-ctx.Done()
		return nil
	}
	if db.share == nil {
		return db.commitAll(ctx)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var g errgroup.Group
	g.Go(func() error { defer stop(); return db.commitAll(ctx) })
	g.Go(func() error { defer stop(); return db.follow(ctx) })
	return g.Wait()
}

// commitAll commits what Write asks for until ctx ends.
func (db *DB) commitAll(ctx context.Context) error {
	return db.writer.Serve(ctx, watchEvery, func() error {
		if err := db.watch(); err != nil {
			return err
		}
		return db.tick()
	})
}

// Abandon ends the store as a crash would: Serve returns why, what was not committed yet never is,
// and Close leaves no mark that it was closed in order. It does not block. The demo shows a crash
// with it.
func (db *DB) Abandon(why error) { db.writer.Break(why) }

// watch compares the open file with the one under its name: the lock follows the file, so a
// replaced one would let two writers in.
func (db *DB) watch() error {
	db.files.CloseIdle()
	now, err := os.Stat(disk.StatePath(db.dir))
	// A name that leads nowhere is as bad: the next start would make an empty store, while this one
	// goes on writing to a file that is lost.
	if err != nil || !os.SameFile(db.self, now) {
		return fmt.Errorf("%w: %s", disk.ErrReplaced, disk.StatePath(db.dir))
	}
	return nil
}

// Read runs fn in a transaction that sees the last commit and nothing later. It must be short (50
// ms) and must not call Write or Read: an open reader keeps old pages from being used again.
func (db *DB) Read(ctx context.Context, fn func(engine.Tx) error) error {
	return db.view(ctx, func(t *txn) error { return fn(t) })
}

func (db *DB) view(ctx context.Context, fn func(*txn) error) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	b, err := db.bolt.Begin(false)
	if err != nil {
		return fmt.Errorf("%w: %w", disk.ErrClosed, err)
	}
	defer b.Rollback()
	defer func() {
		if fault, ok := asFault(recover()); ok {
			err = &disk.Damaged{Path: disk.StatePath(db.dir), Why: fault}
		}
	}()
	t := db.tx(b)
	if db.share != nil && db.share.joined {
		// Asked within the transaction: who asks before may be shown what is emptied a moment later.
		if _, filled, err := t.Number(tMeta, metaLog); err != nil || !filled {
			return cmp.Or(err, error(errFilling))
		}
	}
	return fn(t)
}

// readIn gives what fn reads in a transaction of its own.
func readIn[T any](ctx context.Context, db *DB, fn func(*txn) (T, error)) (v T, err error) {
	err = db.view(ctx, func(t *txn) error {
		v, err = fn(t)
		return err
	})
	return v, err
}

// asFault tells a panic of bbolt's, or of the mapping under it, from one of ours, which it lets
// pass on.
func asFault(r any) (why string, ok bool) {
	switch r := r.(type) {
	case nil:
		return "", false
	case string: // bbolt's assertions
		return r, true
	case interface {
		error
		Addr() uintptr
	}:
		return "a page cannot be read", true
	}
	panic(r)
}

// Close ends the store: it marks a clean shutdown, closes all files and frees the lock. End Serve
// first. It waits at most five seconds for readers.
func (db *DB) Close() error {
	// Writers first: whoever writes now is refused, and then the mark is the last commit.
	crash.Point("shutdown-begin")
	var err error
	if why := db.writer.Close(); !db.readOnly && why == nil {
		if err = db.closing(); err != nil {
			err = fmt.Errorf("note in %s that it was closed in order: %w; all that was stored is there",
				disk.StatePath(db.dir), err)
		}
	}
	crash.Point("shutdown-marked")
	// With room for one, so that the goroutine ends even if nobody waits any more.
	closed := make(chan error, 1)
	go func() { closed <- errors.Join(db.files.Close(), db.bolt.Close()) }()
	select {
	case e := <-closed:
		if err = errors.Join(err, e); !db.readOnly && err == nil {
			_ = disk.Seal(disk.StatePath(db.dir)) // without it the next reader looks at every page
		}
	case <-time.After(closePatience):
		err = errors.Join(err, fmt.Errorf("close %s: a reader is still at work", db.dir))
	}
	db.lock.Release()
	return err
}

// tx is a transaction of the state file.
func (db *DB) tx(b *bolt.Tx) *txn { return db.located(newTx(b, disk.Now())) }

func (db *DB) located(t *txn) *txn {
	if db.region != nil {
		t.region = db.region
	}
	return t
}

// Boot is one opening of a data directory for writing.
type Boot struct {
	ID     string // random, so that no other process, host or restart ever has it
	Opened time.Time
	// Clean tells whether the opening before this one was closed in order; true for a new store. Last
	// is when that was, or the zero time.
	Clean bool
	Last  time.Time
	New   bool // the store was made just now
	// Restored is when a backup was last put back; the zero time when never. What was fetched between
	// the backup and then is not in the state, but its payloads are: a job that was created before
	// looks for them (FindPayload).
	Restored time.Time
}

// guarded runs code of bbolt's on the state file; a page that cannot be read is damage, not a
// crash.
func (db *DB) guarded(f func() error) error { return disk.GuardFile(disk.StatePath(db.dir), f) }
