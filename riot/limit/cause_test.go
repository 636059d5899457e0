package limit

import (
	"testing"
	"time"
)

// A reason tells the wait as a person would say it: no wait of nothing, no lonely
// digit of seconds.
func TestAReasonSaysHowLong(t *testing.T) {
	s := &scope{name: "app:americas"}
	for wait, want := range map[time.Duration]string{
		-time.Second:             "app:americas 20/20, next call now",
		0:                        "app:americas 20/20, next call now",
		99 * time.Millisecond:    "app:americas 20/20, next call now",
		100 * time.Millisecond:   "app:americas 20/20, 0.1 s",
		400 * time.Millisecond:   "app:americas 20/20, 0.4 s",
		41 * time.Second:         "app:americas 20/20, 41 s",
		9*time.Minute + 5e9:      "app:americas 20/20, 9 min 05 s",
		3*time.Hour + 4*60*1e9:   "app:americas 20/20, 3 h 04 min",
		time.Duration(never - 7): "app:americas 20/20",
	} {
		const now = instant(7)
		c := cause{kind: full, scope: s, spent: 20, limit: 20, until: now + wait}
		if got := c.reason(now); got != want {
			t.Errorf("%v: %q, want %q", wait, got, want)
		}
	}
	paced := cause{kind: paced, scope: s, spent: 9, limit: 20, until: 50 * time.Millisecond}
	if got, want := paced.reason(0), "app:americas 9/20, spread over the window, next call now"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
