package limit

import (
	"slices"
	"time"
)

// Scope names what a limit covers: a host ("europe", "euw1"), or one method on
// it ("match-v5.match"). An empty Method is the whole host, Riot's application.
type Scope struct {
	Host   string
	Method string
}

// String is the name that buckets start with: "app:europe", "match-v5.match:europe".
func (s Scope) String() string {
	if s.Method == "" {
		return "app:" + s.Host
	}
	return s.Method + ":" + s.Host
}

// Kind says what stops a scope.
type Kind string

// The kinds of blocks. The first three are the values of X-Rate-Limit-Type;
// any other value of that header counts as absent.
const (
	Application Kind = "application"
	Method      Kind = "method"
	Service     Kind = "service"
	Unavailable Kind = "503"       // an answer 503 that named a time
	Unknown     Kind = "unknown"   // a 429 of a proxy or shard
	Restart     Kind = "restart"   // the state of an earlier run was lost
	NoAnswer    Kind = "no answer" // a call was lost before the limits were known
	Frozen      Kind = "frozen"    // by an operator
)

// block is the server's order to keep away.
type block struct {
	kind    Kind
	until   instant
	asks    instant // of one above LongHold: when a call may ask whether it still holds; 0 = of others
	strikes int     // 429s in a row that named no time
}

// LongHold is the longest wait that a server's word alone imposes. One that is longer may be a slip
// of somebody's clock or pen: a single call asks each LongHold whether it still holds, and the first
// that is served ends it.
const LongHold = 10 * time.Minute

// hold shuts the scope until an instant. fresh says that the call which brought the order went after
// the one before: what it says of a long hold is believed in its place.
func (s *scope) hold(now, until instant, kind Kind, fresh bool) {
	if until < s.block.until && !(fresh && s.block.asks > 0) {
		return
	}
	s.block.kind, s.block.until, s.block.asks = kind, until, 0
	if until-now > LongHold+margin {
		s.block.asks = now + LongHold
	}
}

// freeze is an operator's order: at most percent of each limit until an instant.
type freeze struct {
	wall    time.Time // the operator's instant, without a monotonic reading; zero: until thawed
	until   instant   // the same; never: until thawed
	percent int       // 0 stops the scope
	reason  string
}

// scope is one host or one method on it, with its log and its buckets.
type scope struct {
	Scope
	name string
	tally
	windows []*window // ascending by span
	known   bool      // the server told its limits, or told others and none for this scope
	taught  time.Time // when a header last stated other limits than were known; zero: none did
	unkept  bool      // nobody would know the limits after a kill, see Options.Keeps
	gate    gate
	block   block
	freeze  *freeze
	pace    unstated

	full     bool    // each bucket, when learnt, counts as full of calls before fullAt
	fullAt   instant // (the state of an earlier run was lost)
	stall    [2]stall
	lastBulk instant // when the last bulk call was granted
	longest  instant // the longest window ever known: how long the log is kept
}

// stall is since when, and by which bucket, calls of one priority are refused.
type stall struct {
	on     bool
	since  instant
	bucket string
}

// keepUnknown is how long the log is kept before any window is known: the
// longest window that Riot is known to use.
const keepUnknown = 10 * time.Minute

func newScope(key Scope) *scope {
	return &scope{Scope: key, name: key.String(), longest: keepUnknown}
}

// learn installs the limits a header states. A changed set makes new buckets
// over the same log; buckets that stay keep what they know.
func (s *scope) learn(limits []Limit) (changed bool) {
	s.known = true
	var stated []Limit
	kept := make([]*window, 0, len(limits)+1)
	for _, w := range s.windows {
		if w.ceiling {
			kept = append(kept, w)
			continue
		}
		stated = append(stated, w.Limit)
	}
	if slices.Equal(stated, limits) {
		return false
	}
	for _, l := range limits {
		kept = append(kept, s.window(l))
	}
	slices.SortStableFunc(kept, func(a, b *window) int { return int(min(1, max(-1, a.Per-b.Per))) })
	s.windows, s.pace = kept, unstated{}
	return true
}

// window finds the bucket of l or makes it.
func (s *scope) window(l Limit) *window {
	for _, w := range s.windows {
		if w.Limit == l && !w.ceiling {
			return w
		}
	}
	w := newWindow(s.name, l, false)
	s.longest = max(s.longest, l.Per+largeGuard)
	if s.full {
		s.assume(l.N-w.spent(s.fullAt, &s.tally), s.fullAt)
	}
	return w
}

// fill makes every bucket, known or still to be learnt, count as full of calls
// made before now.
func (s *scope) fill(now instant) {
	s.full, s.fullAt = true, now
	for _, w := range s.windows {
		if !w.ceiling {
			s.assume(w.N-w.spent(now, &s.tally), now)
		}
	}
}

// allowed is how many calls w may hold: the header's limit, lowered by an operator's cap.
func (s *scope) allowed(w *window, now instant) int {
	n := w.N
	if s.frozen(now) && s.freeze.percent > 0 {
		n = n * s.freeze.percent / 100
	}
	return max(n, 1)
}

// perSecond is the rate of a bucket that allows n calls.
func perSecond(w *window, n int) float64 { return float64(n) / w.Per.Seconds() }

// frozen reports whether an operator's freeze or cap is in force.
func (s *scope) frozen(now instant) bool {
	return s.freeze != nil && now < s.freeze.until
}

// stopped is the instant until which nothing of the scope may go, not even a
// call that asks whether a long hold is over, and why; now itself if nothing stops it.
func (s *scope) stopped(now instant) (until instant, kind Kind) {
	until = now
	opens := s.block.until
	if s.block.asks > 0 {
		opens = min(opens, s.block.asks)
	}
	if opens > until {
		until, kind = opens, s.block.kind
	}
	if s.frozen(now) && s.freeze.percent == 0 && s.freeze.until > until {
		until, kind = s.freeze.until, Frozen
	}
	return until, kind
}

// tidy drops what no bucket can need any more.
func (s *scope) tidy(now instant) {
	s.prune(now - s.longest)
	s.pace.ease(now)
	for _, w := range s.windows {
		w.relax(now)
	}
	if s.freeze != nil && now >= s.freeze.until {
		s.freeze = nil
	}
}
