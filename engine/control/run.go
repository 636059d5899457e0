package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/hub"
	"github.com/farsight-console/farsight/engine/operation"
)

// New wires a console; nothing runs until Run. Limiter, Backend, Syncer, Keys and Store must be there;
// what else may be nil is told by Options.
func New(opt Options) *Control {
	c := &Control{opt: opt, started: time.Now(), discards: map[engine.Queue]int{}}
	if c.opt.Lane == nil {
		c.opt.Lane = noLane
	}
	c.finder = finder{
		store: opt.Store, live: c, lane: c.opt.Lane, domain: opt.Domain, schedules: opt.Schedules,
		payloads: opt.Payloads, logs: opt.Logs, moments: new(hub.Moments), alerts: opt.Alerts, members: opt.Members,
		most: opt.Look,
	}
	c.hub = hub.New(hub.Options{
		Source: source{c}, Accounts: opt.Store.Accounts, Logs: c.logsAfter(), Alerts: c.alertRows(),
	})
	c.operator = operation.New(operation.Options{
		Store: opt.Store, Backend: opt.Backend, Syncer: opt.Syncer, Limiter: opt.Limiter, Keys: opt.Keys, TryKey: opt.TryKey, Audit: opt.Audit,
		Schedules: opt.Schedules, Alerts: opt.Alerts, Pager: opt.Pager, Upkeep: opt.Upkeep, Forget: opt.Forget,
		Domain: opt.Domain, Lines: opt.Lines, Demo: opt.Demo, SyncOn: opt.SyncOn, OneSync: opt.Serves != nil,
		Find: c.find, Note: c.Note, Lane: c.opt.Lane, Delays: c.addDelays,
		Player: func(ctx context.Context, j engine.Job) string { return playerOf(ctx, opt.Store, j) },
	})
	return c
}

// Do carries out one command and writes an audit entry, whatever came of it.
// Errors are *engine.Problem.
func (c *Control) Do(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	return c.operator.Do(ctx, cmd)
}

// Refuse writes the audit entry of a command that was refused before it came here:
// who asked may not.
func (c *Control) Refuse(ctx context.Context, cmd engine.Command, why string) error {
	return c.operator.Refuse(ctx, cmd, why)
}

// Publish takes the changes of one commit, in commit order. It runs in the committer: it copies what it
// needs and asks nobody.
func (c *Control) Publish(seq uint64, changes []engine.Change) {
	// Sums come whole with each commit that has changed them, so that none is added up here.
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
	c.operator.Observe(changes)
	c.hub.Publish(seq, changes)
}

// Note puts a message on every console's message line.
func (c *Control) Note(n engine.Note) { c.hub.Note(n) }

// Run takes over from the process before and supervises every part until ctx
// ends. If one fails the others stop, and the first error is returned. The store
// must be serving.
func (c *Control) Run(ctx context.Context) error {
	return c.work(ctx, c.takeOver, c.opt.Backend.Run)
}

// Follow is Run beside a process that has taken over: it shows what that one does.
func (c *Control) Follow(ctx context.Context) error {
	return c.work(ctx, c.readState, c.opt.Backend.Follow)
}

