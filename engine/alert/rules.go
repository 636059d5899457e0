package alert

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// measure names what a rule looks at.
type measure string

// Measures.
const (
	giveUps     measure = "give-ups"    // share of finished jobs that have used up their attempts
	retriesWon  measure = "retries won" // share of retries that succeeded
	spike       measure = "spike"       // failures of one status, against the day before; one alert per status
	unforeseen  measure = "unforeseen"  // 429s that our limiter did not expect
	unavailable measure = "unavailable" // 503s; one alert per host
	keyLife     measure = "key life"    // what is left until the key expires
	keyRefused  measure = "key refused" // 1 while Riot refuses the key
	longHold    measure = "long hold"   // what is left of a wait above ten minutes that Riot asked for; one alert per limit
	// silence is of the syncing account that was heard of longest ago, and has no reason for it.
	silence   measure = "silence"
	queueAge  measure = "queue age"  // how long a queue has had a due job and started none; one alert per queue
	writeTime measure = "write time" // p95 of writes; one alert per store
	logDrops  measure = "log drops"  // log lines that were dropped
	clockOff  measure = "clock"      // how far this machine's clock is from Riot's
	oddCalls  measure = "odd calls"  // telephone calls that ended in a way nobody knows
)

// Rule is one rule, as data.
type Rule struct {
	Name    string
	About   string // what it says, in a few words
	Measure measure
	Kind    engine.Kind // giveUps, retriesWon, spike: of the jobs of this kind alone; "" = of all
	Unit    engine.AlertUnit
	Limit   float64 // of spike the least count; of durations in seconds
	Factor  float64 // spike: so many times the median of the 24 hours before
	Below   bool    // it holds below the limit, not above it
	Min     int     // with fewer events in the window nothing is judged
	Window  time.Duration
	For     time.Duration // it must hold so long to fire, and be over so long to end
	Next    string        // what to do
}

