package payload

import (
	"sync"
)

// doomed are the matches whose payloads are about to be deleted, since no account has them any
// more. A payload without a match row is adopted by whoever wants the match next, so it must not be
// found on its way out, and one that is put again meanwhile must not be deleted.
type doomed struct {
	deleting sync.RWMutex // held for reading while a payload is put, for writing while some are deleted

	mu      sync.Mutex
	matches map[string]bool
}

// Add dooms matches.
func (d *doomed) Add(matches []string) {
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
func (d *doomed) Remove(matches []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range matches {
		delete(d.matches, id)
	}
}

// Has reports whether a match is doomed.
func (d *doomed) Has(match string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.matches[match]
}

// spare takes a match out, whose payload is put now, and keeps deletions away until release is
// called.
func (d *doomed) spare(match string) (release func()) {
	d.deleting.RLock()
	d.mu.Lock()
	delete(d.matches, match)
	d.mu.Unlock()
	return d.deleting.RUnlock
}
