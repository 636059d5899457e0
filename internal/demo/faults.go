package demo

import (
	"time"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// mischief is one row of the chaos panel: faults of the simulator, or something in
// the engine's own process.
type mischief struct {
	name   string
	expect string // what comes of it, at most 33 letters: the least column
	about  string
	// faults gives what is injected with a rate or for one call; a preset's have their own. nil =
	// there are none.
	faults func() []sim.Fault
	// lasts is how long a preset goes on, before the demo's speed; 0 = until it is ended.
	lasts  time.Duration
	preset bool
}

// Rows of the panel that are more than faults of the simulator.
const (
	slowDisk    = "slow disk"
	workerCrash = "worker crash"
	keyExpires  = "key expires"
	restartAt   = "restart at 134/879"
	pagerCalls  = "pager calls"
	killMember  = "kill this member"
)

// mischiefs are the rows of the panel, in its order.
var mischiefs = []mischief{
	{name: keyExpires, expect: "all queues hold until a new key", preset: true, about: "403 from now on: all queues hold, no try is used; any RGAPI-uuid will do as a new key"},
	{name: "patch day", expect: "10 min of 503, 500, slow answers", preset: true, lasts: 10 * time.Minute, faults: presetFaults("patch-day"),
		about: "10 minutes of 503, 500, slow answers and empty leagues: retries by the table, nothing lost"},
	{name: "outage 2 min", expect: "the breaker opens and probes", preset: true, lasts: 2 * time.Minute, faults: presetFaults("outage"),
		about: "503 to everything: the breaker opens, one job at a time probes, no match is given up"},
	{name: restartAt, expect: "killed there, resumes there", preset: true, about: "the engine is killed at 134 of 879 and started again: it resumes there, nothing twice"},
	{name: killMember, expect: "another one leads", preset: true,
		about: "as by kill -9: another member leads within seconds, this one is back after " + human.Dur(memberPause) + "; the simulated Riot stays"},
	{name: pagerCalls, expect: "busy, busy, then answered", preset: true, about: "a test and then every alert ring a simulated telephone: busy, busy, answered"},

	{name: "429 app", expect: "the host waits, no try is used", faults: one(sim.Fault{Kind: sim.LimitApp, RetryAfter: "2"}), about: "the whole host waits for Retry-After, no try is used"},
	{name: "429 method", expect: "the method waits, no try is used", faults: one(sim.Fault{Kind: sim.LimitMethod, RetryAfter: "2"}), about: "that method waits for Retry-After, no try is used"},
	{name: "429 service", expect: "the method waits, no try is used", faults: one(sim.Fault{Kind: sim.LimitService, RetryAfter: "2"}), about: "that method backs off, no try is used"},
	{name: "503", expect: "retried by the table", faults: one(sim.Fault{Kind: sim.Unavailable}), about: "a try is used, the next by the table; five in a row open the breaker"},
	{name: "timeout", expect: "10 s of silence, then retried", faults: one(sim.Fault{Kind: sim.Hang}), about: "no answer: the client gives up after 10 s, a try is used"},
	{name: "slow", expect: "3 s late, others go on", faults: one(sim.Fault{Kind: sim.Slow, Delay: 3 * time.Second}), about: "3 s before the answer: others go on meanwhile"},
	{name: "cut body", expect: "not stored, retried", faults: one(sim.Fault{Kind: sim.Truncate}), about: "the body ends half way: nothing of it is stored, a try is used"},
	{name: "bad JSON", expect: "not stored, retried", faults: one(sim.Fault{Kind: sim.NotJSON}), about: "a body that cannot be read: a try is used, its start is kept"},
	{name: "404", expect: "final at once, never retried", faults: one(sim.Fault{Kind: sim.NotFound, Match: sim.Match{Method: route.Match}}), about: "a match that is gone: final at once, the run ends incomplete"},
	{name: "key expiry", expect: "held until a call proves the key", faults: one(sim.Fault{Kind: sim.Unauthorized}), about: "401 to single calls: held until another call proves the key"},
	{name: "clock skew", expect: "waits go by our own clock", faults: one(sim.Fault{Kind: sim.SkewDate, Delay: -time.Hour}), about: "Date is an hour off: waits go by our own clock"},
	{name: slowDisk, expect: "work waits, nothing is lost", about: "a commit takes 2 s (by rate: 400 ms): work waits, nothing is lost"},
	{name: workerCrash, expect: "retried, its stack is logged", about: "a handler panics: that try is used, its stack goes to the log"},
}

// alone and shared are the rows of a demo that has its directory for itself, and of one whose
// database has members: there nothing begins anew under the hands of the others.
var alone, shared = without(killMember), without(restartAt)

// without are all rows but one, by pointer: a row's state is found by its name.
func without(name string) (rows []*mischief) {
	for i := range mischiefs {
		if m := &mischiefs[i]; m.name != name {
			rows = append(rows, m)
		}
	}
	return rows
}

// simulated reports whether it is done by the simulator.
func (m *mischief) simulated() bool { return m.faults != nil || m.name == keyExpires }

// one is a single fault, made anew each time: plan writes its name and rate into it.
func one(f sim.Fault) func() []sim.Fault { return func() []sim.Fault { return []sim.Fault{f} } }

// presetFaults are those of a scene that the simulator has. Its scenes are JSON, which is read when
// they are asked for: not at every start of the program.
func presetFaults(name string) func() []sim.Fault {
	return func() []sim.Fault {
		list, err := sim.Preset(name)
		if err != nil {
			panic("demo: " + err.Error())
		}
		return list
	}
}

// Names of faults in the simulator's plan, by row: those with a rate, and those for
// one call.
func (m *mischief) rated() string { return "chaos " + m.name }
func (m *mischief) once() string  { return "chaos once " + m.name }

// plan gives the row's faults: rate is in percent, 0 = for one call.
func (m *mischief) plan(rate float64) []sim.Fault {
	if m.faults == nil {
		return nil
	}
	out := m.faults()
	for i, f := range out {
		switch {
		case m.preset:
			f.Name = m.rated()
		case rate > 0:
			f.Name, f.Match.Rate, f.Match.Each = m.rated(), rate/100, true
		default:
			f.Name, f.Count = m.once(), 1
		}
		out[i] = f
	}
	return out
}
