package pg

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// unequalGroups names the groups whose sums are not those of their members.
// Both ways, because a group without members and members without a group are faults, too.
const unequalGroups = `with stored as (
	select parent, grp, total, open, retrying, done, dead, cancelled, calls, throttled from fs_group
), counted as (
	select parent, grp, count(*), count(*) filter (where mark < 2), count(*) filter (where mark = 1), count(*) filter (where mark = 2),
		count(*) filter (where mark = 3), count(*) filter (where mark = 4), sum(calls), sum(throttled)
	from fs_mark group by parent, grp
)
select distinct parent, grp from ((table stored except table counted) union all (table counted except table stored)) unequal order by parent, grp`

// Check recounts every stored sum from the rows that it is of, and reads every row and every
// payload. An error is the database's.
//
// It reads one snapshot: members may go on writing meanwhile, and none of it is seen.
func (db *DB) Check(ctx context.Context) (both.CheckReport, error) {
	r := both.CheckReport{Rows: map[string]int{}}
	err := db.view(ctx, func(t *txn) error {
		t.unhurried()
		c := &checker{t, &r}
		for _, step := range []func() error{c.rows, c.groups, c.days, c.counters, c.matches, c.payloads} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
	return r, err
}

// checker goes through the whole store in one transaction.
type checker struct {
	t      *txn
	report *both.CheckReport
}

// rows counts the rows of what people ask for, under the names that a data directory has for it.
func (c *checker) rows() error {
	for name, table := range map[string]string{
		"accounts": "fs_account", "runs": "fs_run", "matches": "fs_match", "participants": "fs_seat", "ranks": "fs_rank",
		"jobs": "fs_job", "archive": "fs_job_ended", "attempts": "fs_attempt", "audit": "fs_audit",
	} {
		n, _, err := value[int](c.t, "select count(*) from "+table)
		if c.report.Rows[name] = n; err != nil {
			return err
		}
	}
	return nil
}

// groups compares the sums of each group with its members.
func (c *checker) groups() error {
	return c.t.query(func(rows pgx.Rows) {
		var g engine.GroupID
		if err := scan(rows, []any{(*jobID)(&g.Parent), &g.Group}); err == nil {
			c.report.Bad("fs_group", fmt.Sprintf("%s/%d", g.Parent, g.Group), "its sums are not those of its members")
		}
	}, unequalGroups)
}

// recount counts what the counters tell of all accounts and matches.
func (t *txn) recount() (counted map[string]int, err error) {
	counted = map[string]int{}
	if counted[both.CountAccounts], _, err = value[int](t, "select count(*) from fs_account"); err != nil {
		return nil, err
	}
	return counted, t.query(func(rows pgx.Rows) {
		var m league.Match
		var n int
		if scan(rows, []any{&word{&m.Match.Status}, &word{&m.Timeline.Status}, &n}) == nil {
			for _, name := range both.MatchCounters(&m) {
				counted[name] += n
			}
		}
	}, "select status, timeline_status, count(*) from fs_match group by status, timeline_status")
}

// counters compares the counters with a recount.
func (c *checker) counters() error {
	stored, err := c.t.counts()
	if err != nil {
		return err
	}
	counted, err := c.t.recount()
	// one that no row speaks for has to be 0
	for name := range stored {
		counted[name] += 0
	}
	for _, name := range slices.Sorted(maps.Keys(counted)) {
		if stored[name] != counted[name] {
			c.report.Bad("fs_counter", name, "says %d, the rows say %d", stored[name], counted[name])
		}
	}
	return err
}

// matches reads every match, and looks for the payloads that it names.
func (c *checker) matches() error {
	err := tMatches.each(c.t, func(m league.Match, err error) {
		if err != nil {
			c.report.Bad(tMatches.name, m.ID, "%v", err)
		}
	}, tMatches.sql().from)
	if err != nil {
		return err
	}
	return c.t.query(func(rows pgx.Rows) {
		var match, part string
		if scan(rows, []any{&match, &part}) == nil {
			c.report.Bad(tMatches.name, match, "its %s is stored nowhere", part)
		}
	}, namedPayloads+`select match, part from named where not exists (select from fs_payload p where (p.match, p.part) = (named.match, named.part)) order by 1, 2`)
}

// namedPayloads are those that matches name.
const namedPayloads = `with named as (
	select id as match, '` + string(league.PartMatch) + `' as part from fs_match where status = 'success' and codec <> '` + league.CodecDropped + `'
	union all select id, '` + string(league.PartTimeline) + `' from fs_match where timeline_status = 'success' and timeline_codec <> '` + league.CodecDropped + `'
) `

// payloadsAtOnce bounds the memory that their reading takes.
const payloadsAtOnce = 50

// payloads reads every payload, a few at a time.
func (c *checker) payloads() (err error) {
	c.report.Orphans, _, err = value[int](c.t, namedPayloads+`select count(*) from fs_payload p where not exists (select from named where (p.match, p.part) = (named.match, named.part))`)
	for last, more := (both.Payload{}), true; more && err == nil; {
		n := 0
		err = tPayloads.each(c.t, func(p kept, err error) {
			n++
			if err == nil {
				_, err = p.raw()
			}
			if err != nil {
				c.report.Bad(tPayloads.name, p.Match+"/"+string(p.Part), "%v", err)
			}
			c.report.Payloads++
			c.report.Bytes += int64(p.Size)
			last = both.Payload{Match: p.Match, Part: p.Part}
		}, tPayloads.sql().from+"where (match, part) > ($1, $2) order by match, part limit $3", (*text)(&last.Match), (*text)(&last.Part), payloadsAtOnce)
		more = n == payloadsAtOnce
	}
	return err
}

// days reads all jobs and attempts and compares the sums of the days with them, and with what
// was removed of them.
func (c *checker) days() error {
	days := map[string]engine.DaySum{}
	pruned, err := tDays.list(c.t, tDays.sql().from+"where slot = $1", both.PrunedSlot)
	if err != nil {
		return err
	}
	for _, d := range pruned {
		sum := d.DaySum
		sum.Day = ""
		days[d.Day] = sum
	}
	for _, tb := range []*table[engine.Job]{tLive, tEnded} {
		err := tb.each(c.t, func(j engine.Job, err error) {
			if err != nil {
				c.report.Bad(tb.name, string(j.ID), "%v", err)
			} else if tb == tEnded {
				addOnDay(&days, j.Finished, func(d *engine.DaySum) { d.CountEnded(j.State, 1) })
			}
		}, tb.sql().from)
		if err != nil {
			return err
		}
	}
	err = tAttempts.each(c.t, func(a both.Tried, err error) {
		if err != nil {
			c.report.Bad(tAttempts.name, string(a.Job), "%v", err)
			return
		}
		addOnDay(&days, a.End, func(d *engine.DaySum) { d.CountAttempt(a.Attempt, 1) })
	}, tAttempts.sql().from)
	if err != nil {
		return err
	}
	return c.compareDays(days)
}

// compareDays compares the stored sums with those that were counted.
func (c *checker) compareDays(days map[string]engine.DaySum) error {
	stored, err := tDays.list(c.t, sumOfParts+"group by day")
	for _, d := range stored {
		want := days[d.Day]
		want.Day = d.Day
		if want != d.DaySum {
			c.report.Bad(tDays.name, d.Day, "its sums are not those of its jobs and attempts")
		}
		delete(days, d.Day)
	}
	for _, day := range slices.Sorted(maps.Keys(days)) {
		if days[day] != (engine.DaySum{}) {
			c.report.Bad(tDays.name, day, "it has no sums, but jobs or attempts")
		}
	}
	return err
}
