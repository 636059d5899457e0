package storage

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/farsight-console/farsight/engine"
)

// How many discarded jobs each queue has kept. Completed jobs touch no counter: there are many.

// countDiscards is the counter of a queue's discarded jobs, and the queue's name.
const countDiscards = "discarded."

// countDiscarded adds n to the queue's counter if the job is discarded.
func (t *Tx) countDiscarded(j *engine.Job, n int) error {
	if j.State != engine.Discarded {
		return nil
	}
	if !slices.Contains(t.discards, j.Queue) {
		t.discards = append(t.discards, j.Queue)
	}
	return t.count(countDiscards+string(j.Queue), n)
}

// emitDiscards publishes the counters that this transaction has changed.
func (t *Tx) emitDiscards() error {
	for _, q := range t.discards {
		n, _, err := t.number(tCounters, []byte(countDiscards+string(q)))
		if err != nil {
			return err
		}
		t.Emit(engine.Change{Discards: &engine.QueueDiscards{Queue: q, Jobs: int(n)}})
	}
	return nil
}

// Discards gives the number of discarded jobs that are kept, by queue; a queue without any is left out.
func (db *DB) Discards(ctx context.Context) (by map[engine.Queue]int, err error) {
	err = db.view(ctx, func(t *Tx) error {
		by = map[engine.Queue]int{}
		for r := range t.rows(tCounters, []byte(countDiscards)) {
			n, _, err := t.number(tCounters, r.k)
			if err != nil {
				return err
			}
			by[engine.Queue(r.k[len(countDiscards):])] = int(n)
		}
		maps.DeleteFunc(by, func(_ engine.Queue, n int) bool { return n == 0 })
		return nil
	})
	return by, err
}

// toDiscards counts the discarded jobs of a file from before there was a counter of them.
func toDiscards(t *Tx, after []byte) (next []byte, err error) {
	if after == nil {
		after = []byte{byte(engine.Discarded)}
	}
	page, last := t.keysAfter(tArchiveState, after)
	for _, k := range page {
		if k[0] != byte(engine.Discarded) {
			return nil, nil
		}
		j, ok, err := t.readEnded(k[1:])
		if _, corrupt := asCorrupt(err); corrupt || !ok {
			continue // check names it
		}
		if err := errors.Join(err, t.countDiscarded(&j, 1)); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// recountDiscards compares the counters with the rows.
func (c *checker) recountDiscards(counts map[string]int) {
	for r := range c.rows(tCounters, []byte(countDiscards)) {
		counts[string(r.k)] += 0
	}
	for name, n := range counts {
		c.counter(name, n)
	}
}
