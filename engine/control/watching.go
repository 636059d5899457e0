package control

import (
	"cmp"
	"context"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/hub"
)

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
	tick := time.NewTicker(cmp.Or(s.c.opt.MomentEvery, hub.MomentEvery))
	defer tick.Stop()
	for {
		s.c.sample(time.Now())
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// sample leaves out a moment that cannot be kept: the time cursor steps over it.
func (c *Control) sample(now time.Time) {
	_ = c.moments.Add(engine.Moment{
		At: now.Round(0), Engine: c.engineRow(), Queues: c.queues(), Limits: c.opt.Limiter.Rows(),
	})
}
