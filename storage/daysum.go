package storage

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

var tDays = collection.Declare(
	collection.New("days", "UTC day as 2026-11-21", "sums of jobs and attempts that ended on it, and the pruned part"),
	collection.Records[dayRow]{Format: 34, Fields: func(c *rec.Coder, d *dayRow) {
		for _, s := range []*engine.DaySum{&d.all, &d.pruned} {
			c.Int64(&s.Completed, &s.Discarded, &s.Cancelled, &s.Attempts, &s.Retries, &s.Won)
		}
	}})

// onDay is what this transaction adds to a day. The rows are written once, before the commit: every
// attempt of a group would write the same one.
func (t *txn) onDay(at time.Time) *dayRow {
	if at.IsZero() {
		return &dayRow{} // it ended at no known time: no day has it, neither here nor in a recount
	}
	day := engine.UTCDay(at)
	d := t.days[day]
	if d == nil {
		d = &dayRow{}
		if t.days == nil {
			t.days = map[string]*dayRow{}
		}
		t.days[day] = d
	}
	return d
}

// countMove counts a job that has ended, or has not any more.
func (t *txn) countMove(old, j *engine.Job) {
	// A job that an operator runs again did not end on that day after all.
	if old.State.Terminal() {
		t.onDay(old.Finished).all.CountEnded(old.State, -1)
	}
	if j.State.Terminal() {
		t.onDay(j.Finished).all.CountEnded(j.State, 1)
	}
}

// saveDays adds what the transaction has counted to the stored sums.
func (t *txn) saveDays() error {
	// A group has one or two days: its attempts end within seconds of each other.
	for _, day := range slices.Sorted(maps.Keys(t.days)) {
		d, err := t.day(day)
		if err != nil {
			return err
		}
		d.all, d.pruned = d.all.Plus(t.days[day].all), d.pruned.Plus(t.days[day].pruned)
		if err := tDays.Put(t, []byte(day), &d); err != nil {
			return err
		}
	}
	t.days = nil
	return nil
}

// day gives a day's sums; those of a day without a row are 0.
func (t *txn) day(day string) (d dayRow, err error) {
	d, _, err = tDays.Get(t, []byte(day))
	return d, err
}

// Days gives the stored sums of the last n UTC days up to now, the oldest first. Days on which
// nothing ended are left out, but for the last one. One that cannot be read is left out too; check
// names it.
func (db *DB) Days(ctx context.Context, n int, now time.Time) (list []engine.DaySum, err error) {
	if n <= 0 {
		return nil, nil
	}
	// Days as 2026-11-21 sort as texts.
	first, today := engine.UTCDay(now.AddDate(0, 0, 1-n)), engine.UTCDay(now)
	err = db.view(ctx, func(t *txn) error {
		for r := range t.RowsFrom(tDays.Table, nil, []byte(first)) {
			if string(r.Key) > today { // a clock was set back
				return nil
			}
			if d, err := tDays.Decode(r.Key, r.Value); err == nil {
				d.all.Day = string(r.Key)
				list = append(list, d.all)
			}
		}
		return nil
	})
	// Screens show today's column although nothing has ended yet.
	if len(list) == 0 || list[len(list)-1].Day != today {
		list = append(list, engine.DaySum{Day: today})
	}
	return list, err
}
