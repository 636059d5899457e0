package storage

import (
	"bytes"
	"context"
	"encoding/hex"
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

// maxScan rows are looked at for one page of a filtered list; a page that ends there has a cursor
// to go on.
const maxScan = 20_000

// badPage refuses an After that is no page's Next.
func badPage(after string) error {
	return engine.Problemf(engine.ErrInvalid, "give the next that the page before ended with, or none to begin", "after=%q is no place in this list", after)
}

// encodeCursor makes a place that other programs keep from a key: what the list is of (prefix) is
// asked for anew each time and not in it.
func encodeCursor(k, prefix []byte) string { return hex.EncodeToString(k[len(prefix):]) }

// decodeCursor gives the key back; nil = at the beginning. What is no hexadecimal is refused as the
// caller's fault.
func decodeCursor(s string, prefix []byte) ([]byte, error) {
	if s == "" {
		return nil, nil
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return nil, badPage(s)
	}
	return append(bytes.Clone(prefix), b...), nil
}
