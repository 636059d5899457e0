package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/demo"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/tempdir"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage/pg"
	"github.com/farsight-console/farsight/ui/cli"
)

// demoCommand makes `farsight demo`. It needs nothing, neither a key nor a network nor a
// configuration: it is what somebody tries first.
func demoCommand() commandDecl {
	var opt demoOptions
	return commandDecl{
		use: "demo", group: groupStart, short: "Watch a sync against a simulated Riot API: no key, no network",
		long: "Watch a sync against a simulated Riot API: no key, no network. Everything is kept in a\n" +
			"temporary directory or, with --store, in a schema beside the one that it names, such as\n" +
			"farsight_demo. Both are deleted at the end; what is really stored is never touched.\n\n" +
			"Started again with the same --store, in another terminal, it joins the first one as a\n" +
			"member, with its seed and its speed. X and `kill this member` on the one that leads, or\n" +
			"kill -9, shows how another one goes on.",
		example: "farsight demo --seed 3 --speed 2",
		flags: func(f *pflag.FlagSet) {
			addSeed(f, &opt.seed)
			f.Float64Var(&opt.speed, "speed", 1, "divides rate limit windows, answer times and retry delays")
			addConsoleFlags(f)
			f.BoolVar(&opt.headless, "headless", false, "no console: sync 60 to 100 matches, print progress, exit 0 if all went well")
		},
		run: func(ctx context.Context, g given) (err error) {
			if !(opt.speed > 0 && opt.speed <= 1000) { // NaN is neither
				return usagef("--speed %g is out of range: use a factor above 0, at most 1000", opt.speed)
			}
			if opt.console, err = g.console(); err != nil {
				return err
			}
			if g.cmd.Flags().Changed(config.FlagName("store")) { // one that is configured is for real data
				opt.store = g.cfg.Store
			}
			return runDemo(ctx, g.cfg, opt, g.out)
		},
	}
}

// demoOptions are the flags of `farsight demo`.
type demoOptions struct {
	seed     uint64
	speed    float64
	headless bool
	store    string // URL of a PostgreSQL, beside whose schema the demo makes one of its own; "" = none
	console  console
}

// demoRun is a demo whose engines are wired as every other, in a temporary directory.
type demoRun struct {
	*demo.Demo
	cfg   config.Config
	speed float64
	keys  *keyring.Ring

	// How the engine reaches the simulator: by a loopback port, or in memory.
	base      string
	transport http.RoundTripper
	phone     *demo.Phone       // nil = the engine calls nobody
	dials     http.RoundTripper // the pager's; nil = the usual one
	begins    bool              // this process starts the syncs; else it joins those who have
	ends      []func() error    // end the simulator and remove what the demo has stored; the last one first
}

// runDemo shows the product against the simulator.
func runDemo(ctx context.Context, cfg config.Config, opt demoOptions, out cli.Out) (err error) {
	d, err := newDemo(ctx, cfg, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, undo(d.ends)) }()
	if opt.headless {
		return d.headless(ctx, out)
	}
	return d.console(ctx, opt)
}

// demoPrefix is how the names of demos' directories begin. One that was killed leaves its
// own to the next to remove.
const demoPrefix = "farsight-demo-"

// newDemo is a demo whose engine has not started, on a loopback port.
// With a store it may join a demo that works on it already: then the other one's simulator is
// called, and the port that was opened here is given back.
func newDemo(ctx context.Context, cfg config.Config, opt demoOptions) (d *demoRun, err error) {
	// Port 0 is any that is free; never more than the loopback interface, for whoever reaches it is
	// let in.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the demo needs a loopback port: %w", err)
	}
	var ends []func() error
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close(), undo(ends))
		}
	}()
	// what another demo needs to know of this one to join it
	own := demo.NewWorld()
	own.Addr, own.Seed, own.Speed, own.Headless = l.Addr().String(), opt.seed, opt.speed, opt.headless
	// The configured store is for real data: a demo uses one only where --store names it.
	cfg.Store = ""
	w := own
	if opt.store != "" {
		var leave func() error
		if cfg.Store, w, leave, err = shareDemo(ctx, opt.store, own); err != nil {
			return nil, err
		}
		ends = append(ends, leave)
	}
	dir, err := tempdir.New("", demoPrefix)
	if err != nil {
		return nil, fmt.Errorf("the demo needs a temporary directory: %w", err)
	}
	d = setDemo(cfg, w, dir.Path, nil)
	// The first demo shares its own world, and begins the syncs; others join it.
	d.begins, d.base = w.ID == own.ID, "http://"+w.Addr+"/{routing}"
	// It answers at the simulator's address, below a path of its own.
	d.phone = demo.NewPhone(w.Addr, d.cfg.Policies[engine.PolicyCall], d.Sim)
	at := l
	if !d.begins {
		if err := l.Close(); err != nil {
			return nil, errors.Join(err, dir.Remove())
		}
		at = nil
	}
	// The simulator outlives ctx: the engine drains against it.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = d.Serve(serving, at, func(ctx context.Context, l net.Listener) error { return sim.Serve(ctx, l, d.phone) })
	}()
	// The members that are left serve the simulator from then on: one of them takes the address.
	d.ends = append([]func() error{dir.Remove}, append(ends, func() error { stop(); <-done; return nil })...)
	return d, nil
}

