package pg

import (
	"maps"
	"slices"

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

func (s *sums) count(name string, n int) {
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	s.counts[name] += n
}

func (s *sums) discard(q engine.Queue, n int) {
	if s.discards == nil {
		s.discards = map[engine.Queue]int{}
	}
	s.discards[q] += n
}

// take adds what a transaction has added, and gives the changes that tell of it.
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

// become replaces the sums, and gives the changes that tell of all.
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

func (s *sums) totals() engine.Totals {
	totals, _ := both.TotalsOf(func(name string) (int64, error) { return int64(s.counts[name]), nil })
	return totals
}
