package disk

import (
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine/wall"
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
	for i := range WritesKept { // the newest first, up to one that is too old
		at := (w.next + WritesKept - 1 - i) % WritesKept
		if w.at[at].IsZero() || now.Sub(w.at[at]) > writeWindow {
			break
		}
		took = append(took, w.took[at])
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

// Now is the wall clock at the storage edge; a variable so that tests can step it.
var Now = wall.Now

// A group takes what is queued when its transaction begins, up to these bounds. There is no timer:
// a lone caller pays for its own commit and waits for nobody.
const (
	MaxGroupOps   = 256
	MaxGroupBytes = 2 << 20
)

// Rows that only ever come at the end leave full pages behind.
const AppendFill = 0.9

// Pages are how many rows the loops over large tables take at a time, so that no transaction is
// long. Tests take a few, so that a table of ten rows has several pages.
type Pages struct {
	Scan    int // that one reading transaction goes through
	Load    int // that one reading transaction decodes
	Prune   int // jobs that one transaction removes
	Forget  int // rows that one transaction deletes of an account
	Archive int // matches that are packed and committed together
}

// UsualPages are those of a store whose Options name none.
var UsualPages = Pages{Scan: 2000, Load: 500, Prune: 200, Forget: 200, Archive: 32}
