package limit

import (
	"slices"
	"time"
)

// Decision answers a dispatcher that wants to claim a job.
type Decision struct {
	OK     bool
	Until  time.Time // not before; zero: only an answer or a command can help, see Changed
	Bucket string    // "app:europe 120s"
	Reason string    // "app:europe 97/100": what holds, without the time, which goes on until Until
}

// reservation is a place in all buckets of a call, for a job that is being claimed.
type reservation struct {
	req         Request
	h           *host
	lapses      instant
	waited      time.Duration
	bucket      string
	appEpoch    uint64
	methodEpoch uint64
}

// Admit says whether r could go now. If so, a place is reserved for r.Job until
// Acquire with the same job takes it over, Withdraw gives it back, or 30 s have
// passed; so what a dispatcher claims is never more than may go. Asking again for
// the same job changes nothing. Without a job nothing is reserved.
func (l *Limiter) Admit(r Request) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, h := l.now(), l.host(r.Host)
	h.tidy(now)
	l.pump(h, now)
	if old := l.reserved[r.Job]; old != nil && r.Job != "" {
		if old.req == r {
			return Decision{OK: true}
		}
		l.release(old)
	}
	if c := h.check(now, r); c.kind != none {
		h.refuse(now, r, c)
		h.waiting = h.waiting || r.Priority == Bulk && c.scope == h.app
		return Decision{Until: l.at(l.again(h, c.until)), Bucket: c.bucket(), Reason: c.text()}
	}
	if r.Job != "" {
		l.reserve(h, now, r)
	}
	return Decision{OK: true}
}

// Withdraw gives back the place that Admit reserved for a job, if it still has
// one. It fires Changed: a dispatcher must know a job before it asks Admit, or
// asking and withdrawing becomes a loop.
func (l *Limiter) Withdraw(job string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.reserved[job]
	if r == nil {
		return
	}
	l.release(r)
	if r.req.Priority == Bulk {
		r.h.backlog++
	}
	l.notify(r.h, l.now())
}

func (l *Limiter) reserve(h *host, now instant, r Request) {
	m := h.method(r.Method)
	res := &reservation{req: r, h: h, lapses: now + holdPlace}
	if s := m.stall[r.Priority]; s.on {
		res.waited, res.bucket = now-s.since, s.bucket
	}
	m.stall[r.Priority] = stall{}
	res.appEpoch, res.methodEpoch = h.app.gate.enter(), m.gate.enter()
	h.app.held++
	m.held++
	h.took(now, r)
	l.reserved[r.Job] = res
	l.order = append(l.order, res)
}

// release gives up a reservation.
func (l *Limiter) release(r *reservation) {
	m := r.h.method(r.req.Method)
	r.h.app.held--
	m.held--
	r.h.app.gate.leave(r.appEpoch, false)
	m.gate.leave(r.methodEpoch, false)
	delete(l.reserved, r.req.Job)
	l.order = slices.DeleteFunc(l.order, func(x *reservation) bool { return x == r })
}

// again is when a refused dispatcher may ask again: if only an event can help,
// the lapse of a place is one that nobody announces.
func (l *Limiter) again(h *host, until instant) instant {
	if until < never {
		return until
	}
	return l.nextLapse(h)
}

// nextLapse is when a place on h lapses that its job has not taken over.
func (l *Limiter) nextLapse(h *host) instant {
	if h.app.held == 0 {
		return never
	}
	return l.order[0].lapses
}

// lapse releases the reservations whose jobs never came.
func (l *Limiter) lapse(now instant) {
	for len(l.order) > 0 && l.order[0].lapses <= now {
		l.release(l.order[0])
	}
}

// takeOver turns a reservation into a permit. If the place is worth nothing any
// more (a 429 or a freeze came between) it is given up and the job is first in
// line.
func (l *Limiter) takeOver(h *host, now instant, r Request) (p *Permit, again bool) {
	l.lapse(now)
	res := l.reserved[r.Job]
	if res == nil || r.Job == "" {
		return nil, false
	}
	l.release(res)
	m := h.method(r.Method)
	current := res.appEpoch == h.app.gate.epoch && res.methodEpoch == m.gate.epoch
	_, appStop := h.app.stopped(now)
	_, methodStop := m.stopped(now)
	if res.req.Host != r.Host || res.req.Method != r.Method || !current || appStop != "" || methodStop != "" {
		return nil, true
	}
	return l.grant(h, now, r, res.waited, res.bucket), false
}
