package alert

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// maxGap is the longest time between two evaluations that counts as having
// watched: over a longer one, nothing is known to have held.
const maxGap = 2 * time.Minute

// life is how one alert stands. A silence lies over it: the rest goes on below.
type life struct {
	State  engine.AlertState // ok, pending or firing
	Since  time.Time         // of the state
	Clear  time.Time         // firing: since when its rule does not hold; zero = it does
	Seen   time.Time         // last evaluation
	Acked  time.Time         // zero = not
	AckBy  engine.Actor
	Until  time.Time // silenced until; zero = not
	MuteBy engine.Actor
	Muted  time.Time // when
}

// step takes the rule's word at an instant. The rule must hold for wait before the
// alert fires, and not hold for as long before it ends.
func (l *life) step(holds bool, wait time.Duration, now time.Time) {
	if now.Before(l.Seen) || now.Sub(l.Seen) > maxGap {
		l.unwatched(now)
	}
	l.Seen = now
	switch l.State {
	case engine.AlertFiring:
		l.stepFiring(holds, wait, now)
	case engine.AlertPending:
		l.stepPending(holds, wait, now)
	default:
		if holds {
			l.become(engine.AlertPending, now)
			l.stepPending(true, wait, now)
		}
	}
}

// stepPending is step for an alert that waits to fire; with no wait it fires in the same evaluation.
func (l *life) stepPending(holds bool, wait time.Duration, now time.Time) {
	switch {
	case !holds:
		l.become(engine.AlertOK, now)
	case now.Sub(l.Since) >= wait:
		l.become(engine.AlertFiring, now)
	}
}

// stepFiring is step for one that fires. One that holds again begins its way out anew, so that a value
// around its limit rings once.
func (l *life) stepFiring(holds bool, wait time.Duration, now time.Time) {
	if holds {
		l.Clear = time.Time{}
		return
	}
	if l.Clear.IsZero() {
		l.Clear = now
	}
	if now.Sub(l.Clear) >= wait {
		l.become(engine.AlertOK, now)
	}
}

// become enters a state. An acknowledgement is of one firing only.
func (l *life) become(s engine.AlertState, now time.Time) {
	l.State, l.Since, l.Clear = s, now, time.Time{}
	if s != engine.AlertFiring {
		l.Acked, l.AckBy = time.Time{}, engine.Actor{}
	}
}

// unwatched starts anew what was being timed: nobody looked for a while, or the
// clock was set back.
func (l *life) unwatched(now time.Time) {
	if l.State == engine.AlertPending || l.Since.After(now) {
		l.Since = now
	}
	if !l.Clear.IsZero() {
		l.Clear = now
	}
}

// shown is the state that a person sees, and since when. mute is the alert whose
// silence counts.
func (l *life) shown(mute *life, now time.Time) (engine.AlertState, time.Time) {
	switch {
	case now.Before(mute.Until):
		return engine.AlertSilenced, mute.Muted
	case l.State == engine.AlertFiring && !l.Acked.IsZero():
		return engine.AlertAcknowledged, l.Acked
	case l.State == "":
		return engine.AlertOK, l.Since
	}
	return l.State, l.Since
}

// idle reports whether nothing would be lost if the alert was forgotten. A silence that has not ended
// is something to lose.
func (l *life) idle(now time.Time) bool {
	return (l.State == engine.AlertOK || l.State == "") && !now.Before(l.Until)
}
