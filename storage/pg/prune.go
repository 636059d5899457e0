package pg

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// Prune removes ended jobs with their attempts, groups and history, oldest first, a page per
// transaction (P-33). Data, counters and runs stay.
func (db *DB) Prune(ctx context.Context, rule engine.PruneAsk, now time.Time, dryRun bool) (done engine.PruneDone, err error) {
	do := db.Write
	if dryRun {
		do = db.Read
	}
	spare, err := db.failedLast(ctx, rule.KeepFailed)
	if err != nil {
		return done, err
	}
	for last, more := int64(0), true; more; {
		p := pruning{rule: rule, now: now, dry: dryRun, spare: spare}
		err := do(ctx, func(tx engine.Tx) error {
			p.done, p.last = done, last
			p.done.Classes = maps.Clone(done.Classes)
			return p.page(own(tx))
		})
		if err != nil {
			return done, err
		}
		done, last, more = p.done, p.last, p.more
	}
	return done, nil
}

// failedLast are the last n discarded and cancelled jobs, which stay whatever their age.
func (db *DB) failedLast(ctx context.Context, n int) (ids []engine.JobID, err error) {
	err = db.view(ctx, func(t *txn) error {
		ids, err = t.jobIDs("select id from fs_job_ended where state = any($1) order by id desc limit $2", words([]engine.State{engine.Discarded, engine.Cancelled}), n)
		return err
	})
	return ids, err
}

// pruning is one page of it.
type pruning struct {
	rule  engine.PruneAsk
	now   time.Time
	dry   bool
	spare []engine.JobID

	done engine.PruneDone // as of the pages before, and then of this one too
	last int64            // the last job that was looked at
	more bool
}

const (
	// neededJobs are those that others wait for or show, that have open children, or whose groups
	// are the progress that an account shows.
	neededJobs = `select id from unnest($1::bigint[]) as j(id) where exists (select from fs_mark m where m.child = j.id)
	or exists (select from fs_group g where g.parent = j.id and g.open > 0)
	or exists (select from fs_run r join fs_account a on a.run = r.id where r.job = j.id)`
)

// page looks at the next ended jobs, and removes those that are old and that nobody needs. It begins
// with the locks of what it removes: a job that is revived meanwhile has left the table by then.
func (p *pruning) page(t *txn) error {
	var old []engine.Job
	seen := 0
	err := tEnded.each(t, func(j engine.Job, err error) {
		seen++
		if n, bad := number(j.ID); bad == nil {
			p.last = n
		}
		age := both.KeptFor(p.rule, j)
		if err == nil && age > 0 && p.now.Sub(j.Finished) > age && !slices.Contains(p.spare, j.ID) { // check names one that cannot be read
			old = append(old, j)
		}
	}, tEnded.sql().from+"where id > $1 order by id limit $2", p.last, atOnce)
	p.more = seen == atOnce
	if err != nil || len(old) == 0 {
		return err
	}
	there, err := t.jobIDs("select id from fs_job_ended where id = any($1) order by id"+t.lock, numbers(old))
	if err != nil {
		return err
	}
	old = slices.DeleteFunc(old, func(j engine.Job) bool { return !slices.Contains(there, j.ID) }) // revived meanwhile
	for {
		needed, err := t.jobIDs(neededJobs, numbers(old))
		if err != nil {
			return err
		}
		isNeeded := func(j engine.Job) bool { return slices.Contains(needed, j.ID) }
		gone := slices.DeleteFunc(slices.Clone(old), isNeeded)
		if err := p.remove(t, gone); err != nil {
			return err
		}
		if p.dry || len(gone) == 0 || len(needed) == 0 {
			p.done.Spared += len(needed)
			return nil
		}
		old = slices.DeleteFunc(old, func(j engine.Job) bool { return !isNeeded(j) }) // perhaps by those that are gone now
	}
}

// remove counts jobs as gone, and in a run that is not dry deletes them.
func (p *pruning) remove(t *txn, gone []engine.Job) error {
	attempts, err := t.countAttempts(gone)
	for _, j := range gone {
		both.CountPruned(&p.done, j, attempts[j.ID])
	}
	if err == nil && !p.dry {
		_, err = t.dropEnded(gone)
	}
	return err
}

// countAttempts is how many attempts are stored of each.
func (t *txn) countAttempts(jobs []engine.Job) (map[engine.JobID]int, error) {
	return figures(t, func(id *engine.JobID) any { return (*jobID)(id) }, "select job, count(*) from fs_attempt where job = any($1) group by job", numbers(jobs))
}

