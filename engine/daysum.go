package engine

import "time"

// Charged reports whether a is an attempt that counts: ended, and no hold.
func (a Attempt) Charged() bool { return a.Number > 0 && !a.End.IsZero() }

// Retry reports whether a is a retry: a charged attempt after the first one of its
// round that told something; and whether it was won, so that another was not
// needed. One that was cut off says nothing about the other side.
func (a Attempt) Retry() (retry, won bool) {
	told, won := a.Told()
	return told && a.Try > 1, won && a.Try > 1
}

// Told reports whether a is a charged attempt that told something of the other side, and
// whether it was won.
func (a Attempt) Told() (told, won bool) {
	if !a.Charged() || a.Try < 1 || a.Verb == VerbInterrupted || a.Verb == VerbAbort {
		return false, false
	}
	return true, a.Verb == VerbDone || a.Verb == VerbWait
}

// UTCDay names the UTC day of an instant as a DaySum does: 2026-11-21.
func UTCDay(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// CountEnded adds n jobs that ended in state s; other states count nothing.
func (d *DaySum) CountEnded(s State, n int64) {
	switch s {
	case Completed:
		d.Completed += n
	case Discarded:
		d.Discarded += n
	case Cancelled:
		d.Cancelled += n
	}
}

// CountAttempt adds n times an attempt that ended on the day; a hold counts
// nothing.
func (d *DaySum) CountAttempt(a Attempt, n int64) {
	if !a.Charged() {
		return
	}
	d.Attempts += n
	retry, won := a.Retry()
	if retry {
		d.Retries += n
	}
	if won {
		d.Won += n
	}
}

// Plus adds up two days' sums; the day stays d's.
func (d DaySum) Plus(o DaySum) DaySum {
	d.Completed += o.Completed
	d.Discarded += o.Discarded
	d.Cancelled += o.Cancelled
	d.Attempts += o.Attempts
	d.Retries += o.Retries
	d.Won += o.Won
	return d
}
