package page

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine/filter"
)

// made is a list that was worked out, and what of. Its rows point into those it
// was made of: a row is hundreds of bytes, and a hundred thousand are not copied.
type made[T any] struct {
	recipe
	shown  []*T
	at     places
	all    int
	halted bool // nobody wants it any more: it is not whole
}

// halt ends work that nobody wants any more. The zero halt, and none, never do.
type halt struct{ flag atomic.Bool }

// lookEvery is how many rows are worked on between two looks at a halt.
const lookEvery = 1 << 10

func (h *halt) on() bool { return h != nil && h.flag.Load() }

// at is on, asked now and then while rows are counted up.
func (h *halt) at(i int) bool { return i%lookEvery == 0 && h.on() }

// stop ends the work.
func (h *halt) stop() {
	if h != nil {
		h.flag.Store(true)
	}
}

// fitting are the rows that a filter leaves, in their order.
func fitting[T any](f filter.Filter[T], rows []T, now time.Time, stop *halt) []*T {
	all := f.Empty()
	halves := inHalves(len(rows), func(from, to int) []*T {
		fit := make([]*T, 0, to-from)
		for i := from; i < to && !stop.at(i); i++ {
			if all || f.Match(&rows[i], now) {
				fit = append(fit, &rows[i])
			}
		}
		return fit
	})
	return slices.Concat(halves[:]...)
}

// apart is the length from which two goroutines are sooner done than one.
const apart = 2_000

// inHalves does work on both halves of n at once.
func inHalves[R any](n int, work func(from, to int) R) (out [2]R) {
	if n < apart {
		out[0] = work(0, n)
		return out
	}
	var first sync.WaitGroup
	first.Go(func() { out[0] = work(0, n/2) })
	out[1] = work(n/2, n)
	first.Wait()
	return out
}

// keyed is a row with its id, which settles between equal ones. It is read once: it
// may cost a copy of the row.
type keyed[T any] struct {
	row *T
	key string
}

// sorted orders rows, equal ones by their id. Without an order they stay as they
// are.
func sorted[T any](rows []*T, key func(*T) string, order func(a, b *T) int, down bool) []keyed[T] {
	sign := 1
	if down {
		sign = -1
	}
	compare := func(a, b keyed[T]) int {
		if d := sign * order(a.row, b.row); d != 0 {
			return d
		}
		return strings.Compare(a.key, b.key)
	}
	halves := inHalves(len(rows), func(from, to int) []keyed[T] {
		at := make([]keyed[T], to-from)
		for i := range at {
			at[i] = keyed[T]{rows[from+i], key(rows[from+i])}
		}
		if order != nil {
			slices.SortFunc(at, compare)
		}
		return at
	})
	if order == nil {
		return slices.Concat(halves[:]...)
	}
	return merged(halves[0], halves[1], compare)
}

// merged joins two sorted lists.
func merged[E any](a, b []E, compare func(a, b E) int) []E {
	out := make([]E, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compare(b[0], a[0]) < 0 {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}

// places finds rows by their id: a table of positions that knows no ids itself, a
// fifth of the work of a map.
type places struct {
	seed  maphash.Seed
	slots []int32 // position + 1; 0 = free
}

// placesOf makes the table of so many ids. Of two rows with one id it finds the
// last, as a map would.
func placesOf(n int, id func(i int) string) places {
	size := 16
	for size < 2*n {
		size *= 2
	}
	p := places{maphash.MakeSeed(), make([]int32, size)}
	for i := range n {
		s := p.slot(id(i), id)
		p.slots[s] = int32(i) + 1
	}
	return p
}

// slot is where an id stands, or the free one where it would.
func (p places) slot(want string, id func(i int) string) int {
	mask := uint64(len(p.slots) - 1)
	s := maphash.String(p.seed, want) & mask
	for p.slots[s] != 0 && id(int(p.slots[s])-1) != want {
		s = (s + 1) & mask
	}
	return int(s)
}

// find is the position of an id.
func (p places) find(want string, id func(i int) string) (i int, ok bool) {
	if p.slots == nil {
		return 0, false
	}
	i = int(p.slots[p.slot(want, id)]) - 1
	return max(i, 0), i >= 0
}
