package ui

import "time"

// othersEvery is how often lists are read anew at most for what others do: a script that gives a
// hundred commands a second must not make every console read as often.
const othersEvery = 500 * time.Millisecond

// othersFresh is how long after such a reading rows are shown as they come, however often: its answer is among
// them.
const othersFresh = 300 * time.Millisecond

// others says when the lists are to be read anew because somebody else has given a command.
type others struct {
	due    time.Time // when to read them anew; zero = nobody has done anything
	last   time.Time // it was done
	turned time.Time // it was last done for a turn
}

// fresh reports whether lists were read anew a moment ago.
func (o *others) fresh(now time.Time) bool { return now.Sub(o.last) < othersFresh }

// acted notes that somebody else has changed something, so that lists are read anew. Watch tells of
// live rows only, and what was cancelled while it stood in line was never among them.
func (o *others) acted(now time.Time) {
	if !o.due.IsZero() {
		return
	}
	o.due = now
	// However many act, lists are read twice a second at most.
	if soonest := o.last.Add(othersEvery); soonest.After(now) {
		o.due = soonest
	}
}

// turn has lists read anew at once when what keeps the engine's calls turns: what it foresees comes in one frame with
// that, whatever was read a moment ago.
func (o *others) turn(now time.Time) {
	if now.Sub(o.turned) < othersEvery {
		o.acted(now)
		return
	}
	o.due, o.turned = now, now
}

// reread reports whether the time has come to read the visible list anew, once.
func (o *others) reread(now time.Time) bool {
	if o.due.IsZero() || now.Before(o.due) {
		return false
	}
	o.due, o.last = time.Time{}, now
	return true
}
