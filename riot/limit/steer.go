package limit

import (
	"maps"
	"slices"
	"time"
)

// SetBacklog tells how many bulk calls are still to come on a host, the waiting
// ones included and the admitted ones not. Pacing needs it to know which calls
// decide the end: count also the calls that will follow from these (a timeline
// for each match), or every one that appears looks like a longer backlog. The
// limiter counts grants itself; a figure that differs from its own by no more
// than the calls under way is taken for the same.
func (l *Limiter) SetBacklog(host string, calls int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.host(host)
	calls = max(0, calls)
	tolerance := 2 + h.app.flying + h.app.held
	if d := calls - h.backlog; d == 0 || calls > 0 && d >= -tolerance && d <= tolerance {
		return
	}
	h.backlog = calls
	l.notify(h, l.now())
}

// farAway is as good as never, and cannot overflow.
const farAway = 100 * 365 * 24 * time.Hour

// Freeze is an operator's order: until an instant (the zero time: until Thaw)
// the scope gets no calls, or with 0 < percent < 100 at most that part of each
// limit. A second order for the scope replaces the first.
func (l *Limiter) Freeze(s Scope, until time.Time, percent int, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, now := l.host(s.Host), l.now()
	f := &freeze{wall: until.Round(0), percent: min(100, max(0, percent)), reason: reason}
	f.date(now)
	h.scope(s.Method).freeze = f
	l.notify(h, now)
}

// date turns the operator's instant, which is wall-clock time, into ours.
func (f *freeze) date(now instant) {
	f.until = never
	if d := time.Until(f.wall); !f.wall.IsZero() && d < farAway {
		f.until = now + d
	}
}

// Thaw ends a freeze or cap, and the server's hold of the scope if that is a long one.
// It reports whether there was a freeze or cap, and the hold, whose zero value is none.
func (l *Limiter) Thaw(s Scope) (frozen bool, held Hold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.host(s.Host)
	sc := h.scope(s.Method)
	frozen = sc.frozen(l.now())
	sc.freeze = nil
	if held = l.held(sc); !held.Asks.IsZero() {
		sc.block = block{}
	} else {
		held = Hold{}
	}
	l.notify(h, l.now())
	return frozen, held
}

// Frozen reports whether an operator's freeze or cap is in force anywhere.
func (l *Limiter) Frozen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for _, h := range l.hosts {
		if slices.ContainsFunc(h.scopes(), func(s *scope) bool { return s.frozen(now) }) {
			return true
		}
	}
	return false
}

// Hold is a wait that the server asked for and that is not over.
type Hold struct {
	Scope
	Kind  Kind
	Until time.Time
	// Asks is when a call may ask whether it still holds; zero: it is not above LongHold.
	Asks time.Time
}

// Holds are the scopes that the server holds now, by host and method.
func (l *Limiter) Holds() (all []Hold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(l.hosts)) {
		for _, s := range l.hosts[name].scopes() {
			if hold := l.held(s); !hold.Until.IsZero() {
				all = append(all, hold)
			}
		}
	}
	return all
}

// Freeze is a scope to which an operator lets no call go.
type Freeze struct {
	Scope
	Why   string    // as reasons have it
	Until time.Time // zero: until Thaw
}

// FreezeOf is the freeze of a method or of its host; false = there is none. It is asked for each job that waits.
func (l *Limiter) FreezeOf(of Scope) (f Freeze, frozen bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[of.Host]
	if h == nil {
		return f, false
	}
	for _, s := range [...]*scope{h.app, h.methods[of.Method]} {
		if s != nil && s.frozen(l.now()) && s.freeze.percent == 0 {
			return Freeze{s.Scope, cause{scope: s, why: Frozen}.stopText(), l.at(s.freeze.until)}, true
		}
	}
	return f, false
}

// held is the server's hold of a scope; the zero Hold is none.
func (l *Limiter) held(s *scope) (out Hold) {
	if s.block.until > l.now() {
		out = Hold{Scope: s.Scope, Kind: s.block.kind, Until: l.at(s.block.until)}
		if s.block.asks > 0 {
			out.Asks = l.at(s.block.asks)
		}
	}
	return out
}

// Suspended is called after the machine slept or the process was stopped for
// more than 10 s. Calls in flight are taken for lost but counted, and each host
// is asked by one call what it counts before others go.
func (l *Limiter) Suspended() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for _, h := range l.hosts {
		for _, s := range h.scopes() {
			s.abandon(now + straggle)
			if s.freeze != nil {
				s.freeze.date(now)
			}
			s.sent = nil // what was in flight may never have arrived: no proof any more
			for _, w := range s.windows {
				w.forget()
			}
		}
		h.life++
		h.app.gate.close(probing)
	}
	for _, h := range l.hosts {
		l.notify(h, now)
	}
}

// scope finds or makes a host's own scope ("") or that of a method.
func (h *host) scope(method string) *scope {
	if method == "" {
		return h.app
	}
	return h.method(method)
}
