package demo

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/ui/chaos"
)

// State implements session.Chaos.
func (c *Chaos) State() chaos.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The sums may be another process's, which is asked over the loopback: not at each of a screen's
	// frames.
	if now := time.Now(); now.Sub(c.count) >= statsEvery {
		c.stats, c.count = c.host.Stats(), now
	}
	s := chaos.State{
		Seed: c.seed, Speed: c.speed, Rows: make([]chaos.Row, len(c.rows)),
		Calls: c.stats.Calls, Violations: c.stats.Violations, Early: c.stats.Early, Repeated: c.stats.Repeated,
	}
	for i, m := range c.rows {
		s.Rows[i] = c.row(m)
	}
	return s
}

// Sum is what became of what a row struck.
func (c *Chaos) Sum(name string) Sum {
	switch name {
	case keyExpires:
		return c.tally.total(sim.ExpiredKey)
	case pagerCalls:
		return c.tally.total(pagerCalls)
	}
	// What was asked for once and what strikes by rate are faults of their own in the simulator.
	m := mischiefOf(name)
	return c.tally.total(m.once(), m.rated())
}

// row is a row as it stands. The caller holds the lock.
func (c *Chaos) row(m *mischief) chaos.Row {
	r, sum := c.injected(m), c.Sum(m.name)
	row := chaos.Row{Name: m.name, Preset: m.preset, Expect: m.expect, About: m.about, Rate: r.rate, Hits: sum.Hits, Did: sum.String()}
	switch {
	case m.name == restartAt:
		c.tellTrap(&row)
	case m.name == keyExpires:
		// By its fingerprint: the panel never sees a key.
		if r.on && c.key() != c.refused { // another key is in place
			r.on = false
		}
		row.On, row.Told = r.on, "refused"
	// It is over at once, so it never is on; how often it was done is all there is to tell.
	case m.name == killMember:
		if row.Hits = c.kills; c.kills > 0 {
			row.Did = "came back"
		}
	case m.name == pagerCalls:
		row.On, row.Told = c.pages, "on"
	case m.preset:
		row.On, row.Told, row.Until = r.on && time.Now().Before(r.until), "on", r.until
	case r.rate > 0:
		row.On, row.Told = true, rateText(r.rate)
	// Asked for once, and not struck yet: no call that fits has been made since.
	case r.pending > c.tally.total(m.once()).Hits:
		row.On, row.Told = true, "once"
	}
	// Commits are no attempts, and the usual words say nothing about them.
	if m.name == slowDisk && c.stalled > 0 {
		row.Did = fmt.Sprintf("waited %s in all, nothing lost", human.Dur(c.stalled))
	}
	return row
}

// tellTrap: how the restart stands, and what it asks first.
func (c *Chaos) tellTrap(row *chaos.Row) {
	row.Told, row.On = c.trap.status()
	row.Did, row.Hits = c.trap.seen(c.stats.Repeated)
	done, total, late := c.trap.late()
	if row.On {
		row.About = "limits are " + limitsText(fallLimits) + " until the kill, the last matches come one by one"
		return
	}
	if !late {
		return
	}
	// Asked before the demo throws away what it has stored.
	row.Sure = &chaos.Question{
		Text: "Begin the demo anew?",
		Lines: []string{
			fmt.Sprintf("%s stands at %d of %d: too late to be killed at %d.", c.trap.account, done, total, fallAt),
			"The demo begins with an empty directory and reaches it in less than 20 seconds.",
		},
		Yes: "begin anew",
	}
}
