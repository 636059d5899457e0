package sim

import (
	"path"
	"time"

	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
)

// armed is a fault in the plan of a running simulator.
type armed struct {
	Fault
	since time.Time
	hits  int
}

// strikes reports whether a fault hits a call now: within its span of simulated time, as often as it may, and
// for what it is meant.
func (a *armed) strikes(c *call, seed uint64, now time.Time, speed float64) bool {
	// In simulated time, as the bounds of the fault are.
	age := time.Duration(float64(now.Sub(a.since)) * speed)
	switch {
	case age < a.After, a.Until > 0 && age >= a.Until, a.Count > 0 && a.hits >= a.Count:
		return false
	}
	return a.Match.fits(c) && a.Match.chosen(a.Name+string(a.Kind), c, seed)
}

// fits reports whether a call is what a fault is for; what is not said fits all.
func (m Match) fits(c *call) bool {
	return (m.Method == "" || m.Method == c.Method) &&
		glob(m.Host, c.Host) && glob(m.ID, c.ID) &&
		(m.Attempt == 0 || m.Attempt == c.Attempt) &&
		(m.Attempts == 0 || c.Attempt <= m.Attempts)
}

// glob matches as in a shell: KR_*, euw?; "" fits all.
func glob(pattern, s string) bool {
	if pattern == "" {
		return true
	}
	// A slash in a Riot ID is not matched by *, as in file names.
	ok, err := path.Match(pattern, s)
	return ok && err == nil
}

// chosen draws whether a call is among the share that is struck. The draw hangs on the thing asked for, not on
// the order of calls, so that a run with the same seed has the same faults; with Each also on the attempt, else
// what is struck is struck each time.
func (m Match) chosen(name string, c *call, seed uint64) bool {
	if m.Rate == 0 {
		return true
	}
	// Two faults of one rate choose other things, since the name is part of the draw.
	h := keyed.Start(seed).Str("fault").Str(name).Str(c.thing)
	if m.Each {
		h = h.Num(uint64(c.Attempt))
	}
	return h.Unit() < m.Rate
}
