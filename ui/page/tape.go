package page

import (
	"time"

	"github.com/farsight-console/farsight/engine"
)

// TapeEvery is how often a list of calls moves on. Each new call moves all of its
// rows: ten times a second that would be most of what a terminal is sent.
// The overview only gives an impression: its panels move less often.
const (
	TapeEvery    = time.Second
	OverviewTape = 3 * time.Second
)

// Tape is the flight recorder as it was at most Every ago. Whoever draws calls takes them through a
// Tape, which holds the old list until that time is over.
type Tape struct {
	Every time.Duration
	Then  bool // a view that was frozen shows only what there was at its instant
	Calls []engine.CallRow
	at    time.Time
}

// Take gives the calls to show, oldest first. It takes the newest at once if there were none, if
// the view is frozen, or if the clock was set back: age is below zero then, and a wait for it could
// take hours.
func (t *Tape) Take(v *View) []engine.CallRow {
	if t.Then && v.Frozen {
		return UpTo(v.Calls, v.Now)
	}
	if age := v.Now.Sub(t.at); age >= v.Unhurried(t.Every) || age < 0 || len(t.Calls) == 0 || v.Frozen {
		t.Calls, t.at = v.Calls, v.Now
	}
	if LastSeq(t.Calls) != LastSeq(v.Calls) {
		v.Ticks = true // there are newer ones to show within the second
	}
	return t.Calls
}

// UpTo are the calls that had been made by an instant. It looks from the end, since that instant is
// mostly a short time ago.
func UpTo(calls []engine.CallRow, at time.Time) []engine.CallRow {
	n := len(calls)
	for n > 0 && calls[n-1].At.After(at) {
		n--
	}
	return calls[:n]
}

// LastSeq is the number of the newest call, which tells one list of calls from another; 0 = there
// is no call.
func LastSeq(calls []engine.CallRow) uint64 {
	if len(calls) == 0 {
		return 0
	}
	return calls[len(calls)-1].Seq
}

// Foot is what stands below a page that leaves room, whatever the page: the last day, and the calls that
// were made last. It is asked for once a minute: an idle screen is silent between minutes.
type Foot struct {
	Day     []engine.TrafficSpan // by half an hour, the oldest first
	calls   Tape
	pending bool
	asked   time.Time
}

// Calls are those that were made last, oldest first; in a frozen view those of its instant. The limits and counts beside
// them move each second too.
func (f *Foot) Calls(v *View) []engine.CallRow {
	f.calls.Every, f.calls.Then = TapeEvery, true
	return f.calls.Take(v)
}

// Want is the question about the day when it is due; nil = it is not.
func (f *Foot) Want(v *View) engine.Query {
	if f.pending || !v.Ready || v.Frozen || v.Now.Truncate(time.Minute).Equal(f.asked.Truncate(time.Minute)) {
		return nil
	}
	f.pending, f.asked = true, v.Now
	return engine.MetricsQuery{Traffic: true}
}

// Got takes the answer; an error keeps what there was until the next minute.
func (f *Foot) Got(_ *View, _ engine.Query, a engine.Answer, err error) {
	f.pending = false
	if m, ok := a.(engine.Metrics); ok && err == nil {
		f.Day = m.Traffic
	}
}
