package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/operation"
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

// assemble opens the store for this process alone and wires an engine on it.
// What was opened before a failure is closed again.
func assemble(cfg config.Config, a assembly) (*parts, error) {
	opening.Add(1)
	defer opening.Add(-1)
	if err := logbook.Usable(cfg.DataDir); err != nil {
		return nil, err
	}
	host := newBase(cfg, a.keys)
	p := &parts{base: host}
	if err := p.openAlone(cfg, a); err != nil {
		return nil, errors.Join(err, host.close())
	}
	if err := p.wire(cfg, a); err != nil {
		return nil, errors.Join(err, host.close())
	}
	host.work, host.front = p.runInTerm, p.control
	if a.onlyOwn {
		host.front = ownRun{p.control, p.backend}
	}
	host.engine.Store(p)
	return p, nil
}

// runInTerm runs the engine until ctx ends, or the term within which it works.
func (p *parts) runInTerm(ctx context.Context) error {
	if p.term != nil {
		// The engine ends when its term does: what it would write then is refused by the store.
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		go func() {
			select {
			case <-ctx.Done():
			case <-p.term.Over():
				stop()
			}
		}()
	}
	return p.control.Run(ctx)
}

// wire makes all of an engine and connects it. It starts nothing and asks Riot nothing: Run does. The
// order is that of the dependencies, from the limiter up to the console, with two knots: the console
// is told of what the backend does, and the backend's commits go to the console (p.committed).
//
// It makes three sorts of engine: one that works alone, one of a term among members (p.term), and
// one that only shows what the leader does (p.follows).
func (p *parts) wire(cfg config.Config, a assembly) error {
	bounds := limit.New(limit.Options{Ceiling: ceiling(cfg.Ceiling)})
	// An endpoint that fails for two rounds of a match's delays is held to be down, not the match.
	reign := p.reigns()
	var halt func() string
	var carrier riot.Carrier
	if reign != nil {
		halt, carrier = reign.halt, reign.calls
	}
	limits := traffic.New(traffic.Options{Limiter: bounds, Store: p.db, Collections: p.db.CollectionRows, Lanes: ingest.LaneOf, Patience: 2 * cfg.Policies[engine.PolicyMatch].Sum(), Speed: a.speed, Halt: halt, Log: p.log})
	calls := riot.LimitedBy(bounds)
	if p.term != nil {
		calls = inTerm{calls, p.term}
	}
	// The client waits where the limiter makes it wait; nothing below it tries again.
	client, err := riot.New(riot.Options{
		Keys: a.keys, Limiter: calls, Punctual: p.term != nil, Carrier: carrier, BaseURL: cfg.BaseURL, Timeout: cfg.Timeout,
		UserAgent: "farsight/" + version(), Transport: a.transport, OnCall: p.called,
	})
	if err != nil {
		return usage(err)
	}
	p.client, p.limits = client, limits
	// The console and the backend need each other: notes and changes go to the
	// console, which is made last.
	var con *control.Control
	noteOf := func(area string) func(engine.Note) {
		return func(n engine.Note) {
			p.tale.Note(area, n)
			con.Note(n)
		}
	}
	in, kinds, err := p.handlers(cfg, a, noteOf)
	if err != nil {
		return err
	}
	projects, pg := p.projects, p.pager
	var limiter control.Limiter = limits
	also := []control.Runner{projects}
	if reign != nil {
		reign.Limits, p.calls, limiter = limits, reign.calls, reign
		also = append(also, reign.calls, obeying{reign.hand.carrier})
	}
	backend, err := local.New(local.Options{
		Store: p.db, Admitter: limits, Kinds: a.kinds(kinds), Policies: cfg.Policies,
		// Asked for at each round: a reload changes the configured number, and limits are learnt
		// while calls go.
		Workers: func() int { return workers(p.config.Load().Workers, limits.Workers()) + pg.Following() },
		Boot:    p.boot.ID, Log: logbook.Area(p.log, logbook.AreaJobs),
		OnNote:     func(n engine.Note) { con.Note(n) },
		NoRoom:     noRoom,
		OnlyServed: a.onlyOwn, Room: p.db.Room,
	})
	if err != nil {
		return err
	}
	// A member that follows has them, too, to show what the leader runs; it lets none run.
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
	// con is set by the time that anything of this is called.
	alerts, err := newAlerts(p.gauges(a, func() []engine.AccountRow { return con.Open() }, func() (engine.EngineState, string) { return con.Cause() }), cfg.Pager.Rules, cfg.Policies, func(n engine.Note) { con.Note(n) }, pg.Alerts)
	if err != nil {
		return err
	}
	watch := keyring.Watch{Keys: a.keys, Limits: limits, Probe: p.probeKey, Note: noteOf(logbook.AreaEngine)}
	also = append(also, watch, alerts, pg, lateForgetter{p})
	typos := newMistyped(cfg.Cooldown)
	if !a.onlyOwn { // `sync` works on its own run and leaves crons off
		also = append(also, schedules, typos)
	}
	// A sync of minutes and a demo's temporary directory need no backups.
	if !a.onlyOwn && !a.demo {
		also = append(also, keeper{db: p.db, log: logbook.Area(p.log, logbook.AreaStorage), every: cfg.BackupEvery, keep: cfg.KeepPayloads, agreed: p.limits.ClockAgrees, failed: func(why string) { p.badBackup.Store(why) }})
	}
	// The limits go on from what the leader before knew; without it they would count their windows as
	// full.
	if p.term != nil { // others follow
		if told, err := storedReading(context.Background(), p.db); err == nil {
			limits.GoOnFrom(told.last())
		}
		me := p.is()
		also = append(also, teller{p.db, p.term.Epoch, func() (engine.EngineState, string) { return con.State() }, limits, me.ID + " on " + me.Host})
	}
	// A follower shows what the leader has stored, and runs nothing: its runners are the leader's.
	if p.follows {
		alerts, err = newAlerts(gauges{parts: p}, cfg.Pager.Rules, cfg.Policies, nil, nil)
		if err != nil {
			return err
		}
		limiter, also = &ledLimits{Limits: limits, term: p.reign, db: p.db, alerts: alerts, schedules: schedules}, nil
	}
	var serves func(engine.JobID) bool
	if a.onlyOwn {
		serves = backend.Serves
	}
	con = control.New(control.Options{
		Store: p.db, Backend: backend, Syncer: in, Domain: in, Limiter: limiter, Logs: p.logs.Ring, Keys: a.keys, TryKey: p.tryKey, Audit: p.audit,
		Also: also, Payloads: payloadsOf(p.db), Upkeep: upkeep{p.db, cfg}, Forget: p.db, Schedules: schedules, Forecast: in, Alerts: alerts, Pager: pg,
		Policies: cfg.Policies, Boot: p.boot.ID, Term: p.reign, Members: membersOf(p.db, p.id), Fresh: p.boot.New, Demo: a.demo, MomentEvery: a.moments, SyncOn: cfg.SyncOn, Serves: serves,
		// A key that is refused is worth waiting for where it has worked, or another source has one that
		// nobody has tried.
		KeyWorked: func() bool { return limits.Proven() || a.keys.Untried() }, Lane: ingest.LaneOf.Name, Lines: knownQueues(),
	})
	// From here on notes and readings reach it; nothing has been started yet.
	p.control, typos.console = con, con
	// Called after each commit, in the order of the commits, by one goroutine: first the engine learns
	// of it, then the console, then everybody else.
	p.committed = func(seq uint64, changes []engine.Change) {
		backend.Apply(seq, changes)
		con.Publish(seq, changes)
		p.tale.Changes(changes)
		// The log of calls holds whose they were: who was forgotten is taken out of it in the same
		// breath.
		if slices.ContainsFunc(changes, func(c engine.Change) bool { return c.Forgotten != "" }) {
			limits.Forgets()
		}
		if a.watch != nil {
			a.watch(seq, changes)
		}
		if p.follows {
			return
		}
		alerts.Publish(changes)
		typos.Publish(changes)
	}
	// Some commits were not told of: both read anew.
	p.missed = func() { backend.Gap(); con.Gap() }
	return nil
}

