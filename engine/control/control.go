package control

import (
	"context"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/hub"
)

// Control is the Console of an engine in this process. Its methods may be called by several goroutines;
// Run and Follow are called one at a time, and Publish in the order of commits.
type Control struct {
	finder
	opt     Options
	hub     *hub.Hub
	started time.Time

	foreseeing sync.Mutex
	foresight  *foresight // guarded by foreseeing

	// What Publish, Run and its end have told; never held while another part is called, but for the
	// backend's queues.
	mu       sync.Mutex
	totals   engine.Totals
	discards map[engine.Queue]int
	runs     bool
	stopping bool
	broken   string
}

// row adds to a stored job why it waits, until when, and when it will start. Its start is that of the
// plan of this second; why is asked of the backend at once, and the two may be a moment apart.
func (c *Control) row(j engine.Job) engine.JobRow {
	r := c.opt.Policies.Row(engine.JobRow{Job: j, Player: playerOf(context.Background(), c.store, j)})
	if j.State.Live() && j.State != engine.Running {
		r.Why, r.Until, r.Place = c.opt.Backend.Why(j)
		held := c.opt.Backend.Held(j)
		r.Stand, r.Ends = held.Stand, held.Ends
	}
	// "ingest.match.fetch europe/match-v5.match": places are counted within a queue and a lane.
	if r.Place > 0 {
		r.Line = string(j.Queue) + " " + c.lane(j)
	}
	switch start, ok := c.foreseen().starts[j.ID]; {
	case j.InLineAgain(): // its instant has come, and something else goes before it: no plan of a moment ago says so
		if r.LateBy = r.Why; !r.Asked() { // else one call alone goes then, and nobody knows whose
			r.Starts = r.Until
		}
	case ok:
		r.Starts, r.LateBy = start.At, start.LateBy
	}
	if j.State == engine.Pending && r.Until.IsZero() {
		r.Until = c.groupEnds(j)
	}
	return r
}

// open are the accounts with a run under way, which the hub has in memory.
func (c *Control) open(context.Context) ([]engine.AccountRow, error) {
	return c.hub.Open(), nil
}

func (c *Control) policy(j *engine.Job) engine.Policy         { return c.opt.Policies.Of(j) }
func (c *Control) externals() map[engine.JobID]string         { return c.opt.Backend.Externals() }
func (c *Control) calls(q engine.CallsQuery) engine.CallsPage { return c.opt.Limiter.Calls(q) }
func (c *Control) lastCall(j engine.JobID) *engine.CallRow    { return c.opt.Limiter.LastCall(j) }

func (c *Control) soonest(ctx context.Context, n int) ([]engine.Job, error) {
	return c.opt.Backend.Soonest(ctx, n)
}

// limits are of the reading that tells the cause.
func (c *Control) limits() engine.LimitsRow {
	row, limits := c.reading()
	limits.Cause = row.Cause()
	return limits
}

// cost is what a sync would take before it is started, and what would end later for it.
func (c *Control) cost(ctx context.Context, q engine.CostQuery) (engine.Cost, error) {
	if len(q.Accounts) > 0 {
		return c.costOfAll(ctx, q), nil
	}
	cost, err := c.opt.Syncer.Cost(ctx, q)
	if err == nil {
		c.addDelays(ctx, &cost, true)
	}
	return cost, err
}

// costOfAll is the cost of several syncs as one act. One that would be refused costs
// nothing: it says so when it is started.
func (c *Control) costOfAll(ctx context.Context, q engine.CostQuery) engine.Cost {
	var total engine.Cost
	perHost := map[string]engine.Cost{}
	for _, account := range q.Accounts {
		one, err := c.opt.Syncer.Cost(ctx, engine.CostQuery{Account: account, Sync: q.Sync})
		if err != nil || len(one.Loads) == 0 {
			continue
		}
		// All loads of one account's sync are of its region.
		host := one.Loads[0].Host
		sum := perHost[host]
		perHost[host] = engine.Cost{
			Calls: sum.Calls + one.Calls, Takes: sum.Takes + one.Takes, Bucket: one.Bucket, AtMost: sum.AtMost || one.AtMost,
		}
		total.Loads = append(total.Loads, one.Loads...)
	}
	total.Beside(perHost)
	c.addDelays(ctx, &total, true)
	return total
}

// status has the first of the retries, since a look at the state wants to know what goes next.
func (c *Control) status(ctx context.Context) (engine.EngineRow, []engine.QueueRow, []engine.Job, error) {
	retries, err := c.opt.Backend.NextRetries(ctx, statusRetries)
	row, _ := c.engineRow()
	return *row, c.queues(), retries, err
}
