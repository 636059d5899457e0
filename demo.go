package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/ui/cli"
)

// demoOptions are the flags of `farsight demo`.
type demoOptions struct {
	seed     uint64
	speed    float64
	headless bool
	console  console
}

// demoDelays is the retry table of the demo, short enough to be watched
// (spec section 2.5).
var demoDelays = []time.Duration{3 * time.Second, 6 * time.Second, 12 * time.Second, 30 * time.Second}

// demo is a simulator and an engine in a temporary directory.
type demo struct {
	sim   *sim.Sim
	stage *stage
	chaos *chaos
	keys  *keyring
	dir   string

	// How the engine reaches the simulator: by a loopback port, or in memory.
	base      string
	transport http.RoundTripper
	phone     *demoPhone // nil = the engine calls nobody
	stop      context.CancelFunc
	done      chan struct{}
}

// runDemo shows the product against the simulator.
func runDemo(ctx context.Context, cfg Config, opt demoOptions, out cli.Out) (err error) {
	d, err := newDemo(ctx, cfg, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if opt.headless {
		return d.headless(ctx, out)
	}
	return d.console(ctx, cfg, opt)
}

// newDemo is a demo whose engine has not started, on a loopback port.
func newDemo(ctx context.Context, cfg Config, opt demoOptions) (*demo, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the demo needs a loopback port: %w", err)
	}
	dir, err := os.MkdirTemp("", "farsight-demo-")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the demo needs a temporary directory: %w", err), l.Close())
	}
	d, err := setDemo(cfg, opt, dir)
	if err != nil {
		return nil, errors.Join(err, l.Close(), os.RemoveAll(dir))
	}
	d.base = "http://" + l.Addr().String() + "/{routing}"
	d.phone = newDemoPhone(l.Addr().String(), demoPolicies(opt.speed)[engine.PolicyCall], d.sim)
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop = stop
	go func() {
		defer close(d.done)
		_ = serve(serving, l, d.phone)
	}()
	return d, nil
}

// setDemo wires simulator, chaos panel and stage on a directory.
func setDemo(cfg Config, opt demoOptions, dir string) (*demo, error) {
	key, err := demoKey()
	if err != nil {
		return nil, err
	}
	o := sim.Demo(opt.seed)
	if opt.headless {
		o = sim.Headless(opt.seed)
	}
	o.Speed = opt.speed
	c := newChaos(opt.seed, opt.speed, o.Players[0].RiotID)
	o.Door, o.OnStrike = c.trap.door, c.tally.call
	d := &demo{sim: sim.New(o), chaos: c, stage: newStage(dir), dir: dir, stop: func() {}, done: make(chan struct{})}
	d.keys = &keyring{Keys: riot.NewKeys(key), path: filepath.Join(dir, "riot.key"), source: "demo", since: time.Now()}
	d.stage.make = func(data string, life context.Context) (*parts, error) { return d.assemble(cfg, opt.speed, data, life) }
	c.sim, c.stage, c.limits, c.begin = d.sim, d.stage, o.Limits, d.trigger
	c.key = func() string { return d.keys.Get().Fingerprint() }
	return d, nil
}

// assemble wires the usual engine; its addresses and delays differ, and the chaos
// panel has its hands in it. The data directory, the key and the base URL of the real
// configuration are never used: a demo cannot touch real data by construction.
func (d *demo) assemble(cfg Config, speed float64, dir string, life context.Context) (p *parts, err error) {
	cfg.DataDir = dir
	if d.base != "" {
		cfg.BaseURL = d.base
	}
	cfg.Matches, cfg.Timelines = league.Span{Years: 2}, league.Span{Years: 1}
	cfg.Policies = demoPolicies(speed)
	p, err = assemble(cfg, assembly{
		keys: d.keys, demo: true, transport: d.transport, phone: d.phone,
		watch: func(_ uint64, changes []engine.Change) { d.chaos.look(p, changes) },
		stall: d.chaos.stall, spoil: d.chaos.spoil(life),
	})
	return p, err
}

