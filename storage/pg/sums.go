package pg

import (
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// sums are the counters that consoles see: of matches and accounts by name, and of discarded
// jobs by queue; in a transaction what it adds to them. The first are stored in parts, so that
// those who write at once wait for nobody; what is published is added up in the order of the
// commits.
type sums struct {
	counts   map[string]int
	discards map[engine.Queue]int
}

func (s *sums) count(name string, n int)      { add(&s.counts, name, n) }
func (s *sums) discard(q engine.Queue, n int) { add(&s.discards, q, n) }

// add makes the map if there is none.
func add[K comparable](to *map[K]int, key K, n int) {
	if *to == nil {
		*to = map[K]int{}
	}
	(*to)[key] += n
}

// take adds what a transaction has added, and gives the changes that tell of it: the new sums of
// the queues that it has touched, and one of all totals.
func (s *sums) take(of sums) (changes []engine.Change) {
	for _, q := range slices.Sorted(maps.Keys(of.discards)) {
		if of.discards[q] != 0 {
			s.discard(q, of.discards[q])
			changes = append(changes, engine.Change{Discards: &engine.QueueDiscards{Queue: q, Jobs: s.discards[q]}})
		}
	}
	changed := false
	for name, n := range of.counts {
		s.count(name, n)
		changed = changed || n != 0
	}
	if changed {
		totals := s.totals()
		changes = append(changes, engine.Change{Totals: &totals})
	}
	return changes
}

// become replaces the sums, and gives the changes that tell of all: after a gap nobody knows which have
// changed.
func (s *sums) become(now sums) (changes []engine.Change) {
	for q := range s.discards { // of some there may be none any more
		now.discard(q, 0)
	}
	*s = now
	for _, q := range slices.Sorted(maps.Keys(s.discards)) {
		changes = append(changes, engine.Change{Discards: &engine.QueueDiscards{Queue: q, Jobs: s.discards[q]}})
	}
	totals := s.totals()
	return append(changes, engine.Change{Totals: &totals})
}

// totals are the sums of matches and accounts as consoles show them. Nothing is read, so nothing fails.
func (s *sums) totals() engine.Totals {
	totals, _ := both.TotalsOf(func(name string) (int64, error) { return int64(s.counts[name]), nil })
	return totals
}

// daySums are sums by their UTC days, "2026-11-21".
type daySums map[string]engine.DaySum

// ended adds a job that has ended, n times: -1 takes it away.
func (s *daySums) ended(j engine.Job, n int64) {
	s.add(j.Finished, func(d *engine.DaySum) { d.CountEnded(j.State, n) })
}

func (s *daySums) attempt(a engine.Attempt) {
	s.add(a.End, func(d *engine.DaySum) { d.CountAttempt(a, 1) })
}

// add adds on the day of an instant. What ended at no known time is on no day.
func (s *daySums) add(at time.Time, count func(*engine.DaySum)) {
	if at.IsZero() {
		return
	}
	if *s == nil {
		*s = daySums{}
	}
	d := (*s)[engine.UTCDay(at)]
	count(&d)
	(*s)[engine.UTCDay(at)] = d
}
