package limit

import (
	"cmp"
	"slices"
	"time"
)

// Snapshot explains every bucket and every waiter at one instant, hosts and
// scopes in alphabetical order, a host's own scope before its methods.
type Snapshot struct {
	At    time.Time
	Hosts []HostView
}

// HostView is one routing value.
type HostView struct {
	Host    string
	Backlog int // bulk calls to come
	Blind   int // calls since the start that went before the limits of the host or of their method were known
	Scopes  []ScopeView
	Waiters []WaiterView
}

// ScopeView is one host or one method on it.
type ScopeView struct {
	Scope
	Name     string    // "app:europe", "match-v5.match:europe"
	Known    bool      // the server told its limits
	Taught   time.Time // when a header last stated other limits than were known, in an earlier run too; zero: none did
	Ramp     int       // most calls under way after a 429; 0: no ramp
	InFlight int
	Reserved int
	Waiting  int
	Blocked  time.Time // zero: not blocked
	Kind     Kind      // of the block
	Frozen   bool
	Percent  int       // of each limit while frozen; 0: nothing
	Thaws    time.Time // zero while Frozen: when an operator says so
	Reason   string
	Buckets  []BucketView
}

// BucketView is one limit.
type BucketView struct {
	Name     string // "app:europe 120s"
	Limit    Limit
	Ceiling  bool   // from the configuration, not from a header
	Mode     string // "sliding" (mode A), or "fixed" where the server is proven to count so (mode C)
	Own      int    // answered calls that still count
	Foreign  int    // calls of others that still count
	Held     int    // kept free for others beyond that
	InFlight int
	Reserved int
	Server   int       // the server's last count; -1: none yet
	ServerAt time.Time // when it told
	Guard    time.Duration
	NextFree time.Time // zero: after an answer
	// Reset is when places come back next: the server's window ends, or the oldest call stops counting. Zero: all
	// are free.
	Reset time.Time
}

// Used is everything that takes a place.
func (b BucketView) Used() int { return b.Own + b.Foreign + b.Held + b.InFlight + b.Reserved }

// WaiterView is one call that waits in Acquire.
type WaiterView struct {
	Job      string
	Method   string
	Priority Priority
	Since    time.Time
	Until    time.Time // estimate for the first in line; zero: after an answer
	Line     int       // calls before it in the same line
	Reason   string
}

// Snapshot reads the limiter. It changes nothing but what time has made void.
func (l *Limiter) Snapshot() Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, out := l.now(), Snapshot{At: time.Now()}
	l.lapse(now)
	for _, h := range l.hosts {
		h.tidy(now)
		v := HostView{Host: h.app.Host, Backlog: h.backlog, Blind: h.blind}
		for _, s := range h.scopes() {
			v.Scopes = append(v.Scopes, l.viewScope(now, h, s))
		}
		v.Waiters = l.viewWaiters(now, h)
		out.Hosts = append(out.Hosts, v)
	}
	slices.SortStableFunc(out.Hosts, func(a, b HostView) int { return cmp.Compare(a.Host, b.Host) })
	return out
}

// viewScope is a host or a method as it stands. The caller holds the lock.
func (l *Limiter) viewScope(now instant, h *host, s *scope) ScopeView {
	v := ScopeView{
		Scope: s.Scope, Name: s.name, Known: s.known, Taught: s.taught,
		InFlight: s.flying, Reserved: s.held, Waiting: h.inLine(s),
	}
	if s.gate.kind == recovering {
		v.Ramp = s.gate.limit
	}
	if s.block.until > now {
		v.Blocked, v.Kind = l.at(s.block.until), s.block.kind
	}
	if s.frozen(now) {
		v.Frozen, v.Percent, v.Reason, v.Thaws = true, s.freeze.percent, s.freeze.reason, l.at(s.freeze.until)
	}
	for _, w := range s.windows {
		v.Buckets = append(v.Buckets, l.viewBucket(now, s, w))
	}
	return v
}

// viewBucket is one limit, with whose calls take its places. The caller holds the lock.
func (l *Limiter) viewBucket(now instant, s *scope, w *window) BucketView {
	cut, n := now-w.span(), s.allowed(w, now)
	v := BucketView{
		Name: w.name, Limit: w.Limit, Ceiling: w.ceiling, Mode: "sliding",
		Own: after(s.own, cut), Foreign: after(s.foreign, cut), InFlight: s.flying, Reserved: s.held,
		Server: w.server, Guard: w.guard, NextFree: l.at(w.freeAt(now, &s.tally, n)),
	}
	v.Held = max(0, w.hold()-v.Foreign)
	// The server's window has been told: what counted in the one before takes no place.
	if w.fast(&s.tally, n) || w.fixed() && v.Used() > n {
		v.Mode = "fixed"
		v.Own = max(0, v.Own-max(0, v.Used()-w.taken(&s.tally)))
	}
	if w.server >= 0 {
		v.ServerAt = l.at(w.counted)
	}
	if end := w.opened + w.Per; w.opening && end > now {
		v.Reset = l.at(end)
	} else if r := w.release(now, &s.tally, 1); v.Own+v.Foreign > 0 && r != never {
		v.Reset = l.at(r)
	}
	return v
}

// inLine counts the waiters of a scope.
func (h *host) inLine(s *scope) int {
	n := 0
	for _, lines := range h.queues {
		for method, q := range lines {
			if s == h.app || method == s.Method {
				n += len(q)
			}
		}
	}
	return n
}

// viewWaiters are the calls that wait on a host: of each line the first with what it waits for, the
// others behind it for the same. The caller holds the lock.
func (l *Limiter) viewWaiters(now instant, h *host) []WaiterView {
	var out []WaiterView
	for _, first := range h.heads() {
		c := h.check(now, first.req)
		for i, w := range h.queues[first.req.Priority][first.req.Method] {
			out = append(out, WaiterView{
				Job: w.req.Job, Method: w.req.Method, Priority: w.req.Priority, Since: l.at(w.since),
				Until: l.at(c.until), Line: i, Reason: c.reason(now),
			})
		}
	}
	slices.SortStableFunc(out, func(a, b WaiterView) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.Since.Compare(b.Since))
	})
	return out
}
