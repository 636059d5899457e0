package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim/internal/world"
)

// Options describe a simulated Riot. The zero value is a quiet API with a development key's limits, the
// built-in players and 60 ± 30 ms of latency.
type Options struct {
	Seed       uint64
	Limits     Limits
	WindowRule WindowRule
	// Speed divides windows and latencies; 0 means 1. Announced windows stay whole seconds of at least 1:
	// where a window would be shorter, its limit grows instead, so the rate is always Speed times the
	// original (20:1 at speed 10 is announced as 200:1, 100:120 as 100:12).
	Speed   float64
	Latency Latency
	// Epoch is the start of the newest game. Zero means the start of the current hour. It moves the times of
	// games, not their ids: those are the same whenever a simulator is started.
	Epoch time.Time
	// Players are the known accounts; nil means DefaultPlayers. Every other Riot ID answers 404.
	Players []PlayerSpec
	// Ladders are ranked queues of platforms, with players who play them, mostly with each other.
	Ladders []LadderSpec
	// Invent makes up a player for every Riot ID that nobody has, in place of a 404: with a history of
	// evenings and weekends, by Seed and name alone, and a home on the platform that is asked about them
	// first. At most 200: every further name answers 404.
	Invent bool
	// FixturesDir holds recorded payloads (matches/*.json, timelines/*.json) to serve through accounts
	// named "Recorded#…"; empty means none.
	FixturesDir string
	// Keys are the keys with a state or key project of their own. Any other well-formed key is accepted,
	// in project "default".
	Keys map[string]Key
	// Retention says how old a match may be before it answers 404. Timelines last half as long.
	Retention Retention
	Faults    []Fault
	// Door is called with every call before it counts as arrived, and may keep it waiting until ctx ends;
	// id is that of a match or timeline. nil: all calls go on.
	Door func(ctx context.Context, m route.Method, id string)
	// OnStrike is told of every call that a fault of the plan strikes, before it is answered; id is a
	// match or a Riot ID. A call with an expired key is told as ExpiredKey. It runs under the simulator's
	// lock: it must neither wait nor ask the simulator.
	OnStrike func(fault string, m route.Method, id string)
}

// WindowRule says how a rate limit window begins and ends. Riot does not say which one it uses.
type WindowRule string

// The window rules.
const (
	FixedLazy   WindowRule = "lazy"    // starts at the first call after the last one ended; the default
	WallAligned WindowRule = "wall"    // starts at multiples of its length
	Sliding     WindowRule = "sliding" // the last D seconds before each call
)

// Latency is the time between request and answer: Base ± Jitter, spread evenly. Between a fifth and
// three fifths of it pass before the server counts the call. The zero value means 60 ± 30 ms.
type Latency struct{ Base, Jitter time.Duration }

// Instant is no latency at all.
var Instant = Latency{Base: -1}

// Retention is Riot's deletion of old games. The zero value deletes matches after 2
// calendar years and a day, timelines after 1 and a day.
type Retention uint8

// KeepForever deletes nothing: everything is served.
const KeepForever Retention = 1

// KeyState says how Riot treats a key.
type KeyState string

// The states of a key.
const (
	KeyGood    KeyState = ""        // accepted
	KeyExpired KeyState = "expired" // 403 on every call
	KeyUnknown KeyState = "unknown" // 401 "Unknown apikey"
)

// Key is what Riot knows about an API key. PUUIDs are encrypted per project: one of another project
// answers 400 "Exception decrypting".
type Key struct {
	Project string   `json:"project"` // empty means "default"
	State   KeyState `json:"state"`
}

// Validate reports every fault of the options at once, each as a sentence for the person who set them.
func (o Options) Validate() error {
	var faults []error
	add := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	// At more than 10,000 times the speed a latency of 60 ms would be below 6 µs, which no timer keeps.
	if !(o.Speed >= 0 && o.Speed <= 10000) { // NaN is neither
		add(fmt.Errorf("speed %g is out of range: give a number between 0 and 10000", o.Speed))
	}
	if !slices.Contains([]WindowRule{"", FixedLazy, WallAligned, Sliding}, o.WindowRule) {
		add(fmt.Errorf("unknown window rule %q: use lazy, wall or sliding", o.WindowRule))
	}
	add(checkLimits(o.Limits.App))
	for method, limits := range o.Limits.Methods {
		if method.Template() == "" {
			add(fmt.Errorf("limits for %q: no such method", method))
		}
		add(checkLimits(limits))
	}
	for _, f := range o.Faults {
		add(f.check())
	}
	add(world.CheckSpecs(o.Players))
	add(world.CheckLadders(o.Ladders))
	if o.FixturesDir != "" {
		add(world.CheckRecordings(o.FixturesDir))
	}
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.WindowRule == "" {
		o.WindowRule = FixedLazy
	}
	if o.Latency == (Latency{}) {
		o.Latency = Latency{60 * time.Millisecond, 30 * time.Millisecond}
	}
	// A whole hour, so that runs within one show the same times.
	if o.Epoch.IsZero() {
		o.Epoch = time.Now().Truncate(time.Hour)
	}
	if o.Players == nil {
		o.Players = DefaultPlayers(o.Seed)
	}
	return o
}
