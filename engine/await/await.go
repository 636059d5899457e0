// Package await has the waits that every part of the engine needs: for news, for some time to
// pass, and for a beat.
package await

import (
	"context"
	"time"
)

// Bell tells one listener that there is news. The news itself lies elsewhere, under a
// lock: however often the bell rang, the listener wakes once and looks. Receive from it
// to listen; the nil Bell is never heard.
type Bell chan struct{}

// NewBell makes a Bell.
func NewBell() Bell { return make(Bell, 1) }

// Ring wakes the listener, at once or as soon as it listens. It never blocks.
func (b Bell) Ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// Pause waits for d; false when ctx ended first.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ToBeat is how long it is to the next full d of the clock. Whoever looks around that often does it then: all who do
// wake an idle machine once.
func ToBeat(now time.Time, d time.Duration) time.Duration {
	return now.Truncate(d).Add(d).Sub(now)
}
