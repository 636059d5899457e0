package storage

import (
	"context"
	"maps"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
	"github.com/farsight-console/farsight/storage/internal/collection"
)

// How many discarded jobs each queue has kept. Completed jobs touch no counter: there are many.

// Discards gives the number of discarded jobs that are kept, by queue; a queue without any is left
// out.
func (db *DB) Discards(ctx context.Context) (by map[engine.Queue]int, err error) {
	err = db.view(ctx, func(t *txn) error {
		by = map[engine.Queue]int{}
		for r := range t.Rows(collection.Counters, []byte(countDiscards)) {
			n, _, err := t.Number(collection.Counters, r.Key)
			if err != nil {
				return err
			}
			by[engine.Queue(r.Key[len(countDiscards):])] = int(n)
		}
		// A counter stays at 0 when the last of its jobs is pruned.
		maps.DeleteFunc(by, func(_ engine.Queue, n int) bool { return n == 0 })
		return nil
	})
	return by, err
}

// Totals gives the stored counters of all matches.
func (db *DB) Totals(ctx context.Context) (engine.Totals, error) {
	return look(ctx, db, (*txn).totals)
}

// totals reads seven counters and no match: a store has millions.
func (t *txn) totals() (engine.Totals, error) {
	return both.TotalsOf(func(name string) (int64, error) {
		n, _, err := t.Number(collection.Counters, []byte(name))
		return int64(n), err
	})
}
