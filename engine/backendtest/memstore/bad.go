package memstore

import (
	"fmt"

	"github.com/farsight-console/farsight/engine"
)

var errBad = fmt.Errorf("the record cannot be read: %w", engine.ErrUnreadable)

// Spoil makes a live job's record unreadable.
func (s *Store) Spoil(id engine.JobID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad[id] = true
}

func (s *Store) isBad(id engine.JobID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bad[id]
}

// DiscardUnreadable ends a live job whose record cannot be read.
func (s *Store) DiscardUnreadable(x engine.Tx, id engine.JobID) (engine.Job, error) {
	t := own(x)
	if !s.bad[id] {
		return engine.Job{}, fmt.Errorf("job %s can be read: %w", id, engine.ErrRefused)
	}
	unset(t, s.bad, id)
	j, err := t.job(id)
	if err != nil {
		return j, err
	}
	before := j.State
	j.Rev++
	j.State, j.Finished, j.Hold, j.Class, j.LastError = engine.Discarded, t.now, engine.HoldNone, "undecodable", errBad.Error()
	set(t, s.jobs, id, j)
	if s.keys[j.Key] == id {
		unset(t, s.keys, j.Key)
	}
	t.Emit(engine.Change{Job: &j, Before: before})
	return j, nil
}
