package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// Proofs that the parts fit the interfaces of those who use them.
var (
	_ local.Admitter  = (*traffic.Limits)(nil)
	_ local.Pacer     = (*traffic.Limits)(nil)
	_ local.Releaser  = (*traffic.Limits)(nil)
	_ control.Backend = (*local.Backend)(nil)
	_ control.Syncer  = (*ingest.Ingest)(nil)
	_ control.Limiter = (*traffic.Limits)(nil)
	_ control.Keys    = (*keyring.Ring)(nil)
)

// parts are one engine on one store, wired and not yet running.
type parts struct {
	db      store
	log     zerolog.Logger
	logs    *logbook.File
	tale    *logbook.Narrator
	control *control.Control
	front   engine.Console // control, or what stands before it
	backend *local.Backend
	client  *riot.Client
	limits  *traffic.Limits
	pager   *pager.Pager
	// projects tells the key projects apart.
	projects *ingest.Projects
	keys     *keyring.Ring

	door      *api.Door // who may come in by the sockets
	gate      *api.Gate // who may by TCP; nil = nobody
	entrances []entrance

	// What programs are told; nil until the sockets are open.
	events   *api.Events
	metrics  *api.Metrics
	settings atomic.Pointer[[]engine.Setting] // in force
	workers  atomic.Int64                     // ceiling of calls at once; 0 = none
	http     net.Addr                         // of the listener for programs; nil = there is none
}

// assembly says how an engine differs from the usual one.
type assembly struct {
	keys      *keyring.Ring
	demo      bool
	onlyOwn   bool               // only the runs that ownRun names are worked on
	attach    bool               // of onlyOwn: commands and consoles attach to it as to any other
	phone     *pager.CallOptions // whom a demo calls; nil = nobody
	transport http.RoundTripper  // nil = the hardened one
	dials     http.RoundTripper  // the pager's; nil = the hardened one
	speed     float64            // of the simulated Riot; 0 = the real one's
	moments   time.Duration      // between two that are kept for the time cursor; 0 = a second
	// watch sees every commit after the engine did; nil = nobody.
	watch func(seq uint64, changes []engine.Change)
	// Only the demo's chaos panel has these. stall comes before every commit, as slow
	// as it likes; spoil may put something else in the place of a handler.
	stall func()
	spoil func(engine.KindSpec) engine.KindSpec
}

// kinds are the kinds of jobs that this engine runs.
func (a assembly) kinds(all []engine.KindSpec) []engine.KindSpec {
	if a.spoil == nil {
		return all
	}
	out := make([]engine.KindSpec, len(all))
	for i, k := range all {
		out[i] = a.spoil(k)
	}
	return out
}

