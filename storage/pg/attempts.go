package pg

import (
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// tAttempts are closed attempts, in the order in which they ended; of a hold the number is 0. Owner
// and kind are the job's, so that those of an account are found without its jobs, which may be
// pruned.
//
//	 job | owner | kind        | number | verb  | class | status | http_us | next
//	-----+-------+-------------+--------+-------+-------+--------+---------+------------------------
//	 812 | 01JG… | match.fetch |      1 | retry | 5xx   |    503 |  310044 | 2026-11-21 09:13:14+00
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
	t.days.attempt(a)
	t.Emit(engine.Change{Attempt: &a, Of: id})
	if a.Status != 0 || a.HTTP != 0 { // a call was made
		n, _ := JobNumber(id)
		t.exec("update fs_run set own_calls = own_calls + 1, own_throttled = own_throttled + $2::boolean::int where job = $1",
			n, a.Status == tooManyRequests)
		t.touchRunOf(n)
	}
	return nil
}

// tooManyRequests is the status of an answer that counts as throttled.
const tooManyRequests = 429

// attempts gives a job's closed attempts and its holds, oldest first. One that cannot be read is
// left out.
func (t *txn) attempts(job engine.JobID) (attempts, holds []engine.Attempt, err error) {
	n, err := JobNumber(job)
	if err != nil {
		return nil, nil, err
	}
	all, err := tAttempts.sound(t, "where job = $1 order by id", n)
	for _, a := range all {
		if a.Number == 0 {
			holds = append(holds, a.Attempt)
		} else {
			attempts = append(attempts, a.Attempt)
		}
	}
	return attempts, holds, err
}

// maxRecent attempts of an account's jobs are told of.
const maxRecent = 200

// Recent gives the attempts of an account's jobs that ended last, newest first, at most 200.
func (db *DB) Recent(ctx context.Context, account string, n int) (list []engine.Attempt, err error) {
	last, err := db.lastTried(ctx, account, n)
	for _, a := range last {
		list = append(list, a.Attempt)
	}
	return list, err
}

// Spent tells where the time of an account's last n attempts went, the newest first.
func (db *DB) Spent(ctx context.Context, account string, n int) (list []engine.Spent, err error) {
	last, err := db.lastTried(ctx, account, n)
	for _, a := range last {
		list = append(list, a.Spent(a.Kind))
	}
	return list, err
}

// lastTried gives the last n attempts of an account's jobs, the newest first.
func (db *DB) lastTried(ctx context.Context, account string, n int) ([]both.Tried, error) {
	return answer(ctx, db, func(t *txn) ([]both.Tried, error) {
		return tAttempts.sound(t, "where owner = $1 and owner <> '' order by id desc limit $2", (*text)(&account),
			min(n, maxRecent))
	})
}
