package sim

import (
	"cmp"
	"slices"
)

// ExpiredKey is the name under which Options.OnStrike is told of a call with an expired key.
const ExpiredKey = "expired key"

// tell names a call that went wrong on purpose. The caller holds the lock.
func (s *Sim) tell(fault string, c *call) {
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
	if s.full(c) {
		return nil // the limiter will refuse it; a fault is for calls that get through
	}
	// Attempts count what the limiter lets through: a client that is refused has not tried yet.
	s.attempts[c.thing]++
	c.Attempt = s.attempts[c.thing]
	for _, f := range s.faults {
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
