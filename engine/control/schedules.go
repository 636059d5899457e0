package control

import (
	"context"
	"errors"
	"slices"

	"github.com/farsight-console/farsight/engine"
)

// Schedules are what recurs.
type Schedules interface {
	List() []engine.ScheduleRow
	RunNow(ctx context.Context, name string, by engine.Actor) (engine.Receipt, error)
	Pause(ctx context.Context, name string, by engine.Actor, reason string) (engine.Receipt, error)
	Resume(ctx context.Context, name string, by engine.Actor, reason string) (engine.Receipt, error)
	// Edit gives one another plan; an edit without an expression takes that back. dry
	// changes nothing.
	Edit(ctx context.Context, name string, edit engine.ScheduleEdit, dry bool) (engine.Receipt, error)
	// Undo takes a command back; engine.ErrConflict when another has come since.
	Undo(ctx context.Context, m engine.ScheduleMove, dry bool) (engine.Receipt, error)
}

// Schedules lets the console of stored data list what recurs.
func (b *Browse) Schedules(s Schedules) *Browse {
	b.schedules = s
	return b
}

// listSchedules adds to each schedule what became of the job that it inserted last.
func (f finder) listSchedules(ctx context.Context) (engine.Answer, error) {
	var page engine.SchedulesPage
	if f.schedules == nil {
		return page, nil
	}
	page.Schedules = f.schedules.List()
	for i := range page.Schedules {
		row := &page.Schedules[i]
		if row.Last.Job == "" {
			continue
		}
		// A job that was pruned since has no outcome any more.
		if d, err := f.store.Detail(ctx, engine.JobQuery{ID: row.Last.Job}); err == nil {
			row.Outcome = d.Job.State.String()
		}
	}
	return page, nil
}

// onSchedule is a command on one schedule.
func (c *Control) onSchedule(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if c.schedules == nil {
		return engine.Receipt{}, engine.Problemf(engine.ErrRefused, "", "nothing recurs here")
	}
	if cmd.Op == engine.OpEditSchedule {
		edit := engine.ScheduleEdit{Expr: cmd.Expr, Zone: cmd.Zone, By: cmd.By, Reason: cmd.Reason}
		return c.schedules.Edit(ctx, cmd.Schedule, edit, cmd.DryRun)
	}
	if cmd.DryRun {
		return c.wouldSchedule(cmd)
	}
	switch cmd.Op {
	case engine.OpRunSchedule:
		return c.schedules.RunNow(ctx, cmd.Schedule, cmd.By)
	case engine.OpPauseSchedule:
		return c.schedules.Pause(ctx, cmd.Schedule, cmd.By, cmd.Reason)
	}
	return c.schedules.Resume(ctx, cmd.Schedule, cmd.By, cmd.Reason)
}

func (c *Control) wouldSchedule(cmd engine.Command) (engine.Receipt, error) {
	named := func(r engine.ScheduleRow) bool { return r.Name == cmd.Schedule }
	if !slices.ContainsFunc(c.schedules.List(), named) {
		return engine.Receipt{}, engine.Problemf(engine.ErrNotFound, "list them with `farsight schedules`", "there is no schedule %q", cmd.Schedule)
	}
	return engine.Receipt{Matched: 1, Text: would(cmd.Op) + " schedule " + cmd.Schedule}, nil
}

// undoSchedule puts a schedule back as it stood before a command.
func (c *Control) undoSchedule(ctx context.Context, cmd engine.Command, e engine.AuditEntry) (engine.Receipt, error) {
	if c.schedules == nil {
		return engine.Receipt{}, engine.Problemf(engine.ErrRefused, "", "nothing recurs here")
	}
	r, err := c.schedules.Undo(ctx, *e.Schedule, cmd.DryRun)
	r.Schedule = nil // an undo is not undone
	if errors.Is(err, engine.ErrConflict) {
		err = engine.Problemf(engine.ErrConflict, "look at the schedule", "%s #%d cannot be undone any more: schedule %s was changed since", e.Op, e.Seq, e.Schedule.Name)
	}
	return r, err
}
