package main

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// State implements ui.Chaos.
func (c *chaos) State() page.ChaosState {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recount(time.Now())
	s := page.ChaosState{
		Seed: c.seed, Speed: c.speed, Rows: make([]page.ChaosRow, len(mischiefs)),
		Calls: c.stats.Calls, Violations: c.stats.Violations, Early: c.stats.Early, Repeated: c.stats.Repeated,
	}
	for i := range mischiefs {
		s.Rows[i] = c.told(&mischiefs[i])
	}
	return s
}

// recount reads the simulator's sums, not at every frame.
func (c *chaos) recount(now time.Time) {
	if now.Sub(c.count) >= statsEvery {
		c.stats, c.count = c.sim.Stats(), now
	}
}

// told is a row as the panel shows it. The caller holds the lock.
func (c *chaos) told(m *mischief) page.ChaosRow {
	r := c.row(m)
	once, rated := c.tally.total(m.once()), c.tally.total(m.rated())
	sum := c.tally.total(m.once(), m.rated())
	row := page.ChaosRow{Name: m.name, Preset: m.preset, Fixed: m.preset, Expect: m.expect, About: m.about, Rate: r.rate, Hits: sum.hits, Did: sum.String()}
	switch {
	case m.name == restartAt:
		c.tellTrap(&row)
	case m.name == keyExpires:
		c.tellKey(&row, r)
	case m.preset:
		row.On, row.Told, row.Until = r.on && time.Now().Before(r.until), "on", r.until
	case r.rate > 0:
		row.On, row.Told = true, page.RateText(r.rate)
	case r.pending > once.hits:
		row.On, row.Told = true, "once"
	}
	if m.name == slowDisk && rated.hits+once.hits > 0 {
		row.Did = fmt.Sprintf("waited %s in all, nothing lost", part.Dur(c.stalled))
	}
	return row
}

// tellKey: an expired key is on until another is in place.
func (c *chaos) tellKey(row *page.ChaosRow, r *injected) {
	sum := c.tally.total(sim.ExpiredKey)
	row.Hits, row.Did = sum.hits, sum.String()
	if r.on && c.key() != c.refused {
		r.on = false
	}
	row.On, row.Told = r.on, "refused"
}

// tellTrap: how the restart stands, and what it asks first.
func (c *chaos) tellTrap(row *page.ChaosRow) {
	row.Told, row.On = c.trap.told()
	row.Did, row.Hits = c.trap.seen(c.stats.Repeated)
	done, total, late := c.trap.late()
	if row.On {
		row.About = "limits are " + limitsText(fallLimits) + " until the kill, the last matches come one by one"
		return
	}
	if !late {
		return
	}
	row.Sure = &page.Confirm{
		Question: "Begin the demo anew?",
		Lines: []string{
			fmt.Sprintf("%s stands at %d of %d: too late to be killed at %d.", c.trap.account, done, total, fallAt),
			"The demo begins with an empty directory and reaches it in less than 20 seconds.",
		},
		Yes: "begin anew",
	}
}
