package cron

import (
	"errors"
	"fmt"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// Misfire says what becomes of ticks at whose instant nobody was there: the engine
// was off, the machine slept, or the clock was set ahead.
type Misfire uint8

// Misfire rules.
const (
	Skip Misfire = iota // none of them runs
	Once                // the latest one runs and stands for all of them
	All                 // each runs, the latest Cap of them
)

var misfireNames = [...]string{"skip", "once", "all"}

// String is the rule's word, as rows show it.
func (m Misfire) String() string { return human.WordOf(misfireNames[:], "misfire", m) }

// maxCap bounds what one start can make up for.
const maxCap = 1000

// Fired says what a tick has inserted.
type Fired struct {
	Jobs   int          // how many
	Job    engine.JobID // the first one, or the one in whose way it was
	Reason string       // why nothing, or not everything, was inserted
}

// Fire inserts a tick's jobs. It runs inside the transaction that records the tick
// and moves the schedule on, so it obeys the rules of Store.Write: it checks before
// it writes, touches nothing but tx, and may run again. No job and a reason make
// the tick a skipped one. After an error nothing has happened: the tick stays due
// and is tried again.
type Fire func(tx engine.Tx, t Tick) (Fired, error)

// Insert is the Fire that enqueues specs. A key that a live job holds is the run
// before, which has not ended yet: then that spec is skipped, with the reason.
func Insert(specs func(t Tick) []engine.Spec) Fire {
	return func(tx engine.Tx, t Tick) (f Fired, err error) {
		queued, err := tx.Enqueue(specs(t)...)
		if err != nil {
			return Fired{}, fmt.Errorf("enqueue the jobs of tick %s: %w", t.ID, err)
		}
		busy := 0
		var first engine.Enqueued
		for _, q := range queued {
			switch {
			case !q.Duplicate && f.Jobs == 0:
				f.Job, f.Jobs = q.ID, 1
			case !q.Duplicate:
				f.Jobs++
			default:
				if busy++; busy == 1 {
					first = q
				}
			}
		}
		if busy == 0 {
			return f, nil
		}
		f.Reason = fmt.Sprintf("job %s of an earlier run is still %s", first.ID, first.State)
		if busy > 1 {
			f.Reason += fmt.Sprintf(", and %d more", busy-1)
		}
		if f.Jobs == 0 {
			f.Job = first.ID
		}
		return f, nil
	}
}

// Spec is one recurring schedule.
type Spec struct {
	Name    string
	Expr    string // see Parse
	Zone    string // IANA name; "" = UTC, "Local" = the host's
	Misfire Misfire
	Cap     int  // of Misfire All: at most so many missed ticks run; 1 to 1000
	Paused  bool // how it starts when it is new; then an operator's pause is what counts
	Fire    Fire
}

// rule is the misfire rule in words.
func (s Spec) rule() string {
	if s.Misfire == All {
		return fmt.Sprintf("all (at most %d)", s.Cap)
	}
	return s.Misfire.String()
}

// entry is a spec that has been read.
type entry struct {
	Spec
	sched Schedule
}

// newEntry reads a spec. "@" stands between name and instant in the id of a tick, so that no name may have one.
func newEntry(s Spec) (entry, error) {
	sched, err := Parse(s.Expr, s.Zone)
	switch {
	case s.Name == "" || strings.ContainsAny(s.Name, "@\x00"):
		err = engine.Problemf(engine.ErrInvalid, "give it a name without @", "%q is no name of a schedule", s.Name)
	case err != nil:
		err = fmt.Errorf("schedule %s: %w", s.Name, err)
	case s.Misfire > All:
		err = engine.Problemf(engine.ErrInvalid, "use skip, once or all", "schedule %s has no misfire rule", s.Name)
	case s.Misfire == All && (s.Cap < 1 || s.Cap > maxCap):
		err = engine.Problemf(engine.ErrInvalid, fmt.Sprintf("give a cap from 1 to %d", maxCap),
			"schedule %s would make up for at most %d missed runs", s.Name, s.Cap)
	case s.Fire == nil:
		err = engine.Problemf(engine.ErrInvalid, "say what it inserts", "schedule %s does nothing", s.Name)
	}
	return entry{Spec: s, sched: sched}, err
}

// entriesOf reads all specs and tells every fault at once.
func entriesOf(specs []Spec) (entries []entry, err error) {
	seen := map[string]bool{}
	var faults []error
	for _, s := range specs {
		e, err := newEntry(s)
		if err == nil && seen[s.Name] {
			err = engine.Problemf(engine.ErrInvalid, "rename one of them", "there are two schedules %s", s.Name)
		}
		seen[s.Name] = true
		entries, faults = append(entries, e), append(faults, err)
	}
	return entries, errors.Join(faults...)
}
