package demo

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/riot/sim"
)

// State is what a demo was told to do wrong, and what the engine did about it.
type State struct {
	Seed  uint64
	Speed float64
	Rows  []Row // presets first; their order never changes
	// Of the simulator since it started: calls that arrived, 429s of the engine's own
	// making, calls made while a Retry-After ran, calls for what had been delivered.
	Calls, Violations, Early, Repeated int
}

// Row is one way to go wrong.
type Row struct {
	Name    string
	Preset  bool // a scene: it is started and ends by itself, and takes no rate
	On      bool
	Told    string        // how it is injected, while On: "once", "5 %", "at 87/134"
	Until   time.Time     // when it ends by itself; zero = not known
	Rate    float64       // percent; 0 = no rate
	Sum     Sum           // what it struck, and what became of that
	Stalled time.Duration // how long it made commits wait, in all
	Did     string        // what the engine did, in words; "" = nothing yet
	Expect  string        // what it will do, in few words
	About   string        // what it is and what is to be expected, in one line
	Sure    *Question     // asked before it starts; nil = nothing is
}

// Question is what somebody has to agree to.
type Question struct {
	Text  string
	Lines []string // what comes of it
	Yes   string   // what yes does
}

// State is how all rows stand.
func (c *Chaos) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recount(time.Now())
	s := State{
		Seed: c.seed, Speed: c.speed, Rows: make([]Row, len(mischiefs)),
		Calls: c.stats.Calls, Violations: c.stats.Violations, Early: c.stats.Early, Repeated: c.stats.Repeated,
	}
	for i := range mischiefs {
		s.Rows[i] = c.told(&mischiefs[i])
	}
	return s
}

// recount reads the simulator's sums, not at every frame.
func (c *Chaos) recount(now time.Time) {
	if now.Sub(c.count) >= statsEvery {
		c.stats, c.count = c.sim.Stats(), now
	}
}

// told is a row as it stands. The caller holds the lock.
func (c *Chaos) told(m *mischief) Row {
	r := c.row(m)
	sum := c.tally.total(m.once(), m.rated())
	row := Row{Name: m.name, Preset: m.preset, Expect: m.expect, About: m.about, Rate: r.rate, Sum: sum, Did: sum.String()}
	switch {
	case m.name == restartAt:
		c.tellTrap(&row)
	case m.name == keyExpires:
		c.tellKey(&row, r)
	case m.name == pagerCalls:
		row.On, row.Told = c.pages, "on"
		row.Sum = c.tally.total(pagerCalls)
		row.Did = row.Sum.String()
	case m.preset:
		row.On, row.Told, row.Until = r.on && time.Now().Before(r.until), "on", r.until
	case r.rate > 0:
		row.On, row.Told = true, rateText(r.rate)
	case r.pending > c.tally.total(m.once()).Hits:
		row.On, row.Told = true, "once"
	}
	if m.name == slowDisk {
		row.Stalled = c.stalled
	}
	return row
}

// tellKey: an expired key is on until another is in place.
func (c *Chaos) tellKey(row *Row, r *injected) {
	row.Sum = c.tally.total(sim.ExpiredKey)
	row.Did = row.Sum.String()
	if r.on && c.key() != c.refused {
		r.on = false
	}
	row.On, row.Told = r.on, "refused"
}

// tellTrap: how the restart stands, and what it asks first.
func (c *Chaos) tellTrap(row *Row) {
	row.Told, row.On = c.trap.told()
	row.Did, row.Sum.Hits = c.trap.seen(c.stats.Repeated)
	done, total, late := c.trap.late()
	if row.On {
		row.About = "limits are " + limitsText(fallLimits) + " until the kill, the last matches come one by one"
		return
	}
	if !late {
		return
	}
	row.Sure = &Question{
		Text: "Begin the demo anew?",
		Lines: []string{
			fmt.Sprintf("%s stands at %d of %d: too late to be killed at %d.", c.trap.account, done, total, fallAt),
			"The demo begins with an empty directory and reaches it in less than 20 seconds.",
		},
		Yes: "begin anew",
	}
}
