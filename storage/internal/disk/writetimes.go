package disk

import (
	"slices"
	"sync"
	"time"
)

// How slow the disk is counts over the last minute, of at most so many writes.
const (
	writeWindow = time.Minute
	WritesKept  = 512
)

// WriteTimes are how long the last commits took.
type WriteTimes struct {
	mu   sync.Mutex
	at   [WritesKept]time.Time
	took [WritesKept]time.Duration
	next int
	all  WriteSum // since the start
}

// Add notes a write that has just ended, in place of the oldest of those that are kept.
func (w *WriteTimes) Add(began time.Time) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at[w.next], w.took[w.next] = now, now.Sub(began)
	w.all.Add(now.Sub(began))
	w.next = (w.next + 1) % WritesKept
}

// P95 is what 95 of 100 writes of the window did not exceed; ok is false when there were none. Of
// 20 writes it is the second longest.
func (w *WriteTimes) P95(now time.Time) (d time.Duration, ok bool) {
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

// WriteBounds are the upper bounds of WriteSum's counts.
var WriteBounds = [...]time.Duration{
	500 * time.Microsecond, time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond,
	20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second,
}

// WriteSum says how long the commits since the start have taken.
type WriteSum struct {
	Counts [len(WriteBounds)]uint64 // commits no longer than the bound, and longer than the one before
	Count  uint64                   // all, those beyond the last bound too
	Sum    time.Duration
}

// Add counts a commit. One that took longer than the last bound is in Count alone.
func (s *WriteSum) Add(took time.Duration) {
	s.Count++
	s.Sum += took
	for i, bound := range WriteBounds {
		if took <= bound {
			s.Counts[i]++
			return
		}
	}
}

func (w *WriteTimes) Sum() WriteSum {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all
}
