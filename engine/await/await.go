// Package await has the two waits that every part of the engine needs: for news, and for
// some time to pass.
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
