package pg

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
)

// unequalGroups names the groups whose sums are not those of their members.
const unequalGroups = `with stored as (
	select parent, grp, total, open, retrying, done, dead, cancelled, calls, throttled from fs_group
), counted as (
	select parent, grp, count(*), count(*) filter (where mark < 2), count(*) filter (where mark = 1), count(*) filter (where mark = 2),
		count(*) filter (where mark = 3), count(*) filter (where mark = 4), sum(calls), sum(throttled)
	from fs_member group by parent, grp
)
select distinct parent, grp from ((table stored except table counted) union all (table counted except table stored)) unequal order by parent, grp`

// Check recounts every stored sum from the rows that it is of, and reads every row. It gives
// what is not as it must be, a sentence each; an error is the database's.
func (db *DB) Check(ctx context.Context) (findings []string, err error) {
	found := func(format string, args ...any) { findings = append(findings, fmt.Sprintf(format, args...)) }
	err = db.view(ctx, func(t *txn) error {
		t.unhurried()
		err := t.query(func(rows pgx.Rows) {
			var g engine.GroupID
			if err := scan(rows, []any{(*jobID)(&g.Parent), &g.Group}); err == nil {
				found("the sums of group %d of job %s are not those of its members", g.Group, g.Parent)
			}
		}, unequalGroups)
		if err != nil {
			return err
		}
		return t.checkDays(found)
	})
	return findings, err
}

// checkDays reads all jobs and attempts and compares the sums of the days with them.
func (t *txn) checkDays(found func(format string, args ...any)) error {
	days := map[string]engine.DaySum{}
	count := func(day string, add func(*engine.DaySum)) {
		d := days[day]
		add(&d)
		days[day] = d
	}
	ended := func(j engine.Job, err error) {
		if err != nil {
			found("job %s: %v", j.ID, err)
		} else if !j.Finished.IsZero() {
			count(engine.UTCDay(j.Finished), func(d *engine.DaySum) { d.CountEnded(j.State, 1) })
		}
	}
	live := func(j engine.Job, err error) {
		if err != nil {
			found("job %s: %v", j.ID, err)
		}
	}
	tried := func(a tried, err error) {
		if err != nil {
			found("an attempt of job %s: %v", a.job, err)
		} else if !a.End.IsZero() {
			count(engine.UTCDay(a.End), func(d *engine.DaySum) { d.CountAttempt(a.Attempt, 1) })
		}
	}
	for _, read := range []func() error{
		func() error { return tLive.each(t, live, tLive.from) },
		func() error { return tEnded.each(t, ended, tEnded.from) },
		func() error { return tAttempts.each(t, tried, tAttempts.from) },
	} {
		if err := read(); err != nil {
			return err
		}
	}
	stored, err := tDays.list(t, sumOfParts+"group by day")
	for _, d := range stored {
		want := days[d.Day]
		want.Day = d.Day
		if want != d.DaySum {
			found("the sums of %s are not those of its jobs and attempts", d.Day)
		}
		delete(days, d.Day)
	}
	for _, day := range slices.Sorted(maps.Keys(days)) {
		if days[day] != (engine.DaySum{}) {
			found("%s has no sums, but jobs or attempts", day)
		}
	}
	return err
}
