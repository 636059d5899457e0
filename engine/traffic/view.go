package traffic

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// Rows is a live reading of every bucket and every waiter. Hosts come with the most in line first. It
// is the one thing that consoles see and that is not on disk.
func (l *Limits) Rows() engine.LimitsRow {
	snap := l.limiter.Snapshot()
	out := engine.LimitsRow{At: snap.At, Breakers: l.Down(), Holds: l.LongHolds()}
	out.KeyRefused, out.KeyAsks = l.gate.refused()
	slices.SortStableFunc(snap.Hosts, l.busier)
	if len(snap.Hosts) > 0 {
		l.mu.Lock()
		l.busiest = snap.Hosts[0].Host
		l.mu.Unlock()
	}
	windows := 0
	for _, h := range snap.Hosts {
		for _, s := range h.Scopes {
			windows += len(s.Buckets)
		}
	}
	if windows > 0 {
		out.Buckets = make([]engine.BucketRow, 0, windows)
	}
	for _, h := range snap.Hosts {
		row, first, stand := hostRow(h), len(out.Buckets), apart(h, out.Breakers)
		for _, s := range h.Scopes {
			out.Buckets = l.addWindows(out.Buckets, snap.At, s, stand)
		}
		method := l.markPace(h.Host, out.Buckets[first:])
		l.opens(&row, method)
		l.gate.failing(&row)
		out.Hosts = append(out.Hosts, row)
		for _, w := range h.Waiters {
			out.Waiting = append(out.Waiting, engine.WaiterRow{
				Job: engine.JobID(w.Job), Host: h.Host, Method: w.Method, Since: w.Since, Until: w.Until,
				Reason: w.Reason,
			})
		}
	}
	return out
}

// Down are the endpoints that are down, and how many jobs wait for each.
func (l *Limits) Down() []engine.BreakerRow {
	rows := l.gate.down()
	for i := range rows {
		rows[i].Waiting = l.waiting(limit.Scope{Host: rows[i].Host, Method: rows[i].Method})
	}
	return rows
}

// apart are the methods of a host whose calls wait for none of its windows: those that are down, and those that are
// frozen until somebody resumes them, as their windows tell.
func apart(h limit.HostView, down []engine.BreakerRow) (out []limit.Scope) {
	for _, b := range down {
		out = append(out, limit.Scope{Host: b.Host, Method: b.Method})
	}
	for _, s := range h.Scopes {
		if s.Method != "" && s.Frozen && s.Percent == 0 && s.Thaws.IsZero() && len(s.Buckets) > 0 {
			out = append(out, s.Scope)
		}
	}
	return out
}

// busier puts the host with the most in line first, and of hosts with as many the one that has used more of its
// longest window: where nothing waits, or may start, that is the one that was called.
// The first stays it until another has a tenth more: calls that leave the hosts by turns would change it with each. When
// all is done it stays, too: the windows of the others have nothing to show.
func (l *Limits) busier(a, b limit.HostView) int {
	rank := func(h limit.HostView) (line int, used float64) {
		line, used = l.waiting(limit.Scope{Host: h.Host}), usedOf(h)
		l.mu.Lock()
		defer l.mu.Unlock()
		if h.Host == l.busiest {
			used += 1e-9
			if line > 0 {
				line += line/10 + 2
			}
		}
		return line, used
	}
	line, used := rank(a)
	others, usedThere := rank(b)
	return cmp.Or(cmp.Compare(others, line), cmp.Compare(usedThere, used))
}

// usedOf is the share of a host's longest window that is used.
func usedOf(h limit.HostView) (share float64) {
	longest := time.Duration(0)
	for _, s := range h.Scopes {
		for _, b := range s.Buckets {
			if s.Method == "" && b.Limit.Per > longest {
				longest, share = b.Limit.Per, float64(b.Used())/float64(b.Limit.N)
			}
		}
	}
	return share
}

