package storage

import (
	"context"

	"github.com/farsight-console/farsight/engine"
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
	return look(ctx, db, func(t *txn) (*engine.PlayReport, error) { return t.report(account) })
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
