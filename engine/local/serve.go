package local

import (
	"context"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Serve names a job that a backend with Options.OnlyServed works for. Its children
// are those that its groups hold now and those that join them later.
func (b *Backend) Serve(ctx context.Context, root engine.JobID) error {
	if b.idx.trees == nil {
		return engine.Problemf(engine.ErrInvalid, "", "this engine works for every job")
	}
	b.idx.plant(root, time.Now()) // first, so that no join is missed
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
