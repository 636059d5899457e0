package pg

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

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

func (s *sums) totals() engine.Totals {
	totals, _ := both.TotalsOf(func(name string) (int64, error) { return int64(s.counts[name]), nil })
	return totals
}

// loadSums reads the sums as they are when a store is opened.
func (db *DB) loadSums(ctx context.Context) error {
	return db.view(ctx, func(t *txn) (err error) {
		if db.sums.discards, err = t.discards(); err != nil {
			return err
		}
		db.sums.counts, err = t.counts()
		return err
	})
}

// counts are the counters as they are stored.
func (t *txn) counts() (map[string]int, error) {
	by := map[string]int{}
	return by, t.query(func(rows pgx.Rows) {
		var name string
		var n int
		if scan(rows, []any{&name, &n}) == nil {
			by[name] = n
		}
	}, "select name, sum(n)::bigint from fs_counter group by name")
}

// saveCounts adds what the transaction has counted to the stored counters.
func (t *txn) saveCounts() {
	for _, name := range slices.Sorted(maps.Keys(t.sums.counts)) {
		if n := t.sums.counts[name]; n != 0 {
			t.exec("insert into fs_counter (name, slot, n) values ($1, $2, $3) on conflict (name, slot) do update set n = fs_counter.n + excluded.n", name, t.slot, n)
		}
	}
}

// Totals gives the stored counters of all matches.
func (db *DB) Totals(ctx context.Context) (totals engine.Totals, err error) {
	err = db.view(ctx, func(t *txn) error {
		counts, err := t.counts()
		now := sums{counts: counts}
		totals = now.totals()
		return err
	})
	return totals, err
}
