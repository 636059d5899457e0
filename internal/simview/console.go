package simview

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/sim"
)

// console is what a simulator sees of its clients, for the Limits screen. There is no
// engine behind it: every command is refused, and so is every other question.
type console struct {
	sim     *sim.Sim
	why     string // in place of an engine's state
	started time.Time
}

// NewConsole watches a simulator; why says in a sentence what is shown.
func NewConsole(s *sim.Sim, why string) engine.Console {
	return &console{sim: s, why: why, started: time.Now()}
}

// keptCalls is how many calls a new watcher gets.
const keptCalls = 500

// Watch implements engine.Console.
func (c *console) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		// A new watcher sees the newest at once; older ones would only scroll by.
		calls := c.sim.Calls(0, math.MaxInt)
		calls = calls[max(0, len(calls)-keptCalls):]
		seq := 0
		for first := true; ctx.Err() == nil; first = false {
			u := c.reading()
			u.Snapshot = first
			for _, call := range calls {
				u.Calls = append(u.Calls, row(call))
			}
			if len(calls) > 0 {
				seq = calls[len(calls)-1].Seq
			}
			u.Seq = uint64(seq)
			if !yield(u) {
				return
			}
			if calls = c.wait(ctx, seq); calls == nil {
				return
			}
		}
	}
}

// wait gives the calls that follow, or none after a second: windows end by themselves.
// nil = ctx has ended.
func (c *console) wait(ctx context.Context, seq int) []sim.Call {
	for range int(time.Second / every) {
		await.Pause(ctx, every)
		if ctx.Err() != nil {
			return nil
		}
		if calls := c.sim.Calls(seq, keptCalls); len(calls) > 0 {
			return calls
		}
	}
	return []sim.Call{}
}

// reading is how the windows stand, as an engine would tell it. The state is BROWSE, since nothing here
// takes commands; the sentence beside the state tells how well the client keeps the limits.
func (c *console) reading() engine.Update {
	r, st, now := c.sim.Windows(), c.sim.Stats(), time.Now()
	limits := engine.LimitsRow{At: now, Buckets: make([]engine.BucketRow, len(r.Windows))}
	for i, w := range r.Windows {
		limits.Buckets[i] = bucket(w, now)
	}
	markPace(limits.Buckets)
	// What is shown, and how well the client keeps the limits.
	why := fmt.Sprintf("%s: %d calls, %d broke a limit, %d before a Retry-After was over", c.why, st.Calls, st.Violations, st.Early)
	if r.Keys > 1 {
		why += fmt.Sprintf("; %d keys have called, and these are the windows of the latest", r.Keys)
	}
	row := engine.EngineRow{State: engine.EngineBrowse, Why: why, Started: c.started, Boot: c.started.Format(time.RFC3339Nano)}
	// Its last characters, as the console shows an engine's key.
	if r.Key != "" {
		row.Key = "…" + r.Key
	}
	// 429s of every sort, and those that the client has brought upon itself.
	row.Meter.Unforeseen = int64(st.Violations)
	for _, byStatus := range st.ByMethod {
		row.Meter.Throttled += int64(byStatus[429])
	}
	return engine.Update{Engine: &row, Limits: &limits}
}

// markPace marks of each host the window of the application that lets the fewest calls
// through: what a simulator's clients have in line, it does not know.
func markPace(rows []engine.BucketRow) {
	slowest := map[string]*engine.BucketRow{}
	// Calls in a second: 20 in 1 s are more than 100 in 2 minutes.
	rate := func(b *engine.BucketRow) float64 { return float64(b.Limit) / b.Window.Seconds() }
	for i := range rows {
		b := &rows[i]
		if s := slowest[b.Host]; b.Kind == "app" && (s == nil || rate(b) < rate(s)) {
			slowest[b.Host] = b
		}
	}
	for _, b := range slowest {
		b.Paces = true
	}
}

// bucket is a window as a row of the Limits screen. The simulator is the server: what it has counted
// and what the client should have counted are one number, and calls of another client are foreign.
func bucket(w sim.Window, now time.Time) engine.BucketRow {
	b := engine.BucketRow{
		Host: w.Host, Method: string(w.Method), Kind: "method", Window: w.Per, Limit: w.Limit, Used: w.Used, Foreign: w.Foreign,
		Server: w.Used, Reset: w.Frees, Blocked: w.Told,
	}
	if w.Method == "" {
		b.Kind = "app"
	}
	// A window with room has nothing to wait for.
	if w.Used >= w.Limit {
		b.NextFree = w.Frees
	}
	if w.Told.After(now) {
		b.BlockedBy = "Retry-After"
	}
	return b
}

// classes are the classes of 429s, by X-Rate-Limit-Type.
var classes = map[string]string{"application": riot.ClassThrottledApp, "method": riot.ClassThrottledMethod, "service": riot.ClassThrottledService}

