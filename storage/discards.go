package storage

import (
	"context"
	"errors"
	"maps"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// How many discarded jobs each queue has kept. Completed jobs touch no counter: there are many.

// Discards gives the number of discarded jobs that are kept, by queue; a queue without any is left out.
func (db *DB) Discards(ctx context.Context) (by map[engine.Queue]int, err error) {
	err = db.view(ctx, func(t *txn) error {
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

// countOldDiscard counts a discarded job of a file from before there was a counter of them, by its row in archive_state.
func countOldDiscard(t *txn, k []byte) error {
	j, ok, err := tArchive.get(t, k[1:])
	if _, corrupt := disk.AsCorrupt(err); corrupt || !ok {
		return nil // check names it
	}
	return errors.Join(err, t.count(countDiscards+string(j.Queue), 1))
}
