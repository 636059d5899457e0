package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/forecast"
	"github.com/farsight-console/farsight/engine/hub"
)

// Backend is the job engine.
type Backend interface {
	Run(ctx context.Context) error
	// Act carries an operation out on one job.
	Act(ctx context.Context, c engine.Command) (engine.Receipt, error)
	Pause(ctx context.Context, q engine.Queue, by engine.Actor, reason string) (engine.Receipt, error)
	Resume(ctx context.Context, q engine.Queue, by engine.Actor, reason string) (engine.Receipt, error)
	// RestoreQueue lets a queue stand as q says; by and reason are of who asks for it.
	RestoreQueue(ctx context.Context, q engine.QueueState, by engine.Actor, reason string) (engine.Receipt, error)
	// Bulk acts on exactly the jobs of c.Select; with c.DryRun it tells what it would.
	Bulk(ctx context.Context, c engine.Command) (engine.Receipt, error)
	// Undo takes job moves back, each unless something has happened to its job since.
	Undo(ctx context.Context, moves []engine.JobMove, by engine.Actor, reason string, dry bool) (engine.Receipt, error)
	// Why says why the job does not run, until when, and its place in line.
	Why(j engine.Job) (reason string, until time.Time, place int)
	Queues() []engine.QueueRow
	NextRetries(ctx context.Context, n int) ([]engine.Job, error)
	// Externals are the ids that the other side has given to attempts under way.
	Externals() map[engine.JobID]string
	// Load is how many jobs run and of how many at most.
	Load() (running, workers int)
	// Halted says why no job is started at all, such as a full disk; "" = they are.
	Halted() string
	// Held is what keeps a job from starting wherever it stands in line.
	Held(j engine.Job) engine.Held
}

// Syncer starts and plans syncs.
type Syncer interface {
	Trigger(ctx context.Context, account string, ask engine.SyncAsk, by engine.Actor) (engine.Receipt, error)
	// Track marks an account for recurring syncs, with the ask's tags and policy.
	Track(ctx context.Context, account string, ask engine.SyncAsk) (engine.Receipt, error)
	Untrack(ctx context.Context, account, platform string) (engine.Receipt, error)
	Cost(ctx context.Context, q engine.CostQuery) (engine.Cost, error)
	// Resume notes on every open run that the engine was started again.
	Resume(ctx context.Context) error
}

// Limiter reads and steers the rate limiter, the gate before it and the flight
// recorder.
type Limiter interface {
	Run(ctx context.Context) error
	// Restore takes over what the process before knew; fresh = a new directory.
	Restore(ctx context.Context, fresh bool, live iter.Seq2[engine.Job, error]) error
	Rows() engine.LimitsRow
	Freeze(b engine.Bucket, reason string) error
	Thaw(b engine.Bucket) (frozen bool, err error)
	Calls(q engine.CallsQuery) engine.CallsPage
	CallsAfter(seq uint64) []engine.CallRow
	Meter() engine.Meter
	// Outlook is how the limits of a host stand now.
	Outlook(host string) forecast.Limits
	// Health tells of trouble that holds everything: no key, no network.
	Health() (state engine.EngineState, why string)
	// Held says what stands before all limits of a lane, such as europe/match-v5.match.
	Held(lane string) engine.Held
	// KeyChanged ends the hold of a refused key.
	KeyChanged()
}

// Keys is the API key that can be replaced while running. It never shows more
// than the last four characters.
type Keys interface {
	Replace(key string) error
	Shown() string
	Since() time.Time
}

// Runner is a part that blocks until ctx ends.
type Runner interface {
	Run(ctx context.Context) error
}

// Options of a Control.
type Options struct {
	Store   Store
	Backend Backend
	Syncer  Syncer
	Domain  Domain // nil = it has no queries and commands of its own
	// Schedules are listed and steered here, but run by whoever is among Also; nil =
	// nothing recurs.
	Schedules Schedules
	Forecast  Forecaster // nil = nobody knows what a scheduled run will call
	Limiter   Limiter
	Logs      Logs   // nil = nothing is kept of the log
	Alerts    Alerts // nil = nobody evaluates any
	Pager     Pager  // nil = nobody can be tried
	Keys      Keys
	Payloads  Payloads   // nil = nobody can ask for them
	Upkeep    Upkeep     // nil = the store cannot be backed up or pruned by command
	Forget    Forgetting // nil = no account can be deleted
	Also      []Runner   // supervised with the rest
	Policies  engine.Policies
	// Lines are the queues that there are, used or not; none = every name is one.
	Lines  []engine.Queue
	Boot   string
	Fresh  bool // the directory was made by this start
	Demo   bool
	SyncOn bool
	// MomentEvery is how often a moment is kept for the time cursor; 0 = each second.
	MomentEvery time.Duration
	// Lane tells where a job's calls go: "europe/match-v5.match"; nil = nobody knows.
	Lane func(engine.Job) string
	// Look is how many jobs one answer about all of them looks at; 0 = 20,000.
	Look int
	// Serves reports whether the engine works on a job; nil = on every one. An engine
	// that has it ends with the sync that it was started for.
	Serves func(engine.JobID) bool
	// KeyWorked reports whether the key is worth waiting for while it is refused: it has
	// worked, or another source has one that nobody has tried; nil = it is.
	KeyWorked func() bool
}

