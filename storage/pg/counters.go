package pg

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
)

// loadSums reads the sums as they are, and of which commits they are: both in one snapshot, so that
// each commit is either in the sums or told of later.
func (db *DB) loadSums(ctx context.Context) (now sums, of visible, err error) {
	err = db.view(ctx, func(t *txn) error {
		snapshot, _, err := value[string](t, "select pg_current_snapshot()::text")
		if err == nil {
			of, err = readVisible(snapshot)
		}
		if err != nil {
			return err
		}
		if now.discards, err = t.discards(); err != nil {
			return err
		}
		now.counts, err = t.counts()
		return err
	})
	return now, of, err
}

// counts are the counters as they are stored: "matches.success" is the sum of its slots.
func (t *txn) counts() (map[string]int, error) {
	return figures[string](t, "select name, sum(n)::bigint from fs_counter group by name")
}

// discards counts the discarded jobs that are kept, by queue: the index on their state has them.
func (t *txn) discards() (map[engine.Queue]int, error) {
	return figures[engine.Queue](t, "select queue, count(*) from fs_job_ended where state = $1 group by queue",
		engine.Discarded.String())
}

// figures reads the rows of a query that are a key and its number. A row that cannot be read is
// left out.
func figures[K comparable](t *txn, sql string, args ...any) (map[K]int, error) {
	by := map[K]int{}
	var key K
	var n int
	into := []any{&key, &n}
	return by, t.query(func(rows pgx.Rows) {
		if scan(rows, into) == nil {
			by[key] = n
		}
	}, sql, args...)
}

// saveCounts adds what the transaction has counted to the stored counters, in the order of their
// names: two transactions that lock the same rows do so in one order.
func (t *txn) saveCounts() error {
	for _, name := range slices.Sorted(maps.Keys(t.sums.counts)) {
		if n := t.sums.counts[name]; n != 0 {
			t.exec(`insert into fs_counter (name, slot, n) values ($1, $2, $3)
on conflict (name, slot) do update set n = fs_counter.n + excluded.n`, name, t.slot, n)
		}
	}
	return t.err
}

// Totals gives the stored counters of all matches.
func (db *DB) Totals(ctx context.Context) (engine.Totals, error) {
	return answer(ctx, db, (*txn).totals)
}

func (t *txn) totals() (engine.Totals, error) {
	counts, err := t.counts()
	now := sums{counts: counts}
	return now.totals(), err
}
