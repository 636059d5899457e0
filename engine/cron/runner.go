package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/wall"
)

// Options of a Runner.
type Options struct {
	Store Store
	Specs []Spec
	// OnNote is told what a person should see. It must not block; nil = nobody.
	OnNote func(engine.Note)
	// OnTick is told of each tick that was settled, once that is committed: it ran, or
	// it was skipped for a reason. It must not block; nil = nobody.
	OnTick func(schedule string, t engine.ScheduleTick)
	// NoRoom reports whether a write failed for want of disk space: then the tick
	// waits, and the error does not end Run. nil = never.
	NoRoom func(error) bool
}

// Runner fires schedules. Its methods may be called by several goroutines, Run by one. Several engines
// may share a store: a revision tells who was first.
type Runner struct {
	store   Store
	entries []entry
	onNote  func(engine.Note)
	onTick  func(string, engine.ScheduleTick)
	noRoom  func(error) bool

	mu     sync.Mutex
	states map[string]State // as last committed
	plans  map[string]plan  // of the edits among them
}

// New reads the specs; nothing runs until Run. The error names every fault.
func New(opt Options) (*Runner, error) {
	entries, err := entriesOf(opt.Specs)
	if err != nil {
		return nil, err
	}
	return &Runner{store: opt.Store, entries: entries, onNote: opt.OnNote, onTick: opt.OnTick, noRoom: opt.NoRoom,
		states: map[string]State{}, plans: map[string]plan{}}, nil
}