// markPace marks the bucket of a host that sets the pace of what waits there: for the
// method with the most in line, which it names, or for no method in particular.
func (l *Limits) markPace(host string, rows []engine.BucketRow) (method string) {
	most := engine.BucketRow{}
	for _, b := range rows {
		if b.Method != "" && b.Waiting > most.Waiting {
			most = b
		}
	}
	_, name := l.limiter.Rate(host, most.Method)
	if i := slices.IndexFunc(rows, func(b engine.BucketRow) bool { return b.Name == name }); i >= 0 {
		rows[i].Paces = true
	}
	return most.Method
}

// A host is shut when the next call has to wait for longer than leastShut. What it brings
// when it opens is counted to mostBrought.
const (
	leastShut   = time.Second
	mostBrought = 10_000
)

// opens tells of a host when it lets calls of a method through again, and how many.
func (l *Limits) opens(row *engine.LimitHost, method string) {
	o := l.limiter.Outlook(row.Host)
	if e := o.After(method, 1); e.Wait > leastShut && !e.Endless {
		row.Opens, row.Brings = o.At(e.Wait), o.By(method, e.Wait, mostBrought)
	}
}

func hostRow(h limit.HostView) engine.LimitHost {
	row := engine.LimitHost{Host: h.Host, Blind: h.Blind}
	for _, s := range h.Scopes {
		if s.Taught.After(row.Learnt) {
			row.Learnt = s.Taught
		}
	}
	return row
}

// addWindows adds the rows of one scope, one per window. What is in flight is taken off the backlog: it
// waits no more.
func (l *Limits) addWindows(rows []engine.BucketRow, at time.Time, s limit.ScopeView, apart []limit.Scope) []engine.BucketRow {
	waiting := l.waiting(s.Scope, apart...) - s.InFlight
	for _, b := range s.Buckets {
		row := engine.BucketRow{
			Host: s.Host, Method: s.Method, Kind: "app", Window: b.Limit.Per, Limit: b.Limit.N,
			Used: min(b.Used(), b.Limit.N), InFlight: b.InFlight + b.Reserved, Foreign: b.Foreign, Server: b.Server,
			ServerAt: b.ServerAt, Reset: b.Reset,
			NextFree: soon(b, at), Mode: string(b.Mode), Waiting: max(waiting, s.Waiting, 0), Name: b.Name,
		}
		if s.Method != "" {
			row.Kind = "method"
		}
		block(&row, s)
		rows = append(rows, row)
	}
	return rows
}

// soon is when the bucket has room; zero = now. What waits for an answer has no
// instant: its reset is the latest that is known.
func soon(b limit.BucketView, at time.Time) time.Time {
	switch {
	case b.NextFree.IsZero():
		return b.Reset
	case b.NextFree.After(at):
		return b.NextFree
	}
	return time.Time{}
}

// block writes onto a row what shuts its scope beside the count: a 429, or a freeze by an operator,
// which goes before it. A freeze that only lowers the limit shows its percentage instead.
func block(row *engine.BucketRow, s limit.ScopeView) {
	if !s.Blocked.IsZero() {
		row.Blocked, row.BlockedBy = s.Blocked, answerWords(s.Kind)
	}
	if s.Frozen {
		row.Thaws, row.FreezeWhy = s.Thaws, s.Reason
	}
	switch {
	case s.Frozen && s.Percent > 0:
		row.Cap = s.Percent
	case s.Frozen:
		row.Blocked, row.BlockedBy = s.Thaws, engine.BlockedFrozen
	}
}

// waiting counts the jobs that stand in line for a scope, for a host's without those of some methods.
func (l *Limits) waiting(s limit.Scope, without ...limit.Scope) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, jobs := range l.backlog {
		at, _ := splitLane(name)
		if at.Host == s.Host && (at.Method == s.Method || s.Method == "" && !slices.Contains(without, limit.Scope{Host: at.Host, Method: at.Method})) {
			n += jobs
		}
	}
	return n
}

// Meter is how the calls went lately.
func (l *Limits) Meter() engine.Meter { return l.calls.meter(time.Now()) }

// slowAnswer is what an answer takes as long as none is known.
const slowAnswer = 500 * time.Millisecond

