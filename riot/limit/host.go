package limit

import (
	"maps"
	"math"
	"slices"
	"time"
)

// host is everything on one routing value: Riot's application buckets, the
// methods', who waits and who has a place reserved. Guarded by Limiter.mu.
type host struct {
	opts    *Options
	app     *scope
	methods map[string]*scope
	queues  [2]map[string][]*waiter // by priority and method, first in line first

	backlog  int       // bulk calls to come, see Limiter.SetBacklog
	operator []instant // recent grants of interactive calls, ascending
	streak   int       // interactive grants since the last bulk grant
	refused  instant   // when a bulk call was refused last
	waiting  bool      // a dispatcher was refused a bulk call since the last bulk grant

	blind int         // calls granted while their limits were not known, see Permit.blind
	life  uint64      // bumped by Suspended: unanswered calls of an earlier life are abandoned
	timer *time.Timer // wakes the scheduler for the waiters
}

// waiter is one Acquire that sleeps.
type waiter struct {
	req    Request
	since  instant
	seq    uint64
	bucket string // that held it last
	permit *Permit
	ready  chan struct{} // closed when permit is set
}

// fairShare is the number of interactive grants in a row after which a bulk call
// that waits goes first: bulk keeps a tenth.
const fairShare = 9

// turnWait is how long the bulk calls' turn stays open for a dispatcher that was
// refused and may ask again.
const turnWait = 2 * time.Second

// method finds or makes the scope of one method.
func (h *host) method(name string) *scope {
	s := h.methods[name]
	if s == nil {
		s = newScope(Scope{h.app.Host, name})
		s.full, s.fullAt = h.app.full, h.app.fullAt
		h.methods[name] = s
	}
	return s
}

// scopes lists the host's scope and its methods' in a stable order.
func (h *host) scopes() []*scope {
	all := []*scope{h.app}
	for _, name := range slices.Sorted(maps.Keys(h.methods)) {
		all = append(all, h.methods[name])
	}
	return all
}

// check says why a call may not go now, or nothing. All buckets are asked, so
// that the answer is the one that holds longest.
func (h *host) check(now instant, r Request) cause {
	m := h.method(r.Method)
	h.app.left = h.demand()
	m.left = h.app.left
	c := h.scopeCause(now, h.app).later(h.scopeCause(now, m))
	for _, s := range [...]*scope{h.app, m} {
		for _, w := range s.windows {
			c = c.later(h.windowCause(now, s, w))
		}
	}
	if c.kind != none {
		return c
	}
	return h.courtesy(now, r)
}

// scopeCause covers blocks, freezes and the gates of a scope.
func (h *host) scopeCause(now instant, s *scope) cause {
	if until, why := s.stopped(now); until > now {
		return cause{kind: stopped, scope: s, until: until, why: why}
	}
	switch {
	case s.pace.gap > 0 && s.flying+s.held > 0:
		return cause{kind: groping, scope: s, until: never}
	case s.pace.gap > 0 && s.pace.last+s.pace.gap > now:
		return cause{kind: groping, scope: s, until: s.pace.last + s.pace.gap}
	case s.gate.allows(s.known && !s.unkept):
		return cause{}
	}
	c := cause{kind: rampUp, scope: s, until: never}
	switch {
	case !s.known || s.unkept:
		c.kind = learning
	case s.gate.kind == probing:
		c.kind = proving
	}
	return c
}

// windowCause covers the limit of one bucket.
func (h *host) windowCause(now instant, s *scope, w *window) cause {
	n := s.allowed(w, now)
	if w.free(now, &s.tally, n) > 0 {
		return cause{}
	}
	return h.windowState(now, s, w, full, w.freeAt(now, &s.tally, n))
}

func (h *host) windowState(now instant, s *scope, w *window, kind causeKind, until instant) cause {
	return cause{
		kind: kind, scope: s, win: w, until: until,
		spent: w.spent(now, &s.tally), limit: s.allowed(w, now),
	}
}

