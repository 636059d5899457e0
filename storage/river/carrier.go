package river

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/storage/pg"
)

const (
	kindCall    = "farsight.call"
	kindOrder   = pg.OrderKind
	kindTrigger = pg.TriggerKind
	// fetchCooldown is between two fetches of one member: of work that waits, none waits for longer.
	fetchCooldown = 5 * time.Millisecond
	// keptCompleted is how long River keeps the rows of calls that went well: at 200 a second its own day would
	// be 17 million.
	keptCompleted = 15 * time.Minute
	// rescueAfter is after how long River takes a row for abandoned. That clears the row only.
	rescueAfter = time.Minute
	// stopPatience is how long calls have to end by themselves.
	stopPatience = 2 * time.Second
)

// Options are what a Carrier is made of. DB, Member and Key are required.
type Options struct {
	DB     *pg.DB
	Member string // the id of this process among the members
	// Key gives the fingerprint of its API key: it makes the calls that are counted for that one; "" = there
	// is none.
	Key func() string
	TTL time.Duration
	// Workers is how many calls are made here at once; 0 = none, this process only hands on.
	Workers int
	// Reach is told of its calls: it makes none while it is cut off from Riot.
	Reach *Reach
	// Relay makes a call: see riot.Client.
	Relay func(ctx context.Context, call riot.Carried, by time.Time) (a *riot.Answer, wrote bool, err error)
	// Order carries an order out, which was given at another member, and gives the answer; an error says that
	// nobody knows what became of it. It is called in the terms of this member.
	Order func(ctx context.Context, args []byte) ([]byte, error)
	// Trigger starts a sync that another program has asked for. An *engine.Problem is its answer, and
	// ends the row; any other error is tried again. It is called in the terms of this member.
	Trigger func(ctx context.Context, riotID string, ask engine.SyncAsk) error
	Log     zerolog.Logger
}

// Carrier is a process's share of River: the leader hands calls on by it, members make them.
type Carrier struct {
	opt    Options
	serves string // the queue that it takes calls from; only Run changes it
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	late   atomic.Int64
}

// Late is how many calls this member has told of too late: they had been given up.
func (c *Carrier) Late() int { return int(c.late.Load()) }

// conns is for River's listeners, fetches and upkeep, and for calls that are let go, begun and told of.
const conns = 10

// Open makes River's tables if they are not there, and brings them to the version of this program.
func Open(ctx context.Context, o Options) (*Carrier, error) {
	pool, err := o.DB.Pool(ctx, conns)
	if err != nil {
		return nil, err
	}
	c := &Carrier{opt: o, pool: pool}
	if err := c.open(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return c, nil
}

func (c *Carrier) open(ctx context.Context) (err error) {
	driver, log := riverpgxv5.New(c.pool), slog.New(warnings{c.opt.Log})
	if err := c.migrate(ctx, driver, log); err != nil {
		return fmt.Errorf("make River's tables: %w", err)
	}
	c.serves = c.queue()
	calls := river.NewWorkers()
	river.AddWorker(calls, &caller{c: c})
	c.client, err = c.newClient(c.opt.Member, calls, map[string]river.QueueConfig{c.serves: {MaxWorkers: max(c.opt.Workers, 1)}})
	return err
}

// newClient makes a client of River that works on queues.
func (c *Carrier) newClient(id string, workers *river.Workers, queues map[string]river.QueueConfig) (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(c.pool), &river.Config{
		Schema: c.opt.DB.Schema(), ID: id, Logger: slog.New(warnings{c.opt.Log}),
		FetchCooldown: fetchCooldown, FetchPollInterval: time.Second, FetchOnlyKnownKinds: true,
		JobTimeout: -1, RescueStuckJobsAfter: rescueAfter, SoftStopTimeout: stopPatience,
		CompletedJobRetentionPeriod: keptCompleted, Queues: queues, Workers: workers,
	})
}

// migrate lets one process at a time change River's tables. The lock is the session's and not a
// transaction's: River migrates in transactions of its own, on other connections. It is given back
// even when ctx has ended, since the pool would hand its connection on with the lock.
func (c *Carrier) migrate(ctx context.Context, driver *riverpgxv5.Driver, log *slog.Logger) error {
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Schema: c.opt.DB.Schema(), Logger: log})
	if err != nil {
		return err
	}
	turn, err := c.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer turn.Release()
	const lock = "hashtextextended('farsight.river.' || current_schema(), 0)"
	if _, err := turn.Exec(ctx, "select pg_advisory_lock("+lock+")"); err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	_, free := turn.Exec(context.WithoutCancel(ctx), "select pg_advisory_unlock("+lock+")")
	return errors.Join(err, free)
}

