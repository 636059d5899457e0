package storage

import (
	"context"
	"errors"
	"maps"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
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
		maps.DeleteFunc(by, func(_ engine.Queue, n int) bool { return n == 0 })
		return nil
	})
	return by, err
}

// countOldDiscard counts a discarded job of a file from before there was a counter of them, by its
// row in archive_state.
func countOldDiscard(t *txn, k []byte) error {
	j, ok, err := tArchive.Get(t, k[1:])
	if _, corrupt := disk.AsCorrupt(err); corrupt || !ok {
		return nil // check names it
	}
	return errors.Join(err, t.Count(countDiscards+string(j.Queue)))
}
