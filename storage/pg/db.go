package pg

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// DB is an open schema. Its methods may be called by many goroutines at once.
type DB struct {
	*shared
	epoch int64           // of the term within which it writes; 0 = at any time
	over  context.Context // ends with that term, for ErrDeposed; nil of no term
}

// shared is what the stores of one process have in common.
// The stores of a process are one for what needs no term, and one for each term.
type shared struct {
	pool     *pgxpool.Pool
	turns    turnstile
	told     teller
	region   func(platform string) string
	patience patience
	// queryable: the server packs JSON so well that matches are stored as that.
	queryable bool
	// atEnd is what follows from what a transaction has done, in this order, so that no two
	// transactions keep each other from it.
	atEnd []func(*txn) error

	schema, name string
	channel      string // where commits are told of
	readOnly     bool
	life         context.Context // ends with Abandon
	abandon      context.CancelCauseFunc
	commits      both.WriteTimes
	copied       atomic.Pointer[time.Time]
	beforeCommit func() // nil = nothing
}

// Serve hears of all commits, of other processes too, until ctx ends, and returns nil; or, once the
// store was abandoned, why.
func (db *DB) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(db.life, stop)()
	db.listen(ctx)
	return context.Cause(db.life)
}

// Abandon ends the store as a crash would: all connections are cut, nothing more is committed, and
// Serve returns why. It does not block. The demo shows a crash with it.
func (db *DB) Abandon(why error) { db.abandon(why) }

// Close ends all connections, also those in use: what goes on there fails.
func (db *DB) Close() error {
	db.abandon(engine.ErrShutdown)
	db.pool.Close()
	return nil
}

// Read runs fn in a transaction that sees one state of the database. It must be short: an old
// state keeps the database from clearing up.
func (db *DB) Read(ctx context.Context, fn func(engine.Tx) error) error {
	return db.view(ctx, func(t *txn) error { return fn(t) })
}

// view begins again when the connection is lost before fn was told anything: after that, fn has
// seen a state that nobody else gives it.
func (db *DB) view(ctx context.Context, fn func(*txn) error) error {
	return db.again(ctx, func(error) bool { return false }, func() (told bool, err error) {
		err = db.in(ctx, "", func(t *txn) error {
			t.queued.Queue("begin isolation level repeatable read, read only")
			err := fn(t)
			if t.err != nil {
				err = t.err
			}
			t.rollback()
			told = t.told
			return err
		})
		return told, err
	})
}

// answer is what one question gives that is asked in a reading transaction of its own.
func answer[T any](ctx context.Context, db *DB, ask func(*txn) (T, error)) (v T, err error) {
	err = db.view(ctx, func(t *txn) error {
		v, err = ask(t)
		return err
	})
	return v, err
}

// Write runs fn in one transaction and returns after its commit. It returns fn's error, and such
// an fn leaves no trace; but an error of the database's own comes first, whatever fn says. fn
// must check before it writes, touch nothing but the transaction and variables of its own that it
// assigns, and call neither Write nor Read: it runs again when the database has ended its
// transaction for the sake of another, or when its connection was lost before the commit.
func (db *DB) Write(ctx context.Context, fn func(engine.Tx) error) error {
	if err := db.writable(); err != nil {
		return err
	}
	ctx, done := db.within(ctx)
	defer done()
	// A session that began while the server only read may go on so when it writes again: the first such
	// refusal is asked about once more, on a connection that is made now.
	anew := false
	retry := func(err error) bool {
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == readOnly && !anew {
			anew = true
			db.pool.Reset()
			return true
		}
		return anotherWon(err)
	}
	return noRoom(db.again(ctx, retry, func() (bool, error) {
		return false, db.in(ctx, " for update", func(t *txn) error { return db.write(t, fn) })
	}))
}

// writable refuses a write to a store that is only read, or that was abandoned.
func (db *DB) writable() error {
	if db.readOnly {
		return engine.ErrReadOnly
	}
	return context.Cause(db.life)
}

// write runs fn, fences the term, commits, and returns once this process has heard of its own commit:
// whoever asks the console next finds what was written. ErrDeposed: the term was over before the
// commit.
func (db *DB) write(t *txn, fn func(engine.Tx) error) error {
	ended := false
	defer func() { // fn may panic
		if !ended {
			t.rollback()
		}
	}()
	// The beginning and the fence go to the server with fn's first question: they cost no way of their
	// own.
	t.queued.Queue("begin")
	leads := db.epoch == 0
	if !leads {
		t.queued.Queue(fence, db.epoch).Query(func(rows pgx.Rows) error {
			leads = rows.Next()
			return nil
		})
	}
	err := fn(t)
	for _, also := range db.atEnd {
		if t.err == nil && err == nil && t.dirty {
			err = also(t)
		}
	}
	if t.err == nil && err == nil {
		err = t.flush()
	}
	if t.err != nil {
		return t.err
	}
	if t.begun && !leads {
		return ErrDeposed
	}
	if err != nil || !t.dirty {
		return err
	}
	// What is heard of this commit from the server, and what is known of it here, must be told once.
	w := db.told.expect(t)
	return db.turns.pass(func() error {
		err := db.commitIn(t)
		if err != nil {
			t.rollback()
		}
		ended = true
		t.release() // else all that there are may wait for the turn of one that asks what became of its commit
		if err != nil {
			db.told.forget(w)
			return err
		}
		db.told.hear(w, db.patience.echo)
		return nil
	}, func() {
		for !db.told.settle(w) {
			db.told.hear(w, db.patience.echo)
		}
	})
}

// commitIn waits for what is to come before a commit, commits unless the store was abandoned
// meanwhile, and notes how long that took.
func (db *DB) commitIn(t *txn) error {
	if db.beforeCommit != nil {
		db.beforeCommit()
	}
	if err := context.Cause(db.life); err != nil {
		return err
	}
	defer db.commits.Add(time.Now())
	return db.commit(t)
}

// in runs fn with a transaction on a connection of its own, which it has to begin and to end. The
// end of ctx keeps it from beginning only: pgx closes a connection whose statement is cut short,
// and of a commit that is cut short nobody knows whether it was made.
func (db *DB) in(ctx context.Context, lock string, fn func(*txn) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c, err := acquire(ctx, db.pool)
	if err != nil {
		return err
	}
	release := sync.OnceFunc(c.Release)
	defer release()
	return fn(&txn{
		release: release, db: db, ctx: context.WithoutCancel(ctx), conn: c.Conn(), now: wall.Now(),
		lock: lock, slot: int(c.Conn().PgConn().PID() % slots), answer: db.patience.answer, queued: &pgx.Batch{},
	})
}

// acquire gives a connection of a pool. errLost: there is none to be had.
func acquire(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	c, err := pool.Acquire(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	return c, nil
}

// slots is in how many parts a counter is kept.
const slots = 16

// turnstile lets commits go on beside each other, and what follows them in the order in which
// they were begun. A transaction holds the locks on all that it was decided by when it begins its
// commit: so what another of this process has decided by it has begun later.
type turnstile struct {
	mu            sync.Mutex
	moved         sync.Cond
	begun, passed uint64
}

// pass runs commit, and then, when all that were begun before have passed, after, if commit gave
// no error.
func (s *turnstile) pass(commit func() error, after func()) error {
	s.mu.Lock()
	mine := s.begun
	s.begun++
	s.mu.Unlock()
	err := commit()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.passed != mine {
		s.moved.Wait()
	}
	if err == nil {
		after()
	}
	s.passed++
	s.moved.Broadcast()
	return err
}
