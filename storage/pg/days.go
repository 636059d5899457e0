package pg

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

var tDays = declare("fs_day", "day, slot", fields[both.DayPart](nil))

const addToDay = ` on conflict (day, slot) do update set completed = fs_day.completed + excluded.completed, discarded = fs_day.discarded + excluded.discarded,
	cancelled = fs_day.cancelled + excluded.cancelled, attempts = fs_day.attempts + excluded.attempts, retries = fs_day.retries + excluded.retries, won = fs_day.won + excluded.won`

// sumOfParts reads fs_day's rows as one per day.
const sumOfParts = `select day, 0::smallint, sum(completed)::bigint, sum(discarded)::bigint, sum(cancelled)::bigint,
	sum(attempts)::bigint, sum(retries)::bigint, sum(won)::bigint from fs_day where slot >= 0 `

// saveDays adds what the transaction has counted to the stored sums.
func (t *txn) saveDays() error {
	t.addToDays(t.days, t.slot)
	t.addToDays(t.pruned, both.PrunedSlot)
	t.days, t.pruned = nil, nil
	return t.err
}

func (t *txn) addToDays(days map[string]engine.DaySum, slot int) {
	for _, day := range slices.Sorted(maps.Keys(days)) {
		part := both.DayPart{DaySum: days[day], Slot: slot}
		part.Day = day
		t.exec(tDays.sql().insert+addToDay, tDays.values(&part)...)
	}
}

// Days gives the stored sums of the last n UTC days up to now, the oldest first. Days on which
// nothing ended are left out, but for the last one.
func (db *DB) Days(ctx context.Context, n int, now time.Time) (list []engine.DaySum, err error) {
	if n <= 0 {
		return nil, nil
	}
	first, today := engine.UTCDay(now.AddDate(0, 0, 1-n)), engine.UTCDay(now)
	err = db.view(ctx, func(t *txn) error {
		days, err := tDays.list(t, sumOfParts+"and day between $1 and $2 group by day order by day", first, today)
		for _, d := range days {
			list = append(list, d.DaySum)
		}
		return err
	})
	if len(list) == 0 || list[len(list)-1].Day != today {
		list = append(list, engine.DaySum{Day: today})
	}
	return list, err
}
