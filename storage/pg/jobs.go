package pg

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// Live jobs and ended ones are two tables of the same columns: the first changes all the time
// and stays small, the second only grows.
var (
	tLive  = declare("fs_job", "id", jobColumns)
	tEnded = declare("fs_job_ended", "id", jobColumns)
)

var jobColumns = fields[engine.Job](called{"Group": "waits_for", "By": "asked_by"})

// tableOf is where a job of such a state belongs. A retry by an operator moves one back to the live
// ones.
func tableOf(s engine.State) *table[engine.Job] {
	if s.Terminal() {
		return tEnded
	}
	return tLive
}

// Job gives a live or ended job; engine.ErrNotFound, engine.ErrUnreadable.
func (db *DB) Job(tx engine.Tx, id engine.JobID) (engine.Job, error) { return own(tx).job(id) }

// job gives a job as it is, and keeps it when it is locked: a handler's transaction asks for its
// own job several times.
func (t *txn) job(id engine.JobID) (engine.Job, error) {
	if j, known := t.jobs[id]; known {
		return j, t.err
	}
	n, err := JobNumber(id)
	if err != nil {
		return engine.Job{}, err
	}
	for _, tb := range []*table[engine.Job]{tLive, tEnded} {
		j, ok, err := tb.find(t, n)
		if err != nil {
			return engine.Job{}, err
		}
		if ok {
			t.know(j)
			return j, nil
		}
	}
	return engine.Job{}, fmt.Errorf("job %s: %w", id, engine.ErrNotFound)
}

// know keeps a job that is locked: until the commit nobody else changes it, and it need not be asked
// for again.
func (t *txn) know(j engine.Job) {
	if t.jobs == nil {
		t.jobs = map[engine.JobID]engine.Job{}
	}
	t.jobs[j.ID] = j
}

// liveWithKey names the job that holds a key. The second condition lets the server use the index,
// which has the keys alone: most jobs have none, and "" is held by nobody.
const liveWithKey = "where key = $1 and key <> ''"

// JobByKey gives the live job that holds the key; engine.ErrNotFound.
func (db *DB) JobByKey(tx engine.Tx, key string) (engine.Job, error) {
	t := own(tx)
	j, err := tLive.want(t, fmt.Sprintf("live job with key %q", key), liveWithKey+t.lock, (*text)(&key))
	if err == nil {
		t.know(j)
	}
	return j, err
}

// SaveJob stores j where its state belongs, takes or frees its key and emits the change.
// engine.ErrStale when j's revision is not newer than the stored one, engine.ErrConflict when
// another live job holds its key.
func (db *DB) SaveJob(tx engine.Tx, j engine.Job) error {
	t := own(tx)
	old, err := t.job(j.ID)
	if err == nil {
		err = t.mayReplace(old, j)
	}
	if err != nil {
		return err
	}
	j.HasParents = j.HasParents || old.HasParents // a joined parent that the writer has not seen yet
	t.move(old, j)
	t.Emit(engine.Moved(&old, &j))
	return nil
}

// move stores a job in place of what it was, with what follows from that: the sums of days and of
// discarded jobs count it where it is now.
func (t *txn) move(old, j engine.Job) {
	to, from := tableOf(j.State), tableOf(old.State)
	if to != from {
		n, _ := JobNumber(j.ID)
		from.drop(t, n)
	}
	to.put(t, j)
	t.countEnded(old, -1)
	t.countEnded(j, 1)
	t.know(j)
}

// countEnded adds n times a job that has ended to its day, and a discarded one to its queue;
// nothing of a live one.
func (t *txn) countEnded(j engine.Job, n int) {
	if !j.State.Terminal() {
		return
	}
	t.days.ended(j, int64(n))
	if j.State == engine.Discarded {
		t.sums.discard(j.Queue, n)
	}
}

// mayReplace checks, before anything is written, that j may take the place of old. Only a job that
// lives again may find its key taken: a live one holds it, an ended one needs none.
func (t *txn) mayReplace(old, j engine.Job) error {
	if err := both.MayFollow(&old, &j); err != nil {
		return err
	}
	if j.Key == "" || old.State.Live() || !j.State.Live() {
		return nil
	}
	holder, held, err := tLive.first(t, liveWithKey+t.lock, (*text)(&j.Key))
	if held {
		return both.KeyHeld(holder.ID, j.Key)
	}
	return err
}

// pageOfLive is how many live jobs are loaded at once.
const pageOfLive = 2000

// Live iterates all live jobs in id order, a page per transaction. A job that cannot be read is
// yielded with its id and error.
func (db *DB) Live(ctx context.Context) iter.Seq2[engine.Job, error] {
	return both.Live(ctx, func(ctx context.Context, last int64) (page []both.Loaded, next int64, more bool, err error) {
		err = db.view(ctx, func(t *txn) error {
			return tLive.each(t, func(j engine.Job, err error) {
				if err != nil {
					j = engine.Job{ID: j.ID}
				}
				page = append(page, both.Loaded{Job: j, Err: err})
				next, _ = JobNumber(j.ID)
			}, "where id > $1 order by id limit $2", last, pageOfLive)
		})
		return page, next, len(page) == pageOfLive, err
	})
}

// DiscardUnreadable ends a live job whose row cannot be read (Live yields it with its error): it
// is discarded as undecodable with what can still be read of it, its row is kept in table
// fs_state as it was, its key is free. Whoever calls this settles the job's groups in the same
// transaction (Mark). engine.ErrRefused when the job can be read.
func (db *DB) DiscardUnreadable(tx engine.Tx, id engine.JobID) (engine.Job, error) {
	t := own(tx)
	n, err := JobNumber(id)
	if err != nil {
		return engine.Job{}, err
	}
	var j engine.Job
	there, why := false, error(nil)
	err = t.query(func(rows pgx.Rows) {
		there = true
		why = scan(rows, tLive.values(&j)) // j has what can be read
	}, tLive.sql().from+tLive.sql().key+t.lock, n)
	switch {
	case err != nil:
		return engine.Job{}, err
	case !there:
		return engine.Job{}, fmt.Errorf("job %s: %w", id, engine.ErrNotFound)
	case why == nil:
		return engine.Job{}, fmt.Errorf("job %s can be read: %w", id, engine.ErrRefused)
	}
	t.exec("insert into fs_state (name, blob) select $1, convert_to(to_jsonb(j)::text, 'UTF8') from fs_job j where id = $2",
		fmt.Sprintf("corrupt/fs_job/%s", id), n)
	old := j
	old.State = engine.Available // nobody can tell any more
	both.Discard(&j, t.now, why)
	t.move(old, j)
	t.Emit(engine.Change{Job: &j, Before: old.State})
	return j, nil
}