// row is a call as the console shows it. A call that came before its window was free is marked as
// early, a violation also where that was by less than a millisecond.
func row(c sim.Call) engine.CallRow {
	r := engine.CallRow{
		Seq: uint64(c.Seq), At: c.At, Host: c.Host, Method: string(c.Method), Target: c.ID, Status: c.Status, Took: c.Took,
		App: c.AppCount, MethodUsed: c.MethodCount, Unforeseen: c.Violation, Early: c.Early,
	}
	if c.Violation {
		r.Early = max(c.Early, time.Millisecond) // it is early, by however little
	}
	if u := c.Window; u.Limit > 0 {
		r.PacedBy = fmt.Sprintf("%s %d/%d, %s", kindOf(u.Scope), u.Used, u.Limit, human.Dur(u.Per))
	}
	if c.Status == 429 {
		r.Class = engine.Class(cmp.Or(classes[c.LimitType], riot.ClassThrottledUnknown))
	}
	// Another form, as a fault may send it, is shown in the call's own line alone.
	if seconds, err := strconv.Atoi(c.RetryAfter); err == nil {
		r.RetryAfter = time.Duration(seconds) * time.Second
	}
	return r
}

// Find implements engine.Console: a 429 is told of, and how full the windows are.
func (c *console) Find(_ context.Context, q engine.Query) (engine.Answer, error) {
	switch q := q.(type) {
	case engine.LimitsQuery:
		return *c.reading().Limits, nil
	case engine.StatusQuery:
		return engine.StatusAnswer{Engine: *c.reading().Engine}, nil
	case engine.ForensicsQuery:
		return c.forensics(q.Seq)
	}
	return nil, engine.Problemf(engine.ErrRefused, "", "%s", Only)
}

// Do implements engine.Console.
func (c *console) Do(context.Context, engine.Command) (engine.Receipt, error) {
	return engine.Receipt{}, engine.Problemf(engine.ErrRefused, "", "%s", Only)
}

// Only says why there is nothing but limits.
const Only = "no engine runs here: a simulator knows its clients' calls and limits only"

// forensics is what is known about a 429; 0 = the newest.
func (c *console) forensics(seq uint64) (engine.Forensics, error) {
	calls := c.sim.Calls(0, math.MaxInt)
	slices.Reverse(calls)
	// Newest first; a number of 0 fits any.
	at := slices.IndexFunc(calls, func(k sim.Call) bool { return k.Status == 429 && cmp.Or(seq, uint64(k.Seq)) == uint64(k.Seq) })
	if at < 0 {
		return engine.Forensics{}, engine.Problemf(engine.ErrNotFound, "", "no such 429 is in the simulator's log")
	}
	k := calls[at]
	f := engine.Forensics{Call: row(k), Kind: cmp.Or(k.LimitType, "unknown"), Text: story(k)}
	f.Spent = spent(calls[at:])
	// The window that decided: both counts are the simulator's own.
	f.Windows = []engine.WindowCount{{Scope: k.Window.Scope, Window: k.Window.Per, Limit: k.Window.Limit, Ours: k.Window.Used, Server: k.Window.Used}}
	return f, nil
}

// kindOf is a scope as the console names it.
func kindOf(scope string) string {
	if scope == "application" {
		return "app"
	}
	return scope
}

// spent says which methods the window of the first call went to; calls are newest first.
func spent(calls []sim.Call) (list []engine.SpentCalls) {
	last := calls[0]
	for _, c := range calls {
		if c.Host != last.Host || c.Window.Limit == 0 || last.At.Sub(c.At) >= last.Window.Per || kindOf(last.Window.Scope) != "app" && c.Method != last.Method {
			continue
		}
		at := slices.IndexFunc(list, func(s engine.SpentCalls) bool { return s.What == string(c.Method) })
		if at < 0 {
			at, list = len(list), append(list, engine.SpentCalls{What: string(c.Method)})
		}
		list[at].Calls++
	}
	// The most first; of equal ones the one that called last.
	slices.SortStableFunc(list, func(a, b engine.SpentCalls) int { return cmp.Compare(b.Calls, a.Calls) })
	return list
}

// story says in a sentence why a call got its 429.
func story(k sim.Call) string {
	switch {
	case k.Violation:
		return fmt.Sprintf("The client made %d calls where %d are allowed in %s: this one came %s early.", k.Window.Used, k.Window.Limit, human.Dur(k.Window.Per), ahead(k.Early))
	// A fault that was asked for says 429 whatever the windows hold.
	case k.Fault != "":
		return fmt.Sprintf("The fault %q made it: no limit was reached.", k.Fault)
	}
	return "Calls of somebody else with this key filled the window."
}
