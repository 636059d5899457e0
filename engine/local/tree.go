package local

import (
	"context"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// trees are the jobs that were named, and all that wait in their groups: what a
// backend with Options.OnlyServed runs. A job that other trees share belongs to them
// as soon as it joins.
type trees struct {
	ids map[engine.JobID]struct{} // but for those that are completed
}

func newTrees() *trees { return &trees{ids: map[engine.JobID]struct{}{}} }

// has reports whether a job may run here. A backend without trees runs all.
func (t *trees) has(id engine.JobID) bool {
	if t == nil {
		return true
	}
	_, ok := t.ids[id]
	return ok
}

// adopt makes jobs part of the trees.
func (x *index) adopt(now time.Time, ids ...engine.JobID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range ids {
		x.include(id, now)
	}
}

// grow adds the jobs that have joined a tree in a commit.
func (x *index) grow(changes []engine.Change, now time.Time) {
	if x.trees == nil {
		return
	}
	for i := range changes {
		for _, g := range changes[i].Joined {
			// A child may be a parent itself: a collection's players are, and their matches belong to its tree.
			if _, ok := x.trees.ids[g.Parent]; ok {
				x.include(changes[i].Job.ID, now)
			}
		}
	}
}

// include makes one job part of the trees; the index is locked.
func (x *index) include(id engine.JobID, now time.Time) {
	x.trees.ids[id] = struct{}{}
	e := x.jobs[id]
	if e == nil || !e.foreign {
		return
	}
	x.lift(e)
	e.foreign = false
	x.place(e, now)
}

// isForeign reports whether a job is known and left to other engines.
func (x *index) isForeign(id engine.JobID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.jobs[id]
	return e != nil && e.foreign
}

// Serve names a job that a backend with Options.OnlyServed works for. Its children
// are those that its groups hold now and those that join them later.
func (b *Backend) Serve(ctx context.Context, root engine.JobID) error {
	if b.idx.trees == nil {
		return engine.Problemf(engine.ErrInvalid, "", "this engine works for every job")
	}
	b.idx.adopt(time.Now(), root) // first, so that no join is missed
	var open []engine.JobID
	err := b.opt.Store.Read(ctx, func(tx engine.Tx) error {
		open = []engine.JobID{root}
		for i := 0; i < len(open); i++ { // children of children, too
			below, err := b.opt.Store.OpenChildren(tx, open[i])
			if err != nil {
				return err
			}
			open = append(open, below...)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the children of job %s: %w", root, err)
	}
	b.idx.adopt(time.Now(), open...)
	b.wake.Ring()
	return nil
}

// Serves reports whether a job may run here.
func (b *Backend) Serves(id engine.JobID) bool {
	b.idx.mu.Lock()
	defer b.idx.mu.Unlock()
	return b.idx.trees.has(id)
}
