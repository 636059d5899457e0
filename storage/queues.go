package storage

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

var tQueues = collection.Declare(
	collection.New("queues", "name", "pause switch"),
	collection.Records[engine.QueueState]{
		Format: 14,
		Key:    func(c *key.Coder, q *engine.QueueState) { c.Rest((*string)(&q.Name)) },
		Fields: func(c *rec.Coder, q *engine.QueueState) {
			c.Bool(&q.Paused)
			actorFields(c, &q.By)
			c.Time(&q.Since)
			c.Str(&q.Reason)
		}})

// Queue gives a queue's pause switch, an open one if nobody has set it.
func (db *DB) Queue(tx engine.Tx, name engine.Queue) (engine.QueueState, error) {
	q, ok, err := tQueues.Get(own(tx), []byte(name))
	// A queue without a row runs: a new queue needs nothing stored to begin.
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
	// Consoles learn of the switch by the change.
	t.Emit(engine.Change{Queue: &q})
	return nil
}

// Queues lists the stored queues by name.
func (db *DB) Queues(ctx context.Context) ([]engine.QueueState, error) {
	return readIn(ctx, db, func(t *txn) ([]engine.QueueState, error) { return collection.All(tQueues.Under(t, nil)) })
}

// queueRow is the row of a queue among others, by name; one that is missing is made.
func queueRow(rows *[]engine.QueueRow, name engine.Queue) *engine.QueueRow {
	i, found := slices.BinarySearchFunc(*rows, name, func(q engine.QueueRow, name engine.Queue) int { return cmp.Compare(q.Name, name) })
	if !found {
		row := engine.QueueRow{QueueState: engine.QueueState{Name: name}, Counts: map[engine.State]int{}}
		*rows = slices.Insert(*rows, i, row)
	}
	return &(*rows)[i]
}

// countLive counts the live jobs that can be read, by queue. The others are named by check.
func (db *DB) countLive(ctx context.Context) (rows []engine.QueueRow, err error) {
	for j, err := range db.Live(ctx) {
		if _, corrupt := disk.AsCorrupt(err); corrupt {
			continue
		}
		if err != nil {
			return nil, err
		}
		r := queueRow(&rows, j.Queue)
		r.Counts[j.State]++
		if j.InLineAgain() {
			r.Again++
		}
		if j.State == engine.Scheduled && j.Hold != engine.HoldNone {
			r.Held++
		}
	}
	return rows, nil
}

// countFields are those of what countLive gives.
func countFields(c *rec.Coder, q *engine.QueueRow) {
	c.Str((*string)(&q.Name))
	c.Int(&q.Again, &q.Held)
	states := slices.Sorted(maps.Keys(q.Counts))
	if c.Reading() {
		q.Counts = map[engine.State]int{}
	}
	rec.List(c, &states, 2, func(c *rec.Coder, s *engine.State) {
		n := q.Counts[*s]
		c.Byte((*byte)(s))
		c.Int(&n)
		q.Counts[*s] = n
	})
}

// actorFields are who gave a command: user "maria", session "ssh-3", via "console".
func actorFields(c *rec.Coder, a *engine.Actor) { c.Str(&a.User, &a.Session, &a.Via) }

// tState has what its owners keep in a form of their own. Each name is one owner's, as
// "limits" of the limiter's learnt buckets; a prefix is that of many, as "forget:" of accounts that
// are half forgotten.
var tState = collection.New("state", "name", "a small blob of its owner's, such as the limiter's state")

// LoadState gives a small named blob; nil when there is none.
func (db *DB) LoadState(ctx context.Context, name string) (blob []byte, err error) {
	err = db.view(ctx, func(t *txn) error {
		blob, _, err = t.Blob(tState, []byte(name))
		return err
	})
	return blob, err
}

// SaveState keeps a small named blob.
// It is a commit of its own. Whoever saves a blob with other rows uses PutState.
func (db *DB) SaveState(ctx context.Context, name string, blob []byte) error {
	return db.Write(ctx, func(tx engine.Tx) error { return db.PutState(tx, name, blob) })
}

// PutState is SaveState within a transaction.
func (db *DB) PutState(tx engine.Tx, name string, blob []byte) error {
	return own(tx).PutBlob(tState, []byte(name), blob)
}
