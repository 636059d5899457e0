package limit

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

const (
	// margin is added to Retry-After, which Riot rounds.
	margin = time.Second
	// largestBackoff ends the doubling for 429s that name no time.
	largestBackoff = 64 * time.Second
)

// headers of one scope.
type headers struct{ limit, count string }

var (
	appHeaders    = headers{"X-App-Rate-Limit", "X-App-Rate-Limit-Count"}
	methodHeaders = headers{"X-Method-Rate-Limit", "X-Method-Rate-Limit-Count"}
)

// observe takes in one answer. The order matters: limits before counts, and the
// gates only after a 429 has closed them.
func (p *Permit) observe(now instant, status int, header http.Header) {
	if status == http.StatusUnauthorized {
		p.unspend() // Riot checks the key before it counts
		return
	}
	told := p.learn(p.h.app, header, appHeaders)
	toldMethod := p.learn(p.m, header, methodHeaders)
	if status == http.StatusTooManyRequests {
		p.throttled(now, header)
		return
	}
	// An answer that states one kind of limits only says that there are none of
	// the other kind for it; one without any says nothing.
	p.h.app.known = p.h.app.known || toldMethod && status < 500
	p.m.known = p.m.known || told && status < 500
	if told || status/100 == 2 {
		p.h.app.gate.proved(p.appEpoch)
	}
	served := status < 500 && (told || toldMethod) || status/100 == 2
	p.recovered(p.h.app, p.appEpoch, served)
	p.recovered(p.m, p.methodEpoch, served)
	if status == http.StatusServiceUnavailable {
		p.unavailable(now, header)
	}
}

// unavailable obeys a 503 that says when to come back: it is about the service behind the method, not
// about this call.
func (p *Permit) unavailable(now instant, header http.Header) {
	d, ok := ParseRetryAfter(header.Get("Retry-After"), time.Now())
	if !ok {
		return
	}
	first := p.methodEpoch == p.m.gate.epoch
	p.m.hold(now, p.bound+d+margin, Unavailable, first)
	if first {
		p.m.gate.close(recovering)
	}
}

// recovered ends the doubling of back-off after an answer that is no 429, and a long
// hold if the call was served, unless it went before the last 429.
func (p *Permit) recovered(s *scope, epoch uint64, served bool) {
	if epoch == s.gate.epoch {
		s.block.strikes = 0
		if served && s.block.asks > 0 {
			s.block = block{}
		}
		s.pace.passed++
	}
}

// learn takes in one scope's limits and counts, and reports whether the answer
// told its count. Missing or unreadable headers change nothing.
func (p *Permit) learn(s *scope, header http.Header, names headers) bool {
	limits, err := parseLimits(header.Get(names.limit))
	first := !s.stated()
	if (err == nil || len(limits) > 0 && first) && s.learn(limits) {
		s.taught = time.Now().Round(0)
		if first && p.l.opts.Keeps && !s.unkept {
			s.unkept = true
			p.l.unkept++
		}
		p.readNew(s)
	}
	counts, err := parseCounts(header.Get(names.count))
	if err != nil || p.gone || p.adopted {
		p.uncounted(s)
		return false
	}
	strangers := 0
	for _, c := range counts {
		for _, w := range s.windows {
			if w.Per == c.Per && !w.ceiling {
				strangers = max(strangers, w.count(min(c.N, 2*w.N), p.granted, p.bound, &s.tally))
				p.serverCount(w, c.N)
			}
		}
	}
	s.strangers(strangers, p.bound)
	return true
}

// serverCount notes the server's count in the receipt.
func (p *Permit) serverCount(w *window, n int) {
	for i := range p.receipt.Buckets {
		if p.receipt.Buckets[i].Bucket == w.name {
			p.receipt.Buckets[i].Server = n
		}
	}
}

// readNew adds the buckets that this very answer told of to the receipt.
func (p *Permit) readNew(s *scope) {
	for _, w := range s.windows {
		if w.server < 0 && !w.ceiling {
			p.receipt.Buckets = append(p.receipt.Buckets, s.reading(w))
		}
	}
}

