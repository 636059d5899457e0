package limit

import "time"

const (
	// pacedSpan is the shortest window that is paced: below it nobody sees a gap.
	pacedSpan = 2 * time.Second
	// saturated is a backlog in windows from which the calls that would have to
	// go at once are not worth a burst: spreading them all costs one window.
	saturated = 500
	// samples bounds the work of one look at the places still in use.
	samples = 64

	// operatorSpan is the shortest window that keeps places for an operator.
	operatorSpan = 10 * time.Second
	// operatorWait is how long an operator's call may wait for the next place
	// before a place is kept for it.
	operatorWait = 2 * time.Second
	// operatorStays is how long after his last call an operator counts as present.
	operatorStays = 10 * time.Minute
	// operatorShare is the part of a window that may be kept for an operator.
	operatorShare = 0.05
)

// pace is the instant at which the next bulk call should go through w: now, or a gap
// after the last one, see spread.
func pace(now, last instant, w *window, t *tally, n, free, backlog int) instant {
	if gap := spread(now, last, w, t, n, free, backlog); gap > 0 {
		return max(now, last+gap)
	}
	return now
}

// spread is the gap between bulk calls through w, which has free places of n: 0 for the
// calls on which the end of the backlog depends, else so wide that the places last until
// more come free. backlog counts the waiting calls, the next one included; last is when
// the last bulk call went.
//
// Let rem = (backlog-1) mod n + 1. The backlog cannot end before the rem-th next
// place is free plus whole windows. If rem places are free they are used at once.
// Else calls j = free+1 .. rem have to wait for their places anyway, at r(j); the
// widest even gap that no call has to be delayed for is the largest (r(j)-last)/j,
// and keeping it meets the end, since the rem-th call still goes at r(rem).
func spread(now, last instant, w *window, t *tally, n, free, backlog int) (gap instant) {
	rem := n
	if backlog <= saturated*n {
		rem = (backlog-1)%n + 1
	}
	if w.Per < pacedSpan || free < 1 || rem <= free {
		return 0
	}
	step := max(1, (rem-free)/samples)
	for j := free + 1; j <= rem; j += step {
		gap = max(gap, (placeAt(now, w, t, n, j)-last)/instant(j))
	}
	return gap
}

// placeAt is when the jth place from now on is free, of those that are not free now. A place whose
// call is still in flight comes free at least a window from now.
func placeAt(now instant, w *window, t *tally, n, j int) instant {
	at := w.release(now, t, j-n+w.spent(now, t))
	if at == never {
		at = now + w.span()
	}
	if w.fast(t, n) && w.opening {
		at = min(at, max(now, w.turn()))
	}
	return at
}

// keep is the instant at which the next bulk call may go if afterwards r places
// shall be free, or come free within operatorWait.
func keep(now instant, w *window, t *tally, n, free, r int) instant {
	if free-1 >= r {
		return now
	}
	at := placeAt(now, w, t, n, r+1)
	return max(now, at-operatorWait)
}

// reserve is how many places of n an operator is kept, given his recent calls:
// none when he is away, else one more than he used just now, up to operatorShare.
func reserve(now instant, w *window, n int, calls []instant) int {
	if w.Per < operatorSpan || len(calls) == 0 || now-calls[len(calls)-1] > operatorStays {
		return 0
	}
	return min(int(operatorShare*float64(n)), 1+after(calls, now-operatorSpan))
}
