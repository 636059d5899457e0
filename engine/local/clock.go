package local

import (
	"container/heap"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
)

// clockJump is how far the wall clock may part from this process's own before the
// waiting jobs are arranged anew. Slewing adds up to it in minutes.
const clockJump = 100 * time.Millisecond

// clock is this process's own time, which nobody sets: that of its start by the
// wall clock, and what has passed since. Jobs wait by it; only how long they wait
// is read off the wall.
//
//	own time   10:00 ─────────── 10:05 ───────── 10:10   jobs wait by it
//	wall       10:00 ─ set back to 09:00 ─ 09:05 ──────   rows show it
type clock struct {
	base  time.Time     // with its monotonic reading
	ahead time.Duration // of the wall clock, when jobs were arranged last
}

func newClock() clock {
	now := time.Now()
	return clock{base: now, ahead: wall.At(now).Sub(now)}
}

// own is an instant that time.Now gave, by the process's own clock: Sub uses the monotonic readings,
// Round(0) drops the one of the result, since instants read from the store have none to compare with.
func (c clock) own(now time.Time) time.Time { return c.base.Round(0).Add(now.Sub(c.base)) }

// toOwn gives an instant of the wall clock by the process's own.
func (c clock) toOwn(at, now time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return c.own(now).Add(at.Sub(wall.At(now)))
}

// putOff reports whether the engine made the job wait for a while. Else it waits
// for an instant that somebody named, and follows the wall clock in both
// directions.
func putOff(j *engine.Job) bool { return j.State == engine.Retryable || j.Hold != engine.HoldNone }

// wakeAt is when a waiting job goes on, by the process's own clock. A wall clock
// that was set back while nobody ran does not make it wait longer than from the
// attempt that put it off. What was planned is Due less Started, both by the wall clock of the attempt.
func (x *index) wakeAt(j *engine.Job, now time.Time) time.Time {
	at := x.clock.toOwn(x.dueOf(j), now)
	if !putOff(j) || j.Started.IsZero() {
		return at
	}
	if latest := x.clock.own(now).Add(j.Due.Sub(j.Started)); latest.Before(at) {
		return latest
	}
	return at
}

// mindClock arranges the waiting jobs anew when the wall clock was moved: set
// ahead, or gone on while the machine slept, it makes them due sooner. Set back,
// it makes nobody wait longer than for what was planned, but for those that wait
// for an instant that somebody named.
func (x *index) mindClock(now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	ahead := wall.At(now).Sub(x.clock.own(now))
	if (ahead - x.clock.ahead).Abs() < clockJump {
		return
	}
	x.clock.ahead = ahead
	for _, e := range x.due {
		at := x.clock.toOwn(e.due, now)
		if at.Before(e.wake) || !e.putOff {
			e.wake = at
		}
	}
	heap.Init(&x.due)
}

// dueOf is when a waiting job goes on. A hold that has ended since the job's
// attempt began is over, whatever instant the attempt's outcome has written: what
// it was told was disproved meanwhile.
func (x *index) dueOf(j *engine.Job) time.Time {
	due := j.Due.Round(0) // by the wall clock
	over := x.released[j.Hold]
	if j.State == engine.Scheduled && !over.IsZero() && !j.Started.After(over) && over.Before(due) {
		return over
	}
	return due
}
