package traffic

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// steady is in how many answers the server must have counted more than us before
// it is said that another process uses the key: one answer may be an accident.
const steady = 3

// inspect looks into the 429 that is the last of calls. cut says that the recorder
// does not reach back to the start. It is pure: the same calls always get the same verdict.
func inspect(calls []seen, cut bool) engine.Forensics {
	call := calls[len(calls)-1].CallRow
	told, above := strangers(calls)
	f := engine.Forensics{
		Call: call, Kind: kindOf(call.Class), Windows: call.Counts,
		ClockOffset: clockOffset(calls), Foreign: above >= steady,
	}
	w, known := decisive(f)
	if known {
		f.Spent = spentBy(calls, w, cut)
	}
	f.Text = verdict(f, w, known, told, above) + clockWords(f.ClockOffset)
	return f
}

// decisive is the window that the 429 was about: of the refused scope, the one
// that is nearest its limit by the server's count, or by ours when it told none.
func decisive(f engine.Forensics) (best engine.WindowCount, known bool) {
	scope := appScope
	if f.Kind == "method" {
		scope = f.Call.Method
	}
	for _, w := range f.Windows {
		if w.Scope == scope && (!known || fill(w) > fill(best)) {
			best, known = w, true
		}
	}
	return best, known
}

// fill is how full a window is; a longer one wins a tie, since it frees last.
func fill(w engine.WindowCount) float64 {
	n := w.Server
	if n < 0 {
		n = w.Ours
	}
	return float64(n)/float64(max(w.Limit, 1)) + w.Window.Seconds()*1e-9
}

// verdict is the one sentence. It goes from what Riot's answer says by its type to what its counts say,
// and claims no more than the counts bear:
//
//	service, or no type                  Riot's own trouble, not our count
//	no count in the answer               nobody can tell who used it
//	Riot's count above ours, steadily    another process uses the key
//	Riot's count above ours, once        somebody did in passing
//	below the limit                      a limit that no header shows
//	else                                 our own calls used it up
func verdict(f engine.Forensics, w engine.WindowCount, known bool, told, above int) string {
	switch f.Kind {
	case "service":
		return fmt.Sprintf("Riot's own service behind %s refused the call (429 of type service): no limit of the key was reached, so nothing of ours caused it", f.Call.Method) + foreignToo(f)
	case "application", "method":
	default:
		return fmt.Sprintf("the 429 to %s named no type: a proxy or shard in front of Riot's API refused the call, not one of its rate limits", f.Call.Method) + foreignToo(f)
	}
	name := scopeName(f, known)
	switch {
	case !known || w.Server < 0:
		return fmt.Sprintf("Riot says that the limit of %s is used up, but its answer did not say what it had counted, so it cannot be told who used it", name) + foreignToo(f)
	case w.Drift() > 0 && f.Foreign:
		return fmt.Sprintf("another process uses this key: on %s Riot had counted %s in %s where we had made at most %d, so %s not ours; %d of the last %d answers said so",
			name, human.Counted(w.Server, "call", "calls"), human.Window(w.Window), w.Ours,
			human.Counted(w.Drift(), "is", "are"), above, told)
	case w.Drift() > 0:
		return fmt.Sprintf("on %s Riot had counted %s in %s where we had made at most %d, so %s not ours: either another program used this key in passing, or one has just begun to",
			name, human.Counted(w.Server, "call", "calls"), human.Window(w.Window), w.Ours,
			human.Counted(w.Drift(), "is", "are"))
	case w.Server < w.Limit:
		return belowLimit(f, w, name) + foreignToo(f)
	}
	return fmt.Sprintf("our own calls used up %s: Riot had counted %d of %d in %s and we at most %d; the bucket is handled with more care for ten minutes",
		name, w.Server, w.Limit, human.Window(w.Window), w.Ours) + foreignToo(f)
}

// belowLimit: the counts of the answer itself contradict the refusal.
func belowLimit(f engine.Forensics, w engine.WindowCount, name string) string {
	cause := "a limit of Riot's service/method that its headers do not show, not one of ours"
	if f.Kind == "application" {
		cause = "Riot refused the key for a reason that its headers do not show"
	}
	return fmt.Sprintf("%s was refused although Riot had counted only %d of %d in %s (we: %d): %s", name, w.Server,
		w.Limit, human.Window(w.Window), w.Ours, cause)
}

// foreignToo adds what the answers before have shown, when it is not the cause.
func foreignToo(f engine.Forensics) string {
	if !f.Foreign {
		return ""
	}
	return "; besides, another process uses this key: Riot's counts have been above ours"
}

// scopeName names what was used up, as in "method match-v5.match of europe".
func scopeName(f engine.Forensics, known bool) string {
	if f.Kind == "method" {
		return "method " + f.Call.Method + " of " + f.Call.Host
	}
	if known {
		return "application " + f.Call.Host
	}
	return f.Call.Host
}

// worthSaying is the clock offset that a person should know of: below, it is the
// grain of the Date header and the way of the answer.
const worthSaying = time.Second

// clockWords adds the offset of the server's clock to a verdict: windows that we take to have ended may
// go on there.
func clockWords(d time.Duration) string {
	if d.Abs() < worthSaying {
		return ""
	}
	side := "ahead of"
	if d < 0 {
		side = "behind"
	}
	return fmt.Sprintf("; the server's clock is %.1f s %s ours", d.Abs().Seconds(), side)
}
