package storage

import (
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

var (
	tState  = collection.New("state", "name", "a small blob of its owner's, such as the limiter's state")
	tQueues = collection.Declare(
		collection.New("queues", "name", "pause switch"),
		collection.Records[engine.QueueState]{Format: 14, Key: func(c *key.Coder, q *engine.QueueState) { c.Rest((*string)(&q.Name)) },
			Fields: func(c *rec.Coder, q *engine.QueueState) {
				c.Bool(&q.Paused)
				actorFields(c, &q.By)
				c.Time(&q.Since)
				c.Str(&q.Reason)
			}})
	tHistory = collection.Declare(
		collection.New("history", "str id, u64 n", "one transition; the last 50 per id").BelongsTo(ofAccount|ofRun|ofMatch),
		collection.Records[engine.Transition]{Format: 15, Fields: func(c *rec.Coder, tr *engine.Transition) {
			c.Time(&tr.At)
			c.Str(&tr.From, &tr.To, &tr.Reason, &tr.Actor)
		}})
	// A report is a table of numbers that only people and exports read, so its body is JSON.
	tReports = collection.Declare(
		collection.New("reports", "account id", "the play-time report"),
		collection.Records[engine.PlayReport]{Format: 22, Fields: func(c *rec.Coder, r *engine.PlayReport) { c.JSON(r) }})
)

// maxHistory transitions are kept per id.
const maxHistory = 50

// AddHistory appends one transition of anything that has an id. Seq is given here; the order is by
// it, not by time, since clocks step back.
func (db *DB) AddHistory(tx engine.Tx, id string, tr engine.Transition) error {
	return tHistory.KeepLast(own(tx), key.Strings(id), maxHistory, &tr)
}

// history gives the last transitions of an id, oldest first.
func (t *txn) history(id string) (list []engine.Transition, err error) {
	prefix := key.Strings(id)
	for r := range t.Rows(tHistory.Table, prefix) {
		tr, err := tHistory.Decode(r.Key, r.Value)
		if err != nil {
			return nil, err
		}
		tr.Seq = key.Read(r.Key[len(prefix):]).Uint64()
		list = append(list, tr)
	}
	return list, nil
}

// Queue gives a queue's pause switch, an open one if nobody has set it.
func (db *DB) Queue(tx engine.Tx, name engine.Queue) (engine.QueueState, error) {
	q, ok, err := tQueues.Get(own(tx), []byte(name))
	if !ok {
		q.Name = name
	}
	return q, err
}

// SetQueue stores a queue's pause switch and emits the change.
func (db *DB) SetQueue(tx engine.Tx, q engine.QueueState) error {
	t := own(tx)
	if err := tQueues.Put(t, []byte(q.Name), &q); err != nil {
		return err
	}
	t.Emit(engine.Change{Queue: &q})
	return nil
}

// Queues lists the stored queues by name.
func (db *DB) Queues(ctx context.Context) ([]engine.QueueState, error) {
	return look(ctx, db, func(t *txn) ([]engine.QueueState, error) { return collection.All(tQueues.Under(t, nil)) })
}

func actorFields(c *rec.Coder, a *engine.Actor) { c.Str(&a.User, &a.Session, &a.Via) }

// LoadState gives a small named blob; nil when there is none.
func (db *DB) LoadState(ctx context.Context, name string) (blob []byte, err error) {
	err = db.view(ctx, func(t *txn) error {
		blob, _, err = t.Blob(tState, []byte(name))
		return err
	})
	return blob, err
}

// SaveState keeps a small named blob.
func (db *DB) SaveState(ctx context.Context, name string, blob []byte) error {
	return db.Write(ctx, func(tx engine.Tx) error { return db.PutState(tx, name, blob) })
}

// PutState is SaveState within a transaction.
func (db *DB) PutState(tx engine.Tx, name string, blob []byte) error {
	return own(tx).PutBlob(tState, []byte(name), blob)
}

// SaveReport stores an account's play-time report in place of the one before.
func (db *DB) SaveReport(tx engine.Tx, r engine.PlayReport) error {
	return tReports.Put(own(tx), []byte(r.Account), &r)
}

// Report gives an account's stored report; nil when there is none.
func (db *DB) Report(ctx context.Context, account string) (*engine.PlayReport, error) {
	return look(ctx, db, func(t *txn) (*engine.PlayReport, error) { return t.report(account) })
}

// PlayReport is Report inside a transaction.
func (db *DB) PlayReport(tx engine.Tx, account string) (*engine.PlayReport, error) {
	return own(tx).report(account)
}

func (t *txn) report(account string) (*engine.PlayReport, error) {
	r, ok, err := tReports.Get(t, []byte(account))
	if err != nil || !ok {
		return nil, err
	}
	return &r, nil
}

// Totals gives the stored counters of all matches.
func (db *DB) Totals(ctx context.Context) (engine.Totals, error) {
	return look(ctx, db, (*txn).totals)
}

func (t *txn) totals() (engine.Totals, error) {
	return both.TotalsOf(func(name string) (int64, error) {
		n, _, err := t.Number(collection.Counters, []byte(name))
		return int64(n), err
	})
}