// Load reads the stored states, so that List tells them without Run.
func (r *Runner) Load(ctx context.Context) error {
	var states []State
	err := r.store.Read(ctx, func(tx engine.Tx) error {
		states = nil
		for _, e := range r.entries {
			s, err := r.stored(tx, e)
			if err != nil {
				return err
			}
			states = append(states, s)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the schedules: %w", err)
	}
	for i, s := range states {
		r.keep(s)
		r.checkEdit(r.entries[i], s)
	}
	return nil
}

// stored gives a schedule's state, or how it begins.
func (r *Runner) stored(tx engine.Tx, e entry) (State, error) {
	s, err := r.store.Schedule(tx, e.Name)
	if errors.Is(err, engine.ErrNotFound) {
		return State{Name: e.Name, Paused: e.Paused}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("read schedule %s: %w", e.Name, err)
	}
	return s, nil
}

// Run fires the schedules until ctx ends; then it returns nil. An error of the
// store ends it.
func (r *Runner) Run(ctx context.Context) error {
	if err := r.Load(ctx); err != nil {
		return unlessEnded(ctx, err)
	}
	var c clock
	lines := make([]line, len(r.entries))
	for i := range lines {
		lines[i].entry = r.entries[i]
	}
	why := whyOff
	for {
		now, moved := c.read()
		if moved != 0 {
			r.note(engine.LevelWarn, "the clock moved %s by %s: no run is repeated, missed ones follow their rule",
				direction(moved), human.Span(moved.Abs()))
		}
		for i := range lines {
			if err := r.catchUp(ctx, &lines[i], now, why); err != nil {
				return unlessEnded(ctx, err)
			}
		}
		why = whyAsleep
		if !await.Pause(ctx, r.wait(lines)) {
			return nil
		}
	}
}

// unlessEnded is nil for an error of a context that has ended: Run was asked to stop.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// line is an entry on Run's goroutine, with what its last failure left.
type line struct {
	entry
	fails int
	retry time.Time // monotonic: not before this
	why   string    // why its due ticks are late, when it is its own doing
}

// afterFailure is how long a tick that could not be inserted waits.
var afterFailure = [...]time.Duration{time.Second, 2 * time.Second, 5 * time.Second,
	15 * time.Second, 30 * time.Second, time.Minute}

// catchUp takes steps until the schedule waits for its next tick.
func (r *Runner) catchUp(ctx context.Context, l *line, now time.Time, why string) error {
	if time.Now().Before(l.retry) {
		return nil
	}
	for {
		state := r.state(l.Name)
		e := r.inForce(l.entry, state)
		next, ok := e.decide(state, now, cmp.Or(l.why, why))
		if !ok {
			return nil
		}
		err := r.carryOut(ctx, e, state, next, now)
		if refused, ok := errors.AsType[*refusal](err); ok {
			r.putOff(l, refused)
			return nil
		}
		if err != nil && r.noRoom != nil && r.noRoom(err) {
			r.putOff(l, err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("move schedule %s on: %w", l.Name, err)
		}
		l.fails, l.why = 0, ""
	}
}

// putOff lets a tick that could not be inserted wait. It stays due.
func (r *Runner) putOff(l *line, err error) {
	wait := afterFailure[min(l.fails, len(afterFailure)-1)]
	l.retry, l.why = time.Now().Add(wait), "its jobs could not be inserted: "+err.Error()
	if l.fails++; l.fails == 1 {
		r.note(engine.LevelWarn, "schedule %s could not run, it is tried again: %v", l.Name, err)
	}
}

// carryOut carries out one step in one transaction. If the stored state has moved on,
// by an operator or another engine, nothing is done and the newer one is kept: the
// caller decides again. e has the plan in force.
func (r *Runner) carryOut(ctx context.Context, e entry, on State, next step, now time.Time) error {
	return r.change(ctx, e, func(tx engine.Tx, s *State) (bool, error) {
		if s.Rev != on.Rev {
			return false, nil
		}
		if next.missed.Count > 0 {
			s.skip(next.missed)
		}
		s.Expr, s.Zone, s.Next, s.AsOf = e.sched.Expr(), e.sched.Zone(), next.next.UTC(), next.asOf.UTC()
		if next.fire.IsZero() {
			return true, nil
		}
		_, err := r.fire(tx, e, s, tickOf(e.Name, next.fire, now))
		return true, err
	})
}

// change lets fn alter a schedule's state in one transaction. fn answers whether
// there is anything to save. What is stored then is kept for List.
func (r *Runner) change(ctx context.Context, e entry, fn func(tx engine.Tx, s *State) (save bool, err error)) error {
	var s, was State
	err := r.store.Write(ctx, func(tx engine.Tx) (err error) {
		if s, err = r.stored(tx, e); err != nil {
			return err
		}
		was = s
		save, err := fn(tx, &s)
		if err != nil || !save {
			return err
		}
		s.Rev++
		return r.store.SaveSchedule(tx, s)
	})
	if err != nil {
		return err
	}
	r.keep(s)
	r.settled(was, s)
	return nil
}

// settled tells of the ticks that one step has settled.
func (r *Runner) settled(was, now State) {
	if r.onTick == nil {
		return
	}
	if len(now.Skipped) > 0 && (len(was.Skipped) == 0 || was.Skipped[0] != now.Skipped[0]) {
		r.onTick(now.Name, now.Skipped[0])
	}
	if now.Last.ID != was.Last.ID {
		r.onTick(now.Name, now.Last)
	}
}

// fire records the tick and inserts its jobs, and writes into the state what
// became of it.
func (r *Runner) fire(tx engine.Tx, e entry, s *State, t Tick) (engine.ScheduleTick, error) {
	row := engine.ScheduleTick{ID: t.ID, Planned: t.Planned, Last: t.Planned, Count: 1, At: t.At, By: t.By,
		Result: engine.TickRan}
	fresh, err := r.store.RecordTick(tx, t)
	if err != nil {
		return row, fmt.Errorf("record tick %s: %w", t.ID, err)
	}
	if !fresh {
		row.Result, row.Reason = engine.TickSkipped, "it ran already, before the clock was set back"
		if s.Last.ID != t.ID { // set back by more than a moment
			s.skip(row)
		}
		return row, nil
	}
	t.Every = r.inForce(e, *s).sched.Every(t.At)
	var fired Fired
	err = engine.Guard(func() (err error) {
		fired, err = e.Fire(tx, t)
		return err
	}, func(panicked any) error { return fmt.Errorf("panic: %v", panicked) })
	if err != nil {
		return row, &refusal{err}
	}
	row.Job, row.Jobs, row.Reason = fired.Job, fired.Jobs, fired.Reason
	if fired.Jobs == 0 && fired.Reason != "" {
		row.Result = engine.TickSkipped
		s.skip(row)
		return row, nil
	}
	s.Last = row
	return row, nil
}

// refusal is an error of a schedule's own Fire: the store is not to blame.
type refusal struct{ err error }

func (e *refusal) Error() string { return e.err.Error() }
func (e *refusal) Unwrap() error { return e.err }

// wait is how long Run may sleep: until the next tick, at most readEvery.
func (r *Runner) wait(lines []line) time.Duration {
	wait, now := await.ToBeat(time.Now(), readEvery), wallNow()
	for i := range lines {
		if next := r.state(lines[i].Name).Next; next.After(now) {
			wait = min(wait, next.Sub(now))
		}
	}
	return wait
}

// state is a schedule's state as it was committed or loaded last.
func (r *Runner) state(name string) State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.states[name]
}

// keep remembers a committed state. Writers are answered in any order: the newest
// revision stays.
func (r *Runner) keep(s State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.states[s.Name]; !ok || old.Rev <= s.Rev {
		r.states[s.Name] = s
	}
}

// note tells a person, if anybody listens.
func (r *Runner) note(level engine.Level, format string, args ...any) {
	if r.onNote != nil {
		r.onNote(engine.Note{At: wallNow(), Level: level, Text: fmt.Sprintf(format, args...)})
	}
}

// direction says which way a clock was moved.
func direction(moved time.Duration) string {
	if moved < 0 {
		return "back"
	}
	return "on"
}

// wallNow is the wall clock; a variable so that tests can step it. Without its
// monotonic reading: what counts is what the clock shows, not what has passed.
var wallNow = wall.Now

const (
	// readEvery is how long a wait may last before the wall clock is read again: it
	// can be moved, and timers stand still while a machine sleeps.
	readEvery = time.Second
	// jumpFrom is how far the wall clock must part from the monotonic one, between
	// two readings, to be called moved. Slewing by NTP stays far below.
	jumpFrom = 2 * time.Second
)

// clock notices when the wall clock is moved.
type clock struct{ wall, mono time.Time }

// read gives the wall clock, and how far it was moved since the last reading.
func (c *clock) read() (now time.Time, moved time.Duration) {
	mono := time.Now()
	now = wallNow()
	if !c.wall.IsZero() {
		moved = now.Sub(c.wall) - mono.Sub(c.mono)
	}
	c.wall, c.mono = now, mono
	if moved.Abs() < jumpFrom {
		moved = 0
	}
	return now, moved
}
