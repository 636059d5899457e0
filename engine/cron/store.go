package cron

import (
	"context"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Store is the part of storage that schedules are kept in. Methods that take a Tx
// must be called with the one that Write or Read gave.
type Store interface {
	Write(ctx context.Context, fn func(engine.Tx) error) error
	Read(ctx context.Context, fn func(engine.Tx) error) error
	// Schedule gives a schedule's state; engine.ErrNotFound before the first save.
	Schedule(tx engine.Tx, name string) (State, error)
	SaveSchedule(tx engine.Tx, s State) error
	// RecordTick stores the tick. If its id is there already, fresh is false and
	// nothing is written. A tick is kept for 48 hours after its At at least, and the
	// last 100 of a schedule for longer, so that a clock set back cannot bring an
	// old one again.
	RecordTick(tx engine.Tx, t Tick) (fresh bool, err error)
}

// State is a schedule as it is stored: one row per name.
type State struct {
	Name       string
	Rev        uint64 // bumped by each save: a decision made on an older one does not count
	Expr, Zone string // by which Next was found
	// Next is the first tick after AsOf. While the wall clock is between the two
	// there is nothing to do; before AsOf, it was set back.
	Next, AsOf time.Time

	Paused bool
	By     engine.Actor // who paused or resumed it last, when and why
	Since  time.Time
	Reason string

	// Edit is an operator's plan, which wins over the spec's; zero = none.
	Edit engine.ScheduleEdit `json:",omitzero"`

	Last    engine.ScheduleTick   // the last one that ran
	Skipped []engine.ScheduleTick // the last ones that did not, latest first
}

// keepSkipped bounds State.Skipped.
const keepSkipped = 20

// skip notes ticks that did not run. Those that only go on with the row before, as
// in a long pause, are folded into it.
func (s *State) skip(t engine.ScheduleTick) {
	if len(s.Skipped) > 0 && goesOn(s.Skipped[0], t, s.Last) {
		t.Planned, t.Count, t.ID = s.Skipped[0].Planned, s.Skipped[0].Count+t.Count, ""
		s.Skipped = s.Skipped[1:]
	}
	s.Skipped = append([]engine.ScheduleTick{t}, s.Skipped[:min(len(s.Skipped), keepSkipped-1)]...)
}

// goesOn reports whether t was skipped for the same reason as the ticks before it,
// with no run between them.
func goesOn(before, t, ran engine.ScheduleTick) bool {
	same := before.Result == engine.TickSkipped && t.Result == engine.TickSkipped && before.Reason == t.Reason &&
		before.By == t.By
	return same && before.Last.Before(t.Planned) && !ran.Planned.After(before.Last)
}

// Tick is one planned run. Its id is unique for ever.
type Tick struct {
	ID       string // schedule and planned instant
	Schedule string
	Planned  time.Time    // when it was due, in UTC
	At       time.Time    // when it fired, in UTC
	By       engine.Actor // who ran it now; zero = the schedule itself
	// Every is from the next run to the one behind it, by the plan in force; 0 = there
	// are none.
	Every time.Duration
}

// tickOf makes the tick of a planned instant.
func tickOf(name string, planned, at time.Time) Tick {
	planned = planned.UTC()
	return Tick{ID: name + "@" + planned.Format(time.RFC3339), Schedule: name, Planned: planned, At: at.UTC()}
}

// tickNow makes the tick of an operator's run. No planned instant has its id.
func tickNow(name string, at time.Time, by engine.Actor) Tick {
	at = at.UTC()
	return Tick{ID: name + "@" + at.Format("2006-01-02T15:04:05.000000000Z") + "/now", Schedule: name, Planned: at,
		At: at, By: by}
}
