package pg

import (
	"context"

	"github.com/farsight-console/farsight/engine"
)

// tQueues are the pause switches, of queues that somebody has set or a job was claimed from:
//
//	 name              | paused | by_user | by_session | by_via  | since                     | reason
//	-------------------+--------+---------+------------+---------+---------------------------+------------
//	 ingest.rank.daily | t      | ana     | 5f3a       | console | 2026-11-21 09:12:44.01+00 | key expires
var tQueues = declare("fs_queue", "name", fields[engine.QueueState](called{"By": "by_*"}))

// readQueue keeps others from pausing the queue, and nobody else from reading it so.
const readQueue = " for share"

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
	q, ok, err := tQueues.first(t, "where name = $1"+readQueue, (*text)(&name))
	if !ok && err == nil {
		// A row that can be held, of a queue that nobody has set: it is not listed, having no since.
		t.exec(tQueues.sql().insert+" on conflict do nothing", tQueues.values(&engine.QueueState{Name: name})...)
		q, _, err = tQueues.first(t, "where name = $1"+readQueue, (*text)(&name))
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
func (db *DB) Queues(ctx context.Context) ([]engine.QueueState, error) {
	return answer(ctx, db, func(t *txn) ([]engine.QueueState, error) {
		return tQueues.list(t, "where since is not null order by name")
	})
}