// Control is the Console of an engine in this process.
type Control struct {
	finder
	opt     Options
	hub     *hub.Hub
	started time.Time
	canary  canaries

	mu       sync.Mutex
	totals   engine.Totals
	discards map[engine.Queue]int
	runs     bool
	stopping bool
	broken   string
}

// New wires a console; nothing runs until Run.
func New(opt Options) *Control {
	c := &Control{opt: opt, started: time.Now(), discards: map[engine.Queue]int{}}
	if c.opt.Lane == nil {
		c.opt.Lane = noLane
	}
	c.finder = finder{store: opt.Store, live: c, lane: c.opt.Lane}
	if opt.Domain != nil {
		c.domain = opt.Domain
	}
	c.schedules, c.payloads = opt.Schedules, opt.Payloads
	c.canary.wake = await.NewBell()
	c.logs, c.moments = opt.Logs, new(hub.Moments)
	c.alerts, c.caring, c.most = opt.Alerts, new(caring), opt.Look
	c.hub = hub.New(hub.Options{Source: source{c}, Accounts: opt.Store.Accounts, Logs: c.logsAfter(), Alerts: c.alertRows()})
	return c
}

// Publish takes the changes of one commit, in commit order.
func (c *Control) Publish(seq uint64, changes []engine.Change) {
	for i := range changes {
		if t := changes[i].Totals; t != nil {
			c.mu.Lock()
			c.totals = *t
			c.mu.Unlock()
		}
		if d := changes[i].Discards; d != nil {
			c.mu.Lock()
			c.discards[d.Queue] = d.Jobs
			c.mu.Unlock()
		}
	}
	c.canary.look(changes)
	c.hub.Publish(seq, changes)
}

// Note puts a message on every console's message line.
func (c *Control) Note(n engine.Note) { c.hub.Note(n) }

// Run takes over from the process before and supervises every part until ctx
// ends. If one fails the others stop, and the first error is returned. The store
// must be serving.
func (c *Control) Run(ctx context.Context) error {
	if err := c.takeOver(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return c.fails(err)
	}
	// The backend drains after ctx ends, and the drain still needs the others:
	// they stop when it is done.
	parts, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	g, parts := errgroup.WithContext(parts)
	main, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(parts, cancel)
	context.AfterFunc(ctx, c.stops)
	g.Go(func() error {
		defer stop()
		return c.fails(c.opt.Backend.Run(main))
	})
	for _, r := range append([]Runner{c.opt.Limiter, c.hub, canaryRunner{c}, sampler{c}}, c.opt.Also...) {
		g.Go(func() error { return c.fails(r.Run(parts)) })
	}
	return g.Wait()
}

// takeOver reads what must be known before the first job runs.
func (c *Control) takeOver(ctx context.Context) error {
	totals, err := c.opt.Store.Totals(ctx)
	if err != nil {
		return fmt.Errorf("read the totals: %w", err)
	}
	discards, err := c.opt.Store.Discards(ctx)
	if err != nil {
		return fmt.Errorf("read how many jobs were discarded: %w", err)
	}
	c.mu.Lock()
	c.totals, c.discards, c.runs = totals, discards, true
	c.mu.Unlock()
	if err := c.opt.Limiter.Restore(ctx, c.opt.Fresh, c.opt.Store.Live(ctx)); err != nil {
		return fmt.Errorf("restore the limiter: %w", err)
	}
	if err := c.seed(ctx); err != nil {
		return fmt.Errorf("read the jobs: %w", err)
	}
	return c.opt.Syncer.Resume(ctx)
}

// seed gives the hub the live jobs and open syncs of the start. A job that cannot
// be read is the backend's to report.
func (c *Control) seed(ctx context.Context) error {
	for j, err := range c.opt.Store.Live(ctx) {
		if err == nil {
			c.hub.Seed(j)
		}
	}
	open, err := c.accounts(ctx, engine.AccountsQuery{Open: true})
	c.hub.SeedAccounts(open)
	return err
}

func (c *Control) stops() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
}

