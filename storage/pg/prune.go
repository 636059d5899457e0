package pg

import (
	"context"
	"maps"
	"slices"
	"time"

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
func (db *DB) failedLast(ctx context.Context, n int) ([]engine.JobID, error) {
	return answer(ctx, db, func(t *txn) ([]engine.JobID, error) {
		return values[engine.JobID](t, "select id from fs_job_ended where state = any($1) order by id desc limit $2",
			words([]engine.State{engine.Discarded, engine.Cancelled}), n)
	})
}

// pruning is one page of it. A transaction may run again, so a page begins with what the pages
// before it have counted and not with what an earlier try of its own has.
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
		if n, bad := JobNumber(j.ID); bad == nil {
			p.last = n
		}
		age := both.KeptFor(p.rule, j)
		// One that cannot be read stays; check names it.
		if err == nil && age > 0 && p.now.Sub(j.Finished) > age && !slices.Contains(p.spare, j.ID) {
			old = append(old, j)
		}
	}, "where id > $1 order by id limit $2", p.last, atOnce)
	p.more = seen == atOnce
	if err != nil || len(old) == 0 {
		return err
	}
	there, err := values[engine.JobID](t, "select id from fs_job_ended where id = any($1) order by id"+t.lock,
		numbers(old))
	if err != nil {
		return err
	}
	old = slices.DeleteFunc(old, func(j engine.Job) bool { return !slices.Contains(there, j.ID) }) // revived meanwhile
	for {
		needed, err := values[engine.JobID](t, neededJobs, numbers(old))
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

// remove counts jobs as gone, and in a run that is not dry deletes them. A dry run goes once
// through a page: it does not find what would be needed no more when others are gone.
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
	list, err := records[tries](t, "select job, count(*) from fs_attempt where job = any($1) group by job", numbers(jobs))
	of := map[engine.JobID]int{}
	for _, a := range list {
		of[a.Job] = a.N
	}
	return of, err
}

// tries are how many attempts of a job are stored.
type tries struct {
	Job engine.JobID
	N   int
}

// numbers are the columns' values of jobs' ids. They come from rows, so each is one.
func numbers(jobs []engine.Job) []int64 {
	ids := make([]int64, len(jobs))
	for i := range jobs {
		ids[i], _ = JobNumber(jobs[i].ID)
	}
	return ids
}

// dropEnded deletes ended jobs with all that is of them. What the days have counted of them they
// go on to count: it is added to the part of a day that says what was removed.
func (t *txn) dropEnded(jobs []engine.Job) (attempts int, err error) {
	if len(jobs) == 0 {
		return 0, nil
	}
	var ids []string
	for _, j := range jobs {
		ids = append(ids, string(j.ID))
		t.pruned.ended(j, 1)
		if j.State == engine.Discarded {
			t.sums.discard(j.Queue, -1)
		}
	}
	of := numbers(jobs)
	t.dirty = true
	err = tAttempts.dropped("where job = any($1)").each(t, func(a both.Tried, err error) {
		if attempts++; err == nil {
			t.pruned.attempt(a.Attempt)
		}
	}, "", of)
	t.exec("delete from fs_history where of = any($1)", ids)
	t.exec("delete from fs_mark where parent = any($1)", of)
	t.exec("delete from fs_group where parent = any($1)", of)
	t.exec(leaveGroups, of)
	t.exec("delete from fs_job_ended where id = any($1)", of)
	return attempts, err
}

const (
	// A payload lies in the month in which its game was created.
	monthsOfPayloads = `select month, sum(size)::bigint from fs_payload group by month order by month`

	// The reference of a payload is in its match, and stays when the payload goes.
	countRefs = `select (select count(*) from fs_match where month = $1 and status = 'success' and codec <> $2)
	+ (select count(*) from fs_match where timeline_month = $1 and timeline_status = 'success' and timeline_codec <> $2)`
)

// month is one of payloads, as 2026-11.
type month struct {
	Month string
	Bytes int64
}

// DropExpired deletes the payloads of months that lie wholly outside of keep, as seen at now, and
// nothing when keep is off. The matches stay, with a mark that it was so. Only a retention rule
// that the operator configured may ask for this.
func (db *DB) DropExpired(ctx context.Context, keep league.Span, now time.Time, dryRun bool) (list []both.DroppedMonth, err error) {
	if keep.Off() {
		return nil, nil
	}
	months, err := answer(ctx, db, func(t *txn) ([]month, error) { return records[month](t, monthsOfPayloads) })
	for _, m := range months {
		if both.Expired(m.Month, keep, now) {
			list = append(list, both.DroppedMonth{Month: m.Month, Bytes: m.Bytes})
		}
	}
	for i := range list {
		if err == nil {
			err = db.dropMonth(ctx, &list[i], dryRun)
		}
	}
	return list, err
}

// dropMonth deletes the payloads of a month, and counts those that matches name. They are marked
// before the payloads go, in one transaction: no match ever names a payload that is not there.
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
		t.exec("update fs_match set codec = $2, size = 0 where month = $1 and status = 'success'", d.Month,
			league.CodecDropped)
		t.exec("update fs_match set timeline_codec = $2, timeline_size = 0 where timeline_month = $1 and timeline_status = 'success'",
			d.Month, league.CodecDropped)
		t.exec("delete from fs_payload where month = $1", d.Month)
		return nil
	})
}
