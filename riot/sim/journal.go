package sim

import (
	"cmp"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// logged is how many calls the log keeps.
const logged = 100_000

// journal counts and remembers calls. Its owner holds the lock.
type journal struct {
	Stats           // but for what Sim.Stats derives
	calls    []Call // a ring once full
	before   int    // calls logged before the last reset
	appended int    // calls logged since
	drawn    int    // latencies given out
	fetched  map[string]Fetch
	counts   map[scope]tally // of keys on hosts
}

// tally is what a key used of a host.
type tally struct {
	calls       int
	first, last time.Time
}

func newJournal(inFlight int) journal {
	return journal{
		Stats:   Stats{InFlight: inFlight, Injected: map[string]int{}, ByMethod: map[string]map[int]int{}},
		fetched: map[string]Fetch{}, counts: map[scope]tally{},
	}
}

// arrived counts a call as it comes in, and remembers the longest stillness: a client that could have called and did not.
func (j *journal) arrived(now time.Time) {
	j.Calls++
	j.InFlight++
	j.Most = max(j.Most, j.InFlight)
	if j.First.IsZero() {
		j.First = now
	} else if gap := now.Sub(j.Last); gap > j.Stillness {
		j.Stillness, j.StillFrom = gap, j.Last
	}
	j.Last = now
}

// counted notes that a call took from its buckets.
func (j *journal) counted(c *call) {
	sc := c.scopes()[0]
	t := j.counts[sc]
	if t.calls == 0 {
		t.first = c.At
	}
	t.calls, t.last = t.calls+1, c.At
	j.counts[sc] = t
}

// finished logs a call when its answer is on its way, or its client has gone.
func (j *journal) finished(c *call, a *answer, sent int, gone bool) {
	j.InFlight--
	// What the client saw, which with a broken connection is nothing.
	c.Status = a.status
	if a.transfer == silent || a.transfer == broken {
		c.Status = 0
	}
	// Known only now; the rest of the line was filled in on the way.
	c.Bytes, c.Took, c.Gone, c.LimitType, c.RetryAfter = sent, time.Since(c.At), gone, a.limitType, a.retryAfter
	j.classify(c, a)
	j.fetch(c, c.Status == 200 && (a.transfer == whole || a.transfer == drip) && !gone)
	j.append(c.Call)
}

// classify counts an answer, and whose fault a 429 was: the client's, somebody else's with its key, or the plan's.
func (j *journal) classify(c *call, a *answer) {
	name := cmp.Or(string(c.Method), "unknown")
	if j.ByMethod[name] == nil {
		j.ByMethod[name] = map[int]int{}
	}
	j.ByMethod[name][c.Status]++
	switch {
	case c.Violation:
		j.Violations++
	// Over the limit, but only because of calls that were somebody else's.
	case c.refused:
		j.Foreign++
	case a.status == 429:
		j.Injected[cmp.Or(a.limitType, "none")]++
	}
}

// fetch counts a call for a match or a timeline. What was delivered whole and is asked for again is counted as
// repeated: a client that stores before it forgets never does that.
func (j *journal) fetch(c *call, ok bool) {
	if c.Method != route.Match && c.Method != route.Timeline {
		return
	}
	key := fetchKey(c.Method, c.ID)
	f := j.fetched[key]
	f.Calls++
	if c.Status == 404 && c.Fault == "" {
		f.Missing++
	}
	if f.OK > 0 {
		j.Repeated++
	}
	// A body that a fault has spoilt may be asked for again.
	if ok && (c.Fault == "" || harmless[c.kind]) {
		f.OK++
	}
	j.fetched[key] = f
}

// harmless are the faults under which the body is right all the same.
var harmless = map[Kind]bool{Slow: true, Trickle: true, NoHeaders: true, SkewDate: true, Foreign: true,
	AppLimits: true, MethodLimits: true, IdleClose: true, IdleTimeout: true}

func fetchKey(m route.Method, id string) string { return string(m) + " " + id }

// append adds a line to the log; a full one loses its oldest.
func (j *journal) append(c Call) {
	j.appended++
	c.Seq = j.before + j.appended
	if len(j.calls) < logged {
		j.calls = append(j.calls, c)
		return
	}
	j.calls[(j.appended-1)%logged] = c
}

// after are the logged calls with a number above seq, at most most of them, oldest first.
func (j *journal) after(seq, most int) []Call {
	// The n-th call since the reset stands at (n-1) mod logged.
	from := max(seq-j.before, j.appended-len(j.calls)) // calls before it are no longer in the ring
	list := []Call{}
	for n := from; n < j.appended && len(list) < most; n++ {
		list = append(list, j.calls[n%logged])
	}
	return list
}
