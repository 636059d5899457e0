// Package wall is the wall clock: what an operator reads off the wall, which can be set, and which goes on
// while the machine sleeps. Waits and rate limit windows use the time package's monotonic readings;
// instants that are stored, and those that a person or a schedule names, are by this clock. It is the
// machine's own, unless one is kept that several machines share.
package wall

import (
	"sync/atomic"
	"time"
)

// stepped is how far a test has moved the machine's clock.
var stepped atomic.Int64

// reading is what another clock showed at an instant of this process's stopwatch, give or take off.
type reading struct {
	at, shows time.Time
	off       time.Duration
}

// kept is the last reading of the clock that is kept; nil = the machine's own counts.
var kept atomic.Pointer[reading]

// Now is what the clock shows, in UTC and without a monotonic reading.
func Now() time.Time { return At(time.Now()) }

// At is what the clock showed at an instant that time.Now gave.
func At(now time.Time) time.Time {
	if r := kept.Load(); r != nil {
		return r.shows.Add(now.Sub(r.at))
	}
	return own(now)
}

// Own is what the machine's own clock shows, whichever is kept.
func Own() time.Time { return own(time.Now()) }

func own(now time.Time) time.Time {
	return now.UTC().Round(0).Add(time.Duration(stepped.Load()))
}

// Keep lets the clock show what another one does, which showed an instant at some time between two that
// time.Now gave. From one reading to the next it goes on by the process's stopwatch: whoever sets the
// machine's clock moves nothing. A reading that agrees with the last one, as far as can be told, changes
// nothing.
func Keep(began, ended, shows time.Time) {
	half := ended.Sub(began) / 2
	at := began.Add(half)
	if r := kept.Load(); r == nil || r.shows.Add(at.Sub(r.at)).Sub(shows).Abs() > half {
		kept.Store(&reading{at, shows.UTC().Round(0), half})
	}
}

// Off is how far the clock that is kept may be from the one that it follows: what a reading of that
// has taken is told of neither side of it. 0 = the machine's own counts.
func Off() time.Duration {
	if r := kept.Load(); r != nil {
		return r.off
	}
	return 0
}

// Release lets the machine's own clock count again.
func Release() { kept.Store(nil) }

// Step moves the machine's clock by d, as an operator, a time server or a sleep of the machine would:
// timers and monotonic readings stay as they are. For tests only; back undoes it.
func Step(d time.Duration) (back func()) {
	stepped.Add(int64(d))
	return func() { stepped.Add(-int64(d)) }
}
