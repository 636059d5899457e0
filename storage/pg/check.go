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
	t      *txn // one snapshot for all steps, else what is written meanwhile would look like a fault
	report *both.CheckReport
}

// rows counts the rows of what people ask for, under the names that a data directory has for it: a
// report says the same whichever store it is of. Ended jobs are the archive there.
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
	unequal, err := records[engine.GroupID](c.t, unequalGroups)
	for _, g := range unequal {
		c.report.Bad(tGroups.name, fmt.Sprintf("%s/%d", g.Parent, g.Group), "its sums are not those of its members")
	}
	return err
}

// recount counts what the counters tell of all accounts and matches: "accounts" 3,
// "matches.success" 812, "timelines.success" 790. A status that this program does not know counts
// nowhere.
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
	// A counter that no row speaks for has to be 0.
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

// matches reads every match, and looks for the payloads that it names. A match that is stored and
// has none would be shown, exported and never fetched again. One that retention has dropped is
// named by no match.
func (c *checker) matches() error {
	err := tMatches.each(c.t, func(m league.Match, err error) {
		if err != nil {
			c.report.Bad(tMatches.name, m.ID, "%v", err)
		}
	}, "")
	if err != nil {
		return err
	}
	lost, err := records[struct{ Match, Part string }](c.t, namedPayloads+`select match, part from named where not exists (
	select from fs_payload p where (p.match, p.part) = (named.match, named.part)) order by 1, 2`)
	for _, p := range lost {
		c.report.BadPayload(tMatches.name, p.Match, league.Part(p.Part), "its %s is stored nowhere", p.Part)
	}
	return err
}

// namedPayloads are those that matches name.
const namedPayloads = `with named as (
	select id as match, '` + string(league.PartMatch) + `' as part from fs_match
	where status = 'success' and codec <> '` + league.CodecDropped + `'
	union all select id, '` + string(league.PartTimeline) + `' from fs_match
	where timeline_status = 'success' and timeline_codec <> '` + league.CodecDropped + `'
) `

// payloadsAtOnce bounds the memory that their reading takes.
const payloadsAtOnce = 50

// payloads reads every payload, a few at a time, unpacks it and proves its checksum. A payload that
// no match names is no fault: a crash between the two transactions leaves one, which the next try
// adopts.
func (c *checker) payloads() (err error) {
	c.report.Orphans, _, err = value[int](c.t, namedPayloads+`select count(*) from fs_payload p
where not exists (select from named where (p.match, p.part) = (named.match, named.part))`)
	for last, more := (both.Payload{}), true; more && err == nil; {
		n := 0
		err = tPayloads.each(c.t, func(p kept, err error) {
			n++
			if err == nil {
				_, err = p.raw()
			}
			if err != nil {
				c.report.BadPayload(tPayloads.name, p.Match, p.Part, "%s: %v", p.Part, err)
			}
			c.report.Payloads++
			c.report.Bytes += int64(p.Size)
			last = both.Payload{Match: p.Match, Part: p.Part}
		}, "where (match, part) > ($1, $2) order by match, part limit $3", (*text)(&last.Match), (*text)(&last.Part), payloadsAtOnce)
		more = n == payloadsAtOnce
	}
	return err
}

// days reads all jobs and attempts and compares the sums of the days with them, and with what was
// removed of them: a day goes on to tell of jobs that are pruned. Live jobs are read for the sake
// of reading them; they are on no day.
func (c *checker) days() error {
	days := daySums{}
	pruned, err := tDays.list(c.t, "where slot = $1", both.PrunedSlot)
	if err != nil {
		return err
	}
	for _, d := range pruned {
		sum := d.DaySum
		sum.Day = "" // as in sums that are counted
		days[d.Day] = sum
	}
	for _, tb := range []*table[engine.Job]{tLive, tEnded} {
		err := tb.each(c.t, func(j engine.Job, err error) {
			if err != nil {
				c.report.Bad(tb.name, string(j.ID), "%v", err)
			} else if tb == tEnded {
				days.ended(j, 1)
			}
		}, "")
		if err != nil {
			return err
		}
	}
	err = tAttempts.each(c.t, func(a both.Tried, err error) {
		if err != nil {
			c.report.Bad(tAttempts.name, string(a.Job), "%v", err)
			return
		}
		days.attempt(a.Attempt)
	}, "")
	if err != nil {
		return err
	}
	return c.compareDays(days)
}

// compareDays compares the stored sums with those that were counted, both ways: a day without a row
// is as wrong as a row whose day has nothing.
func (c *checker) compareDays(days daySums) error {
	stored, err := tDays.of(sumOfParts()).list(c.t, "group by day")
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