func (c *Control) fails(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = err.Error()
	return err
}

// Watch is the hub's.
func (c *Control) Watch(ctx context.Context) iter.Seq[engine.Update] { return c.hub.Watch(ctx) }

// Find answers from disk and adds what only a live engine knows.
func (c *Control) Find(ctx context.Context, q engine.Query) (engine.Answer, error) {
	return c.find(ctx, q)
}

// source is the hub's view of the telemetry.
type source struct{ c *Control }

func (s source) Engine() engine.EngineRow               { return s.c.engineRow() }
func (s source) Queues() []engine.QueueRow              { return s.c.queues() }
func (s source) Limits() engine.LimitsRow               { return s.c.opt.Limiter.Rows() }
func (s source) CallsAfter(seq uint64) []engine.CallRow { return s.c.opt.Limiter.CallsAfter(seq) }
func (s source) Row(j engine.Job) engine.JobRow         { return s.c.row(j) }

// queues are the backend's, and how many discarded jobs each has kept.
func (c *Control) queues() []engine.QueueRow {
	c.mu.Lock()
	defer c.mu.Unlock()
	return withDiscards(c.opt.Backend.Queues(), c.discards)
}

// withDiscards adds to rows of queues, by name, how many discarded jobs each has kept; a queue
// without a row gets one. Rows and counts are the backend's: they are copied.
func withDiscards(rows []engine.QueueRow, discards map[engine.Queue]int) []engine.QueueRow {
	rows = slices.Clone(rows)
	for name, n := range discards {
		if n == 0 {
			continue
		}
		i, ok := slices.BinarySearchFunc(rows, name, func(q engine.QueueRow, name engine.Queue) int { return cmp.Compare(q.Name, name) })
		if !ok {
			rows = slices.Insert(rows, i, engine.QueueRow{QueueState: engine.QueueState{Name: name}})
		}
		counts := map[engine.State]int{}
		maps.Copy(counts, rows[i].Counts)
		counts[engine.Discarded] = n
		rows[i].Counts = counts
	}
	return rows
}

// engineRow composes the engine's one row.
func (c *Control) engineRow() engine.EngineRow {
	running, workers := c.opt.Backend.Load()
	m := c.opt.Limiter.Meter()
	c.mu.Lock()
	t := c.totals
	c.mu.Unlock()
	row := engine.EngineRow{
		Demo: c.opt.Demo, Boot: c.opt.Boot, Started: c.started,
		Key: c.opt.Keys.Shown(), KeySince: c.opt.Keys.Since(),
		Workers: workers, InFlight: running,
		Accounts: t.Accounts, Stored: t.Success, Failed: t.Permanent, TooOld: t.TooOld,
		Alerts: c.firing(), LogDrops: c.logDrops(),
		Meter:      m,
		OnlyServed: c.opt.Serves != nil, KeyWorked: c.opt.KeyWorked == nil || c.opt.KeyWorked(),
	}
	queues := c.opt.Backend.Queues()
	for _, q := range queues {
		row.Retrying += q.Counts[engine.Retryable]
	}
	row.SinceStart = time.Since(c.started) < time.Minute
	if row.State, row.Why = c.state(queues); row.State == engine.EngineLive {
		row.State, row.Why = heldUp(c.opt.Limiter.Rows().Buckets)
	}
	return row
}

// toDo is how many jobs of a queue have not ended, but for those that wait for others.
func toDo(q engine.QueueRow) (n int) {
	for _, s := range engine.States() {
		if s.Live() && s != engine.Pending {
			n += q.Counts[s]
		}
	}
	return n
}

// state picks the one word of the title bar: the worst that holds.
func (c *Control) state(queues []engine.QueueRow) (engine.EngineState, string) {
	c.mu.Lock()
	broken, stopping := c.broken, c.stopping
	c.mu.Unlock()
	switch {
	case broken != "":
		return engine.EngineBroken, broken
	case stopping:
		return engine.EngineStopping, "letting the calls in flight finish"
	}
	if why := c.opt.Backend.Halted(); why != "" {
		return engine.EnginePaused, why + "; work goes on by itself when there is room"
	}
	if s, why := c.opt.Limiter.Health(); s != engine.EngineLive {
		return s, why
	}
	if c.opt.Keys.Shown() == "" {
		return engine.EngineNoKey, "there is no API key yet: give one in a console, or write the key file"
	}
	paused, open := 0, 0
	for _, q := range queues {
		if n := toDo(q); q.Paused {
			paused += n
		} else {
			open += n
		}
	}
	if paused > 0 && open == 0 {
		return engine.EnginePaused, "every queue with work is paused"
	}
	return engine.EngineLive, ""
}
