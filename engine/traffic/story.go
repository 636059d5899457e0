package traffic

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
)

// story writes into the log what Riot answered and what that opened and closed.
// Its methods are called under locks: they write one line and ask nobody. One line per thing that began
// or ended, such as:
//
//	warn  hold begun by a 429   type=application until=2026-11-24T03:00:08Z
//	info  hold over             type=application took=8000 more=3
type story struct {
	limiter, riot zerolog.Logger

	mu    sync.Mutex
	holds map[limit.Scope]closed // begun by a 429 and not yet over
	heard bool                   // Riot has answered well since the start
}

// closed is a scope that a 429 has closed.
type closed struct {
	kind         limit.Kind
	since, until time.Time
	more         int // 429s after the first
}

// call writes one exchange: trouble as a warning, the rest for whoever looks
// closely. A 404 is an answer like others, and a call that was stopped is somebody's wish.
func (s *story) call(c riot.Call) {
	switch c.Status {
	case 429:
		s.held(c)
	case 200:
		s.mu.Lock()
		again := s.heard
		s.heard = true
		s.mu.Unlock()
		if !again {
			s.riot.Info().Str("route", c.Host).Msg("key accepted: the first call was answered")
		}
	}
	ev := s.riot.Debug()
	if c.Class != "" && c.Class != riot.ClassMissing && c.Class != riot.ClassStopped && c.Class != riot.ClassUnread {
		ev = s.riot.Warn()
	}
	if !ev.Enabled() {
		return
	}
	ev = ev.Str("method", c.Method).Str("route", c.Host).Str("target", c.Target).Int("status", c.Status).
		Dur("took", human.Logged(c.Latency))
	if c.Job != "" {
		ev = ev.Str("job", c.Job)
	}
	if c.Proof {
		ev = ev.Bool("proof", true)
	}
	if c.Class != "" {
		ev = ev.Str("class", c.Class)
	}
	if c.Waited > 0 {
		ev = ev.Dur("wait", human.Logged(c.Waited)).Str("bucket", c.PacedBy)
	}
	if c.TraceID != "" {
		ev = ev.Str("trace", c.TraceID)
	}
	ev.Msg(callWords(c))
}

// callWords is the message of a call's line: few and fixed, so that a log can be searched for them.
func callWords(c riot.Call) string {
	switch {
	case c.Status == 429:
		return "call refused: rate limited"
	case c.Class == "" || c.Class == riot.ClassMissing:
		return "call answered"
	case c.Class == riot.ClassStopped:
		return "call stopped"
	case c.Class == riot.ClassUnread:
		return "call made again: its connection had been closed"
	case c.Status == 0:
		return "call without an answer"
	}
	return "call failed"
}

// held notes the scope that a 429 closed. Further ones while it is closed only raise a count: a storm
// of 429s is one line at its begin and one at its end.
func (s *story) held(c riot.Call) {
	scope := limit.Scope{Host: c.Host, Method: c.Method}
	if c.Throttle == limit.Application {
		scope.Method = ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h, again := s.holds[scope]
	if again {
		h.more++
		if c.RetryAt.After(h.until) {
			h.until = c.RetryAt
		}
		s.holds[scope] = h
		return
	}
	s.holds[scope] = closed{kind: c.Throttle, since: time.Now(), until: c.RetryAt}
	ev := s.limiter.Warn().Str("bucket", scope.String()).Str("type", string(c.Throttle)).Str("job", c.Job)
	if !c.RetryAt.IsZero() {
		ev = ev.Time("until", c.RetryAt.UTC())
	}
	ev.Str("app_count", c.AppCount).Str("method_count", c.MethodCount).Msg("hold begun by a 429")
}

// opened writes the end of holds whose time has come.
func (s *story) opened(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for scope, h := range s.holds {
		if now.Before(h.until) {
			continue
		}
		delete(s.holds, scope)
		s.limiter.Info().Str("bucket", scope.String()).Str("type", string(h.kind)).
			Dur("took", human.Logged(now.Sub(h.since))).Int("more", h.more).Msg("hold over")
	}
}

// fuse writes that a fuse blew or was repaired: the key, the network, or an
// endpoint's breaker.
func (s *story) fuse(f *fuse, l Lane) {
	what := fuseWords[f.hold]
	ev, text := s.riot.Info(), what.mended
	if f.blown {
		ev, text = what.at(&s.riot), what.blown
	} else {
		ev = ev.Dur("took", human.Logged(time.Since(f.since)))
	}
	if l != (Lane{}) {
		ev = ev.Str("route", l.Host).Str("method", l.Method)
	}
	if f.blown && !f.probe.IsZero() {
		ev = ev.Time("due", f.probe.UTC())
	}
	ev.Msg(text)
}

var fuseWords = map[engine.Hold]struct {
	at            func(*zerolog.Logger) *zerolog.Event
	blown, mended string
}{
	engine.HoldKeyInvalid:   {(*zerolog.Logger).Error, "key refused, calls are held", "key accepted, calls go on"},
	engine.HoldLocalNetwork: {(*zerolog.Logger).Warn, "network lost, calls are held", "network back, calls go on"},
	engine.HoldOutage: {(*zerolog.Logger).Warn, "breaker opened: outage of an endpoint",
		"breaker closed: the endpoint answers again"},
}