// Run makes calls until ctx ends. Those that are under way then have two seconds to end.
func (c *Carrier) Run(ctx context.Context) error {
	var upkeep sync.WaitGroup
	upkeep.Go(func() { c.upkeep(ctx) })
	upkeep.Go(func() { c.opt.Reach.run(ctx) })
	defer upkeep.Wait()
	if c.opt.Workers == 0 {
		return nil
	}
	if err := c.client.Start(ctx); err != nil {
		return fmt.Errorf("start River: %w", err)
	}
	c.followKey(ctx)
	<-c.client.Stopped()
	return nil
}

// maxOrders is how many orders are carried out at once.
const maxOrders = 4

// Obey carries out what is asked of the leader until ctx ends.
func (c *Carrier) Obey(ctx context.Context) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, &orders{c: c})
	river.AddWorker(workers, &triggers{c: c})
	client, err := c.newClient(c.opt.Member+"-leads", workers, map[string]river.QueueConfig{queueOrders: {MaxWorkers: maxOrders}})
	if err == nil {
		err = client.Start(ctx)
	}
	if err != nil {
		return fmt.Errorf("take orders: %w", err)
	}
	<-client.Stopped()
	return nil
}

// queue is that of the calls that are made with the key in use. Without one nobody lets any go.
func (c *Carrier) queue() string { return "call_" + cmp.Or(c.opt.Key(), "none") }

// keyLook is how often the key is compared: a call that is let go for a new key may be begun for 2 s only.
const keyLook = 250 * time.Millisecond

// followKey takes calls from the queue of the key in use, whatever that is, and from none while
// it rests, until ctx ends. The next queue is added before the last one is removed; what fails is
// tried again at the next look.
func (c *Carrier) followKey(ctx context.Context) {
	for await.Pause(ctx, keyLook) {
		now := c.queue()
		if !c.opt.Reach.CutOff().IsZero() {
			now = ""
		}
		if now == c.serves {
			continue
		}
		if err := c.serveQueue(now); err != nil {
			c.opt.Log.Warn().Err(err).Msg("River does not follow the key to its queue")
			continue
		}
		if c.serves != "" {
			if err := c.client.Queues().Remove(ctx, c.serves); err != nil && ctx.Err() == nil {
				c.opt.Log.Warn().Err(err).Msg("River goes on with the queue of a key that is replaced")
			}
		}
		c.serves = now
	}
}

// serveQueue takes calls from a queue too; "" = from none.
func (c *Carrier) serveQueue(queue string) error {
	if queue == "" {
		return nil
	}
	err := c.client.Queues().Add(queue, river.QueueConfig{MaxWorkers: c.opt.Workers})
	if _, has := errors.AsType[*river.QueueAlreadyAddedError](err); has { // it could not be removed before
		return nil
	}
	return err
}

// pruneEvery is between two looks for old calls.
const pruneEvery = time.Hour

func (c *Carrier) upkeep(ctx context.Context) {
	for {
		if err := c.prune(ctx); err != nil && ctx.Err() == nil {
			c.opt.Log.Warn().Err(err).Msg("old calls are left for the next time")
		}
		if !await.Pause(ctx, pruneEvery) {
			return
		}
	}
}

// prune drops the calls that are older than a day.
func (c *Carrier) prune(ctx context.Context) error {
	_, err := c.pool.Exec(ctx, "delete from fs_call where granted < clock_timestamp() - interval '1 day' and ended is not null")
	return err
}

// Close ends the connections. Call it when Run has returned.
func (c *Carrier) Close() { c.pool.Close() }

// warnings writes what River warns of to our log.
type warnings struct{ log zerolog.Logger }

func (w warnings) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }
func (w warnings) WithAttrs([]slog.Attr) slog.Handler           { return w }
func (w warnings) WithGroup(string) slog.Handler                { return w }

func (w warnings) Handle(_ context.Context, r slog.Record) error {
	ev := w.log.Warn()
	r.Attrs(func(a slog.Attr) bool {
		ev = ev.Str(a.Key, a.Value.String())
		return true
	})
	ev.Msg("River: " + r.Message)
	return nil
}
