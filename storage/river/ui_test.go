package river

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/sim"
)

// other is another program's client of River on a store.
func (r *rig) other() *river.Client[pgx.Tx] {
	r.t.Helper()
	pool, err := r.db.Pool(r.t.Context(), 2)
	must(r.t, err)
	r.t.Cleanup(pool.Close)
	c, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: r.db.Schema()})
	must(r.t, err)
	return c
}

// run lets a node of this process work until the test ends.
func (r *rig) run(id string, change ...func(*Options)) *node {
	r.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	n, err := newNode(ctx, r.url, id, r.riot.URL, change...)
	must(r.t, err)
	ended := make(chan error)
	go func() {
		err := n.run(ctx)
		if ctx.Err() == nil { // nobody would see what the test waits for
			panic(fmt.Sprintf("member %s has ended: %v", id, err))
		}
		ended <- err
	}()
	r.t.Cleanup(func() { stop(); must(r.t, <-ended) })
	return n
}

// idle is of a member that makes no calls.
func idle(o *Options) { o.Workers = 0 }

// until waits for something that comes to be.
func until(ok func() bool) {
	for !ok() {
		time.Sleep(10 * time.Millisecond)
	}
}

// Whoever pauses the queue of the calls, as River UI does, stops all of them, and the engine says
// why; what was let go already comes back. When it goes on, they do.
func TestShow11_APausedQueueStopsAllCalls(t *testing.T) {
	t.Parallel()
	r := newRig(t, made(t), "1000:10", sim.FixedLazy, sim.Instant)
	n := r.run("a")
	c := r.other()
	until(func() bool {
		_, err := c.QueueGet(t.Context(), n.carrier.queue())
		return err == nil && n.limits.Load() != nil
	})
	must(t, c.QueuePause(t.Context(), n.carrier.queue(), nil))
	until(func() bool { return n.limits.Load().Held("europe/match-v5.match").Reason != "" })
	if why := n.limits.Load().Held("europe/match-v5.match").Reason; why != "River's queue "+n.carrier.queue()+" is paused" {
		t.Errorf("%q", why)
	}
	r.insert(20)
	time.Sleep(3 * lookEvery)
	if s := r.sim.Stats(); s.Calls != 0 || r.count("select count(*) from fs_call") != 0 {
		t.Errorf("%d calls", s.Calls)
	}
	must(t, c.QueueResume(t.Context(), n.carrier.queue(), nil))
	r.finish(nil)
	r.sound(20)
}

// Who leads next lets no call go before it has seen that the queue is paused.
func TestH13c_APausedQueueStopsTheNextTerm(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	_, err := d.conn.Exec(t.Context(), "insert into river_queue (name, created_at, updated_at, paused_at) values ($1, now(), now(), now())", d.a.queue())
	must(t, err)
	next := d.a.Lead(d.term, nil, nil)
	must(t, next.Inherit(t.Context(), traffic.New(traffic.Options{Limiter: limit.New(limit.Options{}), Store: stored(t), Lanes: laneOf})))
	if next.Halt() == "" {
		t.Error("calls go")
	}
}