// handlers are what carries jobs out by the part's client, on its store.
func (p *parts) handlers(cfg config.Config, a assembly, noteOf func(area string) func(engine.Note)) (*ingest.Ingest, []engine.KindSpec, error) {
	projects := ingest.NewProjects(ingest.ProjectsOptions{
		Store: p.db, API: p.client, Limits: p.limits,
		Fingerprint: func() string { return a.keys.Get().Fingerprint() },
		OnNote:      noteOf(logbook.AreaSync),
	})
	if err := projects.Load(context.Background()); err != nil {
		return nil, nil, err
	}
	p.projects = projects
	pg, err := p.newPager(cfg, a, noteOf(logbook.AreaPager))
	if err != nil {
		return nil, nil, err
	}
	in := ingest.New(ingest.Options{
		Store: p.db, API: p.client, Limits: p.limits, Projects: projects,
		Prune: pruner(p.db), Compact: compacter(p.db),
		LatestCount: cfg.LatestMax, LatestLookback: cfg.Lookback, Relist: cfg.Relist, SyncOff: !cfg.SyncOn,
		Attempts: cfg.Policies[engine.PolicyMatch].Max, RetryMissing: cfg.RetryMissing, SweepCount: cfg.SweepBatch,
		Matches: cfg.Matches, Timelines: cfg.Timelines, Zone: cfg.ReportTZ, AskAgain: cfg.AskAgain,
		Cooldown: cooldown(cfg.Cooldown), Stale: cfg.StaleAge, Restored: p.boot.Restored,
		Late: func(tx engine.Tx, m ingest.Milestone) error { return pg.Tell(tx, eventOf(m)) },
	})
	p.pager = pg
	return in, pagedKinds(in, pg), nil
}