// assemble opens the store and wires an engine on it.
func assemble(cfg config.Config, a assembly) (*parts, error) {
	log, logs := logbook.New(cfg.DataDir, cfg.LogLevel)
	db, err := openStore(cfg, logbook.Area(log, logbook.AreaStorage), a.stall)
	if err != nil {
		return nil, errors.Join(err, logs.Close())
	}
	p := &parts{db: db, log: log, logs: logs, tale: logbook.NewNarrator(log, version())}
	if err := p.wire(cfg, a); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *parts) wire(cfg config.Config, a assembly) error {
	limiter := limit.New(limit.Options{Ceiling: ceiling(cfg.Ceiling)})
	boot := p.db.Boot()
	limits := traffic.New(traffic.Options{Limiter: limiter, Store: p.db, Lanes: ingest.LaneOf, Patience: 2 * cfg.Policies[engine.PolicyMatch].Sum(), Speed: a.speed, Log: p.log})
	client, err := riot.New(riot.Options{
		Keys: a.keys, Limiter: riot.LimitedBy(limiter), BaseURL: cfg.BaseURL, Timeout: cfg.Timeout,
		UserAgent: "farsight/" + version(), Transport: a.transport, OnCall: limits.OnCall,
	})
	if err != nil {
		return usage(err)
	}
	p.client, p.limits, p.keys = client, limits, a.keys
	p.workers.Store(int64(cfg.Workers))
	// The console and the backend need each other: notes and changes go to the
	// console, which is made last.
	var con *control.Control
	noteOf := func(area string) func(engine.Note) {
		return func(n engine.Note) {
			p.tale.Note(area, n)
			con.Note(n)
		}
	}
	projects := ingest.NewProjects(ingest.ProjectsOptions{
		Store: p.db, API: client, Limits: limits,
		Fingerprint: func() string { return a.keys.Get().Fingerprint() },
		OnNote:      noteOf(logbook.AreaSync),
	})
	if err := projects.Load(context.Background()); err != nil {
		return err
	}
	p.projects = projects
	pg, err := p.newPager(cfg, a, noteOf(logbook.AreaPager))
	if err != nil {
		return err
	}
	in := ingest.New(ingest.Options{
		Store: p.db, API: client, Limits: limits, Projects: projects,
		Prune:       pruner(p.db),
		LatestCount: cfg.LatestMax, LatestLookback: cfg.Lookback, SyncOff: !cfg.SyncOn,
		Attempts: cfg.Policies[engine.PolicyMatch].Max, RetryMissing: cfg.RetryMissing, SweepCount: cfg.SweepBatch,
		Matches: cfg.Matches, Timelines: cfg.Timelines, Zone: cfg.ReportTZ,
		Cooldown: cooldown(cfg.Cooldown), Stale: cfg.StaleAge, Restored: boot.Restored,
		Late: func(tx engine.Tx, m ingest.Milestone) error { return pg.Tell(tx, eventOf(m)) },
	})
	kinds := pagedKinds(in, pg)
	p.pager = pg
	backend, err := local.New(local.Options{
		Store: p.db, Admitter: limits, Kinds: a.kinds(kinds), Policies: cfg.Policies,
		Workers: func() int { return workers(int(p.workers.Load()), limits.Workers()) + pg.Following() },
		Boot:    boot.ID, Log: logbook.Area(p.log, logbook.AreaJobs),
		OnNote:     func(n engine.Note) { con.Note(n) },
		NoRoom:     noRoom,
		OnlyServed: a.onlyOwn, Room: roomOf(p.db),
	})
	if err != nil {
		return err
	}
	schedules, err := cron.New(cron.Options{
		Store: p.db, Specs: in.Schedules(cfg.Schedules),
		OnNote: noteOf(logbook.AreaSchedule), OnTick: p.tale.Tick,
		NoRoom: noRoom,
	})
	if err != nil {
		return err
	}
	p.backend = backend
	pg.Use(backend)
	alerts, err := newAlerts(p.gauges(a, func() []engine.AccountRow { return con.Open() }), cfg.Policies, func(n engine.Note) { con.Note(n) }, pg.Alerts)
	if err != nil {
		return err
	}
	watch := keyring.Watch{Keys: a.keys, Limits: limits, Probe: p.probeKey, Note: noteOf(logbook.AreaEngine)}
	also := []control.Runner{projects, watch, alerts, pg, lateForgetter{p}}
	typos := newMistyped(cfg.Cooldown)
	if !a.onlyOwn { // `sync` works on its own run and leaves crons off
		also = append(also, schedules, typos)
	}
	if !a.onlyOwn && !a.demo {
		also = append(also, keeper{db: p.db, log: logbook.Area(p.log, logbook.AreaStorage), every: cfg.BackupEvery, keep: cfg.KeepPayloads})
	}
	var serves func(engine.JobID) bool
	if a.onlyOwn {
		serves = backend.Serves
	}
	con = control.New(control.Options{
		Store: p.db, Backend: backend, Syncer: in, Domain: in, Limiter: limits, Logs: p.logs.Ring, Keys: a.keys,
		Also: also, Payloads: payloadsOf(p.db), Upkeep: upkeep{p.db, cfg}, Forget: p.db, Schedules: schedules, Forecast: in, Alerts: alerts, Pager: pg,
		Policies: cfg.Policies, Boot: boot.ID, Fresh: boot.New, Demo: a.demo, MomentEvery: a.moments, SyncOn: cfg.SyncOn, Serves: serves,
		KeyWorked: p.keyWorked(a.keys), Lane: ingest.LaneOf.Name, Lines: knownQueues(),
	})
	p.control, p.front = con, con
	typos.console = con
	if a.onlyOwn {
		p.front = ownRun{con, backend}
	}
	p.db.OnCommit(func(seq uint64, changes []engine.Change) {
		backend.Apply(seq, changes)
		con.Publish(seq, changes)
		p.tale.Changes(changes)
		if a.watch != nil {
			a.watch(seq, changes)
		}
		alerts.Publish(changes)
		typos.Publish(changes)
		p.told(changes)
	})
	if shared, ok := p.db.(interface{ OnGap(missed func()) }); ok { // others may write to it, too
		shared.OnGap(func() { backend.Gap(); con.Gap() })
	}
	return nil
}

