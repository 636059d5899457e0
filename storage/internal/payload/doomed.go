package payload

import (
	"sync"
)

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
