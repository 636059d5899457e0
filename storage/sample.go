package storage

import (
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

// sampled rows of one account are checked at every open.
const sampled = 200

// sample looks at one account before any work begins: can it be read, and does its list lead to
// matches? It finds a file whose pages are whole but belong to different times, at the price of a
// few milliseconds. A single corrupt record is no reason to refuse the file.
func (db *DB) sample() error {
	return db.bolt.View(func(b *bolt.Tx) (err error) {
		t := db.tx(b)
		seen := 0
		for r := range t.Rows(byAccount.Table, nil) {
			// The first rows are those of one account, or of a few with short lists.
			if seen++; seen > sampled {
				return nil
			}
			l, err := listingAt(r.Key)
			if err == nil {
				err = byAccount.Check(r.Key, r.Value, rec.Marker)
			}
			if err == nil && !t.Has(tAccountsOf.Table, listedKey(l)) {
				return &disk.Damaged{Path: disk.StatePath(db.dir), Why: fmt.Sprintf(
					"match %s is listed for an account, but not the other way round", l.Match)}
			}
			// A row that does not hold is named by check.
			if _, corrupt := errors.AsType[*disk.ErrCorrupt](err); err != nil && !corrupt {
				return err
			}
		}
		return nil
	})
}