func demoPolicies(speed float64) map[string]engine.Policy {
	delays := make([]time.Duration, len(demoDelays))
	for i, d := range demoDelays {
		delays[i] = time.Duration(float64(d) / speed)
	}
	out := engine.DefaultPolicies()
	for _, name := range []string{engine.PolicyMatch, engine.PolicyIngest} {
		out[name] = engine.NewPolicy(name, out[name].Max, delays...)
	}
	out[engine.PolicyCall] = engine.NewPolicy(engine.PolicyCall, out[engine.PolicyCall].Max, delays[1:]...)
	return out
}

// trigger starts a sync of every player of the simulator.
func (d *demo) trigger(ctx context.Context) error {
	for _, p := range d.sim.Players() {
		_, err := d.stage.con.Do(ctx, engine.Command{
			Op: engine.OpTrigger, Account: p.RiotID, By: operator("demo"),
			Sync: engine.SyncAsk{Platform: string(p.Platform), Track: true},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// headless syncs every player, and fails if anything obtainable is missing or
// the simulator counted a violation.
func (d *demo) headless(ctx context.Context, out cli.Out) error {
	watching, done := context.WithCancel(ctx)
	defer done()
	if err := d.stage.begin(ctx, done); err != nil {
		return err
	}
	out.Width = 0 // two bars on one line would overwrite each other
	out.W = &lockedWriter{w: out.W}
	var g errgroup.Group
	for _, p := range d.sim.Players() {
		g.Go(func() error {
			sum, err := cli.Sync(watching, d.stage.con, cli.SyncOptions{
				Account: p.RiotID, Ask: engine.SyncAsk{Platform: string(p.Platform), Track: true}, By: operator("demo"),
			}, out)
			if err != nil {
				return err
			}
			return verdict(sum, p.RiotID, out)
		})
	}
	err := g.Wait()
	if err == nil {
		err = d.audit(ctx, out)
	}
	return errors.Join(err, d.stage.stop())
}

// audit compares what is stored with what the simulator would have given.
func (d *demo) audit(ctx context.Context, out cli.Out) error {
	stored := map[string]bool{}
	q := engine.MatchesQuery{All: true, Page: engine.Page{Limit: 500}}
	for {
		a, err := d.stage.con.Find(ctx, q)
		if err != nil {
			return err
		}
		page := a.(engine.MatchesPage)
		for _, m := range page.Matches {
			stored[m.ID] = m.Status == league.Success.String()
		}
		if page.Next == "" {
			break
		}
		q.After = page.Next
	}
	wanted := map[string]bool{}
	for _, p := range d.sim.Players() {
		for _, id := range d.sim.MatchIDs(p.RiotID) {
			wanted[id] = true
		}
	}
	missing := 0
	for id := range wanted {
		if !stored[id] {
			missing++
		}
	}
	st := d.sim.Stats()
	_, _ = fmt.Fprintf(out.W, "%d of %d matches stored, %d calls, %d violations of the limits\n", len(wanted)-missing, len(wanted), st.Calls, st.Violations)
	if missing > 0 {
		return fmt.Errorf("%d matches are missing", missing)
	}
	if st.Violations > 0 {
		return fmt.Errorf("the simulator counted %d violations of its limits", st.Violations)
	}
	return nil
}

// close ends the simulator and removes the temporary directory.
func (d *demo) close() error {
	d.stop()
	if d.base != "" {
		<-d.done
	}
	return os.RemoveAll(d.dir)
}

// lockedWriter lets several syncs print whole lines.
type lockedWriter struct {
	mu sync.Mutex
	w  interface{ Write([]byte) (int, error) }
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// console shows the demo: engine and console run together, and when either ends so
// does the other, but for an engine that falls on purpose.
func (d *demo) console(ctx context.Context, cfg Config, opt demoOptions) error {
	o := opt.console.options(cfg)
	o.Demo, o.Chaos, o.Embedded = true, d.chaos, true
	o.Stack = func(message, stack string) { logStack(d.stage.parts().log)(message, stack) }
	if err := o.Validate(); err != nil {
		return usage(err)
	}
	watching, done := context.WithCancel(ctx)
	if err := d.stage.begin(watching, done); err != nil {
		done()
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { d.chaos.run(watching) })
	err := d.trigger(watching)
	if err == nil {
		err = opt.console.show(watching, d.stage.con, o)
	}
	done()
	wg.Wait()
	return errors.Join(err, d.stage.stop())
}