// Workers is how many calls must be under way at once to use the budget of every
// host with work: rate × answer time (Little's law), with twice the median for
// the slow ones. 0 = there is no work, or nobody knows the limits yet.
func (l *Limits) Workers() (n int) {
	answer := slowAnswer
	if p50 := l.calls.p50(); p50 > 0 {
		answer = 2 * p50
	}
	for _, host := range l.hosts() {
		rate, _ := l.Rate(host)
		n += int(math.Ceil(rate * answer.Seconds()))
	}
	return n
}

// hosts names those with work in line.
func (l *Limits) hosts() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for name, jobs := range l.backlog {
		if at, _ := splitLane(name); jobs > 0 && !slices.Contains(out, at.Host) {
			out = append(out, at.Host)
		}
	}
	return out
}

// Calls answers a query of the flight recorder, newest first.
func (l *Limits) Calls(q engine.CallsQuery) engine.CallsPage { return l.calls.page(q) }

// CallsAfter gives the recorded calls after a sequence, oldest first.
func (l *Limits) CallsAfter(seq uint64) []engine.CallRow { return l.calls.after(seq) }

// Hear takes over calls that another process has made and recorded, the oldest first: those that are
// here already are left out. The members of a fleet show the leader's calls so.
func (l *Limits) Hear(calls []engine.CallRow) { l.calls.adopt(calls) }

// GoOnFrom makes the numbers of calls go on after one that others have heard of.
func (l *Limits) GoOnFrom(seq uint64) { l.calls.goOnFrom(seq) }

// Forgets takes off the recorded calls what they asked for, after somebody was forgotten: theirs may be
// among them. The store has taken them out of what it keeps.
func (l *Limits) Forgets() { l.cases.forgets() }

// Forensics says what led to a 429 (I-9). Errors are *engine.Problem.
func (l *Limits) Forensics(q engine.ForensicsQuery) (engine.Forensics, error) { return l.cases.find(q) }

// CallsBy are the calls of the past minute by the account whose work they were, in steps
// of a Forecast, the oldest first.
func (l *Limits) CallsBy() map[string][]int { return l.calls.byOwner(time.Now()) }

// LastCall gives the newest recorded call of a job, with the headers of its answer, and of
// one that was refused how its body began.
func (l *Limits) LastCall(job engine.JobID) *engine.CallRow { return l.calls.lastOf(job) }

// Freeze stops a bucket, or with b.Cap above 0 lowers it to that percentage,
// until an instant; the zero time means until Thaw. Errors are *engine.Problem.
func (l *Limits) Freeze(b engine.Bucket, reason string) error {
	if err := checkBucket(b); err != nil {
		return err
	}
	if !b.Until.IsZero() && !b.Until.After(time.Now()) {
		return engine.Problemf(engine.ErrInvalid, "give an instant in the future", "%s has passed",
			b.Until.Format(time.DateTime))
	}
	if b.Cap < 0 || b.Cap > 99 {
		return engine.Problemf(engine.ErrInvalid, "give 1 to 99, or 0 to stop all calls", "%d percent is no cap", b.Cap)
	}
	l.limiter.Freeze(limit.Scope{Host: b.Host, Method: b.Method}, b.Until, b.Cap, reason)
	l.dirty.Store(true)
	return nil
}

// Thaw ends a freeze or a cap, and a wait above ten minutes that Riot has asked for. It says what held
// the bucket; "" = nothing did. What a 429 has sent back goes at once.
func (l *Limits) Thaw(b engine.Bucket) (held string, err error) {
	if err := checkBucket(b); err != nil {
		return "", err
	}
	l.dirty.Store(true)
	frozen, hold := l.limiter.Thaw(limit.Scope{Host: b.Host, Method: b.Method})
	if frozen {
		held = limit.FrozenWords
	}
	if !hold.Until.IsZero() {
		held = strings.TrimPrefix(held+" and "+holdWords(hold), " and ")
		l.gate.change(func() bool {
			l.gate.ended[engine.HoldThrottled] = true
			return true
		})
	}
	return held, nil
}

// holdWords say what answer has stopped a scope, and until when.
func holdWords(h limit.Hold) string {
	return "held by a " + answerWords(h.Kind) + " until " + human.UTC(h.Until, time.Now())
}

// answerWords name the answer that holds a scope.
func answerWords(k limit.Kind) string {
	if k == limit.Unavailable {
		return "503"
	}
	return "429 " + string(k)
}

