package limit

import (
	"context"
	"fmt"
)

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
