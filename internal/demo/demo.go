// Package demo is the show that Farsight makes of itself: a simulated Riot, a stage on
// which engines come and go while their console stays open, and a chaos panel that
// breaks either of them. It starts no engine itself: the program hands in how, so that
// the demo's is wired as every other.
package demo

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/sim"
)

// Options say which demo it is.
type Options struct {
	Seed     uint64
	Speed    float64 // of the simulated Riot, above 0; 1 = the usual
	Headless bool    // the players of a run that nobody watches
	Dir      string  // where data directories may be made
	By       engine.Actor
	Key      func() string // fingerprint of the key in use
	Start    Start
}

// Demo is a simulator, a stage and a chaos panel, wired and not yet running.
type Demo struct {
	Sim   *sim.Sim
	Stage *Stage
	Chaos *Chaos

	by engine.Actor
}

// New is a demo whose engine has not started.
func New(opt Options) *Demo {
	o := sim.Demo(opt.Seed)
	if opt.Headless {
		o = sim.Headless(opt.Seed)
	}
	o.Speed, o.Invent = opt.Speed, true // whoever types a name of their own finds somebody
	c := newChaos(opt.Seed, opt.Speed, o.Players[0].RiotID)
	o.Door, o.OnStrike = c.trap.door, c.tally.call
	d := &Demo{Sim: sim.New(o), Stage: newStage(opt.Dir, opt.Start), Chaos: c, by: opt.By}
	c.sim, c.stage, c.limits, c.begin, c.by, c.key = d.Sim, d.Stage, o.Limits, d.Trigger, opt.By, opt.Key
	return d
}

// Trigger starts a sync of every player of the simulator.
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
	return nil
}

// Audit compares what is stored with what the simulator would have given: how many
// matches there are, and how many of them are not stored.
func (d *Demo) Audit(ctx context.Context) (all, missing int, err error) {
	stored, err := d.stored(ctx)
	if err != nil {
		return 0, 0, err
	}
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
	q := engine.MatchesQuery{All: true, Page: engine.Page{Limit: 500}}
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
	out[engine.PolicyCall] = engine.NewPolicy(engine.PolicyCall, out[engine.PolicyCall].Max, short[1:]...)
	return out
}

// NewKey is a key that only the simulator takes. It is random, so that no two runs
// share limiter state by accident.
func NewKey() (riot.Key, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand, Go 1.24)
	return riot.ParseKey(fmt.Sprintf("RGAPI-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}