// shareDemo joins the demo that works beside the schema of an address, or begins one: then its world
// is this one's own.
func shareDemo(ctx context.Context, store string, own demo.World) (at string, w demo.World, leave func() error, err error) {
	if at, err = pg.Beside(store, "_demo"); err != nil {
		return "", w, nil, err
	}
	// A simulator listens on a loopback address: who joins from another machine would call nobody.
	if own.On, err = os.Hostname(); err != nil {
		return "", w, nil, err
	}
	// The note is taken by whoever comes first; all others get that one's.
	note, err := json.Marshal(own)
	if err != nil {
		return "", w, nil, err
	}
	s, note, err := pg.Share(ctx, at, note)
	if err != nil {
		return "", w, nil, err
	}
	leave = func() error { return s.Leave(context.Background()) } // the last one deletes the schema
	if err = json.Unmarshal(note, &w); err == nil && w.On != own.On {
		err = engine.Problemf(engine.ErrRefused, "start it there, or name another schema", "a demo works on %s already: its simulated Riot is on %s, where nobody else reaches it", pg.Name(at), w.On)
	}
	if err != nil {
		err = errors.Join(err, leave())
	}
	return at, w, leave, err
}

// setDemo wires a demo on a directory. The data directory, the key and the base URL of
// the real configuration are never used: a demo cannot touch real data by construction.
func setDemo(cfg config.Config, w demo.World, dir string, tune func(*sim.Options)) *demoRun {
	// Riot's own, whatever is configured: what the simulator refuses as too old must be known as such.
	cfg.Matches, cfg.Timelines = league.Span{Years: 2}, league.Span{Years: 1}
	cfg.Policies = demo.Policies(w.Speed)
	d := &demoRun{cfg: cfg, speed: w.Speed}
	d.keys = keyring.Of(w.Key(), "demo", filepath.Join(dir, "riot.key"))
	d.Demo = demo.New(demo.Options{
		World: w, Dir: dir, By: operator("demo"), Members: cfg.Store != "", Tune: tune,
		Key: func() string { return d.keys.Get().Fingerprint() }, Start: d.start,
	})
	return d
}

// start wires the usual engine and lets it run; its addresses and delays differ, and
// the chaos panel has its hands in it.
func (d *demoRun) start(ctx context.Context, dir string, life context.Context, ended func()) (demo.Engine, error) {
	cfg := d.cfg
	cfg.DataDir = dir
	if d.base != "" {
		cfg.BaseURL = d.base
	}
	var p *process
	p, err := open(cfg, role{
		keys: d.keys, demo: true, speed: d.speed, transport: d.transport, phone: d.calls(d.Chaos.Pages()), dials: d.dials,
		watch: func(_ uint64, changes []engine.Change) { d.Chaos.Observe(p.store, changes) },
		stall: d.Chaos.Stall, spoil: d.Chaos.Spoil(life),
	})
	if err != nil {
		return nil, err
	}
	p.start(ctx, ended)
	return demoEngine{p, d.calls}, nil
}

// calls are whom the engine calls, and how. Nobody is called about alerts until the chaos
// panel says so: a page among the first jobs is not what a newcomer looks for.
func (d *demoRun) calls(alerts bool) *pager.CallOptions {
	if d.phone == nil {
		return nil
	}
	return d.phone.Calls(alerts)
}

// demoEngine is an engine as the stage of a demo has it.
type demoEngine struct {
	*process
	calls func(alerts bool) *pager.CallOptions
}

