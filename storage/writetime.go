package storage

import (
	"slices"
	"sync"
	"time"
)

// How slow the disk is counts over the last minute, of at most so many writes.
const (
	writeWindow = time.Minute
	writesKept  = 512
)

// writeTimes are how long the last commits took.
type writeTimes struct {
	mu   sync.Mutex
	at   [writesKept]time.Time
	took [writesKept]time.Duration
	next int
	all  WriteSum // since the start
}

func (w *writeTimes) add(began time.Time) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at[w.next], w.took[w.next] = now, now.Sub(began)
	w.all.add(now.Sub(began))
	w.next = (w.next + 1) % writesKept
}

// p95 is what 95 of 100 writes of the window did not exceed; ok is false when there were none.
func (w *writeTimes) p95(now time.Time) (d time.Duration, ok bool) {
	w.mu.Lock()
	var took []time.Duration
	for i, at := range w.at {
		if !at.IsZero() && now.Sub(at) <= writeWindow {
			took = append(took, w.took[i])
		}
	}
	w.mu.Unlock()
	if len(took) == 0 {
		return 0, false
	}
	slices.Sort(took)
	return took[(len(took)*95+99)/100-1], true
}

// WriteTimes gives the p95 of the commits of the last minute: of "state", the group commits, and of "payload". A store to
// which nothing was written is left out.
func (db *DB) WriteTimes(now time.Time) map[string]time.Duration {
	out := map[string]time.Duration{}
	for name, w := range map[string]*writeTimes{"state": &db.commits, "payload": &db.payloads.commits} {
		if d, ok := w.p95(now); ok {
			out[name] = d
		}
	}
	return out
}
