package payload

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/storage/internal/disk"
)

// Erase deletes the payloads of those of the matches that are doomed, in all months: a crash may
// have left one in a month that no match names. Months that cannot be read are answered in left.
func (p *Store) Erase(matches []string) (left []string, err error) {
	if p.readOnly {
		return nil, disk.ErrReadOnly
	}
	defer p.deleting()()
	months, err := p.Months()
	if err != nil {
		return nil, err
	}
	for _, m := range months {
		err := p.With(m, false, func(s *Shard) error {
			return s.Guard(func() error {
				there, err := s.have(matches)
				if err != nil || len(there) == 0 {
					return err
				}
				there, release := p.Doomed.Of(there)
				defer release()
				return s.erase(there)
			})
		})
		if disk.IsDamage(err) {
			left = append(left, m)
			continue
		}
		if err != nil && !disk.IsNotFound(err) {
			return left, err
		}
	}
	return left, nil
}

// have gives those of the matches that the shard has a payload of.
func (s *Shard) have(matches []string) (there []string, err error) {
	err = s.Bolt.View(func(b *bolt.Tx) error {
		p := b.Bucket([]byte(Table))
		for _, id := range matches {
			if p.Bucket([]byte(id)) != nil {
				there = append(there, id)
			}
		}
		return nil
	})
	return there, err
}

// erase deletes the payloads of matches, and marks the file: until the archiver has written it
// anew, its free pages have them. A half-made file of the archiver's goes first, since it has them as well.
func (s *Shard) erase(matches []string) error {
	if len(matches) == 0 {
		return nil
	}
	// The next archive begins a new file. Nobody is writing this one: Erase holds the archiver's
	// lock.
	if err := os.Remove(s.Path + ArchiveExt); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return disk.Unusable(s.Path+ArchiveExt, err)
	}
	return s.Bolt.Update(func(b *bolt.Tx) error {
		p := b.Bucket([]byte(Table))
		for _, id := range matches {
			if err := p.DeleteBucket([]byte(id)); err != nil {
				return err
			}
		}
		return disk.MetaOf(b).PutNumber(metaErased, uint64(b.ID()))
	})
}

// Doomed are the matches whose payloads are about to be deleted, since no account has them any
// more. A payload without a match row is adopted by whoever wants the match next, so it must not be
// found on its way out, and one that is put again meanwhile must not be deleted.
type Doomed struct {
	deleting sync.RWMutex // held for reading while a payload is put, for writing while some are deleted

	mu      sync.Mutex
	matches map[string]bool
}

// Add dooms matches.
func (d *Doomed) Add(matches []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.matches == nil {
		d.matches = map[string]bool{}
	}
	for _, id := range matches {
		d.matches[id] = true
	}
}

// Remove lets matches be found again, or forgets those that are deleted.
func (d *Doomed) Remove(matches []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range matches {
		delete(d.matches, id)
	}
}

// Has reports whether a match is doomed.
func (d *Doomed) Has(match string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.matches[match]
}

// Spare takes a match out, whose payload is put now, and keeps deletions away until release is
// called.
func (d *Doomed) Spare(match string) (release func()) {
	d.deleting.RLock()
	d.mu.Lock()
	delete(d.matches, match)
	d.mu.Unlock()
	return d.deleting.RUnlock
}

// Of gives those of some matches that are doomed, and lets no payload of one be put until release is called. A payload that
// was put before has taken its match off the list, and that match stays.
func (d *Doomed) Of(matches []string) (doomed []string, release func()) {
	d.deleting.Lock()
	for _, id := range matches {
		if d.Has(id) {
			doomed = append(doomed, id)
		}
	}
	return doomed, d.deleting.Unlock
}
