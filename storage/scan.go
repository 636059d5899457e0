package storage

import (
	"bytes"
	"context"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
)

// scan goes through the rows under prefix and lets work have the keys of those that fit, at most n
// of them at a time. Rows are looked at a page per reading transaction, so that none is long; work
// runs in none, and may write. What it deletes, or what others add meanwhile behind the page, does
// not matter to the walk: it goes on at a key, whether that is still there or not.
func (db *DB) scan(
	ctx context.Context, tb *collection.Table, prefix []byte, n int,
	fits func(t *txn, r collection.Row) bool, work func(page [][]byte) error,
) error {
	for from := prefix; ; {
		// page are keys that fit, next the first key that was not looked at; nil = the table ends
		// here.
		var page [][]byte
		var next []byte
		err := db.view(ctx, func(t *txn) error {
			looked := 0
			for r := range t.RowsFrom(tb, prefix, from) {
				if looked++; looked > db.pages.Scan {
					next = bytes.Clone(r.Key)
					break
				}
				if fits(t, r) {
					page = append(page, bytes.Clone(r.Key))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		// A page may hold more keys than one transaction should delete.
		for some := range slices.Chunk(page, n) {
			if err := work(some); err != nil {
				return err
			}
		}
		if next == nil {
			return nil
		}
		from = next
	}
}

// do runs fn in a group commit, or (dry) in a reading transaction, where it may only count. What it
// counts it must assign, not add to: see Write.
func (db *DB) do(ctx context.Context, dry bool, fn func(t *txn) error) error {
	// A dry run counts in a reading transaction, and writes nothing by mistake: every write in it
	// is refused.
	if dry {
		return db.view(ctx, fn)
	}
	return db.Write(ctx, func(tx engine.Tx) error { return fn(own(tx)) })
}
