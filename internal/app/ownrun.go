package app

import (
	"context"
	"errors"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
)

// ownRun is the console of a process that works for one sync: what it triggers,
// or finds under way, is all that its engine runs (spec section 2.3).
type ownRun struct {
	engine.Console
	backend *local.Backend
}

// Do carries out a command, and lets the engine work on the sync that a trigger
// has started or met.
func (o ownRun) Do(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	r, err := o.Console.Do(ctx, c)
	if c.Op != engine.OpTrigger || c.DryRun {
		return r, err
	}
	job := r.Job
	if p, ok := errors.AsType[*engine.Problem](err); ok && errors.Is(err, engine.ErrConflict) {
		job = p.Job
	}
	if job == "" {
		return r, err
	}
	return r, errors.Join(err, o.backend.Serve(ctx, job))
}