// numbers are the columns' values of jobs' ids.
func numbers(jobs []engine.Job) []int64 {
	ids := make([]int64, len(jobs))
	for i := range jobs {
		ids[i], _ = number(jobs[i].ID)
	}
	return ids
}

// leaveGroups takes children out of all groups that count them.
const leaveGroups = `with gone as (
	delete from fs_mark where child = any($1) returning parent, grp, mark, calls, throttled
), summed as (
	select parent, grp, count(*) as total, count(*) filter (where mark < 2) as open, count(*) filter (where mark = 1) as retrying, count(*) filter (where mark = 2) as done,
		count(*) filter (where mark = 3) as dead, count(*) filter (where mark = 4) as cancelled, sum(calls) as calls, sum(throttled) as throttled from gone group by parent, grp
), less as (
	update fs_group g set total = g.total - s.total, open = g.open - s.open, retrying = g.retrying - s.retrying, done = g.done - s.done,
		dead = g.dead - s.dead, cancelled = g.cancelled - s.cancelled, calls = g.calls - s.calls, throttled = g.throttled - s.throttled
	from summed s where (g.parent, g.grp) = (s.parent, s.grp) and g.total > s.total
)
delete from fs_group g using summed s where (g.parent, g.grp) = (s.parent, s.grp) and g.total = s.total`

// dropEnded deletes ended jobs with all that is of them. What the days have counted of them they
// go on to count.
func (t *txn) dropEnded(jobs []engine.Job) (attempts int, err error) {
	if len(jobs) == 0 {
		return 0, nil
	}
	var ids []string
	for _, j := range jobs {
		ids = append(ids, string(j.ID))
		addOnDay(&t.pruned, j.Finished, func(d *engine.DaySum) { d.CountEnded(j.State, 1) })
		if j.State == engine.Discarded {
			t.sums.discard(j.Queue, -1)
		}
	}
	of := numbers(jobs)
	t.dirty = true
	err = tAttempts.each(t, func(a both.Tried, err error) {
		if attempts++; err == nil {
			addOnDay(&t.pruned, a.End, func(d *engine.DaySum) { d.CountAttempt(a.Attempt, 1) })
		}
	}, "with gone as (delete from fs_attempt where job = any($1) returning *) "+tAttempts.sql().these+"from gone", of)
	t.exec("delete from fs_history where of = any($1)", ids)
	t.exec("delete from fs_mark where parent = any($1)", of)
	t.exec("delete from fs_group where parent = any($1)", of)
	t.exec(leaveGroups, of)
	t.exec("delete from fs_job_ended where id = any($1)", of)
	return attempts, err
}

const (
	monthsOfPayloads = `select month, sum(size)::bigint from fs_payload group by month order by month`

	countRefs = `select (select count(*) from fs_match where month = $1 and status = 'success' and codec <> $2)
	+ (select count(*) from fs_match where timeline_month = $1 and timeline_status = 'success' and timeline_codec <> $2)`
)

// DropExpired deletes the payloads of months that lie wholly outside of keep, as seen at now, and
// nothing when keep is off. The matches stay, with a mark that it was so. Only a retention rule
// that the operator configured may ask for this.
func (db *DB) DropExpired(ctx context.Context, keep league.Span, now time.Time, dryRun bool) (list []both.DroppedMonth, err error) {
	if keep.Off() {
		return nil, nil
	}
	err = db.view(ctx, func(t *txn) error {
		return t.query(func(rows pgx.Rows) {
			var d both.DroppedMonth
			if scan(rows, []any{&d.Month, &d.Bytes}) == nil && both.Expired(d.Month, keep, now) {
				list = append(list, d)
			}
		}, monthsOfPayloads)
	})
	for i := range list {
		if err == nil {
			err = db.dropMonth(ctx, &list[i], dryRun)
		}
	}
	return list, err
}

func (db *DB) dropMonth(ctx context.Context, d *both.DroppedMonth, dry bool) error {
	do := db.Write
	if dry {
		do = db.Read
	}
	return do(ctx, func(tx engine.Tx) (err error) {
		t := own(tx)
		if d.Payloads, _, err = value[int](t, countRefs, d.Month, league.CodecDropped); err != nil || dry {
			return err
		}
		t.exec("update fs_match set codec = $2, size = 0 where month = $1 and status = 'success'", d.Month, league.CodecDropped)
		t.exec("update fs_match set timeline_codec = $2, timeline_size = 0 where timeline_month = $1 and timeline_status = 'success'", d.Month, league.CodecDropped)
		t.exec("delete from fs_payload where month = $1", d.Month)
		return nil
	})
}
