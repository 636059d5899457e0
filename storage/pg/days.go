package pg

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// tDays are the sums of a day in parts: one per slot, and with slot -1 what was removed of what
// they count.
//
//	 day        | slot | completed | discarded | cancelled | attempts | retries | won
//	------------+------+-----------+-----------+-----------+----------+---------+-----
//	 2026-11-21 |    3 |       812 |         2 |         0 |      830 |      16 |  14
//	 2026-11-21 |   -1 |       400 |         0 |         0 |      403 |       3 |   3
var tDays = declare("fs_day", "day, slot", fields[both.DayPart](nil))

// dayColumns are the sums of a day. Like all that follows from the fields of a struct they are made when
// they are first asked for: most programs have no server.
var dayColumns = sync.OnceValue(func() []column { return fields[engine.DaySum](called{"Day": "-"})(new(engine.DaySum)) })

var (
	// addToDay inserts a part of a day, or adds it to what is there.
	addToDay = sync.OnceValue(func() string {
		return tDays.sql().insert + " on conflict (day, slot) do update set " +
			forEach(dayColumns(), "% = fs_day.% + excluded.%")
	})
	// sumOfParts reads fs_day's rows as one per day, in the order of tDays' columns. What was pruned is
	// no part of it.
	sumOfParts = sync.OnceValue(func() string {
		return "select day, " + forEach(dayColumns(), "sum(%)::bigint") + ", 0::smallint from fs_day where slot >= 0 "
	})
)

// saveDays adds what the transaction has counted to the stored sums.
func (t *txn) saveDays() error {
	t.addToDays(t.days, t.slot)
	t.addToDays(t.pruned, both.PrunedSlot)
	t.days, t.pruned = nil, nil
	return t.err
}

// addToDays adds sums to their parts, in the order of the days: as with counters, two transactions
// lock the same rows in one order.
func (t *txn) addToDays(days daySums, slot int) {
	for _, day := range slices.Sorted(maps.Keys(days)) {
		part := both.DayPart{DaySum: days[day], Slot: slot}
		part.Day = day
		t.exec(addToDay(), tDays.values(&part)...)
	}
}

// Days gives the stored sums of the last n UTC days up to now, the oldest first. Days on which
// nothing ended are left out, but for the last one.
func (db *DB) Days(ctx context.Context, n int, now time.Time) (list []engine.DaySum, err error) {
	if n <= 0 {
		return nil, nil
	}
	first, today := engine.UTCDay(now.AddDate(0, 0, 1-n)), engine.UTCDay(now)
	days, err := answer(ctx, db, func(t *txn) ([]both.DayPart, error) {
		return tDays.of(sumOfParts()).list(t, "and day between $1 and $2 group by day order by day", first, today)
	})
	for _, d := range days {
		list = append(list, d.DaySum)
	}
	if len(list) == 0 || list[len(list)-1].Day != today {
		list = append(list, engine.DaySum{Day: today})
	}
	return list, err
}
