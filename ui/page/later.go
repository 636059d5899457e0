package page

import (
	"strings"
	"time"
)

// Rows up to offLoop are filtered and sorted at once: that takes less than two
// milliseconds. Up to sortMost they can be sorted by any column; what is longer
// stays in the order it has on disk, and the title says so.
const (
	offLoop  = 4_000
	sortMost = 100_000
)

// How often a long list follows its rows, and the ages in its filter. What the
// operator asks for is done at once.
const (
	listEvery = time.Second
	longAges  = 10 * time.Second
)

// A list of more than a screenful moves once a second: each row that leaves it
// moves all that are below, and a terminal is sent them anew, six kilobytes.
const screenful = 30

// slowWork is when the title begins to say that the list is being worked out.
const slowWork = 150 * time.Millisecond

// Worker is a page with work that would hold up the event loop. Work gives what
// is to be done elsewhere, nil when there is nothing; Done takes what came of it.
type Worker interface {
	Work() func() any
	Done(result any)
}

// later is the state of a list that is worked out off the event loop.
type later[T any] struct {
	wanted recipe
	work   func() made[T] // not handed out yet
	begun  time.Time
	under  bool // way: handed out and not back
	stop   *halt
}

// agesMove is how often a filter that speaks of ages is looked at again.
func (l *list[T]) agesMove() time.Duration {
	if l.all > offLoop {
		return longAges
	}
	return time.Second
}

// every is how often the list follows its rows.
func (l *list[T]) every() time.Duration {
	if l.all > screenful {
		return listEvery
	}
	return 0
}

// waits reports whether what is wanted is under way, or not due yet.
func (l *list[T]) waits(v *View, now recipe) bool {
	w := &l.later
	if w.begun.IsZero() {
		return false
	}
	if now == w.wanted {
		return w.under || w.work != nil
	}
	every := v.unhurried(l.every())
	switch {
	case v.Hurry && l.all > offLoop:
		every = calmEvery // shorter than the work may take: it would never come to an end
	case v.Hurry:
		every = 0
	}
	same := now.gen == w.wanted.gen && now.by == w.wanted.by && now.down == w.wanted.down
	if age := v.Now.Sub(w.begun); same && !l.asked && age >= 0 && age < every {
		v.Ticks = true // there are newer rows to show within the second
		return true
	}
	return false
}

// work is the making of the list, of values that nothing changes: it may be done
// on any goroutine. What is halted comes back unmade.
func (l *list[T]) work(all []T, now recipe, at time.Time, stop *halt) func() made[T] {
	fit, order := l.fit, l.ordering(len(all))
	return func() made[T] {
		rows := order(fitting(fit, all, at, stop), stop)
		if stop.on() {
			return made[T]{recipe: now, halted: true}
		}
		m := made[T]{recipe: now, all: len(all), shown: make([]*T, len(rows))}
		for i := range rows {
			m.shown[i] = rows[i].row
		}
		m.at = placesOf(len(rows), func(i int) string { return rows[i].key })
		return m
	}
}

// ordering is how n rows are put in order: by what is read of them where the list
// says how, else by comparing the rows themselves.
func (l *list[T]) ordering(n int) func(rows []*T, stop *halt) []keyed[T] {
	key, down, reads := l.key, l.down, l.reads
	id := func(row *T) string { return key(*row) }
	if reads != nil {
		id = reads.id
	}
	if l.by == 0 || l.by > len(l.fields) || n > sortMost {
		return func(rows []*T, _ *halt) []keyed[T] { return sorted(rows, id, nil, false) }
	}
	f := l.fields[l.by-1]
	if reads != nil && reads.by[f.Title] != nil {
		return func(rows []*T, stop *halt) []keyed[T] { return sortByKey(rows, reads, reads.by[f.Title], down, stop) }
	}
	return func(rows []*T, _ *halt) []keyed[T] { return sorted(rows, id, f.order, down) }
}

// place shows a list that was made.
func (l *list[T]) place(m made[T]) {
	l.asked = l.asked || m.recipe.gen != l.made.gen
	l.shown, l.at, l.all, l.made, l.placed = m.shown, m.at, m.all, m.recipe, true
}

// Work implements Worker.
func (l *list[T]) Work() func() any {
	work := l.later.work
	if work == nil {
		return nil
	}
	l.later.work, l.later.under = nil, true
	return func() any { return work() }
}

// Done implements Worker. A result of something that is not asked for any more is
// dropped: a newer one is under way.
func (l *list[T]) Done(result any) {
	m, ok := result.(made[T])
	if !ok || m.halted || m.recipe != l.later.wanted {
		return
	}
	l.later.under = false
	l.place(m)
}

// sortText names the order of the list; "" = as it comes.
func (l *list[T]) sortText(v *View) string {
	switch {
	case l.by == 0:
		return ""
	case l.all > sortMost:
		return "key order: too many rows to sort"
	}
	return "sort: " + strings.ToLower(l.fields[l.by-1].Title) + " " + l.arrow(v)
}

// workText says that the list is being worked out, once that takes its time.
func (l *list[T]) workText(v *View) string {
	w := &l.later
	if !w.under && w.work == nil {
		return ""
	}
	if !l.placed || v.Now.Sub(w.begun) > slowWork {
		return "working" + v.Theme.Glyphs.Ellipsis
	}
	return ""
}
