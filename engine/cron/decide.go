package cron

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// grace is how late a tick may be and still count as on time: a busy machine or a
// restart is no misfire.
const grace = time.Minute

// Why ticks were missed.
const (
	whyOff    = "the engine was not running"
	whyAsleep = "the clock was set ahead, or the machine slept"
)

// step is what has to be done about a schedule: fire one tick or none, note the
// ticks that are dropped, and move on to the next.
type step struct {
	fire   time.Time // planned instant; zero = none
	missed engine.ScheduleTick
	next   time.Time
	asOf   time.Time // next is the first tick after it
}

// decide gives the one step that a schedule needs at an instant; ok is false when
// there is nothing to do. why is the reason that missed ticks get.
//
// It is pure and takes no step itself: [Runner.carryOut] carries it out if the state is still the same. A
// plan that is new or was changed has missed nothing.
func (e entry) decide(s State, now time.Time, why string) (_ step, ok bool) {
	if s.Expr != e.sched.Expr() || s.Zone != e.sched.Zone() || now.Before(s.AsOf) {
		return step{next: e.sched.Next(now), asOf: now}, true // new, changed, or the clock was set back
	}
	if s.Next.IsZero() || s.Next.After(now) {
		return step{}, false
	}
	due := e.due(s.Next, now)
	out := step{next: e.sched.Next(now), asOf: now}
	latest := due.kept[len(due.kept)-1]
	switch {
	case s.Paused:
		out.drop(due, due.count, engine.TickSkipped, pausedBy(s), now)
	case e.Misfire == All:
		out.fire = due.kept[0]
		if len(due.kept) > 1 {
			out.next, out.asOf = due.kept[1], due.kept[0]
		}
		out.drop(due, due.count-len(due.kept), engine.TickMissed,
			fmt.Sprintf("%s; only the latest %d are made up for", why, e.Cap), now)
	case e.Misfire == Once:
		out.fire = latest
		out.drop(due, due.count-1, engine.TickMissed, why+"; one run stands for them", now)
	case now.Sub(latest) <= grace:
		out.fire = latest
		out.drop(due, due.count-1, engine.TickMissed, why, now)
	default:
		out.drop(due, due.count, engine.TickMissed, why, now)
	}
	return out, true
}

// dueTicks are the planned instants from a schedule's next one up to now.
type dueTicks struct {
	count int
	first time.Time
	kept  []time.Time // the latest Cap of them, oldest first
	prior time.Time   // the one before kept
}

// due walks over them. Only the latest are kept: a clock that is years ahead would
// fill the memory otherwise.
func (e entry) due(next, now time.Time) dueTicks {
	keep := 1
	if e.Misfire == All {
		keep = e.Cap
	}
	d := dueTicks{first: next}
	for t := next; !t.IsZero() && !t.After(now); t = e.sched.Next(t) {
		d.count++
		if d.kept = append(d.kept, t); len(d.kept) > 2*keep+1 {
			d.kept = append(d.kept[:0], d.kept[len(d.kept)-keep-1:]...)
		}
	}
	if more := len(d.kept) - keep; more > 0 {
		d.prior, d.kept = d.kept[more-1], d.kept[more:]
	}
	return d
}

// drop notes the first n due ticks as not run.
func (s *step) drop(d dueTicks, n int, result engine.TickResult, reason string, now time.Time) {
	if n <= 0 {
		return
	}
	last := d.prior
	if n == d.count {
		last = d.kept[len(d.kept)-1]
	}
	s.missed = engine.ScheduleTick{Planned: d.first.UTC(), Last: last.UTC(), Count: n, At: now, Result: result,
		Reason: reason}
}

// pausedBy is why the ticks of a pause are dropped: "paused by ana: patch day".
func pausedBy(s State) string {
	switch {
	case s.By.User == "":
		return "paused"
	case s.Reason == "":
		return "paused by " + s.By.User
	}
	return fmt.Sprintf("paused by %s: %s", s.By.User, s.Reason)
}
