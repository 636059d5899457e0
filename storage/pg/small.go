package pg

import (
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

var tQueues = declare("fs_queue", "name", fields[engine.QueueState](called{"By": "by_*"}))

const (
	// readQueue keeps others from pausing the queue, and nobody else from reading it so.
	readQueue = " for share"
	// addQueue makes a row that can be held, of a queue that nobody has set.
	addQueue = "insert into fs_queue (name, paused, by_user, by_session, by_via, reason) values ($1, false, '', '', '', '') on conflict do nothing"
)

// Queue gives a queue's pause switch, an open one if nobody has set it. In a writing transaction
// it stays so until the commit: a pause waits for those that begin, and who begins later sees it.
func (db *DB) Queue(tx engine.Tx, name engine.Queue) (engine.QueueState, error) {
	t := own(tx)
	if q, known := t.queues[name]; known {
		return q, t.err
	}
	if t.lock == "" {
		q, _, err := tQueues.find(t, (*text)(&name))
		q.Name = name
		return q, err
	}
	q, ok, err := tQueues.first(t, tQueues.sql().get+readQueue, (*text)(&name))
	if !ok && err == nil {
		t.exec(addQueue, (*text)(&name))
		q, _, err = tQueues.first(t, tQueues.sql().get+readQueue, (*text)(&name))
	}
	if t.queues == nil {
		t.queues = map[engine.Queue]engine.QueueState{}
	}
	t.queues[name] = q
	return q, err
}

// SetQueue stores a queue's pause switch and emits the change.
func (db *DB) SetQueue(tx engine.Tx, q engine.QueueState) error {
	t := own(tx)
	tQueues.put(t, q)
	delete(t.queues, q.Name)
	t.Emit(engine.Change{Queue: &q})
	return nil
}

// Queues lists the stored queues by name.
func (db *DB) Queues(ctx context.Context) (list []engine.QueueState, err error) {
	err = db.view(ctx, func(t *txn) error {
		list, err = tQueues.list(t, tQueues.sql().from+"where since is not null order by name")
		return err
	})
	return list, err
}

var tHistory = declare("fs_history", "of, seq", fields[both.Moved](called{"From": "from_state", "To": "to_state"}))

// addHistory numbers a transition behind the last one of its id, and drops the one that is 50
// before it.
const addHistory = `with next as (select coalesce(max(seq), 0) + 1 as seq from fs_history where of = $1),
	old as (delete from fs_history h using next where h.of = $1 and h.seq <= next.seq - 50)
insert into fs_history (of, seq, at, from_state, to_state, reason, actor) select $1, seq, $2::timestamptz, $3, $4, $5, $6 from next`

// AddHistory appends one transition of anything that has an id. Its number is given here; the
// order is by it, not by time, since clocks step back.
func (db *DB) AddHistory(tx engine.Tx, id string, tr engine.Transition) error {
	own(tx).exec(addHistory, (*text)(&id), (*instant)(&tr.At), (*text)(&tr.From), (*text)(&tr.To), (*text)(&tr.Reason), (*text)(&tr.Actor))
	return nil
}

// history gives the last transitions of an id, oldest first.
func (t *txn) history(id string) (list []engine.Transition, err error) {
	rows, err := tHistory.list(t, tHistory.sql().from+"where of = $1 order by seq", (*text)(&id))
	for _, m := range rows {
		list = append(list, m.Transition)
	}
	return list, err
}

var tStates = declare("fs_state", "name", fields[both.State](nil))

// LoadState gives a small named blob; nil when there is none.
func (db *DB) LoadState(ctx context.Context, name string) (blob []byte, err error) {
	err = db.view(ctx, func(t *txn) error {
		blob, _, err = value[[]byte](t, "select blob from fs_state where name = $1", name)
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
	if blob == nil {
		blob = []byte{}
	}
	tStates.put(own(tx), both.State{Name: name, Blob: blob})
	return nil
}
