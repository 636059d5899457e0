package limit

import (
	"maps"
	"math"
	"slices"
	"sort"
	"time"
)

// Outlook is a copy of how the limits of one host stand. What it says of calls to come
// follows from it alone and changes nothing. All waits count from when it was taken. The
// zero Outlook is of a host that nobody has called.
type Outlook struct {
	h    *host // a copy of our own; nil = unknown
	now  instant
	wall time.Time // the same by the wall clock
}

// Estimate is how long a number of calls will take.
type Estimate struct {
	Wait   time.Duration // until the last of them may go, by the tightest bucket
	Bucket string        // that bucket; "" if nothing limits them
	Known  bool          // false: limits are not known yet, Wait is a lower bound
	// Endless says that calls are stopped until a command or an answer: Wait means nothing.
	Endless bool
}

// Outlook copies how a host stands now.
func (l *Limiter) Outlook(host string) Outlook {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[host]
	if h == nil {
		return Outlook{}
	}
	wall := time.Now()
	now := wall.Sub(l.base)
	l.lapse(now)
	h.tidy(now)
	return Outlook{h.copied(), now, wall}
}

// At is the instant so long after the outlook was taken.
func (o Outlook) At(wait time.Duration) time.Time { return o.wall.Add(wait) }

// copied is a host without its waiters and its timer. Its backlog counts them.
func (h *host) copied() *host {
	c := *h
	c.backlog, c.queues, c.timer = h.demand(), [2]map[string][]*waiter{}, nil
	c.operator, c.app, c.methods = slices.Clone(h.operator), h.app.copied(), maps.Clone(h.methods)
	c.app.left = c.backlog
	for name, s := range c.methods {
		c.methods[name] = s.copied()
		c.methods[name].left = c.backlog
	}
	return &c
}

func (s *scope) copied() *scope {
	c := *s
	c.own, c.foreign, c.sent = slices.Clone(s.own), slices.Clone(s.foreign), slices.Clone(s.sent)
	c.windows = slices.Clone(s.windows)
	for i, w := range c.windows {
		one := *w
		c.windows[i] = &one
	}
	return &c
}

// scopes are the application's and the method's, which is nil when nobody has called it.
func (o Outlook) scopes(method string) []*scope {
	if m := o.h.methods[method]; m != nil {
		return []*scope{o.h.app, m}
	}
	return []*scope{o.h.app}
}

// After says how long n further calls of a method will take if all go as early as the
// limits allow. Pacing spreads calls and ends no later, so this is also when the last of a
// whole line goes. It names the bucket that decides.
func (o Outlook) After(method string, n int) (e Estimate) {
	if o.h == nil {
		return e
	}
	scopes := o.scopes(method)
	e.Known = len(scopes) == 2
	for _, s := range scopes {
		e.Known = e.Known && s.known
		o.h.estimate(o.now, s, n, &e)
	}
	return e
}

// Turn says when the nth bulk call from now of a method goes, n at least 1: like After,
// with the pacing that holds back the calls for which there is room.
func (o Outlook) Turn(method string, n int) Estimate {
	e := o.After(method, n)
	if o.h == nil || e.Endless {
		return e
	}
	later := func(at instant, bucket string) {
		if at-o.now > e.Wait {
			e.Wait, e.Bucket = at-o.now, bucket
		}
	}
	later(o.next(method))
	if o.h.opts.Pacing == Burst {
		return e
	}
	pacer, slowest := o.h.pacer(o.now, o.h.methods[method])
	// One behind the near ones goes after them; a window later it does by what is reckoned.
	if pacer != nil && pacer.N >= nearOf && n <= nearTurns+pacer.N && !o.fast(method) {
		later(o.after(method, min(n, nearTurns)-1).next(method))
		if n <= nearTurns {
			return e
		}
	}
	for _, s := range o.scopes(method) {
		for _, w := range s.windows {
			most := s.allowed(w, o.now)
			if perSecond(w, most) > slowest {
				continue
			}
			wait := o.h.gapOf(o.now, s, w, most, (n-1)%most+1)
			if w.fast(&s.tally, most) {
				wait = max(wait, o.h.turnOf(o.now, s, w, most, n))
			} else { // a place comes free a window after it was used: a spread repeats itself
				wait += time.Duration((n-1)/most) * w.span()
			}
			later(o.now+wait, w.name)
		}
	}
	return e
}

// nearTurns is how many turns are found by doing as the limiter will, one after the other; those behind are reckoned.
const nearTurns = 40

// nearOf is the least limit whose window has them all to spare: what answers of later windows will tell is not known.
const nearOf = 2 * nearTurns

// fast reports whether mode C holds in a window of a method: which answer opens the next one decides then.
func (o Outlook) fast(method string) bool {
	for _, s := range o.scopes(method) {
		for _, w := range s.windows {
			if w.fast(&s.tally, s.allowed(w, o.now)) {
				return true
			}
		}
	}
	return false
}

