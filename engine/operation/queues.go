package operation

import (
	"context"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
)

// pause keeps a queue's jobs from starting. When it answers none starts any more; those that run go on.
func (o *Operator) pause(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	return o.onQueue(ctx, cmd, o.opt.Backend.Pause)
}

// resume lets a paused queue's jobs start again.
func (o *Operator) resume(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	return o.onQueue(ctx, cmd, o.opt.Backend.Resume)
}

// queueCommand is a backend's Pause or Resume.
type queueCommand func(context.Context, engine.Queue, engine.Actor, string) (engine.Receipt, error)

// onQueue is what pause and resume have in common. engine.ErrNotFound for a queue that neither the
// program nor a job names.
func (o *Operator) onQueue(ctx context.Context, cmd engine.Command, run queueCommand) (engine.Receipt, error) {
	if cmd.Queue == "" {
		return refuse(engine.ErrInvalid, "name one, such as ingest.summoner.full", "no queue is named")
	}
	if !o.hasQueue(cmd.Queue) {
		return refuse(engine.ErrNotFound, "list them with `farsight queues`", "there is no queue %q", cmd.Queue)
	}
	if cmd.DryRun {
		return engine.Receipt{Matched: 1, Text: would(cmd.Op) + " " + string(cmd.Queue)}, nil
	}
	return run(ctx, cmd.Queue, cmd.By, cmd.Reason)
}

// hasQueue reports whether a queue is known: a mistyped one would be paused for
// nothing.
func (o *Operator) hasQueue(name engine.Queue) bool {
	// The program's own queues have a place before their first job; others are known by their jobs.
	return len(o.opt.Lines) == 0 || strings.HasPrefix(string(name), string(engine.CollectionQueue(""))) || slices.Contains(o.opt.Lines, name) ||
		slices.ContainsFunc(o.opt.Backend.Queues(), func(q engine.QueueRow) bool { return q.Name == name })
}