// courtesy is what calls owe each other once the limits allow one: pacing, the
// operator's places and the bulk calls' tenth.
func (h *host) courtesy(now instant, r Request) cause {
	bulksTurn := h.streak >= fairShare
	switch {
	case r.Priority == Interactive && bulksTurn && h.waiting && now < h.refused+turnWait:
		return cause{kind: turn, scope: h.app, until: h.refused + turnWait}
	case r.Priority == Interactive || bulksTurn:
		return cause{}
	}
	return h.paced(now, h.method(r.Method)).later(h.keeps(now))
}

// paced spreads bulk calls over the buckets that set the pace; those that would
// let more calls through have places to spare.
func (h *host) paced(now instant, m *scope) (c cause) {
	if h.opts.Pacing == Burst {
		return c
	}
	_, slowest := h.pacer(now, m)
	for _, s := range [...]*scope{h.app, m} {
		for _, w := range s.windows {
			n := s.allowed(w, now)
			if perSecond(w, n) > slowest {
				continue
			}
			if at := pace(now, s.lastBulk, w, &s.tally, n, w.free(now, &s.tally, n), h.demand()); at > now {
				c = c.later(h.windowState(now, s, w, paced, at))
			}
		}
	}
	return c
}

// keeps leaves places of the host for an operator.
func (h *host) keeps(now instant) (c cause) {
	s := h.app
	for _, w := range s.windows {
		n := s.allowed(w, now)
		r := reserve(now, w, n, h.operator)
		if r < 1 {
			continue
		}
		if at := keep(now, w, &s.tally, n, w.free(now, &s.tally, n), r); at > now {
			c = c.later(h.windowState(now, s, w, kept, at))
		}
	}
	return c
}

// demand is the number of bulk calls that wait or are announced, at least one.
func (h *host) demand() int {
	waiters := 0
	for _, q := range h.queues[Bulk] {
		waiters += len(q)
	}
	return max(1, waiters, h.backlog)
}

// took counts a grant or a reservation for what calls owe each other.
func (h *host) took(now instant, r Request) {
	if r.Priority == Bulk {
		h.app.lastBulk, h.method(r.Method).lastBulk = now, now
		h.streak, h.waiting = 0, false
		h.backlog = max(0, h.backlog-1)
		return
	}
	h.streak++
	if h.operator = append(h.operator, now); len(h.operator) > 1024 {
		h.operator = h.operator[len(h.operator)-512:]
	}
}

// refuse remembers that a call had to wait: for the recorder (which bucket held
// it, since when) and for the bulk calls' tenth.
func (h *host) refuse(now instant, r Request, c cause) {
	s := &h.method(r.Method).stall[r.Priority]
	if !s.on {
		s.on, s.since = true, now
	}
	s.bucket = c.bucket()
	if r.Priority == Bulk {
		h.refused = now
	}
}

// tidy drops what time has made meaningless.
func (h *host) tidy(now instant) {
	h.app.tidy(now)
	for _, s := range h.methods {
		s.tidy(now)
	}
}

// lostWait lets the shortest windows and the stragglers of a lost run pass
// before the first call.
const lostWait = 2 * time.Second

// loseState prepares a host whose earlier calls are not known.
func (h *host) loseState(at instant) {
	h.app.fill(at)
	if until := at + lostWait; until > h.app.block.until {
		h.app.block = block{kind: Restart, until: until}
	}
	h.app.gate.close(probing)
}

// pacer is the bucket that sets the pace of a method, which may be nil: the one that
// allows the fewest calls per second in the long run; nil and +Inf while none is known.
func (h *host) pacer(now instant, m *scope) (slowest *window, calls float64) {
	calls = math.Inf(1)
	for _, s := range [...]*scope{h.app, m} {
		if s == nil {
			continue
		}
		for _, w := range s.windows {
			if r := perSecond(w, s.allowed(w, now)); r < calls {
				slowest, calls = w, r
			}
		}
	}
	return slowest, calls
}
