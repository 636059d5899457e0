package pg

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
)

// loadSums reads the sums as they are, and of which commits they are.
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

// counts are the counters as they are stored.
func (t *txn) counts() (map[string]int, error) {
	return figures(t, func(name *string) any { return name }, "select name, sum(n)::bigint from fs_counter group by name")
}

func (t *txn) discards() (map[engine.Queue]int, error) {
	return figures(t, func(queue *engine.Queue) any { return (*text)(queue) }, "select queue, count(*) from fs_job_ended where state = $1 group by queue", engine.Discarded.String())
}

// figures reads the rows of a query that are a key and its number; as is how the key is read.
func figures[K comparable](t *txn, as func(*K) any, sql string, args ...any) (map[K]int, error) {
	by := map[K]int{}
	return by, t.query(func(rows pgx.Rows) {
		var key K
		var n int
		if scan(rows, []any{as(&key), &n}) == nil {
			by[key] = n
		}
	}, sql, args...)
}

// saveCounts adds what the transaction has counted to the stored counters.
func (t *txn) saveCounts() error {
	for _, name := range slices.Sorted(maps.Keys(t.sums.counts)) {
		if n := t.sums.counts[name]; n != 0 {
			t.exec("insert into fs_counter (name, slot, n) values ($1, $2, $3) on conflict (name, slot) do update set n = fs_counter.n + excluded.n", name, t.slot, n)
		}
	}
	return t.err
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