// rules are the rules that ship.
func rules() []Rule {
	return []Rule{
		{Name: "give-ups", About: "give-up share per 1 h", Measure: giveUps, Unit: engine.AlertShare,
			Limit: 0.30, Min: 20, Window: time.Hour, For: 5 * time.Minute,
			Next: "open its jobs: one error class for most of them can be retried as one"},
		{Name: "retries", About: "retry success per 1 h", Measure: retriesWon, Unit: engine.AlertShare,
			Limit: 0.20, Below: true, Min: 20, Window: time.Hour, For: 5 * time.Minute,
			Next: "see the error classes: retries do not help against what fails here"},
		{Name: "spike", About: "status spike per 1 h", Measure: spike, Unit: engine.AlertCount,
			Limit: 10, Factor: 3, Window: time.Hour, For: 5 * time.Minute,
			Next: "open its jobs: compare them with Riot's status page"},
		{Name: "call give-ups", About: "calls given up per 1 h", Measure: giveUps, Kind: engine.KindCall,
			Unit:  engine.AlertShare,
			Limit: 0.30, Min: 20, Window: time.Hour, For: 5 * time.Minute,
			Next: "open its jobs: nobody may be reached by telephone"},
		{Name: "call retries", About: "call retry success per 1 h", Measure: retriesWon, Kind: engine.KindCall,
			Unit:  engine.AlertShare,
			Limit: 0.20, Below: true, Min: 20, Window: time.Hour, For: 5 * time.Minute,
			Next: "see how the calls end: retries do not help against that"},
		{Name: "call spike", About: "call status spike per 1 h", Measure: spike, Kind: engine.KindCall,
			Unit:  engine.AlertCount,
			Limit: 10, Factor: 3, Window: time.Hour, For: 5 * time.Minute,
			Next: "see the provider's log"},
		{Name: "429", About: "unexpected 429s per 1 h", Measure: unforeseen, Unit: engine.AlertCount,
			Limit: 0, Window: time.Hour,
			Next: "see the counts on Limits: another process may use the key"},
		{Name: "503", About: "503 burst per 1 min", Measure: unavailable, Unit: engine.AlertCount,
			Limit: 2, Window: time.Minute, For: 30 * time.Second,
			Next: "it goes on by itself: the engine probes the host"},
		{Name: "key expiry", About: "key expires soon", Measure: keyLife, Unit: engine.AlertDuration,
			Limit: 2 * 3600, Below: true, Window: time.Minute,
			Next: "paste a new key"},
		{Name: "key", About: "key rejected", Measure: keyRefused, Unit: engine.AlertCount,
			Limit: 0, Window: time.Minute,
			Next: "paste a new key: every queue waits for it"},
		{Name: "hold", About: "Riot asks for a wait above 10 min", Measure: longHold, Unit: engine.AlertDuration,
			Limit: 0, Window: time.Minute,
			Next: "see Riot's status: one call asks every 10 min, and thaw ends it"},
		{Name: "silent sync", About: "sync without a heartbeat", Measure: silence, Unit: engine.AlertDuration,
			Limit: 600, Window: time.Minute, For: time.Minute,
			Next: "open the account: cancel its sync and start it again if it stays silent"},
		{Name: "queue age", About: "queue age", Measure: queueAge, Unit: engine.AlertDuration,
			Limit: 3600, Window: time.Minute, For: 10 * time.Minute,
			Next: "see why its head waits"},
		{Name: "writes", About: "write p95", Measure: writeTime, Unit: engine.AlertDuration,
			Limit: 0.100, Window: time.Minute, For: 2 * time.Minute,
			Next: "look at the disk's load, or move the data directory"},
		{Name: "log drops", About: "dropped log lines per 1 h", Measure: logDrops, Unit: engine.AlertCount,
			Limit: 0, Window: time.Hour,
			Next: "raise the log level, or give the log a faster disk"},
		{Name: "clock", About: "clock against Riot's", Measure: clockOff, Unit: engine.AlertDuration,
			Limit: 300, Window: time.Minute, For: time.Minute,
			Next: "set this machine's clock: until then Riot's says what is too old, and no payload is deleted"},
		{Name: "calls", About: "unclear phone calls per 1 h", Measure: oddCalls, Unit: engine.AlertCount,
			Limit: 0, Window: time.Hour,
			Next: "see the provider's log: nobody may have been reached, and it is not tried again"},
	}
}

// reach is the longest window of a rule; a spike needs a day more.
const reach = time.Hour

// check reads the rules and tells every fault at once: those that ship have none, but tests and options may
// name others.
func check(rules []Rule) error {
	seen := map[string]bool{}
	var faults []error
	for _, r := range rules {
		if why := r.fault(); why != "" {
			faults = append(faults, fmt.Errorf("alert rule %q %s: %w", r.Name, why, engine.ErrInvalid))
		}
		if seen[r.Name] {
			faults = append(faults, fmt.Errorf("alert rule %q is there twice: %w", r.Name, engine.ErrInvalid))
		}
		seen[r.Name] = true
	}
	return errors.Join(faults...)
}

// fault says what is wrong with the rule; "" = nothing.
func (r Rule) fault() string {
	_, known := measures[r.Measure]
	switch {
	case r.Name == "":
		return "has no name"
	case !known:
		return fmt.Sprintf("measures %q, which is not known", r.Measure)
	case math.IsNaN(r.Limit) || math.IsInf(r.Limit, 0) || math.IsNaN(r.Factor) || math.IsInf(r.Factor, 0):
		return "has no limit"
	case r.Window <= 0 || r.Window > reach:
		return fmt.Sprintf("looks back %s, not up to %s", r.Window, reach)
	case r.For < 0 || r.For > reach:
		return fmt.Sprintf("must hold for %s, not up to %s", r.For, reach)
	}
	return ""
}

// holds reports whether a measured value breaks the rule. A limit is the last value that is well, but
// for a spike, whose limit is the first that is not.
func (r Rule) holds(s sample) bool {
	switch {
	case !s.known:
		return false
	case r.Below:
		return s.value < s.limit
	case r.Measure == spike:
		return s.value >= s.limit
	}
	return s.value > s.limit
}
