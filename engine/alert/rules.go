package alert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	queueAge  measure = "queue-age"  // how long a queue has had a due job and started none; one alert per queue
	writeTime measure = "write time" // p95 of writes; one alert per store
	logDrops  measure = "log-drops"  // log lines that were dropped
	clockOff  measure = "clock"      // how far this machine's clock is from Riot's
	oddCalls  measure = "odd calls"  // telephone calls that ended in a way nobody knows
	freeRoom  measure = "free room"  // bytes that the disk still takes
	noWrites  measure = "no writes"  // 1 while the disk or the store lets no job start
	cutOff    measure = "cut off"    // 1 while this machine has no way to Riot
	outage    measure = "outage"     // how long an endpoint of Riot's has been down; one alert per endpoint
	noBackup  measure = "no backup"  // 1 while the last scheduled backup has failed
	lost      measure = "lost"       // how long a member gave no sign of life; one alert per member
)

// Rule is one rule, as data.
type Rule struct {
	Name     string // without blanks
	About    string // what it says, in a few words
	Measure  measure
	Kind     engine.Kind // of the jobs of this kind alone; "" = of all but telephone calls
	Unit     engine.AlertUnit
	Limit    float64 // of spike the least count; of durations in seconds
	Factor   float64 // spike: so many times the median of the 24 hours before
	Below    bool    // it holds below the limit, not above it
	Min      int     // with fewer events in the window nothing is judged
	Window   time.Duration
	For      time.Duration   // it must hold so long to fire, and be over so long to end
	Next     string          // what to do
	Severity engine.Severity // "" = a warning
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
		{Name: "call-give-ups", About: "phone calls given up per 1 h", Measure: giveUps, Kind: engine.KindCall,
			Unit:  engine.AlertShare,
			Limit: 0.30, Min: 20, Window: time.Hour, For: 5 * time.Minute,
			Next: "open its jobs: nobody may be reached by telephone"},
		{Name: "429", About: "unexpected 429s per 10 min", Measure: unforeseen, Unit: engine.AlertCount,
			Limit: 0, Window: 10 * time.Minute,
			Next: "see Limits: another process may use the key"},
		{Name: "503", About: "503 burst per 1 min", Measure: unavailable, Unit: engine.AlertCount,
			Limit: 2, Window: time.Minute, For: 30 * time.Second,
			Next: "it goes on by itself: the engine probes the host"},
		{Name: "key-expires", About: "key expires soon", Measure: keyLife, Unit: engine.AlertDuration,
			Limit: 2 * 3600, Below: true, Window: time.Minute,
			Next: "paste a new key"},
		{Name: "key", About: "no valid key", Measure: keyRefused, Unit: engine.AlertCount,
			Limit: 0, Window: time.Minute,
			Severity: engine.SeverityCritical, Next: "paste a new key: every queue waits for it"},
		{Name: "riot-unreachable", About: "no way to Riot", Measure: cutOff, Unit: engine.AlertCount,
			Limit: 0, Window: time.Minute, For: time.Minute,
			Severity: engine.SeverityCritical, Next: "see this machine's network, DNS and proxy: calls go on by themselves"},
		{Name: "outage", About: "an endpoint of Riot is down", Measure: outage, Unit: engine.AlertDuration,
			Limit: 120, Window: time.Minute,
			Next: "see Riot's status: the engine probes it, and no job loses an attempt"},
		{Name: "disk-low", About: "free room on the disk", Measure: freeRoom, Unit: engine.AlertBytes,
			Limit: 2 << 30, Below: true, Window: time.Minute, For: time.Minute,
			Next: "make room: below 512 MiB no job is started"},
		{Name: "disk-full", About: "no job starts for want of room", Measure: noWrites, Unit: engine.AlertCount,
			Limit: 0, Window: time.Minute,
			Severity: engine.SeverityCritical, Next: "make room, or see why the store takes no writes: work goes on by itself"},
		{Name: "backup", About: "scheduled backup failed", Measure: noBackup, Unit: engine.AlertCount,
			Limit: 0, Window: time.Minute,
			Next: "see the folder of the backups: it is tried again every 10 min"},
		{Name: "member-lost", About: "member without a sign of life", Measure: lost, Unit: engine.AlertDuration,
			Limit: 60, Window: time.Minute,
			Next: "see its machine: others have taken up what it had in hand"},
		{Name: "hold", About: "Riot asks for a wait above 10 min", Measure: longHold, Unit: engine.AlertDuration,
			Limit: 0, Window: time.Minute,
			Next: "see Riot's status: one call asks every 10 min, and thaw ends it"},
		{Name: "silent-sync", About: "sync without a heartbeat", Measure: silence, Unit: engine.AlertDuration,
			Limit: 600, Window: time.Minute, For: time.Minute,
			Next: "open the account: cancel its sync and start it again if it stays silent"},
		{Name: "queue-age", About: "queue age", Measure: queueAge, Unit: engine.AlertDuration,
			Limit: 3600, Window: time.Minute, For: 10 * time.Minute,
			Severity: engine.SeverityCritical, Next: "see why its head waits"},
		{Name: "writes", About: "write p95", Measure: writeTime, Unit: engine.AlertDuration,
			Limit: 0.100, Window: time.Minute, For: 2 * time.Minute,
			Next: "look at the disk's load, or move the data directory"},
		{Name: "log-drops", About: "dropped log lines per 10 min", Measure: logDrops, Unit: engine.AlertCount,
			Limit: 0, Window: 10 * time.Minute,
			Next: "raise the log level, or give the log a faster disk"},
		{Name: "clock", About: "clock against Riot's", Measure: clockOff, Unit: engine.AlertDuration,
			Limit: 300, Window: time.Minute, For: time.Minute,
			Next: "set this machine's clock: until then Riot's says what is too old, and no payload is deleted"},
		{Name: "calls", About: "unclear phone calls per 1 h", Measure: oddCalls, Kind: engine.KindCall,
			Unit: engine.AlertCount, Limit: 0, Window: time.Hour,
			Next: "see the provider's log: nobody may have been reached, and it is not tried again"},
	}
}

