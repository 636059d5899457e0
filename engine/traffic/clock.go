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

// dated is what Riot's clock showed at an instant of this process's stopwatch.
type dated struct{ at, shows time.Time }

// clockMost is how far the two may be apart before Riot's counts.
const clockMost = 5 * time.Minute

func (c *clock) note(call riot.Call) {
	if call.Status == 0 || call.Date.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[c.next] = dated{call.At, call.Date}
	c.next = (c.next + 1) % len(c.last)
}

// ahead is by how much Riot's clock is ahead of this machine's; 0 = not by more than clockMost. All of the last
// answers must say so: of what they say the least counts. known is false before the first.
func (c *clock) ahead() (off time.Duration, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, ours := time.Now(), wall.Now()
	for _, d := range c.last {
		if d.at.IsZero() {
			continue
		}
		if by := d.shows.Add(now.Sub(d.at)).Sub(ours); !known || by.Abs() < off.Abs() {
			off, known = by, true
		}
	}
	if off.Abs() <= clockMost {
		return 0, known
	}
	return off.Round(time.Second), known
}

// ClockAhead is by how much Riot's clock is ahead of this machine's, as the last answers tell; 0 = they agree within
// five minutes, or there was no answer.
func (l *Limits) ClockAhead() time.Duration {
	off, _ := l.clock.ahead()
	return off
}

// ClockAgrees reports whether Riot's clock was heard and says the same as this machine's.
func (l *Limits) ClockAgrees() bool {
	off, known := l.clock.ahead()
	return known && off == 0
}

// Now is the time by which something is too old for Riot: the machine's, but Riot's where they contradict each other.
func (l *Limits) Now() time.Time { return wall.Now().Add(l.ClockAhead()) }
