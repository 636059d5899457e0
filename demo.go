package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
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
}

// demoDelays is the retry table of the demo, short enough to be watched
// (spec section 2.5).
var demoDelays = []time.Duration{3 * time.Second, 6 * time.Second, 12 * time.Second, 30 * time.Second}

// demo is a simulator on a loopback port and an engine in a temporary directory.
type demo struct {
	sim   *sim.Sim
	parts *parts
	dir   string
	stop  context.CancelFunc
	done  chan struct{}
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

func newDemo(ctx context.Context, cfg Config, opt demoOptions) (*demo, error) {
	o := sim.Demo(opt.seed)
	if opt.headless {
		o = sim.Headless(opt.seed)
	}
	o.Speed = opt.speed
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the demo needs a loopback port: %w", err)
	}
	dir, err := os.MkdirTemp("", "farsight-demo-")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the demo needs a temporary directory: %w", err), l.Close())
	}
	d := &demo{sim: sim.New(o), dir: dir, done: make(chan struct{})}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop = stop
	go func() {
		defer close(d.done)
		_ = serve(serving, l, d.sim)
	}()
	if d.parts, err = assembleDemo(cfg, dir, l.Addr().String(), opt.speed); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// assembleDemo wires the usual engine; only its addresses and delays differ. The
// data directory, the key and the base URL of the real configuration are never
// used: a demo cannot touch real data by construction.
func assembleDemo(cfg Config, dir, addr string, speed float64) (*parts, error) {
	key, err := demoKey()
	if err != nil {
		return nil, err
	}
	cfg.DataDir, cfg.BaseURL = dir, "http://"+addr+"/{routing}"
	cfg.Matches, cfg.Timelines = league.Span{Years: 2}, league.Span{Years: 1}
	cfg.Policies = demoPolicies(speed)
	return assemble(cfg, assembly{keys: &keyring{Keys: riot.NewKeys(key), path: dir + "/riot.key", source: "demo", since: time.Now()}, demo: true})
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
	return out
}

// trigger starts a sync of every player of the simulator.
func (d *demo) trigger(ctx context.Context) error {
	for _, p := range d.sim.Players() {
		_, err := d.parts.control.Do(ctx, engine.Command{
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
	t := d.parts.start(ctx, done)
	out.Width = 0 // two bars on one line would overwrite each other
	out.W = &lockedWriter{w: out.W}
	var g errgroup.Group
	for _, p := range d.sim.Players() {
		g.Go(func() error {
			sum, err := cli.Sync(watching, d.parts.control, cli.SyncOptions{
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
	return errors.Join(err, t.stop())
}

// audit compares what is stored with what the simulator would have given.
func (d *demo) audit(ctx context.Context, out cli.Out) error {
	stored := map[string]bool{}
	q := engine.MatchesQuery{All: true, Page: engine.Page{Limit: 500}}
	for {
		a, err := d.parts.control.Find(ctx, q)
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
	<-d.done
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