// Rules are the rules that ship, with limits and severities of an operator's own, each as "queue-age=2h": a limit is a
// number, a share in percent, a duration or a size, as the rule has it, and a severity critical, warning or off. The error
// names the entry that cannot be meant.
func Rules(limits, severities []string) ([]Rule, error) {
	all := rules()
	each := func(entries []string, set func(*Rule, string) bool, form func(Rule) string) error {
		for _, e := range entries {
			name, value, _ := strings.Cut(e, "=")
			i := slices.IndexFunc(all, func(r Rule) bool { return r.Name == strings.TrimSpace(name) })
			if i < 0 {
				return fmt.Errorf("%q is about no rule: `farsight alerts` lists them", e)
			}
			if !set(&all[i], strings.TrimSpace(value)) {
				return fmt.Errorf("%q cannot be read: write %s=%s", e, all[i].Name, form(all[i]))
			}
		}
		return nil
	}
	if err := each(limits, (*Rule).setLimit, func(r Rule) string { return limitForms[r.Unit] }); err != nil {
		return nil, err
	}
	off := map[string]bool{}
	err := each(severities, func(r *Rule, v string) bool {
		off[r.Name] = v == "off"
		r.Severity = engine.Severity(v)
		return off[r.Name] || r.Severity == engine.SeverityCritical || r.Severity == engine.SeverityWarning
	}, func(Rule) string { return "critical, warning or off" })
	return slices.DeleteFunc(all, func(r Rule) bool { return off[r.Name] }), err
}

// limitForms are examples of limits.
var limitForms = map[engine.AlertUnit]string{engine.AlertShare: "30%", engine.AlertCount: "10", engine.AlertDuration: "2h",
	engine.AlertBytes: "5GiB"}

// setLimit reads a limit and reports whether it is one.
func (r *Rule) setLimit(v string) bool {
	scale, unit := 1.0, ""
	switch r.Unit {
	case engine.AlertDuration:
		d, err := time.ParseDuration(v)
		r.Limit = d.Seconds()
		return err == nil && d >= 0
	case engine.AlertShare:
		scale, unit = 0.01, "%"
	case engine.AlertBytes:
		scale, unit = 1<<30, "GiB"
	}
	number, ok := strings.CutSuffix(v, unit)
	n, err := strconv.ParseFloat(number, 64)
	r.Limit = n * scale
	return ok && err == nil && n >= 0 && n < 1e9
}

// reach is the longest window of a rule; a spike needs a day more.
const reach = time.Hour

// holds reports whether a measured value breaks the rule.
func (r Rule) holds(s sample) bool {
	return s.known && engine.Breaks(s.value, s.limit, r.Below, r.Measure == spike)
}
