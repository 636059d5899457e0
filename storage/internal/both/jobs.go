package both

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// NewJob is the job of a spec that is inserted now. One that is to run later is scheduled, and is
// available when its time has come; a priority of 0 is the normal one.
func NewJob(id engine.JobID, s engine.Spec, now time.Time) engine.Job {
	j := engine.Job{
		ID: id, Rev: 1, Round: 1, State: engine.Available, Created: now,
		Kind: s.Kind, Queue: s.Queue, Key: s.Key, Lock: s.Lock, Owner: s.Owner, Args: s.Args,
		Priority: s.Priority, Policy: s.Policy, By: s.By, HasParents: len(s.Parents) > 0,
	}
	if j.Priority == 0 {
		j.Priority = engine.PriorityNormal
	}
	if s.RunAt.After(now) {
		j.State, j.Due = engine.Scheduled, s.RunAt
	}
	return j
}

// Enqueue inserts each spec in its turn: the second of two with one key is a duplicate of the
// first. None is inserted when one cannot be, since the caller's transaction ends with the error.
func Enqueue(specs []engine.Spec, one func(engine.Spec) (engine.Enqueued, error)) ([]engine.Enqueued, error) {
	answers := make([]engine.Enqueued, 0, len(specs))
	for _, s := range specs {
		a, err := one(s)
		if err != nil {
			return nil, fmt.Errorf("enqueue %s %q: %w", s.Kind, s.Key, err)
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// Inserted emits a new job, and answers for it.
func Inserted(tx engine.Tx, j *engine.Job, parents []engine.GroupID) engine.Enqueued {
	tx.Emit(engine.Change{Job: j, Before: j.State, New: true, Joined: parents})
	return engine.Enqueued{ID: j.ID, State: j.State}
}

// Join answers for a spec whose key a live job holds, for which parents wait now, too. Its revision
// stays: whoever runs it is not late. save stores it when it has its first parents.
func Join(tx engine.Tx, j *engine.Job, parents []engine.GroupID, save func(j *engine.Job) error) (engine.Enqueued, error) {
	if len(parents) > 0 {
		first := !j.HasParents
		j.HasParents = true
		if first {
			if err := save(j); err != nil {
				return engine.Enqueued{}, err
			}
		}
		tx.Emit(engine.Change{Job: j, Before: j.State, Joined: parents})
	}
	return engine.Enqueued{ID: j.ID, Duplicate: true, State: j.State}, nil
}

// Loaded is a job of a page; of one that cannot be read its id, and why.
type Loaded struct {
	Job engine.Job
	Err error
}

// Live iterates jobs, a page per transaction: page gives those from a place on, and the next place
// as long as there is more.
func Live[P any](
	ctx context.Context, page func(ctx context.Context, from P) (list []Loaded, next P, more bool, err error),
) iter.Seq2[engine.Job, error] {
	return func(yield func(engine.Job, error) bool) {
		var from P
		for more := true; more; {
			var list []Loaded
			var err error
			if list, from, more, err = page(ctx, from); err != nil {
				yield(engine.Job{}, err)
				return
			}
			for _, l := range list {
				if !yield(l.Job, l.Err) {
					return
				}
			}
		}
	}
}

// Undecodable is the error class of a job that was discarded because its record cannot be read
// (P-28).
const Undecodable engine.Class = "undecodable"

// Discard ends a job of which only this much could be read.
func Discard(j *engine.Job, now time.Time, why error) {
	j.Rev++
	j.State, j.Finished, j.Hold = engine.Discarded, now, engine.HoldNone
	j.Class, j.LastError = Undecodable, "its record cannot be read: "+why.Error()
}

// MayFollow checks, of a live job or one that stays as it is, that j may take the place of old.
// Whoever has read a job, decided and writes it later is refused when another has written
// meanwhile: engine.ErrStale. A key is for life, because the indexes of both stores are changed
// when a job begins and ends, and not between.
func MayFollow(old, j *engine.Job) error {
	if j.Rev <= old.Rev {
		return fmt.Errorf("job %s at revision %d, stored is %d: %w", j.ID, j.Rev, old.Rev, engine.ErrStale)
	}
	if j.Key != old.Key {
		return fmt.Errorf("job %s cannot change its key: %w", j.ID, engine.ErrInvalid)
	}
	return nil
}

// KeyHeld refuses a job that would live again while another has its key.
func KeyHeld(holder engine.JobID, key string) *engine.Problem {
	p := engine.Problemf(engine.ErrConflict, "act on that job", "job %s holds %s", holder, key)
	p.Job = holder
	return p
}

// Detail is what the job itself and its attempts tell of it: the running one last, without an end.
func Detail(j engine.Job, attempts, holds []engine.Attempt) (d engine.JobDetail) {
	d.Job.Job, d.Attempts, d.Holds = j, attempts, holds
	if j.State == engine.Running {
		d.Attempts = append(d.Attempts, running(j))
	}
	d.ShouldRetry, d.NextRetryAt = j.ShouldRetry(), j.NextRetryAt()
	return d
}

// Runs follows an account's runs from the last one to those before, n at most. One that is not kept
// any more ends the list.
func Runs(
	last string, n int, read func(id string) (row engine.RunRow, before string, err error),
) (list []engine.RunRow, err error) {
	for id := last; id != "" && len(list) < n; {
		var row engine.RunRow
		row, id, err = read(id)
		if errors.Is(err, engine.ErrNotFound) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, nil
}

// running is the attempt that a running job is in the middle of.
func running(j engine.Job) engine.Attempt {
	return engine.Attempt{Number: j.Attempts, Round: j.Round, Try: j.Tries, Phase: j.Phase, Rev: j.Rev,
		Start: j.Started, Worker: j.Worker}
}

// JobLog is an ended job's line in the log of jobs. Retries are counted from its attempts: an
// operator's retry and each phase begin a round, whose first attempt is none.
func JobLog(j engine.Job, attempts []engine.Attempt) engine.JobLog {
	line := engine.JobLog{
		Job: j.ID, Type: j.Kind, Key: j.Key, Queue: j.Queue, Status: j.State, Error: j.LastError,
		Created: j.Created, Started: j.Started, Finished: j.Finished,
	}
	for _, a := range attempts {
		if retry, _ := a.Retry(); retry {
			line.Retries++
		}
	}
	return line
}