// ceiling is the operator's own limit; none of a rate of 0.
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

// browseStored opens the store for reading and shows it.
func browseStored(ctx context.Context, cfg config.Config, show func(engine.Console) error) error {
	db, err := openStored(cfg)
	if err != nil {
		return err
	}
	return errors.Join(show(browser(ctx, db, cfg)), db.Close())
}

// browser is a console on a store that no engine works on.
// It answers every question and refuses every command with what to do instead.
func browser(ctx context.Context, db store, cfg config.Config) engine.Console {
	return control.NewBrowse(control.Stored{
		Store: db, Policies: cfg.Policies, Limits: storedLimits(ctx, db), Do: "start farsight with a key", Silent: silent(cfg),
		Lane: ingest.LaneOf.Name, Domain: ingest.Stored{Store: db, Zone: cfg.ReportTZ},
		Schedules: storedSchedules(ctx, db, cfg), Alerts: storedAlerts(ctx, db, cfg.Pager.Rules), Logs: logbook.StoredIn(cfg.DataDir), Members: membersOf(db, ""),
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

// keyPatience bounds the call that tries a key: somebody waits.
const keyPatience = 10 * time.Second

// askRiot asks Riot about a key by a call: engine.ErrRefused where it refuses it, another error where it could not
// be asked.
func askRiot(ctx context.Context, key riot.Key, call func(context.Context) error) error {
	if key.IsZero() {
		return engine.Problemf(engine.ErrRefused, "`farsight key set` takes one", "there is no API key")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, keyPatience, errors.New("no answer in "+keyPatience.String()))
	defer cancel()
	err := call(ctx)
	if e, ok := errors.AsType[*riot.Error](err); ok && e.Reason.Denied() {
		return engine.Problemf(engine.ErrRefused, "get a new one at https://developer.riotgames.com", "tried: Riot refuses the key %s, and nothing was changed", key)
	}
	return err
}

// tryKey is what the engine's operator asks, see operation.Options.
func (p *parts) tryKey(ctx context.Context, text string) error {
	key := p.keys.Get()
	if text != "" {
		var err error
		if key, err = riot.ParseIssued(text); err != nil {
			return engine.Problemf(engine.ErrInvalid, "", "%v", err)
		}
	}
	if p.follows {
		return errors.New("this process makes no calls: another one leads")
	}
	return askRiot(ctx, key, func(ctx context.Context) error {
		return p.client.ProbeKey(riot.WithJob(ctx, "key test", limit.Interactive), route.Europe, key)
	})
}

// storedSchedules are the schedules of a directory on which no engine works, as the
// last one left them; nil when they cannot be read.
func storedSchedules(ctx context.Context, db store, cfg config.Config) operation.Schedules {
	r, err := cron.New(cron.Options{Store: db, Specs: ingest.New(ingest.Options{Store: db, Prune: pruner(db), Compact: compacter(db)}).Schedules(cfg.Schedules)})
	if err != nil || r.Load(ctx) != nil {
		return nil
	}
	return r
}
