// Package demo is the show that Farsight makes of itself: a simulated Riot, a stage on
// which engines come and go while their console stays open, and a chaos panel that
// breaks either of them. It starts no engine itself: the program hands in how, so that
// the demo's is wired as every other.
package demo

import (
	"context"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// Options say which demo it is.
type Options struct {
	World World
	Dir   string // where data directories may be made
	By    engine.Actor
	Key   func() string // fingerprint of the key in use
	Start Start
	// Members says that others may work on what the engine works on.
	Members bool
	// Tune changes the simulator before it is made; nil = it is the usual one.
	Tune func(*sim.Options)
}

// Demo is a simulator, a stage and a chaos panel, wired and not yet running.
type Demo struct {
	Sim   *sim.Sim
	Host  *Host
	Stage *Stage
	Chaos *Chaos

	by      engine.Actor
	ladders []sim.LadderSpec
}

// New is a demo whose engine has not started.
func New(opt Options) *Demo {
	w := opt.World
	o := sim.Demo(w.Seed)
	if w.Headless {
		o = sim.Headless(w.Seed)
	}
	o.Speed, o.Epoch, o.Invent = w.Speed, w.Epoch, true // whoever types a name of their own finds somebody
	if opt.Tune != nil {
		opt.Tune(&o)
	}
	// The first player has the most matches: its 879 are what the trap counts.
	c := newChaos(w.Seed, w.Speed, o.Players[0].RiotID)
	o.Door, o.OnStrike = c.trap.door, c.tally.call
	d := &Demo{Sim: sim.New(o), Stage: newStage(opt.Dir, opt.Start), Chaos: c, by: opt.By, ladders: o.Ladders}
	d.Host = newHost(w.Addr, d.Sim)
	if c.rows = alone; opt.Members {
		c.rows, d.Stage.pause = shared, memberPause
	}
	c.host, c.stage, c.limits, c.begin, c.by, c.key = d.Host, d.Stage, o.Limits, d.Trigger, opt.By, opt.Key
	return d
}

// Trigger starts a sync of every account of the simulator, and the collection of its ladder. No timelines: they would be
// under way when the trap closes, and be fetched twice.
func (d *Demo) Trigger(ctx context.Context) error {
	for _, p := range d.Sim.Players() {
		_, err := d.Stage.Console().Do(ctx, engine.Command{
			Op: engine.OpTrigger, Account: p.RiotID, By: d.by,
			Sync: engine.SyncAsk{Platform: string(p.Platform), Track: true},
		})
		if err != nil {
			return err
		}
	}
	for _, l := range d.ladders {
		_, err := d.Stage.Console().Do(ctx, engine.Command{Op: engine.OpCollect, By: d.by, Collect: &engine.CollectAsk{
			Tiers: []string{"master+"}, Platforms: []string{string(l.Platform)}, Queue: "solo", Timelines: "none",
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// every is how often somebody further is synced.
const every = time.Minute

// Further syncs the newest games of a further player each minute, of whom the simulator makes up a past, so that
// something begins while somebody looks. What an engine refuses that falls or begins anew is left out.
func (d *Demo) Further(ctx context.Context, speed float64) {
	each := time.Duration(float64(every) / speed)
	for n := 0; n < mostFurther && await.Pause(ctx, each); n++ {
		_, _ = d.Stage.Console().Do(ctx, engine.Command{
			Op: engine.OpTrigger, Account: further(n), By: d.by,
			Sync: engine.SyncAsk{Platform: string(route.EUW1), Count: 20, Timelines: "none"},
		})
	}
}

// mostFurther is how many names there are; the simulator makes up 200 players at most.
const mostFurther = 11 * 13

// further is the name of the n-th further player: Silver Lynx#DEMO.
func further(n int) string {
	first := [...]string{"Silver", "Amber", "Quiet", "Lucky", "Crimson", "Distant", "Golden", "Hollow", "Velvet", "Misty", "Brave"}
	second := [...]string{"Lynx", "Crane", "Otter", "Falcon", "Badger", "Wolf", "Sparrow", "Hare", "Raven", "Marten", "Swift", "Seal", "Bear"}
	return first[n%len(first)] + " " + second[n%len(second)] + "#DEMO"
}

// Audit compares what is stored with what the simulator would have given: how many
// matches there are, and how many of them are not stored.
func (d *Demo) Audit(ctx context.Context) (all, missing int, err error) {
	stored, err := d.stored(ctx)
	if err != nil {
		return 0, 0, err
	}
	// Players share matches: each counts once.
	wanted := map[string]bool{}
	for _, p := range d.Sim.Players() {
		for _, id := range d.Sim.MatchIDs(p.RiotID) {
			wanted[id] = true
		}
	}
	for id := range wanted {
		if !stored[id] {
			missing++
		}
	}
	return len(wanted), missing, nil
}

// stored are the matches whose payload is on disk.
func (d *Demo) stored(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	q := engine.MatchesQuery{All: true, Page: engine.Page{Limit: engine.LargestPage}}
	for {
		a, err := d.Stage.Console().Find(ctx, q)
		if err != nil {
			return nil, err
		}
		page := a.(engine.MatchesPage)
		for _, m := range page.Matches {
			out[m.ID] = m.Status == league.Success.String()
		}
		if page.Next == "" {
			return out, nil
		}
		q.After = page.Next
	}
}

// delays is the retry table of the demo, short enough to be watched.
var delays = []time.Duration{3 * time.Second, 6 * time.Second, 12 * time.Second, 30 * time.Second}

// Policies are the usual ones with the demo's delays, divided by its speed.
func Policies(speed float64) engine.Policies {
	short := make([]time.Duration, len(delays))
	for i, d := range delays {
		short[i] = time.Duration(float64(d) / speed)
	}
	out := engine.DefaultPolicies()
	for _, name := range []string{engine.PolicyMatch, engine.PolicyIngest} {
		out[name] = engine.NewPolicy(name, out[name].Max, short...)
	}
	// A call goes on for longer than the first delay of the others: the line would still be busy.
	out[engine.PolicyCall] = engine.NewPolicy(engine.PolicyCall, out[engine.PolicyCall].Max, short[1:]...)
	return out
}
