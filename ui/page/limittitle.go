package page

import (
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// limitsNote says where the limits are known from and since when, what waits for
// them, and how many calls went before they were known.
func limitsNote(v *View) string {
	if len(v.Limits.Buckets) == 0 {
		return ""
	}
	facts := []string{"learnt" + learntAt(v), count(waiting(v)) + " wait", count(v.Limits.Blind()) + " blind"}
	if v.Size != S {
		facts = []string{
			hostNames(v), "learnt from headers" + learntAt(v),
			human.Counted(waiting(v), "call waits", "calls wait"), human.Counted(v.Limits.Blind(), "blind call", "blind calls"),
		}
	}
	return strings.Join(facts, " "+v.Theme.Glyphs.Sep+" ")
}

// learntAt is when a header last told of other limits; "" = that is not known.
func learntAt(v *View) string {
	at := v.Limits.Learnt()
	if at.IsZero() {
		return ""
	}
	at = at.In(v.Now.Location())
	if at.Format(time.DateOnly) == v.Now.Format(time.DateOnly) {
		return " " + at.Format("15:04")
	}
	return " " + at.Format("2 Jan 15:04")
}

// namedHosts is how many hosts a title names.
const namedHosts = 3

// hostNames are the hosts that have windows, as a title names them.
func hostNames(v *View) string {
	all := hostsOf(v)
	if len(all) <= namedHosts {
		return strings.Join(all, ", ")
	}
	return strings.Join(all[:namedHosts-1], ", ") + " and " + count(len(all)-namedHosts+1) + " more"
}

// hostsOf are the hosts that have windows, in their own order.
func hostsOf(v *View) []string {
	var out []string
	for _, b := range limitsOf(v) {
		if !slices.Contains(out, b.Host) {
			out = append(out, b.Host)
		}
	}
	return out
}

// howGood says, where there is room, how good our counts are.
func howGood(v *View) string {
	if v.Size == S || !v.Ready {
		return ""
	}
	// Where no engine runs, the 429s are of a simulator's clients.
	if n := v.Engine.Unforeseen; n > 0 && v.Engine.State == engine.EngineBrowse {
		return "429s " + count(int(v.Engine.Throttled)) + ", " + count(int(n)) + " broke a limit"
	}
	return foreseen(int(v.Engine.Throttled), int(v.Engine.Unforeseen))
}

// foreseen says how many of the 429s came without our counts expecting them.
func foreseen(all, unforeseen int) string {
	switch {
	case all == 0:
		return "no 429 since the start"
	case unforeseen == 0:
		return "429s " + count(all) + ", all foreseen"
	}
	return "429s " + count(all) + ", " + count(unforeseen) + " not foreseen"
}

// moreThan says how many windows there is no room for, else how good our counts are.
func moreThan(v *View, hidden int) string {
	if hidden > 0 {
		return count(hidden) + " more" + v.keyed(": {next pane} goes there")
	}
	return howGood(v)
}
