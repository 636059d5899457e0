package pg

import (
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine"
)

// Reports are tables of numbers that only people and exports read.
var (
	tReports = declare("fs_report", "account", func(r *engine.PlayReport) []column {
		return []column{{"account", (*text)(&r.Account)}, {"report", r}}
	})
	tWeekly = declare("fs_weekly", "week", func(r *engine.WeeklyReport) []column {
		return []column{{"week", (*text)(&r.Week)}, {"report", r}}
	})
)

// SaveReport stores an account's play-time report in place of the one before.
func (db *DB) SaveReport(tx engine.Tx, r engine.PlayReport) error {
	tReports.put(own(tx), r)
	return nil
}

// PlayReport gives an account's stored report; nil when there is none.
func (db *DB) PlayReport(tx engine.Tx, account string) (*engine.PlayReport, error) {
	r, ok, err := tReports.find(own(tx), (*text)(&account))
	if err != nil || !ok {
		return nil, err
	}
	return &r, nil
}

// Report is PlayReport in a transaction of its own.
func (db *DB) Report(ctx context.Context, account string) (*engine.PlayReport, error) {
	return answer(ctx, db, func(t *txn) (*engine.PlayReport, error) { return db.PlayReport(t, account) })
}

// SaveWeekly stores the report of a week in place of the one before.
func (db *DB) SaveWeekly(tx engine.Tx, r engine.WeeklyReport) error {
	tWeekly.put(own(tx), r)
	return nil
}

// HasWeekly reports whether the report of a week was built.
func (db *DB) HasWeekly(tx engine.Tx, monday string) bool {
	_, ok, err := tWeekly.find(own(tx), (*text)(&monday))
	return ok && err == nil
}

// Weekly gives the report of the week that begins on a Monday, as 2026-11-16; "" = the latest.
// engine.ErrNotFound.
func (db *DB) Weekly(ctx context.Context, monday string) (*engine.WeeklyReport, error) {
	w := &where{}
	if monday != "" {
		w.and("week = ?", (*text)(&monday))
	}
	return answer(ctx, db, func(t *txn) (*engine.WeeklyReport, error) {
		r, err := tWeekly.want(t, fmt.Sprintf("weekly report %s", monday), w.sql()+" order by week desc limit 1", w.args...)
		if err != nil {
			return nil, err
		}
		return &r, nil
	})
}