func ceiling(r config.Rate) []limit.Limit {
	if r.N == 0 {
		return nil
	}
	return []limit.Limit{{N: r.N, Per: r.Per}}
}

// cooldown tells "none" from "not set".
func cooldown(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

// Bounds of the worker count that is sized by Little's law.
const (
	minWorkers = 5
	maxWorkers = 64
)

// workers is how many calls may be under way: what the limits and the answer
// time ask for, from 5 to 64; a configured number is a ceiling.
func workers(configured, needed int) int {
	n := min(max(needed, minWorkers), maxWorkers)
	if configured > 0 {
		n = min(n, configured)
	}
	return n
}

// run works until ctx ends, then drains: the store outlives the engine, so that
// every last write lands.
func (p *parts) run(ctx context.Context) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var g errgroup.Group
	engineCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	g.Go(func() error {
		defer cancel() // a store that cannot be trusted ends the engine
		return p.db.Serve(serving)
	})
	g.Go(func() error {
		defer stop()
		return p.attend(engineCtx)
	})
	boot := p.db.Boot()
	p.tale.Started(boot.ID, boot.New)
	err := g.Wait()
	p.tale.Stopped(err)
	return err
}

// close releases the data directory.
func (p *parts) close() error {
	if p.client != nil {
		p.client.CloseIdle()
	}
	p.leave()
	return errors.Join(p.db.Close(), p.logs.Close())
}

// engineTask is an engine that runs while something else does.
type engineTask struct {
	*parts
	cancel context.CancelFunc
	done   chan struct{}
	once   sync.Once
	err    error
}

// start runs the engine in the background; ended is called when it stops, for
// whatever reason.
func (p *parts) start(ctx context.Context, ended func()) *engineTask {
	ctx, cancel := context.WithCancel(ctx)
	t := &engineTask{parts: p, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		defer ended()
		t.err = p.run(ctx)
	}()
	return t
}

// stop drains the engine and closes the directory. It may be called twice.
func (t *engineTask) stop() error {
	t.once.Do(func() {
		t.cancel()
		<-t.done
		t.err = errors.Join(t.err, t.close())
	})
	return t.err
}

// browseStored opens the store for reading and shows it.
func browseStored(ctx context.Context, cfg config.Config, show func(engine.Console) error) error {
	db, err := openStored(cfg)
	if err != nil {
		return err
	}
	return errors.Join(show(browser(ctx, db, cfg)), db.Close())
}

// browser is a console on a store that no engine works on.
func browser(ctx context.Context, db store, cfg config.Config) engine.Console {
	return control.NewBrowse(control.Stored{
		Store: db, Policies: cfg.Policies, Limits: storedLimits(ctx, db), Do: "start farsight with a key",
		Lane: ingest.LaneOf.Name, Domain: ingest.Stored{Store: db, Zone: cfg.ReportTZ},
		Schedules: storedSchedules(ctx, db, cfg), Alerts: storedAlerts(ctx, db), Logs: logbook.StoredIn(cfg.DataDir),
	})
}

// storedLimits reads what the last engine knew of the limits.
func storedLimits(ctx context.Context, db store) func() engine.LimitsRow {
	return func() engine.LimitsRow {
		row, err := traffic.StoredLimits(ctx, db)
		if err != nil {
			return engine.LimitsRow{}
		}
		return row
	}
}

// probeKey makes the one call that every working key may make.
func (p *parts) probeKey(ctx context.Context) error {
	return p.client.Probe(riot.WithJob(ctx, "key source", limit.Interactive), route.Europe, "")
}

// keyWorked reports whether a key that is refused is worth waiting for: it has worked,
// or another source has one that nobody has tried.
func (p *parts) keyWorked(keys *keyring.Ring) func() bool {
	return func() bool {
		return p.limits.Proven() || keys.Untried()
	}
}

// storedSchedules are the schedules of a directory on which no engine works, as the
// last one left them; nil when they cannot be read.
func storedSchedules(ctx context.Context, db store, cfg config.Config) operation.Schedules {
	r, err := cron.New(cron.Options{Store: db, Specs: ingest.New(ingest.Options{Store: db, Prune: pruner(db)}).Schedules(cfg.Schedules)})
	if err != nil || r.Load(ctx) != nil {
		return nil
	}
	return r
}
