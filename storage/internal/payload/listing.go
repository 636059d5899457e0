package payload

import (
	"slices"

	"github.com/farsight-console/farsight/engine/league"
)

// Orphan is a payload that no match names: a crash, or a restored backup, has left it.
type Orphan struct {
	Match string
	Part  league.Part
	Ref   league.PayloadRef // as FindPayload gives it, but for codec and size
}

// Page lists the payloads of the next matches of a month. Those that are not whole are left out.
func (p *Store) Page(month string, after []byte) (page []Orphan, next []byte, err error) {
	err = p.With(month, false, func(s *Shard) error {
		page, next, err = s.page(after, p.Pages.Load)
		return err
	})
	return page, next, err
}

func (s *Shard) page(after []byte, limit int) (page []Orphan, next []byte, err error) {
	err = s.Guard(func() error {
		tx, err := s.Bolt.Begin(false)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		p := tx.Bucket([]byte(Table))
		c := p.Cursor()
		match, _ := c.Seek(after)
		for n := 0; match != nil; match, _ = c.Next() {
			if n++; n > limit {
				next = slices.Clone(match)
				return nil
			}
			err := p.Bucket(match).ForEach(func(k, v []byte) error {
				if f, err := Open(s.Month, string(match), PartOfKey(k), v); err == nil {
					page = append(page, Orphan{Match: string(match), Part: PartOfKey(k), Ref: f.Ref})
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
