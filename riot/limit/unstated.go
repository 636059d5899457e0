package limit

import (
	"slices"
	"time"
)

// unstated is the pace of a scope that refuses calls without stating a limit. Its first
// refusal turns it on for as long as no header states one: from then on one call is under
// way at a time, and calls are a gap apart. It is learnt as TCP learns a rate: a refusal
// says how many calls passed in how long, the wait that it imposes included, and makes the
// gap at least that; while nothing is refused the gap shrinks slowly.
type unstated struct {
	gap    instant // between two calls; 0 = nothing was refused
	eased  instant // when the gap was changed last
	last   instant // when a call was granted last
	begun  instant // since when calls have come without a break
	passed int     // those of them that were answered and not refused
}

const (
	leastGap  = 50 * time.Millisecond
	mostGap   = time.Minute
	easeEvery = 5 * time.Minute
	// longBreak is a break after which the calls before it tell nothing of a rate.
	longBreak = 10 * time.Second
)

// grant notes that a call may go.
func (u *unstated) grant(now instant) {
	if now-u.last > max(longBreak, 2*u.gap) && now > u.begun {
		u.begun, u.passed = now, 0
	}
	u.last = now
}

// refuse follows a 429 that shuts the scope until an instant.
func (u *unstated) refuse(now, until instant) {
	gap := 2 * u.gap
	if u.passed > 0 && until-now < LongHold {
		gap = max(u.gap*5/4, (until-u.begun)/instant(u.passed))
	}
	u.gap = min(max(gap, leastGap), mostGap)
	u.eased, u.begun, u.passed = now, until, 0
}

// ease shrinks the gap after a time in which calls were made and none was refused.
func (u *unstated) ease(now instant) {
	if u.gap > 0 && u.passed > 0 && now-u.eased >= easeEvery {
		u.gap, u.eased = max(leastGap, u.gap*3/4), now
	}
}

// stated reports whether a header has told a limit of the scope.
func (s *scope) stated() bool {
	return slices.ContainsFunc(s.windows, func(w *window) bool { return !w.ceiling })
}
