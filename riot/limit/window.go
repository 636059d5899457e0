package limit

import "time"

const (
	// lead is how long after the expected reset mode C sends its kept call. It
	// covers the uplink's jitter; see the package comment for why being early
	// or late is harmless.
	lead = 60 * time.Millisecond
	// provenResets is how many impossible-for-a-sliding-log resets turn mode C on.
	provenResets = 3
	// shortest is the shortest window worth mode C. A window of a second never
	// binds beside the longer ones that Riot always sends with it.
	shortest = 5 * time.Second

	firstGuard = 100 * time.Millisecond
	largeGuard = 2 * time.Second
	guardTime  = 10 * time.Minute
)

// window is one bucket: at most N calls of its scope per Per.
type window struct {
	Limit
	name    string // "app:europe 120s"
	ceiling bool   // set by the operator's configuration, not by a header

	server  int     // last count the server told, -1 before the first
	counted instant // when it told

	guard      instant // added to Per after a 429 of our own making
	guardUntil instant

	resets  int  // seen, that no sliding log can show
	banned  bool // mode C is off for good
	ref     reference
	opened  instant // when the call was sent that was answered with count 1
	opening bool    // opened is known
	aliens  aliens
}

// reference is the answer that mode C's bound is built on.
type reference struct {
	count int
	sent  instant
	known bool
}

func newWindow(scope string, l Limit, ceiling bool) *window {
	name := scope + " " + seconds(l.Per)
	if ceiling {
		name += " (ceiling)"
	}
	return &window{Limit: l, name: name, ceiling: ceiling, server: -1}
}

// span is how long an entry counts.
func (w *window) span() instant { return w.Per + w.guard }

// fixed reports whether the server's windows are proven to be fixed ones, and what it told bounds their use.
func (w *window) fixed() bool {
	return w.Per >= shortest && w.resets >= provenResets && !w.banned && w.ref.known && w.ref.count > 0
}

// fast reports whether mode C holds in a window of n: what it wins is more than a place or so per window, or
// it is the last one.
func (w *window) fast(t *tally, n int) bool {
	worth := w.Per*10 < 3*time.Second*time.Duration(w.N) // 1/N < 0.3 s/Per
	return w.fixed() && (worth || w.ends(t, n))
}

// ends reports whether all calls that are left fit into the server's present window of n: none of them has to
// wait for a place that an earlier window's pace gives free.
func (w *window) ends(t *tally, n int) bool {
	return w.fixed() && w.hold() == 0 && t.left <= n-w.taken(t)
}

// spent counts the places in use by mode A.
func (w *window) spent(now instant, t *tally) int {
	cut := now - w.span()
	return t.held + t.flying + after(t.own, cut) + max(after(t.foreign, cut), w.hold())
}

// proven is mode C's bound on the places in use. The reference itself is both
// in its own count and after its own grant, hence the -1.
func (w *window) proven(t *tally) int { return w.ref.count + t.since(w.ref.sent) - 1 }

// taken is how many places of the server's present window are in use: what is proven, and no
// less than it told itself since the reference.
func (w *window) taken(t *tally) int {
	if w.counted < w.ref.sent {
		return w.proven(t)
	}
	return max(w.proven(t), w.server)
}

// turn is when the call that mode C keeps back may go.
func (w *window) turn() instant {
	if !w.opening {
		return 0
	}
	return w.opened + w.span() + lead
}

// free counts the calls that may go now if n are allowed per window; not
// positive when none may.
func (w *window) free(now instant, t *tally, n int) int {
	free := n - w.spent(now, t)
	if free < 1 && w.idle(now, t) {
		return 1
	}
	if !w.fast(t, n) {
		return free
	}
	free = max(free, n-w.proven(t))
	if now < w.turn() && !w.ends(t, n) {
		free--
	}
	return free
}

// freeAt is the earliest instant at which a call may go, provided that nothing
// happens until then; never if that takes an answer first.
func (w *window) freeAt(now instant, t *tally, n int) instant {
	if w.free(now, t, n) > 0 {
		return now
	}
	excess := w.spent(now, t) - n
	one := w.release(now, t, excess+1)
	if !w.fast(t, n) {
		return one
	}
	best := min(w.release(now, t, excess+2), max(one, w.turn()))
	if w.proven(t) < n {
		best = min(best, max(now, w.turn()))
	}
	return best
}

