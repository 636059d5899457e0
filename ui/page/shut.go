package page

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// Shut says when the host that sets the pace lets calls through again, and how many the
// window that opens then brings; ok is false while something may be sent, or will be
// within a second, and while nobody knows when.
func (d *Data) Shut(now time.Time) (until time.Time, calls int, ok bool) {
	pacing, found := d.Limits.Pacing()
	if !found {
		return until, 0, false
	}
	through := func(b engine.BucketRow) bool {
		return b.Host == pacing.Host && (b.Kind == "app" || b.Method == pacing.Method)
	}
	for _, b := range d.Limits.Buckets {
		if through(b) {
			until = latest(until, opens(b))
		}
	}
	if until.Sub(now) <= time.Second {
		return until, 0, false
	}
	calls = -1
	for _, b := range d.Limits.Buckets {
		if !through(b) || b.Limit <= 0 {
			continue
		}
		if n := roomAt(b, until); calls < 0 || n < calls {
			calls = n
		}
	}
	return until, calls, calls > 0
}

// opens is when a window lets the next call through; zero = now, or nobody knows.
func opens(b engine.BucketRow) time.Time {
	switch {
	case frozen(b):
		return b.Thaws
	case b.Limit > 0 && b.Used >= b.Limit:
		return latest(latest(b.NextFree, b.Reset), b.Blocked)
	}
	return latest(b.NextFree, b.Blocked)
}

// roomAt is how many calls a window takes at an instant.
func roomAt(b engine.BucketRow, at time.Time) int {
	limit := b.Limit
	if b.Cap > 0 && b.Thaws.After(at) {
		limit = max(limit*b.Cap/100, 1)
	}
	if b.Reset.After(at) {
		return limit - b.Used
	}
	return limit
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// NextCalls is the countdown to the next window and what it brings, for the title;
// "" while calls may be sent.
func (v *View) NextCalls() string {
	until, calls, ok := v.Shut(v.Now)
	if !ok || v.Engine.State == engine.EngineBrowse {
		return ""
	}
	return human.Counted(calls, "call", "calls") + " in " + v.in(until)
}
