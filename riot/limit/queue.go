package limit

import (
	"cmp"
	"slices"
	"time"
)

// enqueue puts a waiter last in its line, or first if it had a place before.
func (h *host) enqueue(w *waiter, first bool) {
	if h.queues[w.req.Priority] == nil {
		h.queues[w.req.Priority] = map[string][]*waiter{}
	}
	q := h.queues[w.req.Priority][w.req.Method]
	at := len(q)
	if first {
		at = 0
	}
	h.queues[w.req.Priority][w.req.Method] = slices.Insert(q, at, w)
}

// drop takes a waiter out of its line.
func (h *host) drop(w *waiter) {
	lines := h.queues[w.req.Priority]
	q := slices.DeleteFunc(lines[w.req.Method], func(x *waiter) bool { return x == w })
	lines[w.req.Method] = q
	if len(q) == 0 {
		delete(lines, w.req.Method)
	}
}

// heads lists the first of each line: interactive before bulk unless it is a bulk
// call's turn, and by arrival. A line whose head cannot go does not hold up the
// others.
func (h *host) heads() []*waiter {
	order := [...]Priority{Interactive, Bulk}
	if h.streak >= fairShare {
		order = [...]Priority{Bulk, Interactive}
	}
	var all []*waiter
	for _, priority := range order {
		from := len(all)
		for _, q := range h.queues[priority] {
			all = append(all, q[0])
		}
		slices.SortFunc(all[from:], func(a, b *waiter) int { return cmp.Compare(a.seq, b.seq) })
	}
	return all
}

// pump grants whatever may go now and sets the timer for what may go later.
func (l *Limiter) pump(h *host, now instant) {
	l.lapse(now)
	for l.grantOne(h, now) {
	}
}

// grantOne gives a permit to the first waiter that may go. If none may, the
// timer is set to the first instant at which one may.
func (l *Limiter) grantOne(h *host, now instant) bool {
	next := never
	for _, w := range h.heads() {
		c := h.check(now, w.req)
		if c.kind == none {
			h.drop(w)
			w.permit = l.grant(h, now, w.req, now-w.since, w.bucket)
			h.took(now, w.req)
			close(w.ready)
			return true
		}
		h.refuse(now, w.req, c)
		w.bucket = c.bucket()
		next = min(next, c.until)
	}
	if len(h.queues[Interactive])+len(h.queues[Bulk]) > 0 {
		next = min(next, l.nextLapse(h))
	}
	h.sleep(now, next, l)
	return false
}

// sleep sets the host's timer, or stops it when only an event can help.
func (h *host) sleep(now, until instant, l *Limiter) {
	until = max(until, now+time.Millisecond)
	switch {
	case until == never && h.timer != nil:
		h.timer.Stop()
	case until == never:
	case h.timer == nil:
		h.timer = time.AfterFunc(until-now, func() { l.wake(h) })
	default:
		h.timer.Reset(until - now)
	}
}

// wake is the timer's function.
func (l *Limiter) wake(h *host) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pump(h, l.now())
}

// notify tells the watchers and serves the waiters of a host.
func (l *Limiter) notify(h *host, now instant) {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
	l.pump(h, now)
}

// grant opens the entries of a call in both scopes.
func (l *Limiter) grant(h *host, now instant, r Request, waited time.Duration, bucket string) *Permit {
	m := h.method(r.Method)
	p := &Permit{l: l, h: h, m: m, granted: now, life: h.life, blind: !h.app.known || !m.known}
	if p.blind {
		h.blind++
	}
	p.receipt = Receipt{Job: r.Job, Host: r.Host, Method: r.Method, Waited: waited, PacedBy: bucket}
	p.receipt.Buckets = append(h.app.readings(), m.readings()...)
	p.appEpoch, p.methodEpoch = h.app.gate.enter(), m.gate.enter()
	for _, s := range [...]*scope{h.app, m} {
		s.grant(now)
		s.pace.grant(now)
		if s.block.asks > 0 {
			s.block.asks = now + LongHold
		}
	}
	m.stall[r.Priority] = stall{}
	return p
}

// readings are a scope's buckets, for the receipt of a call.
func (s *scope) readings() []Reading {
	all := make([]Reading, 0, 4)
	for _, w := range s.windows {
		all = append(all, s.reading(w))
	}
	return all
}

// reading is a bucket before its answer has come.
func (s *scope) reading(w *window) Reading {
	return Reading{Bucket: w.name, Scope: s.Scope, Limit: w.Limit, Ceiling: w.ceiling, Server: -1, Ours: -1}
}