// after is the outlook behind so many bulk calls of a method, each answered as it went.
func (o Outlook) after(method string, calls int) Outlook {
	o.h = o.h.copied()
	for range calls {
		o.now, _ = o.next(method)
		for _, s := range o.scopes(method) {
			s.assume(1, o.now)
		}
		o.h.took(o.now, Request{Method: method, Priority: Bulk})
	}
	return o
}

// looks bounds how often next looks again. Twice is usual: at a place that comes free, and
// when pacing lets it be used.
const looks = 8

// next is when the next bulk call of a method goes, and the bucket that holds it until
// then: as a dispatcher does it, which asks again when it was told to. An answer that is
// under way is not waited for: it mostly comes at once.
func (o Outlook) next(method string) (at instant, bucket string) {
	at = o.now
	for range looks {
		c := o.h.check(at, Request{Host: o.h.app.Host, Method: method, Priority: Bulk})
		if c.kind == none || c.until == never || c.until <= at {
			break
		}
		at, bucket = c.until, c.bucket()
	}
	return at, bucket
}

// gapOf is how long pacing holds the nth call back for which a bucket of so many has
// room: those on which the end depends go at once, then the places last until more come.
func (h *host) gapOf(now instant, s *scope, w *window, most, n int) time.Duration {
	t, free, last, left := s.tally, w.free(now, &s.tally, most), s.lastBulk, h.backlog
	first := (left-1)%most + 1
	if first > free || left > saturated*most {
		first = 0
		if free > 0 && last+spread(now, last, w, &t, most, free, left) <= now {
			first = 1
		}
	}
	if first > 0 {
		t.flying += first
		n, free, left, last = n-first, free-first, left-first, now
	}
	if n = min(n, free); n < 1 {
		return 0
	}
	return max(0, last+spread(now, last, w, &t, most, free, left)*instant(n)-now)
}

// turnOf is how long the nth call waits for which there is no room before a window of a
// bucket of so many opens: all its places come free at once, and it is spread like gapOf
// says over those after it on which the end does not depend; 0 = there is room before.
func (h *host) turnOf(now instant, s *scope, w *window, most, n int) time.Duration {
	free := max(w.free(now, &s.tally, most), 0)
	if n <= free {
		return 0
	}
	opens := placeAt(now, w, &s.tally, most, free+1) + instant((n-free-1)/most)*w.span()
	place, left := (n-free-1)%most+1, h.backlog-free-(n-free-1)/most*most
	first := 0
	if left <= saturated*most {
		first = (left-1)%most + 1
	}
	if place > first && left > 0 {
		opens += instant(place-first) * w.span() / instant(most-first+1)
	}
	return opens - now
}

// By is how many calls of a method may go within a time, at most so many: as After has it.
func (o Outlook) By(method string, in time.Duration, most int) int {
	return sort.Search(most, func(i int) bool { return o.After(method, i+1).Wait > in })
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
	until = max(until, s.block.until)
	longer(until-now+instant(n-1)*s.pace.gap, s.name)
	for _, w := range s.windows {
		longer(until-now+w.lasts(now, &s.tally, s.allowed(w, now), n), w.name)
	}
}

// lasts is how long calls take through one bucket of n: the last of them uses
// the place that comes free rem-th from now, whole windows later. Where the server's windows are fixed it
// goes no later than when the last of them opens, in which all that is left goes at once; one that has ended tells
// nothing of those to come, since the next call may open the next.
func (w *window) lasts(now instant, log *tally, n, calls int) time.Duration {
	if calls < 1 {
		return 0
	}
	t := *log
	t.left = max(t.left, calls)
	rem := (calls-1)%n + 1
	free := w.free(now, &t, n)
	wait := time.Duration((calls-1)/n) * w.span()
	if rem > free {
		wait += placeAt(now, w, &t, n, rem) - now
	}
	if more := t.left - n + w.taken(&t); more > 0 && w.fixed() && w.opening && now < w.opened+w.span() && w.hold() == 0 {
		opens := w.opened + time.Duration((more+n-1)/n)*w.span() - now
		wait = min(wait, max(opens, 0))
	}
	return wait
}

// Rate is the number of calls per second that a method can make in the long run,
// and the bucket that sets it; +Inf and "" while no limit is known.
func (o Outlook) Rate(method string) (calls float64, bucket string) {
	if o.h == nil {
		return math.Inf(1), ""
	}
	if w, calls := o.h.pacer(o.now, o.h.methods[method]); w != nil {
		return calls, w.name
	}
	return math.Inf(1), ""
}

// Rate is that of the host's Outlook, without copying it.
func (l *Limiter) Rate(host, method string) (calls float64, bucket string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Outlook{h: l.hosts[host], now: l.now()}.Rate(method)
}
