package storage

import (
	"context"
	"iter"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// Orphans goes through all payloads and yields those that no match names, in no transaction of its own: the caller may
// write while it ranges. It stops at the first error that is not about one record.
func (db *DB) Orphans(ctx context.Context) iter.Seq2[payload.Orphan, error] {
	return func(yield func(payload.Orphan, error) bool) {
		months, err := db.payloads.Months()
		if err != nil {
			yield(payload.Orphan{}, err)
			return
		}
		for _, m := range months {
			if !db.orphansOf(ctx, m, yield) {
				return
			}
		}
	}
}

func (db *DB) orphansOf(ctx context.Context, month string, yield func(payload.Orphan, error) bool) bool {
	var after []byte
	for {
		page, next, err := db.payloads.Page(month, after)
		if err == nil {
			page, err = db.unnamed(ctx, page)
		}
		if disk.IsDamage(err) || disk.IsNotFound(err) {
			return true // check names a damaged file; one that was dropped meanwhile has no orphans
		}
		if err != nil {
			return yield(payload.Orphan{}, err)
		}
		for _, o := range page {
			if !yield(o, nil) {
				return false
			}
		}
		if next == nil {
			return true
		}
		after = next
	}
}

// unnamed keeps the payloads that no match names.
func (db *DB) unnamed(ctx context.Context, page []payload.Orphan) (left []payload.Orphan, err error) {
	err = db.view(ctx, func(t *Tx) error {
		for _, o := range page {
			if db.payloads.Doomed.Has(o.Match) {
				continue
			}
			m, err := t.match(o.Match)
			if err != nil && !disk.IsNotFound(err) && !disk.IsDamage(err) {
				return err
			}
			f := fetchOf(m, o.Part)
			if err != nil || f.Status != league.Success || f.Ref.Month != o.Ref.Month {
				left = append(left, o)
			}
		}
		return nil
	})
	return left, err
}
