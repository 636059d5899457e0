package app

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/alert"
	"github.com/farsight-console/farsight/engine/control"
	"github.com/farsight-console/farsight/engine/cron"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/logbook"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/fleet"
	"github.com/farsight-console/farsight/storage/river"
)

// The backend looks whether its admitter has these methods, too: without them nothing fails, and less is known.
var (
	_ local.Pacer    = (*traffic.Limits)(nil)
	_ local.Releaser = (*traffic.Limits)(nil)
)

// parts are one engine of a process, wired and not yet running.
type parts struct {
	*process
	boot    storage.Boot
	term    *fleet.Term // within which it works; nil = as long as it likes
	follows bool        // it shows what the engine of another process does
	missed  func()      // of one that follows: more has changed than it was told of

	control  *control.Control
	backend  *local.Backend
	client   *riot.Client
	limits   *traffic.Limits
	pager    *pager.Pager
	projects *ingest.Projects // tells the key projects apart
	calls    *river.Calls     // that members make; nil = all are made here
	age      *keyring.Age     // nil = the key has no age: it is a simulator's, or of no use here
	// committed takes the changes of every commit, in commit order.
	committed func(seq uint64, changes []engine.Change)
}

// run runs the engine until ctx ends, or the term within which it works: what it would write then is refused by the
// store.
func (p *parts) run(ctx context.Context) error {
	if p.term != nil {
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

// runner is a function that the console supervises with the rest.
type runner func(ctx context.Context) error

// Run implements control.Runner.
func (r runner) Run(ctx context.Context) error { return r(ctx) }

// wire makes all of an engine and connects it. It starts nothing and asks Riot nothing: Run does. The
// order is that of the dependencies, from the limiter up to the console, with two knots: the console
// is told of what the backend does, and the backend's commits go to the console (p.committed).
//
// It makes three sorts of engine: one that works alone, one of a term among members (p.term), and
// one that only shows what the leader does (p.follows).
func (p *parts) wire() error {
	cfg := *p.config.Load()
	if err := p.connect(cfg); err != nil {
		return err
	}
	// The console and the backend need each other: notes and changes go to the
	// console, which is made last.
	var con *control.Control
	note := func(n engine.Note) { con.Note(n) }
	noteOf := func(area string) func(engine.Note) {
		return func(n engine.Note) {
			p.tale.Note(area, n)
			con.Note(n)
		}
	}
	in, kinds, err := p.handlers(cfg, noteOf)
	if err != nil {
		return err
	}
	p.backend, err = local.New(local.Options{
		Store: p.store, Admitter: p.limits, Kinds: kinds, Policies: cfg.Policies,
		// Asked for at each round: a reload changes the configured number, and limits are learnt
		// while calls go.
		Workers: func() int { return workers(p.config.Load().Workers, p.limits.Workers()) + p.pager.Following() },
		Boot:    p.boot.ID, Log: logbook.Area(p.log, logbook.AreaJobs), OnNote: note, NoRoom: noRoom,
		OnlyServed: p.onlyOwn, Room: p.store.Room,
	})
	if err != nil {
		return err
	}
	p.pager.Use(p.backend)
	// A member that follows has them, too, to show what the leader runs; it lets none run.
	schedules, err := cron.New(cron.Options{
		Store: p.store, Specs: in.Schedules(cfg.Schedules),
		OnNote: noteOf(logbook.AreaSchedule), OnTick: p.tale.Tick,
		NoRoom: noRoom,
	})
	if err != nil {
		return err
	}
	alerts, typos := p.newAlerts(cfg, note), newMistyped(cfg.Cooldown)
	o := control.Options{
		Store: p.store, Backend: p.backend, Syncer: in, Domain: in, Forecast: in, Logs: p.logs.Ring, Keys: p.keys, TryKey: p.tryKey,
		Payloads: payloadsOf(p.store), Upkeep: upkeep{p.store, cfg}, Forget: p.store, Schedules: schedules, Alerts: alerts, Pager: p.pager,
		Policies: cfg.Policies, Boot: p.boot.ID, Fresh: p.boot.New, Demo: p.demo, MomentEvery: p.moments, SyncOn: cfg.SyncOn,
		// A key that is refused is worth waiting for where it has worked, or another source has one that
		// nobody has tried.
		KeyWorked: func() bool { return p.limits.Proven() || p.keys.Untried() }, Lane: ingest.LaneOf.Name, Lines: knownQueues(),
		Members: membersOf(p.store, p.id),
	}
	if p.con != nil {
		o.Term = p.leader
	}
	switch {
	case p.follows: // what the leader has stored is shown, and its runners are the leader's
		led := &ledLimits{Limits: p.limits, p: p.process, alerts: alerts, schedules: schedules, lanes: p.backend.Lanes}
		o.Limiter, o.Term, o.Audit = led, led.Term, p.audit
	case p.calls != nil:
		o.Limiter = reigning{p.limits, p.calls}
	default:
		o.Limiter = p.limits
	}
	if !p.follows {
		o.Also = p.runners(cfg, noteOf, alerts, schedules, typos)
	}
	if p.onlyOwn {
		o.Serves = p.backend.Serves
	}
	// From here on notes and readings reach it; nothing has been started yet.
	con = control.New(o)
	p.control, typos.console = con, con
	// Called after each commit, in the order of the commits, by one goroutine: first the engine learns
	// of it, then the console, then everybody else.
	p.committed = func(seq uint64, changes []engine.Change) {
		p.backend.Apply(seq, changes)
		con.Publish(seq, changes)
		p.tale.Changes(changes)
		// The log of calls holds whose they were: who was forgotten is taken out of it in the same
		// breath.
		if slices.ContainsFunc(changes, func(c engine.Change) bool { return c.Forgotten != "" }) {
			p.limits.Forgets()
		}
		if p.watch != nil {
			p.watch(seq, changes)
		}
		if !p.follows {
			alerts.Publish(changes)
			typos.Publish(changes)
		}
	}
	return nil
}

// connect makes what stands between the engine and Riot: the limiter, the gate before it, and the client, whose calls
// members make where there are any.
func (p *parts) connect(cfg config.Config) (err error) {
	bounds := limit.New(limit.Options{Ceiling: ceiling(cfg.Ceiling), Keeps: true})
	// An endpoint that fails for two rounds of a match's delays is held to be down, not the match.
	gate := traffic.Options{Limiter: bounds, Store: p.store, Collections: p.store.CollectionRows, Lanes: ingest.LaneOf, Patience: 2 * cfg.Policies[engine.PolicyMatch].Sum(), Speed: p.speed, Log: p.log}
	// The client waits where the limiter makes it wait; nothing below it tries again.
	to := p.toRiot(riot.LimitedBy(bounds), p.term != nil)
	to.OnCall = p.called
	if p.term != nil {
		to.Limiter = inTerm{to.Limiter, p.term}
		if hand := p.hand.Load(); hand != nil {
			p.calls = p.letGo(hand)
			gate.Halt, to.Carrier = p.halted, p.calls
		}
	}
	p.limits = traffic.New(gate)
	if p.client, err = riot.New(to); err != nil {
		return usage(err)
	}
	if p.term != nil {
		// The limits go on from what the leader before knew; without it they would count their windows as
		// full.
		if told, err := storedReading(context.Background(), p.store); err == nil {
			p.limits.GoOnFrom(told.last())
		}
	}
	return nil
}

// runners are what works beside the jobs while the engine does.
func (p *parts) runners(cfg config.Config, noteOf func(area string) func(engine.Note), alerts *alert.Runner, schedules *cron.Runner, typos *mistyped) []control.Runner {
	// The one call that every working key may make.
	probe := func(ctx context.Context) error {
		return p.client.Probe(riot.WithJob(ctx, "key source", limit.Interactive), route.Europe, "")
	}
	watch := keyring.Watch{Keys: p.keys, Limits: p.limits, Probe: probe, Note: noteOf(logbook.AreaEngine)}
	all := []control.Runner{p.projects, watch, alerts, p.pager, runner(p.forgetLate)}
	if !p.onlyOwn { // `sync` works on its own run and leaves crons off
		all = append(all, schedules, typos)
	}
	if !p.onlyOwn && !p.demo { // a sync of minutes and a demo's temporary directory need no backups
		k := keeper{db: p.store, log: logbook.Area(p.log, logbook.AreaStorage), every: cfg.BackupEvery, keep: cfg.KeepPayloads, agreed: p.limits.ClockAgrees, failed: func(why string) { p.badBackup.Store(why) }}
		if p.store.server == nil {
			k.files = p.store.DB
		}
		all = append(all, k)
	}
	if p.calls != nil {
		all = append(all, p.calls, runner(p.hand.Load().carrier.Obey))
	}
	if p.term != nil { // others follow
		all = append(all, runner(p.storeReadings))
	}
	return all
}

// toRiot are the options of a client of Riot's; punctual: a call is not made after the instant that its permit names.
func (p *process) toRiot(l riot.Limiter, punctual bool) riot.Options {
	cfg := p.config.Load()
	return riot.Options{
		Keys: p.keys, Limiter: l, Punctual: punctual, BaseURL: cfg.BaseURL, Timeout: cfg.Timeout,
		UserAgent: "farsight/" + version(), Transport: p.transport,
	}
}

// called notes a call that this process has made.
func (p *parts) called(c riot.Call) {
	p.limits.OnCall(c)
	if h := p.hand.Load(); h != nil && !c.Carried {
		h.reach.Note(c.Host, c.Status, c.Class)
	}
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

// handlers are what carries jobs out by the part's client, on its store: those of ingestion, whose ends hooks are
// told of, and the pager's.
func (p *parts) handlers(cfg config.Config, noteOf func(area string) func(engine.Note)) (*ingest.Ingest, []engine.KindSpec, error) {
	ctx := context.Background()
	p.projects = ingest.NewProjects(ingest.ProjectsOptions{
		Store: p.store, API: p.client, Limits: p.limits,
		Fingerprint: func() string { return p.keys.Get().Fingerprint() },
		OnNote:      noteOf(logbook.AreaSync),
	})
	if err := p.projects.Load(ctx); err != nil {
		return nil, nil, err
	}
	// A demo calls its own simulated telephone, whatever the configuration says. An engine that works on one run alone
	// has no alerts to tell of; its events wait for the next engine that works on everything.
	who := cfg.Pager.Targets
	switch {
	case p.demo:
		who = pager.Targets{Call: p.phone}
	case p.onlyOwn:
		who = pager.Targets{Hooks: who.Hooks}
	}
	host, _ := os.Hostname() // without a name it is called farsight
	var err error
	p.pager, err = pager.New(pager.Options{
		Store: p.store, Targets: who, Instance: host,
		Account: p.store.AccountRow, Transport: p.dials, OnNote: noteOf(logbook.AreaPager), Log: logbook.Area(p.log, logbook.AreaPager),
	})
	if err != nil {
		return nil, nil, usage(err)
	}
	// What was under way when the process before ended, such as a call that rang.
	if err := p.pager.Load(ctx); err != nil {
		return nil, nil, err
	}
	var spare func() (int64, bool)
	if cfg.Store == "" { // else a server has the payloads
		spare = func() (int64, bool) {
			free, err := storage.RoomIn(cfg.DataDir)
			return int64(min(free, 1<<62)) - storage.RoomFloor, err == nil
		}
	}
	in := ingest.New(ingest.Options{
		Store: p.store, API: p.client, Limits: p.limits, Projects: p.projects,
		Prune: pruner(p.store), Compact: compacter(p.store), Spare: spare,
		LatestCount: cfg.LatestMax, LatestLookback: cfg.Lookback, Relist: cfg.Relist, SyncOff: !cfg.SyncOn,
		Attempts: cfg.Policies[engine.PolicyMatch].Max, RetryMissing: cfg.RetryMissing, SweepCount: cfg.SweepBatch,
		Matches: cfg.Matches, Timelines: cfg.Timelines, Zone: cfg.ReportTZ, AskAgain: cfg.AskAgain,
		Cooldown: cooldown(cfg.Cooldown), Stale: cfg.StaleAge, Restored: p.boot.Restored,
		Late: func(tx engine.Tx, m ingest.Milestone) error { return p.pager.Tell(tx, eventOf(m)) },
	})
	told := p.pager.OnMove(func(tx engine.Tx, before, after engine.Job, o engine.Outcome) (pager.Event, bool, error) {
		m, ok, err := in.Milestone(tx, before, after, o)
		return eventOf(m), ok, err
	})
	kinds := append(in.Kinds(), p.pager.Kinds()...)
	for i, k := range kinds {
		// Only a sync and a weekly report end in an event; each match would be thousands.
		if k.Kind == ingest.KindSync || k.Kind == ingest.KindWeekly {
			kinds[i].OnMove = func(tx engine.Tx, before, after engine.Job, o engine.Outcome) error {
				// Ingestion's own first: an event about what it refuses must not be stored.
				if k.OnMove != nil {
					if err := k.OnMove(tx, before, after, o); err != nil {
						return err
					}
				}
				return told(tx, before, after, o)
			}
		}
		if p.spoil != nil {
			kinds[i] = p.spoil(kinds[i])
		}
	}
	return in, kinds, nil
}

// eventOf is a milestone as programs are told of it.
func eventOf(m ingest.Milestone) pager.Event {
	return pager.Event{
		ID: m.ID, Type: milestones[m.Kind], At: m.At, Account: m.Account, Run: m.Run, Mode: m.Mode, Result: m.Result, Error: m.Error, Week: m.Week, Job: string(m.Job),
	}
}

// milestones are the events by what ingestion calls them.
var milestones = map[ingest.MilestoneKind]string{
	ingest.SyncDone: pager.SyncCompleted, ingest.SyncFailed: pager.SyncFailed, ingest.SyncCancelled: pager.SyncCancelled,
	ingest.ReportDone: pager.ReportBuilt,
}

// newAlerts wires the rules to what they measure, and takes over how the process
// before left them.
func (p *parts) newAlerts(cfg config.Config, note func(engine.Note)) *alert.Runner {
	monitor := alert.New(alert.Options{Rules: cfg.Pager.Rules, Policies: cfg.Policies})
	o := alert.RunnerOptions{Monitor: monitor, Store: p.store, Read: p.read, Log: logbook.Area(p.log, logbook.AreaAlerts)}
	if !p.follows { // what is stored of the leader's counts has its calls
		o.OnNote, o.OnRows, o.Calls = note, p.pager.Alerts, p.limits.CallsAfter
	}
	if !p.follows && !p.demo { // a demo's key is made up
		p.age = &keyring.Age{Store: p.store, Limits: p.limits.Rows, Calls: p.limits.Calls, Project: p.projects.Current, Log: p.log}
		p.age.Load(context.Background())
	}
	r := alert.NewRunner(o)
	// Without what was stored an alert that was acknowledged would fire anew after each restart.
	r.Load(context.Background())
	return r
}

// read takes a reading for the alerts: what the rules measure besides changes and calls.
func (p *parts) read(ctx context.Context, now time.Time) alert.Reading {
	holds := p.limits.LongHolds()
	state, cause := p.stand(holds)
	r := alert.Reading{
		KeyRejected: p.limits.KeyRefused(), ClockAhead: p.limits.ClockAhead(), Holds: holds, Queues: p.backend.Queues(), Syncing: p.beats(),
		Stopped: p.backend.Halted(), Writes: p.store.WriteTimes(now), LogDrops: p.logs.Ring.Dropped(), Down: p.limits.Down(),
		// Why a sync may be silent: what holds every call, or what its jobs wait for.
		Waits: func(account string, silent time.Duration) string {
			if state != engine.EngineLive {
				return cause
			}
			return p.backend.Waiting(account, silent)
		},
		State: state, Cause: cause,
	}
	// What waits for a limit that an operator has frozen stands still on purpose, as in a paused queue.
	for i, q := range r.Queues {
		r.Queues[i].Paused = q.Paused || strings.Contains(q.Why, limit.FrozenWords)
	}
	r.Backup, _ = p.badBackup.Load().(string)
	free, _ := p.store.Room()
	r.Free = int64(free)
	if members := membersOf(p.store, p.id); members != nil {
		if page, err := members(ctx); err == nil {
			r.Members = page.Members
		}
	}
	if p.age != nil {
		r.KeyExpires = p.age.Expires(ctx, now, p.keys.Get().Fingerprint(), r.KeyRejected)
	}
	return r
}

// stand is how the engine stands, and why. Nobody asks why all is well, and the limits are read whole only where they may
// keep some calls.
func (p *parts) stand(holds []engine.LimitHold) (engine.EngineState, string) {
	if state, why := p.control.State(); state == engine.EngineLive && len(holds) == 0 && !p.limits.Frozen() {
		return state, why
	}
	return p.control.Cause()
}

// beats says when each open sync was last heard of, as far as its account's row and its
// running jobs tell: the commits of its other jobs are the monitor's to hear.
func (p *parts) beats() []alert.Beat {
	// The newest beat of each account's running jobs.
	alive := map[string]time.Time{}
	for _, j := range p.backend.Running() {
		alive[j.Job.Owner] = engine.Latest(alive[j.Job.Owner], j.Beat)
	}
	var beats []alert.Beat
	for _, a := range p.control.Open() {
		beats = append(beats, alert.Beat{Account: a.ID, Name: a.RiotID, Last: engine.Latest(a.Updated, alive[a.ID])})
	}
	return beats
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

// knownQueues are the queues that an engine of this program has, used or not.
func knownQueues() []engine.Queue {
	return append(ownQueues(), pager.QueuePager, pager.QueueCalls, pager.QueueWebhooks, ingest.QueueUpkeep)
}

// ownQueues are the queues in which syncs, ranks and reports are worked off.
func ownQueues() []engine.Queue {
	return []engine.Queue{ingest.QueueLatest, ingest.QueueFull, ingest.QueueRank, ingest.QueueWeekly}
}
