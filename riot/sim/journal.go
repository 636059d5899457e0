package sim

import (
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// Call is one line of the call log.
type Call struct {
	Seq       int           `json:"seq"` // in order of completion, from 1; a reset does not begin anew
	At        time.Time     `json:"at"`  // when it arrived
	Method    route.Method  `json:"method,omitempty"`
	Host      string        `json:"host"`
	ID        string        `json:"id,omitempty"`
	Attempt   int           `json:"attempt,omitempty"`
	Status    int           `json:"status"` // 0: the client saw no status
	Fault     string        `json:"fault,omitempty"`
	Violation bool          `json:"violation,omitempty"`
	Bytes     int           `json:"bytes"`
	Took      time.Duration `json:"took_ns"`        // arrival to the last byte
	Gone      bool          `json:"gone,omitempty"` // the client left before the end

	// Of a call that reached the limiter: the window that decided on it, and the counts
	// of all as its headers tell them.
	Window      Use    `json:"window,omitzero"`
	AppCount    string `json:"app_count,omitempty"`
	MethodCount string `json:"method_count,omitempty"`
	// Of a 429: its headers.
	LimitType  string `json:"limit_type,omitempty"`
	RetryAfter string `json:"retry_after,omitempty"`
	// Early is how much later a call that broke a limit would have kept it, and Hasty how
	// much of a Retry-After was left when it was made all the same.
	Early time.Duration `json:"early_ns,omitempty"`
	Hasty time.Duration `json:"hasty_ns,omitempty"`
}

// logged is how many calls the log keeps.
const logged = 100_000

// journal counts and remembers calls. Its owner holds the lock.
type journal struct {
	calls      []Call // a ring once full
	before     int    // calls logged before the last reset
	appended   int    // calls logged since
	total      int
	drawn      int // latencies given out
	first      time.Time
	last       time.Time
	stillness  time.Duration
	stillFrom  time.Time
	inFlight   int
	mostFlight int
	violations int
	foreign    int
	early      int
	repeated   int
	injected   map[string]int
	byMethod   map[string]map[int]int
	fetched    map[string]*Fetch
	counts     map[scope]*tally
}

// Fetch counts the calls for one match or timeline.
type Fetch struct {
	Calls int `json:"calls"`
	OK    int `json:"ok"` // answered 200 in full, with the right body
	// Missing counts the 404s that no fault caused.
	Missing int `json:"missing,omitempty"`
}

// tally is what a key used of a host.
type tally struct {
	calls       int
	first, last time.Time
}

func newJournal(inFlight int) journal {
	return journal{inFlight: inFlight, injected: map[string]int{}, byMethod: map[string]map[int]int{}, fetched: map[string]*Fetch{}, counts: map[scope]*tally{}}
}

// arrived counts a call as it comes in, and remembers the longest stillness: a client that could have called and did not.
func (j *journal) arrived(now time.Time) {
	j.total++
	j.inFlight++
	j.mostFlight = max(j.mostFlight, j.inFlight)
	if j.first.IsZero() {
		j.first = now
	} else if gap := now.Sub(j.last); gap > j.stillness {
		j.stillness, j.stillFrom = gap, j.last
	}
	j.last = now
}

// counted notes that a call took from its buckets.
func (j *journal) counted(c *call) {
	t := j.counts[scope{c.key, c.host, ""}]
	if t == nil {
		t = &tally{first: c.arrived}
		j.counts[scope{c.key, c.host, ""}] = t
	}
	t.calls, t.last = t.calls+1, c.arrived
}

// finished logs a call when its answer is on its way, or its client has gone.
func (j *journal) finished(c *call, a *answer, sent int, gone bool) {
	j.inFlight--
	status := a.status
	if a.transfer == silent || a.transfer == broken {
		status = 0
	}
	j.classify(c, a, status)
	j.fetch(c, status, status == 200 && (a.transfer == whole || a.transfer == drip) && !gone)
	j.append(Call{At: c.arrived, Method: c.method, Host: c.host, ID: c.id, Attempt: c.attempt, Status: status,
		Fault: c.fault, Violation: c.violation, Bytes: sent, Took: time.Since(c.arrived), Gone: gone,
		Window: c.use, AppCount: c.appCount, MethodCount: c.methodCount, LimitType: a.limitType, RetryAfter: a.retryAfter,
		Early: c.early, Hasty: c.hasty})
}

// classify counts an answer, and whose fault a 429 was: the client's, somebody else's with its key, or the plan's.
func (j *journal) classify(c *call, a *answer, status int) {
	name := string(c.method)
	if name == "" {
		name = "unknown"
	}
	if j.byMethod[name] == nil {
		j.byMethod[name] = map[int]int{}
	}
	j.byMethod[name][status]++
	switch {
	case c.violation:
		j.violations++
	case c.refused:
		j.foreign++
	case a.status == 429:
		kind := a.limitType
		if kind == "" {
			kind = "none"
		}
		j.injected[kind]++
	}
}

// fetch counts a call for a match or a timeline. What was delivered whole and is asked for again is counted as
// repeated: a client that stores before it forgets never does that.
func (j *journal) fetch(c *call, status int, ok bool) {
	if c.method != route.Match && c.method != route.Timeline {
		return
	}
	key := fetchKey(c.method, c.id)
	f := j.fetched[key]
	if f == nil {
		f = &Fetch{}
		j.fetched[key] = f
	}
	f.Calls++
	if status == 404 && c.fault == "" {
		f.Missing++
	}
	if f.OK > 0 {
		j.repeated++
	}
	if ok && (c.fault == "" || harmless[c.kind]) {
		f.OK++
	}
}

// harmless are the faults under which the body is right all the same.
var harmless = map[Kind]bool{Slow: true, Trickle: true, NoHeaders: true, SkewDate: true, Foreign: true}

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
	from := max(seq-j.before, j.appended-len(j.calls)) // calls before it are no longer in the ring
	list := []Call{}
	for n := from; n < j.appended && len(list) < most; n++ {
		list = append(list, j.calls[n%logged])
	}
	return list
}
