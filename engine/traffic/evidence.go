package traffic

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot"
)

// mark is what the recorder keeps of an answer besides its row: evidence that
// only a 429 makes interesting.
type mark struct {
	// drift is by how much the server's count was above the most that it can have
	// counted of ours, in the bucket where that is clearest; negative or 0 = not.
	drift int
	told  bool // the answer named counts
	// clock bounds the server's clock less ours, if the answer was dated.
	clock span
	dated bool
}

// span is an interval of time differences.
type span struct{ low, high time.Duration }

// dateGrain is how much a Date header leaves out: it has whole seconds.
const dateGrain = time.Second

// markOf reads the evidence of one answer. It was dated at some instant between
// our sending and our having read it, and cut to the second.
//
//	sent 12:00:03.950   Date: 12:00:05   read 12:00:04.150
//	the server's clock is between 0.85 s and 2.05 s ahead
func markOf(c riot.Call) (m mark) {
	for _, b := range c.Buckets {
		if b.Server < 0 || b.Ours < 0 || b.Ceiling {
			continue
		}
		if drift := b.Server - b.Ours; !m.told || drift > m.drift {
			m.drift = drift
		}
		m.told = true
	}
	if c.Status != 0 && !c.Date.IsZero() {
		// Without the monotonic reading: the wall clock is what is compared.
		at := c.At.Round(0)
		m.dated = true
		m.clock = span{low: c.Date.Sub(at.Add(c.Latency)), high: c.Date.Add(dateGrain).Sub(at)}
	}
	return m
}

// countsOf sets our counts beside the server's, a host's windows first. A bucket whose count of ours is
// not known is left out, and so is one that is a ceiling of ours and no limit of Riot's.
func countsOf(c riot.Call) (out []engine.WindowCount) {
	for _, b := range c.Buckets {
		if b.Ceiling || b.Ours < 0 {
			continue
		}
		out = append(out, engine.WindowCount{
			Scope: cmp.Or(b.Scope.Method, appScope), Window: b.Limit.Per, Limit: b.Limit.N, Ours: b.Ours,
			Server: b.Server,
		})
	}
	slices.SortStableFunc(out, func(a, b engine.WindowCount) int {
		return cmp.Or(rankOf(a.Scope)-rankOf(b.Scope), cmp.Compare(a.Window, b.Window))
	})
	return out
}

// appScope is the scope of counts that hold for the whole host.
const appScope = "app"

// rankOf puts the host's windows before those of a method.
func rankOf(scope string) int {
	if scope == appScope {
		return 0
	}
	return 1
}

// seen is one recorded call with its evidence.
type seen struct {
	engine.CallRow
	mark
}

// notCounted are the classes of calls that Riot never counted: they did not leave,
// or were refused before their key was known.
var notCounted = map[engine.Class]bool{riot.ClassLocal: true, riot.ClassNoKey: true, riot.ClassUnauthorized: true,
	riot.ClassUnread: true}

// spentBy counts the calls of the window that ends with the last of calls, by
// method. Those of another host, or for a method's window of another method, are
// not in it. Those that are older than the recorder, or than this process, stand under "before", and
// what Riot had counted beyond ours under "others".
func spentBy(calls []seen, w engine.WindowCount, cut bool) []engine.SpentCalls {
	last := calls[len(calls)-1]
	from := last.At.Add(-w.Window)
	by, sum := map[string]int{}, 0
	for _, c := range calls {
		in := c.Host == last.Host && c.At.After(from) && (w.Scope == appScope || c.Method == w.Scope)
		if in && !notCounted[c.Class] {
			by[c.Method]++
			sum++
		}
	}
	if older := w.Ours - sum; older > 0 && (cut || calls[0].At.After(from)) {
		by["before"] = older
	}
	if d := w.Drift(); d > 0 {
		by["others"] = d
	}
	out := make([]engine.SpentCalls, 0, len(by))
	for _, what := range slices.Sorted(maps.Keys(by)) {
		out = append(out, engine.SpentCalls{What: what, Calls: by[what]})
	}
	slices.SortStableFunc(out, func(a, b engine.SpentCalls) int { return b.Calls - a.Calls })
	return out
}

// lookBack is how far before a 429 answers still tell of it.
const lookBack = 10 * time.Minute

// strangers counts the answers of the call's host in the last minutes that named
// counts, and those whose counts were above ours. Calls are the oldest first, and the last one is the
// 429 itself.
func strangers(calls []seen) (told, above int) {
	last := calls[len(calls)-1]
	for _, c := range calls {
		if c.Host != last.Host || !c.told || last.At.Sub(c.At) > lookBack {
			continue
		}
		told++
		if c.drift > 0 {
			above++
		}
	}
	return told, above
}

// clockOffset is the server's clock less ours, from all dated answers of the host
// in the last minutes: each bounds it, together they do so closely. 0 = they do
// not tell the clocks apart.
func clockOffset(calls []seen) time.Duration {
	last := calls[len(calls)-1]
	var b span
	known := false
	for _, c := range slices.Backward(calls) {
		if last.At.Sub(c.At) > lookBack {
			break
		}
		if c.Host != last.Host || !c.dated {
			continue
		}
		if !known {
			b, known = c.clock, true
			continue
		}
		low, high := max(b.low, c.clock.low), min(b.high, c.clock.high)
		if low > high {
			break // a clock was set in between: older answers tell of the one before
		}
		b = span{low, high}
	}
	if !known || b.low <= 0 && b.high >= 0 {
		return 0
	}
	return (b.low + (b.high-b.low)/2).Round(time.Millisecond)
}

// kindOf is the X-Rate-Limit-Type of a 429, by its class.
func kindOf(c engine.Class) string {
	kind := strings.TrimPrefix(string(c), "429.")
	if kind == "app" {
		return "application"
	}
	return kind
}
