package storage

import (
	"context"
	"maps"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

// A report is a table of numbers that only people and exports read, so its body is JSON.
var (
	tReports = collection.Declare(
		collection.New("reports", "account id", "the play-time report"),
		collection.Records[engine.PlayReport]{Format: 22, Fields: func(c *rec.Coder, r *engine.PlayReport) { c.JSON(r) }})
	tWeekly = collection.Declare(
		collection.New("weekly", "Monday as 2026-11-16", "the report of that week over all tracked accounts"),
		collection.Records[engine.WeeklyReport]{Format: 27, Fields: func(c *rec.Coder, r *engine.WeeklyReport) { c.JSON(r) }})
)

// SaveReport stores an account's play-time report in place of the one before.
func (db *DB) SaveReport(tx engine.Tx, r engine.PlayReport) error {
	return tReports.Put(own(tx), []byte(r.Account), &r)
}

// Report gives an account's stored report; nil when there is none.
func (db *DB) Report(ctx context.Context, account string) (*engine.PlayReport, error) {
	return readIn(ctx, db, func(t *txn) (*engine.PlayReport, error) { return t.report(account) })
}

// PlayReport is Report inside a transaction.
func (db *DB) PlayReport(tx engine.Tx, account string) (*engine.PlayReport, error) {
	return own(tx).report(account)
}

// report gives an account's play-time report; nil when none was built, which is no error.
func (t *txn) report(account string) (*engine.PlayReport, error) {
	r, ok, err := tReports.Get(t, []byte(account))
	if err != nil || !ok {
		return nil, err
	}
	return &r, nil
}

// SaveWeekly stores the report of a week in place of the one before.
func (db *DB) SaveWeekly(tx engine.Tx, r engine.WeeklyReport) error {
	return tWeekly.Put(own(tx), []byte(r.Week), &r)
}

// HasWeekly reports whether the report of a week was built.
func (db *DB) HasWeekly(tx engine.Tx, monday string) bool {
	return own(tx).Has(tWeekly.Table, []byte(monday))
}

// Weekly gives the report of the week that begins on a Monday, as 2026-11-16; "" = the latest.
// engine.ErrNotFound.
func (db *DB) Weekly(ctx context.Context, monday string) (r *engine.WeeklyReport, err error) {
	err = db.view(ctx, func(t *txn) error {
		// Mondays as 2026-11-16 sort as texts: the last row is the latest week.
		k := []byte(monday)
		if monday == "" {
			for last := range t.RowsBack(tWeekly.Table, nil, nil) {
				k = append(k, last.Key...)
				break
			}
		}
		report, err := tWeekly.Want(t, k, "weekly report %s", monday)
		if err == nil {
			r = &report
		}
		return err
	})
	return r, err
}

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
	return readIn(ctx, db, (*txn).totals)
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
