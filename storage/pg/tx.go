package pg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
)

// txn is one transaction. It is an engine.Tx. It must not be used after the function that it was
// given to has returned, nor by another goroutine.
type txn struct {
	db   *DB
	ctx  context.Context // without an end: what has begun is ended in order
	conn *pgx.Conn
	// release gives the connection back, once: nothing is asked on it any more.
	release func()
	now     time.Time
	lock    string // what makes a read lock its rows; "" in a reading transaction
	slot    int    // of counters

	answer time.Duration // how long one is waited for
	queued *pgx.Batch    // what needs no answer
	begun  bool          // something was sent
	dirty  bool          // something was written
	told   bool          // a row was given to who asked
	token  int64         // what says later that it was committed
	xid    uint64        // of a transaction whose news are on their way
	err    error         // the database's first

	changes []engine.Change
	jobs    map[engine.JobID]engine.Job        // that were read and are locked, as they are now
	queues  map[engine.Queue]engine.QueueState // likewise
	days    daySums                            // what was added to days' sums; written once, before the commit
	pruned  daySums                            // what was removed of what they count, likewise
	sums    sums                               // what was added to all others

	touched  []string // accounts whose row changed; their rows are made once, before the commit
	families []int64  // jobs whose account's row changed, if they are of a sync
}

var _ engine.Tx = (*txn)(nil)

// own gives our transaction back. Another store's is a programming error.
func own(tx engine.Tx) *txn {
	t, ok := tx.(*txn)
	if !ok {
		panic(fmt.Sprintf("pg: a transaction of type %T is not from this store", tx))
	}
	return t
}

// Emit adds a change that is published after the commit of this transaction, and never if it
// fails.
func (t *txn) Emit(c engine.Change) { t.changes = append(t.changes, c) }

// maxQueued statements go in one message.
// More would hold what they carry in memory twice, here and in pgx.
const maxQueued = 500

// exec carries out a statement whose answer nobody needs: with the next query, or before the
// commit. Its error is the transaction's.
func (t *txn) exec(sql string, args ...any) {
	if t.lock == "" {
		t.fail(engine.ErrReadOnly)
		return
	}
	t.dirty = true
	if t.queued.Len() >= maxQueued {
		_ = t.flush()
	}
	t.queued.Queue(sql, args...)
}

// query carries out what is queued and then a query, and gives each of its rows to row.
// Statements without an answer and the question that follows them are one way to the server and back:
// over a network that is what a transaction costs.
func (t *txn) query(row func(rows pgx.Rows), sql string, args ...any) error {
	t.queued.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			t.told = true
			row(rows)
		}
		return rows.Err()
	})
	return t.flush()
}

// flush sends what is queued. After the first error nothing more is sent: the database would
// refuse it.
func (t *txn) flush() error {
	send := t.queued
	t.queued = &pgx.Batch{}
	if t.err == nil && send.Len() > 0 {
		t.begun = true
		ctx, cancel := context.WithTimeout(t.ctx, t.answer)
		t.fail(t.conn.SendBatch(ctx, send).Close())
		cancel()
	}
	return t.err
}

// fail keeps the database's first error: those that follow ("current transaction is aborted") do
// not say why.
func (t *txn) fail(err error) {
	if err != nil && t.conn.IsClosed() {
		err = fmt.Errorf("%w: %w", errLost, err)
	}
	if t.err == nil {
		t.err = err
	}
}

// alone carries out one statement that ends or begins something.
func (t *txn) alone(sql string) error {
	ctx, cancel := context.WithTimeout(t.ctx, t.answer)
	defer cancel()
	_, err := t.conn.Exec(ctx, sql)
	return err
}

// unhurried lets every statement take as long as it needs.
func (t *txn) unhurried() {
	t.queued.Queue("set local statement_timeout = 0")
	t.answer = forEver
}

// rollback takes back what was done. A connection on which that fails is not used again.
func (t *txn) rollback() {
	if !t.begun {
		return
	}
	if err := t.alone("rollback"); err != nil && !t.conn.IsClosed() {
		_ = t.conn.Close(t.ctx)
	}
}

// value reads the only column of a query's first row; ok is false when there is none.
func value[T any](t *txn, sql string, args ...any) (v T, ok bool, err error) {
	ok, err = t.one([]any{&v}, sql, args...)
	return v, ok, err
}

// one reads the columns of one row; ok is false when there is none.
func (t *txn) one(into []any, sql string, args ...any) (ok bool, err error) {
	var bad error
	err = t.query(func(rows pgx.Rows) {
		if !ok {
			ok, bad = true, scan(rows, into)
		}
	}, sql, args...)
	return ok, errors.Join(err, bad)
}

// scan reads what can be read of one row; its error names the last column that cannot. pgx's own
// Scan ends the query at the first value that it cannot read.
func scan(rows pgx.Rows, into []any) (err error) {
	raw, types := rows.RawValues(), rows.Conn().TypeMap()
	for i, f := range rows.FieldDescriptions() {
		if bad := types.Scan(f.DataTypeOID, f.Format, raw[i], into[i]); bad != nil {
			err = fmt.Errorf("column %s: %w", f.Name, bad)
		}
	}
	return err
}
