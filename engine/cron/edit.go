package cron

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// plan is an edit that has been read; sched is the zero Schedule if it could not be.
type plan struct {
	expr, zone string
	sched      Schedule
	err        error
}

// inForce gives an entry the plan of the edit in its state, if there is one. An edit
// that cannot be read, because this machine does not know its zone, counts as none.
func (r *Runner) inForce(e entry, s State) entry {
	if s.Edit.Expr == "" {
		return e
	}
	if p := r.plan(s); p.err == nil {
		e.sched = p.sched
	}
	return e
}

// plan reads the edit in a state, once.
func (r *Runner) plan(s State) plan {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.plans[s.Name]
	if !ok || p.expr != s.Edit.Expr || p.zone != s.Edit.Zone {
		p = plan{expr: s.Edit.Expr, zone: s.Edit.Zone}
		p.sched, p.err = Parse(p.expr, p.zone)
		r.plans[s.Name] = p
	}
	return p
}

// checkEdit says when a stored edit cannot be followed.
func (r *Runner) checkEdit(e entry, s State) {
	if s.Edit.Expr == "" {
		return
	}
	if p := r.plan(s); p.err != nil {
		r.note(engine.LevelWarn, "schedule %s runs as the configuration says, %s: the edit of %s cannot be read here: %v",
			e.Name, e.sched, cmp.Or(s.Edit.By.User, "an operator"), p.err)
	}
}

// String is the plan as people read it: 0 */2 * * * Asia/Seoul.
func (s Schedule) String() string {
	if s.zone == nil {
		return "never"
	}
	return s.expr + " " + s.Zone()
}

// follow plans a state's next tick by sched.
func (s *State) follow(sched Schedule, now time.Time) {
	s.Expr, s.Zone, s.Next, s.AsOf = sched.Expr(), sched.Zone(), sched.Next(now).UTC(), now
}

// stand is what commands can change of a schedule.
func (e entry) stand(s State) engine.ScheduleStand {
	return engine.ScheduleStand{
		Paused: s.Paused, Since: s.Since, By: s.By, Reason: s.Reason, Edit: s.Edit,
		Expr: cmp.Or(s.Edit.Expr, e.sched.Expr()), Zone: cmp.Or(s.Edit.Zone, e.sched.Zone()),
	}
}

// Edit gives a schedule another plan, which wins over its spec's, over restarts too,
// until an empty expression takes it back. An empty zone keeps the one in force. What
// was due by the old plan and has not run is not made up for. With dry nothing is
// changed. The receipt tells the next runs. Errors are *engine.Problem or of the store.
func (r *Runner) Edit(ctx context.Context, name string, edit engine.ScheduleEdit, dry bool) (engine.Receipt, error) {
	return r.alter(ctx, name, dry, func(e entry, s *State) (engine.Receipt, error) {
		was, next, now := r.inForce(e, *s).sched, e.sched, wallNow()
		if strings.TrimSpace(edit.Expr) != "" {
			var err error
			if next, err = Parse(edit.Expr, cmp.Or(strings.TrimSpace(edit.Zone), was.Zone())); err != nil {
				return engine.Receipt{}, err
			}
		}
		out := engine.Receipt{Runs: next.runs(now), Zone: next.Zone()}
		_, out.UTCOffset = next.Next(now).Zone()
		home := next.String() == e.sched.String() // what the configuration says is no edit
		switch {
		case next.String() == was.String() && home == (s.Edit.Expr == ""):
			out.Nothing, out.Text = true, fmt.Sprintf("schedule %s has the plan %s already", name, next)
			return out, nil
		case home:
			s.Edit = engine.ScheduleEdit{}
			out.Text = fmt.Sprintf("%s as the configuration says again: %s (was %s)", name, next, was)
		default:
			s.Edit = engine.ScheduleEdit{Expr: next.Expr(), Zone: next.Zone(), By: edit.By, At: now,
				Reason: edit.Reason}
			out.Text = fmt.Sprintf("%s: %s (was %s)", name, next, was)
		}
		s.follow(next, now)
		if dry {
			out.Text = "would be: " + out.Text + "; " + next.runsText(out.Runs)
		}
		return out, nil
	})
}

// runLayout is how a run is told.
const runLayout = "Mon 2 Jan 15:04"

// runsText says when the next runs are, in the schedule's own zone and in UTC.
func (s Schedule) runsText(runs []time.Time) string {
	if len(runs) == 0 {
		return "it never runs"
	}
	at := func(zone *time.Location) string {
		var all []string
		for _, t := range runs {
			all = append(all, t.In(zone).Format(runLayout))
		}
		return strings.Join(all, ", ") + " " + zone.String()
	}
	if s.Zone() == time.UTC.String() {
		return "next " + at(time.UTC)
	}
	return "next " + at(s.zone) + " = " + at(time.UTC)
}

// Undo puts a schedule back as it stood before a command, if that part of it still
// stands as the command left it; else the error is engine.ErrConflict. One that was paused is
// paused by whom it was, since when and why.
func (r *Runner) Undo(ctx context.Context, m engine.ScheduleMove, dry bool) (engine.Receipt, error) {
	return r.alter(ctx, m.Name, dry, func(e entry, s *State) (engine.Receipt, error) {
		if !standsAs(e.stand(*s), m) {
			return engine.Receipt{}, engine.Problemf(engine.ErrConflict, "look at the schedule",
				"schedule %s was changed since", m.Name)
		}
		now := wallNow()
		if m.Before.Paused != m.After.Paused {
			s.Paused, s.By, s.Since, s.Reason = m.Before.Paused, m.Before.By, m.Before.Since, m.Before.Reason
		} else {
			s.Edit = m.Before.Edit
		}
		sched := r.inForce(e, *s).sched
		s.follow(sched, now)
		out := engine.Receipt{Text: fmt.Sprintf("schedule %s is %s again, %s", m.Name, pauseWord(s.Paused), sched)}
		if dry {
			out.Text = "would be: " + out.Text
		}
		return out, nil
	})
}

// standsAs reports whether what a command has changed is still as it left it.
func standsAs(s engine.ScheduleStand, m engine.ScheduleMove) bool {
	if m.Before.Paused != m.After.Paused {
		return s.Paused == m.After.Paused && s.Since.Equal(m.After.Since)
	}
	return s.Edit.Same(m.After.Edit)
}
