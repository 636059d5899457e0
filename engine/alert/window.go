package alert

import (
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// ring counts events per cell of time, in as many cells as it was made with. What
// is older than all of them is forgotten.
//
//	cell 60 s, 61 cells   12:00 ─ 12:01 ─ … ─ 13:00   at 13:01 the place of 12:00 is used again
//
// stamp tells which cell a place counts, so that nothing is cleared as time passes: a place with an
// older stamp counts as empty.
type ring struct {
	cell  int64 // seconds
	stamp []int64
	count []int
}

// newRing makes a ring that can sum up spans as long as reach.
func newRing(cell time.Duration, reach time.Duration) *ring {
	n := int(reach/cell) + 1 // the present cell has only begun
	return &ring{cell: int64(cell / time.Second), stamp: make([]int64, n), count: make([]int, n)}
}

// add counts n events. An instant that the ring has passed is not counted.
func (r *ring) add(at time.Time, n int) { r.addTo(r.number(at), n) }

// addTo adds to a cell; n below 0 takes back what was counted there.
func (r *ring) addTo(cell int64, n int) {
	i := r.index(cell)
	switch {
	case r.stamp[i] > cell, n < 0 && r.stamp[i] != cell: // what the ring has passed cannot be taken back
		return
	case r.stamp[i] < cell:
		r.stamp[i], r.count[i] = cell, 0
	}
	r.count[i] += n
}

// change adds n events at an instant; n below 0 takes them from the newest cells up to it that have any.
func (r *ring) change(at time.Time, n int) {
	if n >= 0 {
		r.add(at, n)
		return
	}
	for cell := r.number(at); n < 0 && cell > r.number(at)-int64(len(r.stamp)); cell-- {
		if i := r.index(cell); r.stamp[i] == cell {
			taken := min(-n, r.count[i])
			r.count[i], n = r.count[i]-taken, n+taken
		}
	}
}

// sum counts the events of a span that ends with the present cell, or, with back,
// so much earlier. A span is rounded up to whole cells, of which the last has only
// begun.
func (r *ring) sum(now time.Time, span, back time.Duration) (total int) {
	if r == nil { // of a kind that nobody has seen
		return 0
	}
	last := r.number(now) - r.cells(back)
	first := last - r.cells(span) + 1
	for cell, i := first, r.index(first); cell <= last; cell++ {
		if r.stamp[i] == cell {
			total += r.count[i]
		}
		if i++; i == len(r.stamp) {
			i = 0
		}
	}
	return total
}

// forget drops what lies after an instant: the clock was set back to it. A cell that has begun stays.
func (r *ring) forget(after time.Time) {
	for i, stamp := range r.stamp {
		if stamp > r.number(after) {
			r.stamp[i], r.count[i] = 0, 0
		}
	}
}

// empty reports whether nothing is counted that a sum could still find.
func (r *ring) empty(now time.Time) bool {
	passed := r.number(now) - int64(len(r.stamp))
	for i, n := range r.count {
		if n != 0 && r.stamp[i] > passed {
			return false
		}
	}
	return true
}

// filled gives the cells that are not empty.
func (r *ring) filled() map[int64]int {
	out := map[int64]int{}
	for i, n := range r.count {
		if n != 0 {
			out[r.stamp[i]] = n
		}
	}
	return out
}

// number gives each cell since 1970 a number from 1 on.
func (r *ring) number(at time.Time) int64 { return max(at.Unix(), 0)/r.cell + 1 }

// cells is how many cells a span takes, rounded up.
func (r *ring) cells(d time.Duration) int64 {
	return (int64(d/time.Second) + r.cell - 1) / r.cell
}

// index is the place of a cell.
func (r *ring) index(cell int64) int {
	n := int64(len(r.stamp))
	return int(((cell % n) + n) % n)
}

// maxTrail bounds the evidence that is kept for one alert: a person looks at a few, and each evaluation
// sends them to every console.
const maxTrail = 20

// trail is the latest evidence for one alert, oldest first.
type trail []engine.Evidence

// add appends one, and drops the oldest beyond the bound. What is there already,
// by kind and id, moves to the end.
func (t trail) add(e engine.Evidence) trail {
	t = slices.DeleteFunc(t, func(old engine.Evidence) bool { return old.Kind == e.Kind && old.ID == e.ID })
	if len(t) >= maxTrail {
		t = slices.Delete(t, 0, len(t)-maxTrail+1)
	}
	return append(t, e)
}

// within gives the evidence of a window, latest first.
func (t trail) within(now time.Time, window time.Duration) (out []engine.Evidence) {
	for _, e := range slices.Backward(t) {
		if age := now.Sub(e.At); age <= window {
			out = append(out, e)
		}
	}
	return out
}
