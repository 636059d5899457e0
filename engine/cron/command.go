package cron

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
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
		out.Applied, out.Text = 1, fmt.Sprintf("schedule %s ran: %s", name,
			human.Counted(row.Jobs, "job inserted", "jobs inserted"))
	}
	return out, nil
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

// setPaused is Pause and Resume. A resumed schedule is planned anew from now on, so that nothing of the
// pause is due.
func (r *Runner) setPaused(ctx context.Context, name string, on bool, by engine.Actor,
	reason string) (engine.Receipt, error) {
	return r.alter(ctx, name, false, func(e entry, s *State) (engine.Receipt, error) {
		now := wallNow()
		if s.Paused == on {
			return engine.Receipt{Nothing: true,
				Text: fmt.Sprintf("schedule %s is %s already", name, pauseWord(on))}, nil
		}
		s.Paused, s.By, s.Since, s.Reason = on, by, now, reason
		if !on {
			s.follow(r.inForce(e, *s).sched, now)
		}
		return engine.Receipt{Text: fmt.Sprintf("schedule %s is %s", name, pauseWord(on))}, nil
	})
}

// alter lets fn change a copy of a schedule's state, outside of a transaction: it reads
// plans, and a zone is a file. If the stored one has moved on meanwhile, fn is asked
// again. With dry nothing is stored.
func (r *Runner) alter(ctx context.Context, name string, dry bool,
	fn func(e entry, s *State) (engine.Receipt, error)) (engine.Receipt, error) {
	e, err := r.find(name)
	if err != nil {
		return engine.Receipt{}, err
	}
	for {
		was, err := r.read(ctx, e)
		if err != nil {
			return engine.Receipt{}, fmt.Errorf("change schedule %s: %w", name, err)
		}
		next := was
		out, err := fn(e, &next)
		if out.Matched = 1; err != nil || out.Nothing || dry {
			return out, err
		}
		stale := false
		err = r.change(ctx, e, func(_ engine.Tx, s *State) (bool, error) {
			if stale = s.Rev != was.Rev; !stale {
				*s = next
			}
			return !stale, nil
		})
		if err != nil {
			return engine.Receipt{Matched: 1}, fmt.Errorf("change schedule %s: %w", name, err)
		}
		if !stale {
			out.Applied, out.Due = 1, next.Next
			out.Schedule = &engine.ScheduleMove{Name: name, Before: e.stand(was), After: e.stand(next)}
			return out, nil
		}
	}
}

// read gives a schedule's stored state.
func (r *Runner) read(ctx context.Context, e entry) (s State, err error) {
	err = r.store.Read(ctx, func(tx engine.Tx) (err error) {
		s, err = r.stored(tx, e)
		return err
	})
	return s, err
}

func pauseWord(on bool) string {
	if on {
		return "paused"
	}
	return "running"
}

// find gives a schedule by its name; the engine.ErrNotFound of another one tells those that there are.
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
		s := r.state(e.Name)
		row := r.inForce(e, s).row(s, now)
		row.ConfigExpr, row.ConfigZone = e.sched.Expr(), e.sched.Zone()
		rows = append(rows, row)
	}
	return rows
}

// row is a schedule as consoles see it, by the plan in force.
func (e entry) row(s State, now time.Time) engine.ScheduleRow {
	row := engine.ScheduleRow{
		Name: e.Name, Expr: e.sched.Expr(), Zone: e.sched.Zone(), Misfire: e.rule(),
		Last: s.Last, Skipped: slices.Clone(s.Skipped),
		Paused: s.Paused, By: s.By, Since: s.Since, Reason: s.Reason, Edit: s.Edit,
	}
	row.Next = e.sched.runs(now)
	_, row.UTCOffset = e.sched.Next(now).Zone()
	return row
}

// runs are the next ones after an instant, in UTC.
func (s Schedule) runs(after time.Time) (out []time.Time) {
	for t := s.Next(after); !t.IsZero() && len(out) < runsShown; t = s.Next(t) {
		out = append(out, t.UTC())
	}
	return out
}
