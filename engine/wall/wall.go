// Package wall is the machine's wall clock: what an operator reads off the wall, which can be set, and which goes on while
// the machine sleeps. Waits and rate limit windows use the time package's monotonic readings; instants that are stored, and
// those that a person or a schedule names, are by this clock.
package wall

import (
	"sync/atomic"
	"time"
)

// stepped is how far a test has moved the clock.
var stepped atomic.Int64

// Now is what the clock shows, in UTC and without a monotonic reading.
func Now() time.Time { return At(time.Now()) }

// At is what the clock showed at an instant that time.Now gave.
func At(now time.Time) time.Time {
	return now.UTC().Round(0).Add(time.Duration(stepped.Load()))
}

// Step moves the clock by d, as an operator, a time server or a sleep of the machine would: timers and monotonic readings
// stay as they are. For tests only; back undoes it.
func Step(d time.Duration) (back func()) {
	stepped.Add(int64(d))
	return func() { stepped.Add(-int64(d)) }
}
