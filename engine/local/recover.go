package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
)

// load builds the index from the store. Commits that are applied meanwhile win.
func (b *Backend) load(ctx context.Context) error {
	b.idx.begin()
	queues, err := b.store.Queues(ctx)
	if err != nil {
		return fmt.Errorf("read the queues: %w", err)
	}
	b.idx.loadQueues(queues)
	for j, err := range b.store.Live(ctx) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			if j.ID == "" || !errors.Is(err, engine.ErrUnreadable) {
				return err // not one job: the table, or the store
			}
			b.giveUpUnreadable(j.ID, err)
			continue
		}
		lanes := b.lanesOf([]engine.Change{{Job: &j}})
		b.idx.load(j, lanes, time.Now())
	}
	return nil
}

// begin empties the index and lets changes in.
func (x *index) begin() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clear()
	x.loading = true
}

// loadQueues takes in the stored switches, but for those that a commit has just
// changed.
func (x *index) loadQueues(queues []engine.QueueState) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, q := range queues {
		if have := x.queueOf(q.Name); have.Since.IsZero() || have.Since.Before(q.Since) {
			have.QueueState = q
		}
	}
}

// load takes in one stored job, unless a commit has ended it meanwhile.
func (x *index) load(j engine.Job, lanes []string, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, gone := x.gone[j.ID]; gone {
		return
	}
	lane := ""
	if lanes != nil {
		lane = lanes[0]
	}
	x.put(&j, lane, now)
}

// open lets jobs be chosen.
func (x *index) open() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loading, x.loaded = false, true
	clear(x.gone)
}

// recover gives running jobs back of which no run is here, but for those that a living
// process has in hand.
func (b *Backend) recover(s *session, inHand func(engine.Job) bool) error {
	orphans := b.idx.orphans()
	crash.Point("recovery-found")
	for len(orphans) > 0 {
		some := orphans[:min(b.perWrite, len(orphans))]
		orphans = orphans[len(some):]
		if err := b.recoverSome(s, some, inHand); err != nil {
			return err
		}
	}
	return nil
}

func (b *Backend) recoverSome(s *session, ids []engine.JobID, inHand func(engine.Job) bool) error {
	n := 0
	err := b.persist(s, func(tx engine.Tx) error {
		n = 0
		for _, id := range ids {
			j, err := b.store.Job(tx, id)
			if ofTheJob(err) || err == nil && (j.State != engine.Running || inHand(j)) {
				continue // settled meanwhile, or left alone
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
		b.log.Info().Int("jobs", n).Msg("orphans given back")
	}
	return nil
}

// othersHave reports whether a living process other than this one has a running job.
func (b *Backend) othersHave(j engine.Job) bool {
	return b.alive != nil && j.Boot != b.boot && b.alive(j.Boot) || b.launcher.Has(j)
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
