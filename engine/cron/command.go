package cron

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// RunNow fires a schedule at once, whether it is paused or not; its plan stays. A
// run before that has not ended is told in the receipt, and nothing is inserted.
// Errors are *engine.Problem, of the schedule's Fire or of the store.
func (r *Runner) RunNow(ctx context.Context, name string, by engine.Actor) (engine.Receipt, error) {
	e, err := r.find(name)
	if err != nil {
		return engine.Receipt{}, err
	}
	var row engine.ScheduleTick
	err = r.change(ctx, e, func(tx engine.Tx, s *State) (_ bool, err error) {
		row, err = r.fire(tx, e, s, tickNow(name, wallNow(), by))
		return true, err
	})
	if err != nil {
		return engine.Receipt{}, fmt.Errorf("run schedule %s: %w", name, err)
	}
	out := engine.Receipt{Job: row.Job, Matched: 1}
	switch {
	case row.Result != engine.TickRan:
		out.Nothing, out.Text = true, fmt.Sprintf("schedule %s was not run: %s", name, row.Reason)
	default:
		out.Applied, out.Text = 1, fmt.Sprintf("schedule %s ran: %s", name, jobs(row.Jobs))
	}
	return out, nil
}

func jobs(n int) string {
	if n == 1 {
		return "1 job inserted"
	}
	return fmt.Sprintf("%d jobs inserted", n)
}

// Pause lets a schedule's ticks pass without a run, until Resume; they are noted
// as skipped.
func (r *Runner) Pause(ctx context.Context, name string, by engine.Actor, reason string) (engine.Receipt, error) {
	return r.setPaused(ctx, name, true, by, reason)
}

// Resume lets a paused schedule run again, from its next tick on: what was planned
// meanwhile is not made up for.
func (r *Runner) Resume(ctx context.Context, name string, by engine.Actor, reason string) (engine.Receipt, error) {
	return r.setPaused(ctx, name, false, by, reason)
}

func (r *Runner) setPaused(ctx context.Context, name string, on bool, by engine.Actor, reason string) (engine.Receipt, error) {
	e, err := r.find(name)
	if err != nil {
		return engine.Receipt{}, err
	}
	var out engine.Receipt
	err = r.change(ctx, e, func(_ engine.Tx, s *State) (bool, error) {
		now := wallNow()
		if s.Paused == on {
			out = engine.Receipt{Matched: 1, Nothing: true, Text: fmt.Sprintf("schedule %s is %s already", name, pauseWord(on))}
			return false, nil
		}
		s.Paused, s.By, s.Since, s.Reason = on, by, now, reason
		if !on {
			s.Expr, s.Zone, s.Next, s.AsOf = e.sched.Expr(), e.sched.Zone(), e.sched.Next(now).UTC(), now
		}
		out = engine.Receipt{Matched: 1, Applied: 1, Due: s.Next, Text: fmt.Sprintf("schedule %s is %s", name, pauseWord(on))}
		return true, nil
	})
	if err != nil {
		return engine.Receipt{}, fmt.Errorf("change schedule %s: %w", name, err)
	}
	return out, nil
}

func pauseWord(on bool) string {
	if on {
		return "paused"
	}
	return "running"
}

func (r *Runner) find(name string) (entry, error) {
	var names []string
	for _, e := range r.entries {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	do := "there are none"
	if len(names) > 0 {
		do = "use one of " + strings.Join(names, ", ")
	}
	return entry{}, engine.Problemf(engine.ErrNotFound, do, "there is no schedule %q", name)
}

// runsShown is how many of the next runs a row tells.
const runsShown = 3

// List gives every schedule in the order of the specs, as it was last committed or
// loaded.
func (r *Runner) List() []engine.ScheduleRow {
	now := wallNow()
	rows := make([]engine.ScheduleRow, 0, len(r.entries))
	for _, e := range r.entries {
		rows = append(rows, e.row(r.state(e.Name), now))
	}
	return rows
}

func (e entry) row(s State, now time.Time) engine.ScheduleRow {
	row := engine.ScheduleRow{
		Name: e.Name, Expr: e.sched.Expr(), Zone: e.sched.Zone(), Misfire: e.rule(),
		Last: s.Last, Skipped: slices.Clone(s.Skipped),
		Paused: s.Paused, By: s.By, Since: s.Since, Reason: s.Reason,
	}
	for t := e.sched.Next(now); !t.IsZero() && len(row.Next) < runsShown; t = e.sched.Next(t) {
		row.Next = append(row.Next, t.UTC())
	}
	return row
}
