package storage

import (
	"context"
	"maps"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
)

// How many discarded jobs each queue has kept. Completed jobs touch no counter: there are many.

// Discards gives the number of discarded jobs that are kept, by queue; a queue without any is left
// out.
func (db *DB) Discards(ctx context.Context) (by map[engine.Queue]int, err error) {
	err = db.view(ctx, func(t *txn) error {
		by = map[engine.Queue]int{}
		for r := range t.Rows(collection.Counters, []byte(countDiscards)) {
			n, _, err := t.Number(collection.Counters, r.Key)
			if err != nil {
				return err
			}
			by[engine.Queue(r.Key[len(countDiscards):])] = int(n)
		}
		// A counter stays at 0 when the last of its jobs is pruned.
		maps.DeleteFunc(by, func(_ engine.Queue, n int) bool { return n == 0 })
		return nil
	})
	return by, err
}

// Totals gives the stored counters of all matches.
func (db *DB) Totals(ctx context.Context) (engine.Totals, error) {
	return look(ctx, db, (*txn).totals)
}

// totals reads seven counters and no match: a store has millions.
func (t *txn) totals() (engine.Totals, error) {
	var tot engine.Totals
	for name, n := range map[string]*int64{
		countAccounts:                                         &tot.Accounts,
		countTimelines:                                        &tot.Timelines,
		countMatches + league.Unfetched.String():              &tot.Unfetched,
		countMatches + league.Success.String():                &tot.Success,
		countMatches + league.TemporaryFailure.String():       &tot.Temporary,
		countMatches + league.PermanentlyUnfetchable.String(): &tot.Permanent,
		countMatches + league.OutsideRetentionWindow.String(): &tot.TooOld,
	} {
		v, _, err := t.Number(collection.Counters, []byte(name))
		if err != nil {
			return tot, err
		}
		*n = int64(v)
	}
	tot.Matches = tot.Unfetched + tot.Success + tot.Temporary + tot.Permanent + tot.TooOld
	return tot, nil
}

// countAccounts is the counter of accounts.
const countAccounts = "accounts"

const (
	countMatches   = "matches." // and the word of a status
	countTimelines = "timelines.success"
)

// matchCounters are the counters that a match counts towards: "matches.success" and
// "timelines.success" of one that is stored whole.
func matchCounters(m *league.Match) []string {
	names := []string{countMatches + m.Match.Status.String()}
	if m.Timeline.Status == league.Success {
		names = append(names, countTimelines)
	}
	return names
}