// release is when the kth of the places now in use comes free by mode A: now
// for k < 1, never when that place is still in flight.
func (w *window) release(now instant, t *tally, k int) instant {
	if k < 1 {
		return now
	}
	cut := now - w.span()
	own, foreign := after(t.own, cut), after(t.foreign, cut)
	at := never
	if foreign == 0 {
		at = w.ownRelease(t, own, k)
	} else {
		at = w.mergedRelease(t, own, foreign, k)
	}
	if at == never && t.flying+t.held == 0 && own+foreign > 0 { // then it is idle
		at = max(last(t.own), last(t.foreign)) + w.span()
	}
	return at
}

// last is the latest of s, which is ascending.
func last(s []instant) instant {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1]
}

// idle reports whether nobody is known to use the window. Then one call may go whatever is
// kept for strangers and however small the part is that may be used: only its answer can tell more.
func (w *window) idle(now instant, t *tally) bool {
	cut := now - w.span()
	return t.flying+t.held+after(t.own, cut)+after(t.foreign, cut) == 0
}

// hold is what is kept for strangers, besides a tenth that is ours whatever they do.
func (w *window) hold() int { return min(w.aliens.hold(), w.N-1-w.N/10) }

func (w *window) ownRelease(t *tally, own, k int) instant {
	if k > own {
		return never
	}
	return t.own[len(t.own)-own+k-1] + w.span()
}

// mergedRelease walks both kinds of entries in order. While more is held back
// for strangers than they use, one of theirs expiring frees nothing.
func (w *window) mergedRelease(t *tally, own, foreign, k int) instant {
	hold := w.hold()
	for own+foreign > 0 {
		var bound instant
		if foreign == 0 || own > 0 && t.own[len(t.own)-own] <= t.foreign[len(t.foreign)-foreign] {
			bound = t.own[len(t.own)-own]
			own--
			k--
		} else {
			bound = t.foreign[len(t.foreign)-foreign]
			if foreign > hold {
				k--
			}
			foreign--
		}
		if k == 0 {
			return bound + w.span()
		}
	}
	return never
}

// count takes in the server's count c of our call granted at sent and answered
// at answered, whose own entry is in t already. A count below ours is a reset or
// reordering and frees nothing; one above it tells of somebody else's calls.
func (w *window) count(c int, sent, answered instant, t *tally) (strangers int) {
	w.server, w.counted = c, answered
	if c == 1 {
		switch {
		case w.opening && sent < w.opened+w.Per/2: // on the grid of a clock one may, which costs speed alone
			w.resets = 0
		case t.certain(answered-w.Per, sent) > 0:
			w.resets++
		}
		w.opened, w.opening = sent, true
	}
	strangers = max(0, c-t.countable(sent, answered, w.span()))
	w.aliens.saw(strangers, answered, w.Per)
	candidate := reference{count: c, sent: sent, known: c > 0}
	if candidate.known && (!w.ref.known || c+t.since(sent) <= w.ref.count+t.since(w.ref.sent)) {
		w.ref = candidate
	}
	return strangers
}

// mistrust is called after a 429 of our own making: mode C ends for this bucket
// and entries count a little longer for a while.
func (w *window) mistrust(now instant) {
	w.banned = true
	w.guard = min(max(firstGuard, 2*w.guard), largeGuard, w.Per/4)
	w.guardUntil = now + guardTime
}

// relax ends the guard when its time is over.
func (w *window) relax(now instant) {
	if w.guard > 0 && now >= w.guardUntil {
		w.guard = 0
	}
}

// forget drops what only holds while answers arrive in the order of events.
func (w *window) forget() {
	w.ref, w.opening = reference{}, false
}

// aliens remembers how much of the window strangers used in its last five spans.
type aliens struct {
	most  [5]int
	slot  instant // number of the span that most[0] describes
	begun bool
}

// saw adds n calls of strangers at now; it must also be called with 0, so that quiet
// spans are noticed. A span in which the server told nothing was not quiet: nothing is known of it. A client
// that was refused and kept away would otherwise come back as if it were alone.
func (a *aliens) saw(n int, now, per instant) {
	slot := now / per
	if !a.begun {
		a.begun, a.slot = true, slot
	}
	if a.slot < slot {
		copy(a.most[1:], a.most[:])
		a.slot, a.most[0] = slot, 0
	}
	a.most[0] += n
}

// hold is what to keep free for strangers: 1.2 times their largest use when
// they were there in three of the last five spans, else nothing.
func (a *aliens) hold() int {
	seen, most := 0, 0
	for _, n := range a.most {
		if n > 0 {
			seen++
		}
		most = max(most, n)
	}
	if seen < 3 {
		return 0
	}
	return (most*6 + 4) / 5
}
