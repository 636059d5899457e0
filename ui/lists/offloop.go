package lists

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/ui/page"
)

// offLoop is how many rows are filtered and sorted on the event loop: that takes a few
// milliseconds. A longer list is worked out elsewhere; the longest, the jobs that fit a filter, has
// 20,000 rows.
const offLoop = 4_000

// How often a long list follows its rows, with the seconds of the clock, and the ages in its filter. What the
// operator asks for is done at once.
const (
	listEvery = time.Second
	longAges  = 10 * time.Second
)

// screenful is up to how many rows a list follows at once. A longer one moves once a second: a row
// that leaves it moves all that are below, and a terminal is sent them anew, six kilobytes.
const screenful = 30

// slowWork is when the title begins to say that the list is being worked out.
const slowWork = 150 * time.Millisecond

// Worker is a page with work that would hold up the event loop. Work gives what
// is to be done elsewhere, nil when there is nothing; Done takes what came of it.
type Worker interface {
	Work() func() any
	Done(result any)
}

// later is the state of a list that is worked out off the event loop. wanted is what was last asked
// for, and begun is when; zero = nothing ever was.
type later[T any] struct {
	wanted Recipe
	work   func() made[T] // not handed out yet
	begun  time.Time
	under  bool // it was handed out and is not back yet
}

// agesMove is how often a filter that speaks of ages is looked at again.
func (l *List[T]) agesMove() time.Duration {
	if l.All > offLoop {
		return longAges
	}
	return time.Second
}

// every is how often the list follows its rows.
func (l *List[T]) every() time.Duration {
	if l.All > screenful {
		return listEvery
	}
	return 0
}

// waits reports whether what is wanted is under way, or not due yet.
func (l *List[T]) waits(v *page.View, now Recipe) bool {
	w := &l.later
	if w.begun.IsZero() {
		return false
	}
	if now == w.wanted {
		return w.under || w.work != nil
	}
	every := v.Unhurried(l.every())
	switch {
	case v.Hurry && l.All > offLoop:
		every = page.CalmEvery // shorter than the work may take: it would never come to an end
	case v.Hurry:
		every = 0
	}
	same := now.gen == w.wanted.gen && now.by == w.wanted.by && now.down == w.wanted.down
	if age := v.Now.Sub(w.begun.Truncate(every)); same && !l.Asked && age >= 0 && age < every {
		v.Ticks = true // there are newer rows to show within the second
		return true
	}
	return false
}

// made is a list that was worked out, and what of. Its rows point into those it
// was made of: a row is hundreds of bytes.
type made[T any] struct {
	Recipe
	shown []*T
	at    map[string]int32
	all   int
}

// work makes the list of values that nothing changes, so that it may run on any goroutine. Rows
// that are equal in order are ordered by their ids, so that they do not change places from one
// making to the next; without an order all stay as they came.
func (l *List[T]) work(all []T, now Recipe, at time.Time) func() made[T] {
	fit, key, order := l.fit, l.key, l.order()
	return func() made[T] {
		m := made[T]{Recipe: now, all: len(all), shown: make([]*T, 0, len(all))}
		for i := range all {
			if fit.Match(&all[i], at) {
				m.shown = append(m.shown, &all[i])
			}
		}
		if order != nil {
			slices.SortFunc(m.shown, func(a, b *T) int { return cmp.Or(order(a, b), strings.Compare(key(a), key(b))) })
		}
		m.at = make(map[string]int32, len(m.shown))
		for i, row := range m.shown {
			m.at[key(row)] = int32(i)
		}
		return m
	}
}

// order compares rows as the operator wants them; nil = they stay as they come.
func (l *List[T]) order() func(a, b *T) int {
	if l.By == 0 || l.By > len(l.Fields) {
		return nil
	}
	order := l.Fields[l.By-1].Order
	if l.down {
		return func(a, b *T) int { return order(b, a) }
	}
	return order
}

// place shows a list that was made.
func (l *List[T]) place(m made[T]) {
	l.Asked = l.Asked || m.Recipe.gen != l.Made.gen
	l.Shown, l.at, l.All, l.Made, l.placed = m.shown, m.at, m.all, m.Recipe, true
}

// Work implements Worker.
func (l *List[T]) Work() func() any {
	work := l.later.work
	if work == nil {
		return nil
	}
	l.later.work, l.later.under = nil, true
	return func() any { return work() }
}

// Done implements Worker. A result of something that is not asked for any more is
// dropped: a newer one is under way.
func (l *List[T]) Done(result any) {
	m, ok := result.(made[T])
	if !ok || m.Recipe != l.later.wanted {
		return
	}
	l.later.under = false
	l.place(m)
}

// sortText names the order of the list; "" = as it comes.
func (l *List[T]) sortText(v *page.View) string {
	if l.By == 0 {
		return ""
	}
	return "sort: " + strings.ToLower(l.Fields[l.By-1].Head.Title) + " " + l.arrow(v)
}

// workText says that the list is being worked out, once that takes its time.
func (l *List[T]) workText(v *page.View) string {
	w := &l.later
	if !w.under && w.work == nil {
		return ""
	}
	if !l.placed || v.Now.Sub(w.begun) > slowWork {
		return "working" + v.Theme.Glyphs.Ellipsis
	}
	return ""
}
