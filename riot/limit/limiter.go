package limit

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Pacing says how calls that could go at once are spread.
type Pacing uint8

const (
	// FrontLoaded sends at once what the end of the backlog depends on and
	// spreads the rest over the window.
	FrontLoaded Pacing = iota
	// Burst sends every call as soon as the limits allow.
	Burst
)

// Priority orders calls; Interactive ones are an operator's own.
type Priority uint8

const (
	// Interactive calls go before bulk calls and are not paced.
	Interactive Priority = iota
	// Bulk calls fill the rest and keep at least a tenth of the grants.
	Bulk
)

// Request is one call that wants to go.
type Request struct {
	Host     string // routing value: "europe", "euw1"
	Method   string // name of the path template: "match-v5.match"
	Job      string // who asks; needed for Admit to reserve a place
	Priority Priority
}

// Options configure a Limiter. The zero value is a good default.
type Options struct {
	Pacing  Pacing
	Ceiling []Limit // per host; only ever lowers what headers allow
	Share   float64 // part of each header limit this process may use, (0, 1]; 0 = all
	Reserve float64 // most that is kept of a window for operators; 0 = 0.05, negative = nothing
}

// reserveDefault is the part of a window that may be kept for an operator.
const reserveDefault = 0.05

// holdPlace is how long a reserved place waits for its job.
const holdPlace = 30 * time.Second

// Limiter decides when each call to Riot may go. Its methods may be called from
// any goroutine. It has no goroutines of its own and needs no closing.
type Limiter struct {
	opts Options
	base time.Time // instants count from here

	mu       sync.Mutex
	hosts    map[string]*host
	reserved map[string]*reservation // by job
	order    []*reservation          // by lapse
	seq      uint64
	changed  chan struct{} // nil while nobody watches
	lost     bool          // the state of an earlier run was lost, at lostAt
	lostAt   instant
}

// New makes a limiter that knows nothing yet: the first call on each host, and
// then the first of each method, goes alone and its headers tell the limits.
func New(opts Options) *Limiter {
	if opts.Reserve == 0 {
		opts.Reserve = reserveDefault
	}
	return &Limiter{
		opts:     opts,
		base:     time.Now(),
		hosts:    map[string]*host{},
		reserved: map[string]*reservation{},
	}
}

func (l *Limiter) now() instant { return time.Since(l.base) }

// at converts an instant for the world outside: never is the zero time.
func (l *Limiter) at(i instant) time.Time {
	if i == never {
		return time.Time{}
	}
	now := time.Now()
	return now.Add(i - now.Sub(l.base))
}

// host finds or makes the state of one routing value.
func (l *Limiter) host(name string) *host {
	if h := l.hosts[name]; h != nil {
		return h
	}
	h := &host{opts: &l.opts, app: newScope(Scope{Host: name}), methods: map[string]*scope{}}
	for _, c := range l.opts.Ceiling {
		h.app.windows = append(h.app.windows, newWindow(h.app.name, c, true))
	}
	if l.lost {
		h.loseState(l.lostAt)
	}
	l.hosts[name] = h
	return h
}

// Changed returns a channel that is closed when admission may have changed for
// another reason than time: an answer, a freeze, a place given back. Take it
// before asking Admit, then sleep until it closes or Decision.Until comes.
func (l *Limiter) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

// notify tells the watchers and serves the waiters of a host.
func (l *Limiter) notify(h *host, now instant) {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
	l.pump(h, now)
}

// Acquire waits until the call may go and takes a place in all of its buckets,
// or in none. Within a method and priority it is first come, first served. A
// place that Admit reserved for r.Job is taken over at once. The permit must be
// ended by one of Done, Lost or Refund. The only error is the context's cause.
func (l *Limiter) Acquire(ctx context.Context, r Request) (*Permit, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("wait for a place on %s: %w", r.Host, context.Cause(ctx))
	}
	p, w := l.join(r)
	if p != nil {
		return p, nil
	}
	select {
	case <-w.ready:
		return w.permit, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a place on %s: %w", l.leave(w), context.Cause(ctx))
	}
}

// join grants a permit at once or puts r in line.
func (l *Limiter) join(r Request) (*Permit, *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, h := l.now(), l.host(r.Host)
	h.tidy(now)
	p, again := l.takeOver(h, now, r)
	if p != nil {
		return p, nil
	}
	l.seq++
	w := &waiter{req: r, since: now, seq: l.seq, ready: make(chan struct{})}
	h.enqueue(w, again)
	l.pump(h, now)
	return w.permit, w
}

// leave takes a waiter out whose context ended, and gives back a permit that it
// got in the same instant. It returns the bucket that was waited for.
func (l *Limiter) leave(w *waiter) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, h := l.now(), l.host(w.req.Host)
	if w.permit != nil {
		w.permit.refund(now)
	} else {
		h.drop(w)
	}
	l.notify(h, now)
	if w.bucket == "" {
		return w.req.Host
	}
	return w.bucket
}

// grant opens the entries of a call in both scopes.
func (l *Limiter) grant(h *host, now instant, r Request, waited time.Duration, bucket string) *Permit {
	m := h.method(r.Method)
	p := &Permit{l: l, h: h, m: m, granted: now, life: h.life, blind: !h.app.known || !m.known}
	if p.blind {
		h.blind++
	}
	p.receipt = Receipt{Job: r.Job, Host: r.Host, Method: r.Method, Priority: r.Priority, Waited: waited, PacedBy: bucket}
	p.receipt.Buckets = append(h.readings(now, h.app), h.readings(now, m)...)
	p.appEpoch, p.methodEpoch = h.app.gate.enter(), m.gate.enter()
	h.app.grant(now)
	m.grant(now)
	m.stall[r.Priority] = stall{}
	return p
}

// readings are the counts of a scope's buckets just before a call is added.
func (h *host) readings(now instant, s *scope) []Reading {
	all := make([]Reading, 0, 4)
	for _, w := range s.windows {
		n := w.spent(now, &s.tally)
		all = append(all, Reading{Bucket: w.name, Scope: s.Scope, Limit: w.Limit, Ceiling: w.ceiling, Before: n, After: n + 1, Server: -1, Ours: -1})
	}
	return all
}
