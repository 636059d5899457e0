package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/farsight-console/farsight/engine"
)

// onSchedule is a command on one schedule, by its name such as "latest" or "report.weekly".
// Without schedules at all it is refused.
func (o *Operator) onSchedule(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if name, ok := engine.CollectionOf(cmd.Schedule); ok {
		return o.onCollection(ctx, cmd, name)
	}
	if o.opt.Schedules == nil {
		return refuse(engine.ErrRefused, "", "nothing recurs here")
	}
	// An edit is tried by whoever keeps the schedules: only they can tell whether a plan makes sense.
	if cmd.Op == engine.OpEditSchedule {
		edit := engine.ScheduleEdit{Expr: cmd.Expr, Zone: cmd.Zone, By: cmd.By, Reason: cmd.Reason}
		return o.opt.Schedules.Edit(ctx, cmd.Schedule, edit, cmd.DryRun)
	}
	if cmd.DryRun {
		named := func(r engine.ScheduleRow) bool { return r.Name == cmd.Schedule }
		if !slices.ContainsFunc(o.opt.Schedules.List(), named) {
			return refuse(engine.ErrNotFound, "list them with `farsight schedules`", "there is no schedule %q", cmd.Schedule)
		}
		return engine.Receipt{Matched: 1, Text: would(cmd.Op) + " schedule " + cmd.Schedule}, nil
	}
	switch cmd.Op {
	case engine.OpRunSchedule:
		return o.opt.Schedules.RunNow(ctx, cmd.Schedule, cmd.By)
	case engine.OpPauseSchedule:
		return o.opt.Schedules.Pause(ctx, cmd.Schedule, cmd.By, cmd.Reason)
	}
	return o.opt.Schedules.Resume(ctx, cmd.Schedule, cmd.By, cmd.Reason)
}

// onCollection is a command on the schedule of a collection that goes on: to pause that is to pause the collection.
func (o *Operator) onCollection(ctx context.Context, cmd engine.Command, name string) (engine.Receipt, error) {
	a, err := o.opt.Find(ctx, engine.CollectionsQuery{Name: name})
	if err != nil {
		return engine.Receipt{}, err
	}
	row := &a.(engine.CollectionsAnswer).Collections[0]
	_, goesOn := row.Schedule(engine.QueueState{})
	switch {
	case !goesOn:
		return refuse(engine.ErrRefused, "collect the same again with --every 24h", "collection %s does not go on", name)
	case cmd.Op == engine.OpEditSchedule:
		return refuse(engine.ErrRefused, "collect the same again with another --every, such as --every 12h",
			"collection %s goes by its --every", name)
	case cmd.Op == engine.OpRunSchedule && !row.Started.IsZero():
		return engine.Receipt{Matched: 1, Nothing: true, Text: fmt.Sprintf("round %d of collection %s is under way", row.Round, name)}, nil
	case cmd.Op == engine.OpRunSchedule && cmd.DryRun:
		return engine.Receipt{Matched: 1, Text: fmt.Sprintf("would begin round %d of collection %s", row.Round, name)}, nil
	case cmd.Op == engine.OpRunSchedule:
		cmd.Op, cmd.Job = engine.OpRetry, row.Job
		r, err := o.opt.Backend.Act(ctx, cmd)
		if r.Applied > 0 && !row.Paused {
			r.Text = fmt.Sprintf("round %d of collection %s begins", row.Round, name)
		}
		return r, err
	case cmd.Op == engine.OpPauseSchedule:
		cmd.Op, cmd.Queue = engine.OpPause, engine.CollectionQueue(name)
		return o.pause(ctx, cmd)
	}
	cmd.Op, cmd.Queue = engine.OpResume, engine.CollectionQueue(name)
	return o.resume(ctx, cmd)
}

// undoSchedule puts a schedule back as it stood before a command: its plan, its zone and whether it was
// paused, which the audit's entry carries. A run that the command started goes on.
func (o *Operator) undoSchedule(ctx context.Context, cmd engine.Command, e engine.AuditEntry) (engine.Receipt, error) {
	if o.opt.Schedules == nil {
		return refuse(engine.ErrRefused, "", "nothing recurs here")
	}
	r, err := o.opt.Schedules.Undo(ctx, *e.Schedule, cmd.DryRun)
	r.Schedule = nil // an undo is not undone
	if errors.Is(err, engine.ErrConflict) {
		err = engine.Problemf(engine.ErrConflict, "look at the schedule",
			"%s #%d cannot be undone any more: schedule %s was changed since", e.Op, e.Seq, e.Schedule.Name)
	}
	return r, err
}
