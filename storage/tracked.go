package storage

import (
	"context"
	"iter"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

var tWeekly = collection.Declare(
	collection.New("weekly", "Monday as 2026-11-16", "the report of that week over all tracked accounts"),
	collection.Records[engine.WeeklyReport]{Format: 27, Fields: func(c *rec.Coder, r *engine.WeeklyReport) { c.JSON(r) }})

// AllAccounts iterates every account in the order they were added. One that cannot be read is left
// out; check names it.
func (db *DB) AllAccounts(tx engine.Tx) iter.Seq[league.Account] {
	t := own(tx)
	return func(yield func(league.Account) bool) {
		for a, err := range tAccounts.Under(t, nil) {
			if err == nil && !yield(a) {
				return
			}
		}
	}
}

// LastPlayed is when the account's newest game that is stored was played; zero when none is.
func (db *DB) LastPlayed(tx engine.Tx, account string) (at time.Time, err error) {
	for r := range own(tx).Rows(byAccount.Table, key.Strings(account)) {
		l, err := listingAt(r.Key)
		return l.played, err
	}
	return at, nil
}

// GamesSince iterates an account's stored games that were played at an instant or later, newest
// first, with the seat.
func (db *DB) GamesSince(tx engine.Tx, account string, from time.Time) iter.Seq2[league.Game, error] {
	t := own(tx)
	return t.games(account, func(yield func(collection.Row) bool) {
		for r := range t.Rows(byAccount.Table, key.Strings(account)) {
			l, err := listingAt(r.Key)
			if err == nil && l.played.Before(from) || !yield(r) { // those of unknown time come last, too
				return
			}
		}
	})
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