// work runs the backend and beside it all other parts, after begin. The end goes from the inside out:
//
//	ctx ends ─▶ the backend drains ─▶ its end stops the parts ─▶ work returns
//	a part fails ─▶ the others and the backend are stopped ─▶ work returns its error
func (c *Control) work(ctx context.Context, begin, backend func(context.Context) error) error {
	if err := begin(ctx); err != nil {
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
	// A part that fails ends parts, and that ends the backend: nothing runs without its limiter or its
	// hub.
	context.AfterFunc(parts, cancel)
	context.AfterFunc(ctx, c.stops)
	g.Go(func() error {
		defer stop()
		return c.fails(backend(main))
	})
	for _, r := range append([]Runner{c.opt.Limiter, c.hub, c.operator, sampler{c}}, c.opt.Also...) {
		g.Go(func() error { return c.fails(r.Run(parts)) })
	}
	return g.Wait()
}

// readState reads what must be known before anything is shown.
func (c *Control) readState(ctx context.Context) error {
	totals, err := c.opt.Store.Totals(ctx)
	if err != nil {
		return fmt.Errorf("read the totals: %w", err)
	}
	discards, err := c.opt.Store.Discards(ctx)
	if err != nil {
		return fmt.Errorf("read how many jobs were discarded: %w", err)
	}
	c.mu.Lock()
	c.runs = true
	// The changes of commits come in while this reads: what they have told is newer.
	if c.totals == (engine.Totals{}) { // nothing newer has been published meanwhile
		c.totals = totals
	}
	for q, n := range discards {
		if _, newer := c.discards[q]; !newer {
			c.discards[q] = n
		}
	}
	c.mu.Unlock()
	if err := c.seed(ctx); err != nil {
		return fmt.Errorf("read the jobs: %w", err)
	}
	return nil
}

// takeOver does what comes before the first job. The limiter comes before the backend begins: it counts
// the calls of jobs that are still marked as running.
func (c *Control) takeOver(ctx context.Context) error {
	if err := c.readState(ctx); err != nil {
		return err
	}
	if err := c.opt.Limiter.Restore(ctx, c.opt.Fresh, c.opt.Store.Live(ctx)); err != nil {
		return fmt.Errorf("restore the limiter: %w", err)
	}
	return c.opt.Syncer.Resume(ctx)
}

// seed gives the hub the live jobs and open syncs as they are stored. A job that cannot be read is
// the backend's to report.
func (c *Control) seed(ctx context.Context) error {
	return c.hub.Load(c.opt.Store.Live(ctx), func() ([]engine.AccountRow, error) {
		return c.accounts(ctx, engine.AccountsQuery{Open: true})
	})
}

// stops lets the title bar say that the engine is ending.
func (c *Control) stops() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
}

// fails notes why the engine broke, for the title bar, and passes the error on. To be cancelled is no
// failure.
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

// These implement [hub.Source].
func (s source) Engine() (*engine.EngineRow, *engine.LimitsRow) { return s.c.engineRow() }
func (s source) Queues() []engine.QueueRow                      { return s.c.queues() }
func (s source) CallsAfter(seq uint64) []engine.CallRow         { return s.c.opt.Limiter.CallsAfter(seq) }
func (s source) Row(j engine.Job) engine.JobRow                 { return s.c.row(j) }

// ETA and Start are those of this second, whoever asks: fifty consoles cost one plan.
func (s source) ETA(account string) engine.ETA { return s.c.foreseen().etas[account] }

func (s source) Start(id engine.JobID) (at time.Time, lateBy string) {
	start := s.c.foreseen().starts[id]
	return start.At, start.LateBy
}

// listLogs answers from the ring; without one there are no records.
func (f finder) listLogs(q engine.LogsQuery) (page engine.LogsPage, err error) {
	if err := q.Check(); err != nil || f.logs == nil {
		return page, err
	}
	return f.logs.Page(q), nil
}

// listMoments answers for the time cursor; without an engine time stands still.
func (f finder) listMoments(q engine.MomentsQuery) (a engine.MomentsAnswer, err error) {
	if f.moments == nil {
		return a, nil
	}
	if a.Moments, err = f.moments.Between(q.From, q.To); err != nil {
		return a, engine.Problemf(engine.ErrBroken, "look at the present instead", "%v", err)
	}
	return a, nil
}

// logDrops is how many records the log file could not take.
func (c *Control) logDrops() uint64 {
	if c.opt.Logs == nil {
		return 0
	}
	return c.opt.Logs.Dropped()
}

// logsAfter is the hub's view of the log; nil when there is none.
func (c *Control) logsAfter() func(seq uint64, n int) []engine.LogRow {
	if c.opt.Logs == nil {
		return nil
	}
	return c.opt.Logs.After
}

// sampler keeps one moment per second, whether somebody looks or not: who comes
// because of an alert wants to see what led to it.
type sampler struct{ c *Control }

// Run keeps the first moment at once and then one per tick, until ctx ends.
func (s sampler) Run(ctx context.Context) error {
	for {
		row, limits := s.c.engineRow()
		_ = s.c.moments.Add(engine.Moment{At: time.Now().Round(0), Engine: *row, Queues: s.c.queues(), Limits: *limits})
		if !await.Pause(ctx, await.ToBeat(time.Now(), cmp.Or(s.c.opt.MomentEvery, hub.MomentEvery))) {
			return nil
		}
	}
}
