package both

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// NewJob is the job of a spec that is inserted now.
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

// MayFollow checks, of a live job or one that stays as it is, that j may take the place of old.
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

// Running is the attempt that a running job is in the middle of.
func Running(j engine.Job) engine.Attempt {
	return engine.Attempt{Number: j.Attempts, Round: j.Round, Try: j.Tries, Phase: j.Phase, Rev: j.Rev, Start: j.Started, Worker: j.Worker}
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
