package pg

import (
	"context"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

var tAttempts = declare("fs_attempt", "", attemptColumns)

var attemptColumns = fields[both.Tried](called{"Start": "started", "End": "ended", "Err": "error"})

// AddAttempt appends one closed attempt or hold to a job, counts it on its day, and emits the
// change.
func (db *DB) AddAttempt(tx engine.Tx, id engine.JobID, a engine.Attempt) error {
	t := own(tx)
	j, err := t.job(id)
	if err != nil {
		return err
	}
	tAttempts.add(t, both.Tried{Attempt: a, Job: id, Owner: j.Owner, Kind: j.Kind})
	t.onDay(a.End, func(d *engine.DaySum) { d.CountAttempt(a, 1) })
	t.Emit(engine.Change{Attempt: &a, Of: id})
	if a.Status != 0 || a.HTTP != 0 { // a call was made
		n, _ := number(id)
		t.exec("update fs_run set own_calls = own_calls + 1, own_throttled = own_throttled + $2 where job = $1", n, throttled(a))
		t.touchRunOf(n)
	}
	return nil
}

// throttled is 1 of an attempt that was answered with 429 Too Many Requests.
func throttled(a engine.Attempt) int {
	if a.Status == 429 {
		return 1
	}
	return 0
}

// attempts gives a job's closed attempts and its holds, oldest first. One that cannot be read is
// left out.
func (t *txn) attempts(job engine.JobID) (attempts, holds []engine.Attempt, err error) {
	n, err := number(job)
	if err != nil {
		return nil, nil, err
	}
	err = tAttempts.each(t, func(a both.Tried, err error) {
		switch {
		case err != nil:
		case a.Number == 0:
			holds = append(holds, a.Attempt)
		default:
			attempts = append(attempts, a.Attempt)
		}
	}, tAttempts.sql().from+"where job = $1 order by id", n)
	return attempts, holds, err
}

// maxRecent attempts of an account's jobs are told of.
const maxRecent = 200

// Recent gives the attempts of an account's jobs that ended last, newest first, at most 200.
func (db *DB) Recent(ctx context.Context, account string, n int) (list []engine.Attempt, err error) {
	err = db.eachRecent(ctx, account, n, func(a both.Tried) { list = append(list, a.Attempt) })
	return list, err
}

// Spent tells where the time of an account's last n attempts went, the newest first.
func (db *DB) Spent(ctx context.Context, account string, n int) (list []engine.Spent, err error) {
	err = db.eachRecent(ctx, account, n, func(a both.Tried) { list = append(list, a.Spent(a.Kind)) })
	return list, err
}

// eachRecent goes through the last n attempts of an account's jobs, the newest first.
func (db *DB) eachRecent(ctx context.Context, account string, n int, tell func(both.Tried)) error {
	return db.view(ctx, func(t *txn) error {
		return tAttempts.each(t, func(a both.Tried, err error) {
			if err == nil { // the list is a convenience; check names what cannot be read
				tell(a)
			}
		}, tAttempts.sql().from+"where owner = $1 and owner <> '' order by id desc limit $2", (*text)(&account), min(n, maxRecent))
	})
}

// onDay adds to the sums of the UTC day of an instant. The rows are written once, before the
// commit. What ended at no known time is on no day.
func (t *txn) onDay(at time.Time, add func(*engine.DaySum)) { addOnDay(&t.days, at, add) }

func addOnDay(days *map[string]engine.DaySum, at time.Time, add func(*engine.DaySum)) {
	if at.IsZero() {
		return
	}
	if *days == nil {
		*days = map[string]engine.DaySum{}
	}
	d := (*days)[engine.UTCDay(at)]
	add(&d)
	(*days)[engine.UTCDay(at)] = d
}
