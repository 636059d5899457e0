package sim

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/riot/sim/internal/keyed"
	"github.com/klauspost/compress/gzip"
)

// plain is the body without compression.
func (a *answer) plain() []byte {
	if a.gz == nil {
		return a.body
	}
	zr, err := gzip.NewReader(bytes.NewReader(a.gz))
	if err != nil {
		return a.body
	}
	raw, err := io.ReadAll(zr)
	if err != nil {
		return a.body
	}
	return raw
}

// wire is the body as it is sent to c, and whether that is gzip.
func (a *answer) wire(c *call) (body []byte, compressed bool) {
	switch {
	case !c.gzip:
		return a.plain(), false
	case a.gz == nil && len(a.body) > 1024 && len(a.body) < 1<<20:
		return compress(a.body), true
	case a.gz != nil:
		return a.gz, true
	}
	return a.body, false
}

// finish adds what every answer that reached the limiter carries.
func (s *Sim) finish(c *call, a *answer) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dress(c, a)
}

// dress puts the rate limit headers on a. The caller holds the lock.
func (s *Sim) dress(c *call, a *answer) *answer {
	if a.limitType != "" {
		a.set("X-Rate-Limit-Type", a.limitType)
	}
	if a.retryAfter != "" {
		a.set("Retry-After", a.retryAfter)
	}
	s.rememberWait(c, a)
	if a.noHeaders {
		return a
	}
	reversed := keyed.Start(s.opt.Seed).Str("order").Num(uint64(s.log.total)).Below(2) == 0
	limits, counts := s.windows(scope{c.key, c.host, ""}).headers(reversed)
	a.set("X-App-Rate-Limit", limits)
	a.set("X-App-Rate-Limit-Count", counts)
	limits, counts = s.windows(scope{c.key, c.host, c.method}).headers(reversed)
	a.set("X-Method-Rate-Limit", limits)
	a.set("X-Method-Rate-Limit-Count", counts)
	return a
}

func (a *answer) set(name, value string) {
	if a.header == nil {
		a.header = map[string]string{}
	}
	a.header[name] = value
}

// headers is the full set for a body of n bytes.
func (a *answer) headers(compressed bool, n int) http.Header {
	h := http.Header{}
	for name, value := range a.header {
		h.Set(name, value)
	}
	h.Set("Date", time.Now().Add(a.skew).UTC().Format(http.TimeFormat))
	h.Add("Vary", "Origin")
	h.Add("Vary", "accept-encoding")
	if compressed {
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(n))
	return h
}

// grace is how long after a 429, beside twice the latency, calls may still arrive that were on their
// way when it was sent.
const grace = 300 * time.Millisecond

// rememberWait notes what a 429 asked for, to tell whether the client obeys.
func (s *Sim) rememberWait(c *call, a *answer) {
	seconds, err := strconv.Atoi(a.retryAfter)
	if a.status != http.StatusTooManyRequests || err != nil || seconds <= 0 {
		return
	}
	sc := scope{c.key, c.host, c.method}
	if a.limitType == "application" {
		sc.method = ""
	}
	now := time.Now()
	seconds = int(math.Min(float64(seconds), 24*3600)) // nobody has to obey more than a day
	l := s.opt.Latency
	from := now.Add(grace + 2*s.scaled(max(0, l.Base+l.Jitter)))
	s.told[sc] = wait{from, now.Add(time.Duration(seconds) * time.Second)}
}

// noticeHaste counts calls that were made while a Retry-After ran.
func (s *Sim) noticeHaste(c *call) {
	for _, sc := range []scope{{c.key, c.host, ""}, {c.key, c.host, c.method}} {
		if w, ok := s.told[sc]; ok && c.arrived.After(w.from) && c.arrived.Before(w.until) {
			s.log.early++
			c.hasty = w.until.Sub(c.arrived)
			return
		}
	}
}
