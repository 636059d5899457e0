package limit

import (
	"math"
	"time"
)

// Estimate is how long a number of calls will take.
type Estimate struct {
	Wait   time.Duration // until the last of them may go, by the tightest bucket
	Bucket string        // that bucket; "" if nothing limits them
	Known  bool          // false: limits are not known yet, Wait is a lower bound
	// Endless says that calls are stopped until a command or an answer: Wait means nothing.
	Endless bool
}

// Estimate says how long n further calls of a method on a host will take if they
// go as early as the limits allow, after the calls that are announced by
// SetBacklog if behind is set. It names the bucket that decides.
func (l *Limiter) Estimate(host, method string, n int, behind bool) Estimate {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[host]
	if h == nil {
		return Estimate{}
	}
	now, out, before := l.now(), Estimate{}, 0
	if behind {
		before = h.backlog
	}
	scopes := []*scope{h.app}
	if m := h.methods[method]; m != nil {
		scopes = append(scopes, m)
	}
	out.Known = len(scopes) == 2
	for _, s := range scopes {
		out.Known = out.Known && s.known
		h.estimate(now, s, n+before, &out)
		before = 0 // announced calls are of several methods
	}
	return out
}

// estimate lets one scope's buckets and blocks lengthen e.
func (h *host) estimate(now instant, s *scope, n int, e *Estimate) {
	longer := func(wait time.Duration, name string) {
		if wait > e.Wait {
			e.Wait, e.Bucket = wait, name
		}
	}
	until, _ := s.stopped(now)
	if until == never {
		until = now
		e.Known, e.Endless = false, true
	}
	longer(until-now, s.name)
	for _, w := range s.windows {
		longer(until-now+w.lasts(now, &s.tally, s.allowed(w, h.opts.Share, now), n), w.name)
	}
}

// lasts is how long calls take through one bucket of n: the last of them uses
// the place that comes free rem-th from now, whole windows later.
func (w *window) lasts(now instant, t *tally, n, calls int) time.Duration {
	if calls < 1 {
		return 0
	}
	rem := (calls-1)%n + 1
	free := w.free(now, t, n)
	wait := time.Duration((calls-1)/n) * w.span()
	if rem > free {
		wait += placeAt(now, w, t, n, max(0, free), rem) - now
	}
	return wait
}

// Rate is the number of calls per second that a method can make in the long run,
// and the bucket that sets it; +Inf and "" while no limit is known.
func (l *Limiter) Rate(host, method string) (calls float64, bucket string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls = math.Inf(1)
	h := l.hosts[host]
	if h == nil {
		return calls, ""
	}
	if w, calls := h.pacer(l.now(), h.methods[method]); w != nil {
		return calls, w.name
	}
	return calls, ""
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
			if r := perSecond(w, s.allowed(w, h.opts.Share, now)); r < calls {
				slowest, calls = w, r
			}
		}
	}
	return slowest, calls
}