// Whoever cancels the row of an attempt, as River UI does, or has a row of the past run again, loses
// no job and makes no call: the row carries a job, and is none.
func TestShow11_ARowThatIsCancelled(t *testing.T) {
	t.Parallel()
	row := func(r *rig, c *river.Client[pgx.Tx], in rivertype.JobState) (id int64) {
		until(func() bool {
			found, err := c.JobList(t.Context(), river.NewJobListParams().Kinds(kindCall).States(in))
			must(t, err)
			if len(found.Jobs) > 0 {
				id = found.Jobs[0].ID
			}
			return id != 0
		})
		return id
	}
	t.Run("before a member takes it up", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, made(t), "1000:10", sim.FixedLazy, sim.Instant)
		r.run("leads", idle)
		r.insert(1)
		c := r.other()
		_, err := c.JobCancel(t.Context(), row(r, c, rivertype.JobStateAvailable))
		must(t, err)
		r.run("led, works")
		r.finish(nil)
		r.sound(1)
	})
	t.Run("while it is under way", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, made(t), "1000:10", sim.FixedLazy, sim.Instant)
		var first sync.Once
		underWay := make(chan struct{})
		r.before = func(q *http.Request) {
			first.Do(func() {
				close(underWay)
				<-q.Context().Done() // until who calls hangs up
			})
		}
		r.run("leads", idle)
		r.run("led, works")
		r.insert(1)
		c := r.other()
		id := row(r, c, rivertype.JobStateRunning)
		<-underWay // River tells of a cancel once, and only who works on the row already hears it
		_, err := c.JobCancel(t.Context(), id)
		must(t, err)
		r.finish(nil)
		r.sound(1)
		if n := r.count("select attempts from fs_job_ended"); n != 1 {
			t.Errorf("it is charged with %d attempts", n)
		}
	})
	t.Run("once more when it is done", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, made(t), "1000:10", sim.FixedLazy, sim.Instant)
		r.run("leads", idle)
		r.run("led, works")
		r.insert(1)
		r.finish(nil)
		c, calls := r.other(), r.sim.Stats().Calls
		again := row(r, c, rivertype.JobStateCompleted)
		_, err := c.JobRetry(t.Context(), again)
		must(t, err)
		until(func() bool {
			j, err := c.JobGet(t.Context(), again)
			must(t, err)
			return j.State == rivertype.JobStateCompleted && j.Attempt == 2
		})
		if n := r.sim.Stats().Calls; n != calls {
			t.Errorf("%d calls more", n-calls)
		}
		r.sound(1)
	})
}

// Another program starts a sync in its own transaction, or does not; what is refused its row says,
// and what fails is tried again.
func TestShow11_ATriggerOfAnotherProgram(t *testing.T) {
	t.Parallel()
	r := newRig(t, made(t), "1000:10", sim.FixedLazy, sim.Instant)
	asked := make(chan string, 10)
	failed := false
	r.run("a", func(o *Options) {
		o.Trigger = func(_ context.Context, riotID string, ask engine.SyncAsk) error {
			switch {
			case riotID == "nobody":
				return engine.Problemf(engine.ErrInvalid, "write Name#TAG", "%q is no Riot ID", riotID)
			case riotID == "Flaky#EUW" && !failed:
				failed = true
				return errors.New("the store is away")
			}
			asked <- riotID + " " + ask.Platform + " " + ask.Cause
			return nil
		}
	})
	c := r.other()
	insert := func(end func(pgx.Tx, context.Context) error, a trigger) int64 {
		tx, err := r.conn.Begin(t.Context())
		must(t, err)
		row, err := c.InsertTx(t.Context(), tx, a, &river.InsertOpts{Queue: queueOrders})
		must(t, err)
		must(t, end(tx, t.Context()))
		return row.Job.ID
	}
	insert(pgx.Tx.Rollback, trigger{RiotID: "Never#EUW", Platform: "euw1"})
	insert(pgx.Tx.Commit, trigger{RiotID: "Ana#EUW", Platform: "euw1", Cause: "linked"})
	if got := <-asked; got != "Ana#EUW euw1 linked" {
		t.Errorf("%s", got)
	}
	refused := insert(pgx.Tx.Commit, trigger{RiotID: "nobody"})
	until(func() bool {
		row, err := c.JobGet(t.Context(), refused)
		must(t, err)
		return row.State == rivertype.JobStateCancelled && strings.Contains(row.Errors[0].Error, "is no Riot ID")
	})
	insert(pgx.Tx.Commit, trigger{RiotID: "Flaky#EUW", Platform: "euw1"})
	if got := <-asked; got != "Flaky#EUW euw1 " {
		t.Errorf("%s", got)
	}
}
