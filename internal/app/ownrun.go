package app

import (
	"context"
	"errors"
	"slices"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/operation"
)

// ownRun is the console of a process that works for one sync: what is triggered, or
// found under way, is all that its engine runs.
type ownRun struct {
	engine.Console
	backend *local.Backend
}

// Do carries out a command, and lets the engine work on the sync that a trigger
// has started or met. What else a command sets going is said to wait.
func (o ownRun) Do(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	r, err := o.Console.Do(ctx, c)
	switch {
	case c.DryRun:
		return r, err
	case c.Op == engine.OpTrigger || c.Op == engine.OpCollect:
		return o.serve(ctx, r, err)
	case err == nil && r.Applied > 0 && operation.Of(c.Op).Starts && o.leaves(c):
		r.Text += "; what is no part of its sync waits for the next engine"
	}
	return r, err
}

// serve lets the backend work on the sync that a trigger has started. One that is under way already is
// an error to whoever asked, and the one to go on with: its job stands in the error.
func (o ownRun) serve(ctx context.Context, r engine.Receipt, err error) (engine.Receipt, error) {
	job := r.Job
	if p, ok := errors.AsType[*engine.Problem](err); ok && errors.Is(err, engine.ErrConflict) {
		job = p.Job
	}
	if job == "" {
		return r, err
	}
	return r, errors.Join(err, o.backend.Serve(ctx, job))
}

// leaves reports whether a command may have been about jobs that the engine does not
// work on.
func (o ownRun) leaves(c engine.Command) bool {
	// A command without jobs, such as a pause, waits for nobody.
	if c.Select == nil {
		return c.Job != "" && !o.backend.Serves(c.Job)
	}
	return c.Select.Filter != nil || slices.ContainsFunc(c.Select.IDs, func(id engine.JobID) bool { return !o.backend.Serves(id) })
}