// Frozen reports whether an operator's freeze or cap is in force anywhere.
func (l *Limits) Frozen() bool { return l.limiter.Frozen() }

// LongHolds are the waits above ten minutes that Riot has asked for, the host's own before those of
// its methods. While one lasts a single call asks every ten minutes whether it still holds.
func (l *Limits) LongHolds() (all []engine.LimitHold) {
	for _, h := range l.limiter.Holds() {
		if h.Asks.IsZero() {
			continue
		}
		bucket := strings.TrimSpace(h.Host + " " + h.Method)
		all = append(all, engine.LimitHold{Host: h.Host, Method: h.Method, Until: h.Until, Asks: h.Asks,
			Why: bucket + " is " + holdWords(h) + "; one call asks every 10 min, and `thaw " + bucket + "` ends it"})
	}
	return all
}

// checkBucket refuses a host or method that Riot does not have: frozen, it would stop nothing and look
// as if it did.
func checkBucket(b engine.Bucket) error {
	switch {
	case !route.Serves(b.Host):
		return engine.Problemf(engine.ErrInvalid, "name a region or platform, such as europe or euw1",
			"%q is no host of the Riot API", b.Host)
	case b.Method != "" && !slices.Contains(route.Methods(), route.Method(b.Method)):
		return engine.Problemf(engine.ErrInvalid, "name one such as match-v5.match", "%q is no method of the Riot API",
			b.Method)
	}
	return nil
}

// Wait is how long so many further calls of a job's lane wait, the last one
// included, by the bucket that lets the fewest through. A method that was not called yet
// goes by its host's limits. Nobody knows while something else holds the lane.
func (l *Limits) Wait(name string, calls int) (wait time.Duration, known bool) {
	at, _ := splitLane(name)
	l = l.foresees()
	if l.gate.holds(at) {
		return 0, false
	}
	e := l.limiter.Outlook(at.Host).Turn(at.Method, calls)
	return e.Wait, !e.Endless && (e.Known || e.Bucket != "")
}

// Goes reports whether what stands in line on a lane takes from the limit that another one waits for: the two are of one
// host, and neither an outage nor an operator's freeze keeps it where it is.
func (l *Limits) Goes(before, lane string) bool {
	x, _ := splitLane(before)
	y, _ := splitLane(lane)
	if x.Host == "" || x.Host != y.Host || l.gate.outage(x) != "" {
		return false
	}
	_, frozen := l.limiter.FreezeOf(limit.Scope{Host: x.Host, Method: x.Method})
	return !frozen
}

// Outlook is how the limits of a host stand now, for whoever foresees calls.
func (l *Limits) Outlook(host string) forecast.Limits {
	return outlook{l.foresees().limiter.Outlook(host)}
}

// ForeseeBy lets l foresee by the limits of the process that makes the calls: those that l itself has learnt are of few
// calls, or none. nil = by its own again.
func (l *Limits) ForeseeBy(led *Limits) { l.led.Store(led) }

// foresees are the limits by which l foresees calls.
func (l *Limits) foresees() *Limits {
	if led := l.led.Load(); led != nil {
		return led
	}
	return l
}

// outlook is a limiter's Outlook in the words of engine/forecast, which does not know riot/limit.
type outlook struct{ limit.Outlook }

func (o outlook) After(method string, n int) forecast.Wait {
	return forecast.Wait(o.Outlook.After(method, n))
}

func (o outlook) Turn(method string, n int) forecast.Wait {
	return forecast.Wait(o.Outlook.Turn(method, n))
}

// ETA is how long so many calls on a host take, and which bucket decides.
func (l *Limits) ETA(host, method string, calls int) engine.ETA {
	return forecast.ETA(l.Outlook(host), method, calls)
}

// Rate is how many calls of matches a second a host allows in the long run, by which
// bucket; "" when that is not known yet.
func (l *Limits) Rate(host string) (perSecond float64, bucket string) {
	rate, bucket := l.limiter.Rate(host, string(route.Match))
	if bucket == "" {
		return 0, ""
	}
	return rate, bucket
}
