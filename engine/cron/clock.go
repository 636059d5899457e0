package cron

import (
	"time"

	"github.com/farsight-console/farsight/engine/wall"
)

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
