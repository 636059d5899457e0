package control

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
)

// would says that an operation is only tried: "would cancel".
func would(op engine.Op) string { return "would " + operation.Of(op).Does }

// onJobs carries out a command on one job or on a frozen selection.
func (c *Control) onJobs(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	if err := checkJobs(cmd); err != nil {
		return engine.Receipt{}, err
	}
	// One job that is not only tried: its errors are told as they are.
	if cmd.Select == nil && !cmd.DryRun && cmd.Op != engine.OpReclass {
		r, err := c.opt.Backend.Act(ctx, cmd)
		if err == nil {
			r.Text = c.byPlayer(ctx, cmd.Job, r.Text)
		}
		return c.named(ctx, cmd, r, err)
	}
	p, err := c.pick(ctx, cmd)
	if err != nil {
		return engine.Receipt{}, err
	}
	cmd.Select = &p.sel
	if cmd.DryRun {
		return c.dryRun(ctx, cmd, p)
	}
	if err := p.refuseAll(cmd, c.examples(ctx, p)); err != nil {
		return engine.Receipt{Matched: len(p.sel.IDs), Sample: c.examples(ctx, p)}, err
	}
	if cmd.Canary && len(p.sel.IDs) > 1 {
		return c.sendCanary(ctx, cmd, p)
	}
	r, err := c.opt.Backend.Bulk(ctx, cmd)
	r.Sample, r.Text = c.examples(ctx, p), tell(operation.Of(cmd.Op).Did, r)
	return r, err
}

// checkJobs refuses what makes no sense, whatever the jobs are.
func checkJobs(cmd engine.Command) error {
	switch {
	case cmd.Job == "" && cmd.Select == nil:
		return engine.Problemf(engine.ErrInvalid, "name a job, or say which by class, queue or state", "no job is named")
	case cmd.Op == engine.OpForce && strings.TrimSpace(cmd.Reason) == "":
		return engine.Problemf(engine.ErrInvalid, "say why: it is kept with the job", "force needs a reason")
	case cmd.Op == engine.OpReschedule && cmd.At.IsZero():
		return engine.Problemf(engine.ErrInvalid, "give an instant", "reschedule needs to know when")
	case cmd.Canary && !operation.Of(cmd.Op).Canary:
		return engine.Problemf(engine.ErrInvalid, "use it with retry or reclass", "a canary does not fit %s", cmd.Op)
	}
	return nil
}

// dryRun tells what a command would do, what it would cost, and freezes what it
// has counted.
func (c *Control) dryRun(ctx context.Context, cmd engine.Command, p picked) (engine.Receipt, error) {
	r, err := c.opt.Backend.Bulk(ctx, cmd)
	if err != nil {
		return r, err
	}
	r.Select, r.Sample, r.Text = &p.sel, c.examples(ctx, p), tell(would(cmd.Op), r)
	moves := r.Moves
	r.Would, r.Applied, r.Moves, r.Nothing = r.Applied, 0, nil, r.Applied == 0
	if !operation.Of(cmd.Op).Calls || r.Nothing {
		return r, nil
	}
	if r.Cost, err = c.costOf(ctx, moves, p); err != nil {
		return r, err
	}
	c.addDelays(ctx, r.Cost, false)
	r.Text += ": " + callsOf(*r.Cost)
	return r, nil
}

// callsOf says how many calls there will be, and how long they take. The limits of a
// host are learnt with its first answer: before that nobody can say.
func callsOf(cost engine.Cost) string {
	text := cost.CallsText()
	if cost.Bucket == "" {
		return text + ", at limits that the first answer will tell"
	}
	if cost.Takes < time.Second {
		return text + ", for which there is room at once in " + cost.Bucket
	}
	return fmt.Sprintf("%s in %s, paced by %s", text, human.Span(cost.Takes), cost.Bucket)
}

// costOf is what the jobs will take that were let run.
func (c *Control) costOf(ctx context.Context, moves []engine.JobMove, p picked) (*engine.Cost, error) {
	type lane struct{ host, method string }
	calls := map[lane]int{}
	var loads []engine.Load
	for _, m := range moves {
		j, ok := p.jobs[m.Job]
		if !ok {
			d, err := c.store.Detail(ctx, engine.JobQuery{ID: m.Job})
			if err != nil {
				return nil, err
			}
			j = d.Job.Job
		}
		host, method, _ := strings.Cut(strings.TrimSuffix(c.lane(j), "+"), "/")
		calls[lane{host, method}]++
		if host != "" {
			loads = append(loads, engine.Load{Host: host, Method: method, Queue: j.Queue, Owner: j.Owner, Priority: j.Priority, Calls: 1})
		}
	}
	cost := &engine.Cost{Loads: loads}
	perHost := map[string]engine.Cost{}
	for at, n := range calls {
		if at.host == "" {
			continue // no call, or nobody knows where
		}
		eta := forecast.ETA(c.opt.Limiter.Outlook(at.host), at.method, n)
		sum := perHost[at.host]
		perHost[at.host] = engine.Cost{Calls: sum.Calls + n, Takes: sum.Takes + eta.Low, Bucket: eta.Bucket}
	}
	slowest(cost, perHost)
	return cost, nil
}

// slowest adds up the calls of hosts that work side by side: the slowest one counts.
func slowest(sum *engine.Cost, perHost map[string]engine.Cost) {
	for _, host := range slices.Sorted(maps.Keys(perHost)) {
		one := perHost[host]
		sum.Calls += one.Calls
		sum.AtMost = sum.AtMost || one.AtMost
		if one.Takes >= sum.Takes {
			sum.Takes, sum.Bucket = one.Takes, one.Bucket
		}
	}
}

// tell is a bulk receipt in one sentence.
func tell(did string, r engine.Receipt) string {
	if r.Matched == 0 {
		return "no job fits: nothing to do"
	}
	s := fmt.Sprintf("%s %s of %s", did, human.Count(int64(r.Applied)), human.Counted(r.Matched, "job", "jobs"))
	if len(r.Skipped) > 0 {
		s += "; left as they are: " + leftOut(r.Skipped)
	}
	return s
}

// leftOut says of how many jobs each reason holds.
func leftOut(skipped map[string]int) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(skipped)) {
		parts = append(parts, human.Count(int64(skipped[why]))+" "+why)
	}
	return strings.Join(parts, ", ")
}
