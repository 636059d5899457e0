package local

import (
	"fmt"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
)

// recover gives running jobs back of which no run is here.
func (b *Backend) recover(s *session) error {
	orphans := b.idx.orphans()
	crash.Point("recovery-found")
	for len(orphans) > 0 {
		some := orphans[:min(b.opt.PerWrite, len(orphans))]
		orphans = orphans[len(some):]
		if err := b.recoverSome(s, some); err != nil {
			return err
		}
	}
	return nil
}

// recoverSome gives one batch back in one write. Its count begins at zero inside of it, since a
// transaction may run twice.
func (b *Backend) recoverSome(s *session, ids []engine.JobID) error {
	n := 0
	err := b.persist(s, func(tx engine.Tx) error {
		n = 0
		for _, id := range ids {
			j, err := b.opt.Store.Job(tx, id)
			if ofTheJob(err) || err == nil && j.State != engine.Running {
				continue // settled meanwhile
			}
			if err != nil {
				return fmt.Errorf("read job %s: %w", id, err)
			}
			if err := b.interruptJob(tx, j, "its process ended", engine.ByRescue); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return err
	}
	crash.Point("recovery-given-back")
	if n > 0 {
		b.counts.recovered.Add(int64(n))
		b.opt.Log.Info().Int("jobs", n).Msg("orphans given back")
	}
	return nil
}

// orphans are the running jobs of which no run is here.
func (x *index) orphans() []engine.JobID {
	x.mu.Lock()
	defer x.mu.Unlock()
	var ids []engine.JobID
	here := make(map[engine.JobID]bool, len(x.runs))
	for r := range x.runs {
		here[r.job.ID] = true
	}
	for id, e := range x.jobs {
		if e.state == engine.Running && !here[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
