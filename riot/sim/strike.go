package sim

import (
	"cmp"
	"path"
	"slices"
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
	return a.Kind.concerns(c) && a.Match.fits(c) && a.Match.chosen(a.Name+string(a.Kind), c, seed)
}

// fits reports whether a call is what a fault is for; what is not said fits all.
func (m Match) fits(c *call) bool {
	return (m.Method == "" || m.Method == c.Method) &&
		glob(m.Host, c.Host) && glob(m.ID, c.ID) && glob(m.Start, c.start) &&
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

// chosen draws whether a call is among the share that is struck. The draw depends on the thing asked for, not on
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

// ExpiredKey is the name under which Options.OnStrike is told of a call with an expired key.
const ExpiredKey = "expired key"

// record names a call that went wrong on purpose. The caller holds the lock.
func (s *Sim) record(fault string, c *call) {
	if s.opt.OnStrike != nil {
		s.opt.OnStrike(fault, c.Method, cmp.Or(c.params["matchId"], c.ID))
	}
}

// Remove ends the faults of these names. Others stay.
func (s *Sim) Remove(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Hits of what is removed are forgotten with it.
	s.faults = slices.DeleteFunc(s.faults, func(f *armed) bool { return slices.Contains(names, f.Name) })
}

// ExpireKeys lets every key that was accepted so far answer 403 from now on, as a development key does
// after a day, and gives how many. Keys that come later are accepted.
func (s *Sim) ExpireKeys() int { return s.turnKeys(KeyGood, KeyExpired) }

// RenewKeys lets expired keys work again, and gives how many.
func (s *Sim) RenewKeys() int { return s.turnKeys(KeyExpired, KeyGood) }

func (s *Sim) turnKeys(from, to KeyState) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.used {
		// A key that is unknown to Riot stays unknown: it did not expire.
		if k := s.keys[key]; k.State == from {
			k.State = to
			s.keys[key] = k
			n++
		}
	}
	return n
}

// strike finds the first fault of the plan that hits c.
func (s *Sim) strike(c *call) *Fault {
	// The limiter will refuse it; a fault is for calls that get through, but a lie about limits is told by the 429 as well.
	full := s.full(c)
	if !full {
		// Attempts count what the limiter lets through: a client that is refused has not tried yet.
		s.attempts[c.thing]++
		c.Attempt = s.attempts[c.thing]
	}
	for _, f := range s.faults {
		if _, ofLimits := limitLies[f.Kind]; full && !ofLimits {
			continue
		}
		if f.strikes(c, s.opt.Seed, c.At, s.opt.Speed) {
			f.hits++
			return &f.Fault
		}
	}
	return nil
}

func (s *Sim) full(c *call) bool {
	for _, sc := range c.scopes() {
		for _, w := range s.windows(sc) {
			w.expire(c.At)
			// This call is not counted yet: with it the window would be over.
			if w.used() >= w.limit.N {
				return true
			}
		}
	}
	return false
}