// compare adds our own count of each bucket to the receipt, for whoever asks later
// how it stood beside the server's. The span is the window's own: what a guard
// adds is our caution, not the server's.
func (p *Permit) compare() {
	for i := range p.receipt.Buckets {
		r := &p.receipt.Buckets[i]
		t := &p.h.app.tally
		if r.Scope.Method != "" {
			t = &p.m.tally
		}
		r.Ours = t.ownCountable(p.granted, p.bound, r.Limit.Per)
	}
}

// throttled obeys a 429: application blocks the host, every
// other kind the method. A 429 that names no time is answered by the length of
// the window it says is over, else by doubling waits.
func (p *Permit) throttled(now instant, header http.Header) {
	kind := throttleKind(header.Get("X-Rate-Limit-Type"))
	s, epoch := p.m, p.methodEpoch
	if kind == Application {
		s, epoch = p.h.app, p.appEpoch
	}
	var over []*window
	if kind == Application || kind == Method {
		over = s.over(header)
		s.mistrust(now, p.bound, over)
	}
	first := epoch == s.gate.epoch // later answers of the same burst add no strike
	if first {
		s.block.strikes++
	}
	until := p.openAgain(now, s, header, over)
	s.hold(now, until, kind, first)
	if first && kind != Service && !s.stated() {
		s.pace.refuse(now, until)
	}
	if first {
		s.gate.close(recovering)
	}
	p.receipt.Throttle, p.receipt.RetryAt = kind, p.l.at(s.block.until)
}

func throttleKind(header string) Kind {
	kind := Kind(strings.ToLower(strings.TrimSpace(header)))
	switch kind {
	case Application, Method, Service:
		return kind
	}
	return Unknown
}

// over lists the buckets that an answer's counts show to be full, shortest first.
func (s *scope) over(header http.Header) (full []*window) {
	names := methodHeaders
	if s.Method == "" {
		names = appHeaders
	}
	counts, _ := parseCounts(header.Get(names.count))
	for _, w := range s.windows {
		for _, c := range counts {
			if c.Per == w.Per && c.N >= w.N && !w.ceiling {
				full = append(full, w)
			}
		}
	}
	return full
}

// mistrust follows a 429 that was answered at an instant: the buckets that it names, or
// all of the scope if it names none, are handled with more care. Where the server had
// told of strangers before, they and not our counting are the cause.
func (s *scope) mistrust(now, answered instant, full []*window) {
	if full == nil {
		full = s.windows
	}
	for _, w := range full {
		if after(s.foreign, answered-w.Per) == after(s.foreign, answered-1) {
			w.mistrust(now)
		}
	}
}

// openAgain is when the scope of a 429 opens.
func (p *Permit) openAgain(now instant, s *scope, header http.Header, over []*window) instant {
	if d, ok := ParseRetryAfter(header.Get("Retry-After"), time.Now()); ok {
		return p.bound + d + margin
	}
	if len(over) > 0 {
		return p.bound + over[len(over)-1].Per
	}
	return now + backoff(s.block.strikes)
}

// backoff is 1, 2, 4 ... 64 s and up to a quarter more, so that several clients
// of a recovering service do not come back together.
func backoff(strikes int) time.Duration {
	d := largestBackoff
	if strikes < 7 {
		d = time.Second << max(0, strikes-1)
	}
	return d + time.Duration(rand.Int64N(int64(d/4)))
}

// Done ends the permit with the answer's status and headers. It learns limits,
// reconciles our counts with the server's and obeys a 429. Call it as soon as
// the headers are read; the body does not matter to the limits. For a 429 the
// receipt says when its scope opens again.
func (p *Permit) Done(status int, header http.Header) Receipt {
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	if p.ended {
		return p.receipt
	}
	now := p.l.now()
	p.resolve(now)
	p.receipt.Status = status
	p.observe(now, status, header)
	p.compare()
	p.end(status != http.StatusTooManyRequests)
	p.l.notify(p.h, now)
	return p.receipt
}
