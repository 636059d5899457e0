package river

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/await"
	"github.com/farsight-console/farsight/engine/remote"
	"github.com/farsight-console/farsight/storage/pg"
)

const (
	kindAttempt = "farsight.attempt"
	// fetchCooldown is between two fetches of one member: of work that waits, none waits for longer.
	fetchCooldown = 5 * time.Millisecond
	// keptCompleted is how long River keeps the rows of attempts that went well: at 200 calls a
	// second its own day would be 17 million.
	keptCompleted = 15 * time.Minute
	// rescueAfter is after how long River takes a row for abandoned. That clears the row only.
	rescueAfter = time.Minute
	// stopPatience is how long attempts have to end by themselves.
	stopPatience = 2 * time.Second
)

// Attempts carries attempts out: see local.Backend.
type Attempts interface {
	Attempt(ctx context.Context, id engine.JobID, rev engine.Revision, also func(tx engine.Tx) error) error
}

// Options are what a Carrier is made of. DB, Member and Key are required.
type Options struct {
	DB     *pg.DB
	Member string // the id of this process among the members
	// Key gives the fingerprint of its API key: it carries out what is counted for that one; "" = there
	// is none.
	Key func() string
	TTL time.Duration
	// Workers is how many attempts are carried out here at once; 0 = none, this process only hands on.
	Workers int
	// Rests reports whether it takes up no attempts for now. nil = it always does.
	Rests    func() bool
	Attempts Attempts
	Calls    *remote.Calls
	// Trigger starts a sync that another program has asked for. An *engine.Problem is its answer, and
	// ends the row; any other error is tried again. nil = no row of others is taken up here.
	Trigger func(ctx context.Context, riotID string, ask engine.SyncAsk) error
	Log     zerolog.Logger
}

// Carrier is a process's share of River: the leader hands attempts on by it, members carry them
// out.
type Carrier struct {
	opt    Options
	serves string // the queue that it takes attempts from; only Run changes it
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
}

// conns is for River's listener, its fetches and its upkeep, and for permits that begin.
const conns = 6

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
	conf := &river.Config{
		Schema: c.opt.DB.Schema(), ID: c.opt.Member, Logger: log,
		FetchCooldown: fetchCooldown, FetchPollInterval: time.Second, FetchOnlyKnownKinds: true,
		JobTimeout: -1, RescueStuckJobsAfter: rescueAfter, SoftStopTimeout: stopPatience,
		CompletedJobRetentionPeriod: keptCompleted,
		Queues:                      map[string]river.QueueConfig{}, Workers: river.NewWorkers(),
	}
	if c.opt.Workers > 0 {
		if c.serves = c.queue(); c.serves != "" {
			conf.Queues[c.serves] = river.QueueConfig{MaxWorkers: c.opt.Workers}
		}
		river.AddWorker(conf.Workers, &worker{c: c})
	}
	if c.opt.Trigger != nil {
		conf.Queues[queueTriggers] = river.QueueConfig{MaxWorkers: 1}
		river.AddWorker(conf.Workers, &triggers{c: c})
	}
	c.client, err = river.NewClient(driver, conf)
	return err
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

// Run carries out attempts, and what other programs ask for, until ctx ends. Attempts that are
// under way then end within two seconds or go back uncharged. A process that does neither starts
// nothing of River's: what a leader hands on is written by SQL in the claim's own transaction
// (Grant).
func (c *Carrier) Run(ctx context.Context) error {
	var upkeep sync.WaitGroup
	upkeep.Go(func() { c.upkeep(ctx) })
	defer upkeep.Wait()
	if c.opt.Workers == 0 && c.opt.Trigger == nil {
		return nil
	}
	if err := c.client.Start(ctx); err != nil {
		return fmt.Errorf("start River: %w", err)
	}
	if c.opt.Workers > 0 {
		c.followKey(ctx)
	}
	<-c.client.Stopped()
	return nil
}

// queue is that of the attempts that are made with the key in use; "" = without one there is none.
func (c *Carrier) queue() string {
	if key := c.opt.Key(); key != "" {
		return "call_" + key
	}
	return ""
}

// keyLook is between two looks whether the key is another one. What is let go for it can be taken up
// for 5 s.
const keyLook = 250 * time.Millisecond

// followKey takes attempts from the queue of the key in use, whatever that is, and from none while
// it rests, until ctx ends. The next queue is added before the last one is removed; what fails is
// tried again at the next look.
func (c *Carrier) followKey(ctx context.Context) {
	for await.Pause(ctx, keyLook) {
		now := c.queue()
		if c.opt.Rests != nil && c.opt.Rests() {
			now = ""
		}
		if now == c.serves {
			continue
		}
		if err := c.take(now); err != nil {
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

// take takes attempts from a queue too; "" = from none.
func (c *Carrier) take(queue string) error {
	if queue == "" {
		return nil
	}
	err := c.client.Queues().Add(queue, river.QueueConfig{MaxWorkers: c.opt.Workers})
	if _, has := errors.AsType[*river.QueueAlreadyAddedError](err); has { // it could not be removed before
		return nil
	}
	return err
}

// pruneEvery is between two looks for old permits.
const pruneEvery = time.Hour

func (c *Carrier) upkeep(ctx context.Context) {
	for {
		if err := c.prune(ctx); err != nil && ctx.Err() == nil {
			c.opt.Log.Warn().Err(err).Msg("old permits are left for the next time")
		}
		if !await.Pause(ctx, pruneEvery) {
			return
		}
	}
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
