package traffic

import (
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/riot"
)

// clock compares this machine's clock with Riot's, as the Date headers of the last answers tell it.
type clock struct {
	mu   sync.Mutex
	last [3]dated // the newest at next
	next int
}

// dated is what Riot's clock and this machine's showed at an instant of this process's stopwatch.
type dated struct{ at, shows, ours time.Time }

// clockMost is how far the two may be apart before Riot's counts.
const clockMost = 5 * time.Minute

func (c *clock) note(call riot.Call) {
	if call.Status == 0 || call.Date.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[c.next] = dated{call.At, call.Date, wall.At(call.At)}
	c.next = (c.next + 1) % len(c.last)
}

// ahead is by how much Riot's clock is ahead of this machine's; 0 = not by more than clockMost. All of the last
// answers must say so: of what they say the least counts. known is false before the first.
func (c *clock) ahead() (off time.Duration, known bool) {
	now, ours := time.Now(), wall.Now()
	return c.least(func(d dated) time.Duration { return d.shows.Add(now.Sub(d.at)).Sub(ours) })
}

// least is the least of what the last answers say, by a reckoning of each.
func (c *clock) least(reckon func(dated) time.Duration) (off time.Duration, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.last {
		if d.at.IsZero() {
			continue
		}
		if by := reckon(d); !known || by.Abs() < off.Abs() {
			off, known = by, true
		}
	}
	if off.Abs() <= clockMost {
		return 0, known
	}
	return off.Round(time.Second), known
}

// ClockAhead is by how much Riot's clock was ahead of this machine's when the last answers came; 0 = they agreed within
// five minutes, or there was no answer. After a sleep of the machine the stopwatch is behind, and old answers say
// nothing of now: that is no news for a person before a new answer says so, too.
func (l *Limits) ClockAhead() time.Duration {
	off, _ := l.clock.least(func(d dated) time.Duration { return d.shows.Sub(d.ours) })
	return off
}

// ClockAgrees reports whether Riot's clock was heard and says the same as this machine's.
func (l *Limits) ClockAgrees() bool {
	off, known := l.clock.ahead()
	return known && off == 0
}

// Now is the time by which something is too old for Riot: the machine's, but Riot's where they contradict each other.
func (l *Limits) Now() time.Time {
	off, _ := l.clock.ahead()
	return wall.Now().Add(off)
}