// Console implements demo.Engine.
func (e demoEngine) Console() engine.Console { return e.front }

// Abandon implements demo.Store.
func (e demoEngine) Abandon(why error) { e.store.Abandon(why) }

// Note implements demo.Engine.
func (e demoEngine) Note(n engine.Note) { e.note(n) }

// Page implements demo.Engine.
func (e demoEngine) Page(ctx context.Context, on bool) error {
	at := e.engine.Load()
	if at == nil || at.follows {
		return engine.Problemf(engine.ErrRefused, "ask there", "another member leads")
	}
	// Prepared first: what is wrong with it is told, and nothing has changed.
	take, err := at.pager.Prepare(pager.Targets{Call: e.calls(on)})
	if err != nil {
		return err
	}
	take()
	if on {
		_, err = at.pager.Try(ctx, pager.TryCall, operator("demo"), false)
	}
	return err
}

// Stop implements demo.Engine.
func (e demoEngine) Stop() error { return e.stop() }

// Fall implements demo.Engine.
func (e demoEngine) Fall() error {
	// Not stop: an engine that fell writes nothing more, and its end is no news.
	e.once.Do(func() {
		<-e.done
		e.halt()
		e.err = e.close()
	})
	return e.err
}

// headless syncs every player, and fails if anything obtainable is missing or
// the simulator counted a violation.
func (d *demoRun) headless(ctx context.Context, out cli.Out) error {
	// An engine that breaks ends the syncs that wait for it.
	watching, done := context.WithCancel(ctx)
	defer done()
	if err := d.Stage.Begin(ctx, done); err != nil {
		return err
	}
	out.Width = 0 // two bars on one line would overwrite each other
	out.W = &lockedWriter{w: out.W}
	// All at once: that is what the limits are shared by.
	var g errgroup.Group
	for _, p := range d.Sim.Players() {
		g.Go(func() error {
			sum, err := cli.Sync(watching, d.Stage.Console(), cli.SyncOptions{
				Account: p.RiotID, Ask: engine.SyncAsk{Platform: string(p.Platform), Track: true}, By: operator("demo"),
			}, out)
			if err != nil {
				return err
			}
			return verdict(sum, p.RiotID, out, keptHere)
		})
	}
	err := g.Wait()
	if err == nil {
		err = d.audit(ctx, out)
	}
	return errors.Join(err, d.Stage.Stop())
}

// audit says how much of what the simulator would have given is stored.
func (d *demoRun) audit(ctx context.Context, out cli.Out) error {
	all, missing, err := d.Audit(ctx)
	if err != nil {
		return err
	}
	st, err := d.Host.Ask(ctx)
	counted := ""
	if err == nil { // else the one that has counted has ended
		counted = fmt.Sprintf(", %d calls, %d violations of the limits", st.Calls, st.Violations)
	}
	_, _ = fmt.Fprintf(out.W, "%d of %d matches stored%s\n", all-missing, all, counted)
	if missing > 0 {
		return fmt.Errorf("%d matches are missing", missing)
	}
	// The limiter's promise, counted by the other side.
	if st.Violations > 0 {
		return fmt.Errorf("the simulator counted %d violations of its limits", st.Violations)
	}
	return nil
}

// lockedWriter lets several syncs print whole lines.
type lockedWriter struct {
	mu sync.Mutex
	w  interface{ Write([]byte) (int, error) }
}

// Write implements io.Writer.
func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// console shows the demo: engine and console run together, and when either ends so
// does the other, but for an engine that falls on purpose.
func (d *demoRun) console(ctx context.Context, opt demoOptions) error {
	// The operator's own theme and keys, also over what is simulated.
	o, err := opt.console.options(d.cfg)
	if err != nil {
		return err
	}
	o.Demo, o.Chaos, o.Embedded = true, d.Chaos, true
	o.Stack = func(message, stack string) { d.Stage.Engine().(demoEngine).logStack(message, stack) }
	// Whichever ends first, the engine or the screen, ends the other.
	watching, done := context.WithCancel(ctx)
	if err := d.Stage.Begin(watching, done); err != nil {
		done()
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { d.Chaos.Run(watching) })
	if d.begins {
		err = d.Trigger(watching)
		wg.Go(func() { d.Further(watching, d.speed) })
	}
	if err == nil {
		err = opt.console.show(watching, d.Stage.Console(), o)
	}
	done()
	wg.Wait()
	return errors.Join(err, d.Stage.Stop())
}
