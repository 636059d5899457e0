package storage

import (
	"context"
	"iter"
	"slices"

	"github.com/farsight-console/farsight/engine/league"
)

// Orphan is a payload that no match names: a crash, or a restored backup, has left it.
type Orphan struct {
	Match string
	Part  league.Part
	Ref   league.PayloadRef // as FindPayload gives it, but for codec and size
}

// Orphans goes through all payloads and yields those that no match names, in no transaction of its own: the caller may
// write while it ranges. It stops at the first error that is not about one record.
func (db *DB) Orphans(ctx context.Context) iter.Seq2[Orphan, error] {
	return func(yield func(Orphan, error) bool) {
		months, err := db.payloads.Months()
		if err != nil {
			yield(Orphan{}, err)
			return
		}
		for _, m := range months {
			if !db.orphansOf(ctx, m, yield) {
				return
			}
		}
	}
}

func (db *DB) orphansOf(ctx context.Context, month string, yield func(Orphan, error) bool) bool {
	var after []byte
	for {
		page, next, err := db.payloads.page(month, after)
		if err == nil {
			page, err = db.unnamed(ctx, page)
		}
		if isDamage(err) || isNotFound(err) {
			return true // check names a damaged file; one that was dropped meanwhile has no orphans
		}
		if err != nil {
			return yield(Orphan{}, err)
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

// page lists the payloads of the next matches of a month. Those that are not whole are left out.
func (p *Payloads) page(month string, after []byte) (page []Orphan, next []byte, err error) {
	err = p.with(month, false, func(s *shard) error {
		page, next, err = s.page(after, p.pages.load)
		return err
	})
	return page, next, err
}

func (s *shard) page(after []byte, limit int) (page []Orphan, next []byte, err error) {
	err = s.guard(func() error {
		tx, err := s.bolt.Begin(false)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		p := tx.Bucket([]byte(payloadTable))
		c := p.Cursor()
		match, _ := c.Seek(after)
		for n := 0; match != nil; match, _ = c.Next() {
			if n++; n > limit {
				next = slices.Clone(match)
				return nil
			}
			err := p.Bucket(match).ForEach(func(k, v []byte) error {
				if f, err := openPayload(s.month, string(match), partOfKey(k), v); err == nil {
					page = append(page, Orphan{Match: string(match), Part: partOfKey(k), Ref: f.ref})
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return page, next, err
}

// unnamed keeps the payloads that no match names.
func (db *DB) unnamed(ctx context.Context, page []Orphan) (left []Orphan, err error) {
	err = db.view(ctx, func(t *Tx) error {
		for _, o := range page {
			if db.payloads.doomed.has(o.Match) {
				continue
			}
			m, err := t.match(o.Match)
			if err != nil && !isNotFound(err) && !isDamage(err) {
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
