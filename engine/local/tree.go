package local

import (
	"context"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// tree is one job and all that wait in its groups: what a backend of one tree
// runs. A job that other trees share belongs to it as soon as it joins.
type tree struct {
	root engine.JobID // "" = not named yet
	ids  map[engine.JobID]struct{}
}

// has reports whether a job may run here. A backend without a tree runs all.
func (t *tree) has(id engine.JobID) bool {
	if t == nil {
		return true
	}
	_, ok := t.ids[id]
	return ok
}

// Serve names the one job that a backend with Options.OneTree works for. Its
// children are those that its groups hold now and those that join them later.
func (b *Backend) Serve(ctx context.Context, root engine.JobID) error {
	if b.idx.tree == nil {
		return engine.Problemf(engine.ErrInvalid, "", "this engine works for every job")
	}
	b.idx.plant(root, time.Now()) // first, so that no join is missed
	var open []engine.JobID
	err := b.store.Read(ctx, func(tx engine.Tx) (err error) {
		open, err = b.store.OpenChildren(tx, root)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the children of job %s: %w", root, err)
	}
	b.idx.adopt(time.Now(), open...)
	b.nudge()
	return nil
}

func (x *index) plant(root engine.JobID, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tree.root = root
	x.include(root, now)
}

// adopt makes jobs part of the tree.
func (x *index) adopt(now time.Time, ids ...engine.JobID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range ids {
		x.include(id, now)
	}
}

// grow adds the jobs that have joined the tree in a commit.
func (x *index) grow(changes []engine.Change, now time.Time) {
	if x.tree == nil || x.tree.root == "" {
		return
	}
	for i := range changes {
		for _, g := range changes[i].Joined {
			if g.Parent == x.tree.root {
				x.include(changes[i].Job.ID, now)
			}
		}
	}
}

// include makes one job part of the tree; the index is locked.
func (x *index) include(id engine.JobID, now time.Time) {
	x.tree.ids[id] = struct{}{}
	e := x.jobs[id]
	if e == nil || !e.foreign {
		return
	}
	x.lift(e)
	e.foreign = false
	x.settle(e, now)
}

func (x *index) isForeign(id engine.JobID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.jobs[id]
	return e != nil && e.foreign
}
