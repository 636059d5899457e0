package operation

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
)

// onJobs carries out a command on one job or on a frozen selection.
func (o *Operator) onJobs(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	switch {
	case cmd.Job == "" && cmd.Select == nil:
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "name a job, or say which by class, queue or state", "no job is named")
	case cmd.Op == engine.OpForce && strings.TrimSpace(cmd.Reason) == "":
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "say why: it is kept with the job", "force needs a reason")
	case cmd.Op == engine.OpReschedule && cmd.At.IsZero():
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "give an instant", "reschedule needs to know when")
	case cmd.Canary && !Of(cmd.Op).Canary:
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "use it with retry or reclass", "a canary does not fit %s", cmd.Op)
	}
	if strings.Contains(string(cmd.Job), ":") { // an id has no colon: it is the key
		d, err := o.opt.Find(ctx, engine.JobQuery{Key: string(cmd.Job)})
		if err != nil {
			return o.withoutJob(ctx, cmd, err)
		}
		cmd.Job = d.(engine.JobDetail).Job.ID
	}
	// One job that is not only tried: its errors are told as they are.
	if cmd.Select == nil && !cmd.DryRun && cmd.Op != engine.OpReclass {
		r, err := o.opt.Backend.Act(ctx, cmd)
		if err == nil {
			r.Text = o.byPlayer(ctx, cmd.Job, r.Text)
		}
		return o.named(ctx, cmd, r, err)
	}
	p, err := o.pick(ctx, cmd)
	if err != nil {
		return engine.Receipt{}, err
	}
	cmd.Select = &p.sel
	if cmd.DryRun {
		return o.dryRun(ctx, cmd, p)
	}
	if err := p.refuseAll(cmd, o.examples(ctx, p)); err != nil {
		return engine.Receipt{Matched: len(p.sel.IDs), Sample: o.examples(ctx, p)}, err
	}
	// One job alone is its own canary.
	if cmd.Canary && len(p.sel.IDs) > 1 {
		return o.sendCanary(ctx, cmd, p)
	}
	r, err := o.opt.Backend.Bulk(ctx, cmd)
	r.Sample, r.Text = o.examples(ctx, p), tell(Of(cmd.Op).Did, r)
	return r, err
}

// withoutJob carries out a command on a key that no job has, if the domain can; none is the error of looking for the job.
func (o *Operator) withoutJob(ctx context.Context, cmd engine.Command, none error) (engine.Receipt, error) {
	if errors.Is(none, engine.ErrNotFound) && o.opt.Domain != nil {
		if r, known, err := o.opt.Domain.Do(ctx, cmd); known {
			return r, err
		}
	}
	return engine.Receipt{}, none
}

// dryRun tells what a command would do, what it would cost, and freezes what it
// has counted. The receipt has the frozen selection: whoever confirms sends it back, and gets exactly
// what was counted.
func (o *Operator) dryRun(ctx context.Context, cmd engine.Command, p picked) (engine.Receipt, error) {
	r, err := o.opt.Backend.Bulk(ctx, cmd)
	if err != nil {
		return r, err
	}
	r.Select, r.Sample, r.Text = &p.sel, o.examples(ctx, p), tell(would(cmd.Op), r)
	// What the trial has moved is what would make calls; the receipt itself moved nothing.
	moves := r.Moves
	r.Would, r.Applied, r.Moves, r.Nothing = r.Applied, 0, nil, r.Applied == 0
	if !Of(cmd.Op).Calls || r.Nothing {
		return r, nil
	}
	if r.Cost, err = o.costOf(ctx, moves, p); err != nil {
		return r, err
	}
	r.Text += ": " + callsOf(*r.Cost)
	return r, nil
}

// costOf is what the jobs will take that were let run. One call per job: what a job does after that,
// such as a sync's pages, nobody can tell from it.
func (o *Operator) costOf(ctx context.Context, moves []engine.JobMove, p picked) (*engine.Cost, error) {
	type lane struct{ host, method string }
	calls := map[lane]int{}
	var loads []engine.Load
	for _, m := range moves {
		// A job that is not among the picked: the ids came from the caller, or a parent took it along.
		j, ok := p.jobs[m.Job]
		if !ok {
			d, err := o.opt.Store.Detail(ctx, engine.JobQuery{ID: m.Job})
			if err != nil {
				return nil, err
			}
			j = d.Job.Job
		}
		// "europe/match-v5.match+": the plus sign says that another call follows, which this job does
		// not make.
		host, method, _ := strings.Cut(strings.TrimSuffix(o.opt.Lane(j), "+"), "/")
		calls[lane{host, method}]++
		if host != "" {
			loads = append(loads, engine.Load{
				Host: host, Method: method, Queue: j.Queue, Owner: j.Owner, Priority: j.Priority, Calls: 1,
			})
		}
	}
	cost := &engine.Cost{Loads: loads}
	perHost := map[string]engine.Cost{}
	for at, n := range calls {
		if at.host == "" {
			continue // no call, or nobody knows where
		}
		eta := forecast.ETA(o.opt.Limiter.Outlook(at.host), at.method, n)
		// Methods of one host add up, as they take from one limit of the application; hosts go on side
		// by side.
		sum := perHost[at.host]
		perHost[at.host] = engine.Cost{Calls: sum.Calls + n, Takes: sum.Takes + eta.Low, Bucket: eta.Bucket}
	}
	cost.Beside(perHost)
	return cost, nil
}

// pause keeps a queue's jobs from starting. When it answers none starts any more; those that run go on.
func (o *Operator) pause(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	return o.onQueue(ctx, cmd, o.opt.Backend.Pause)
}

// resume lets a paused queue's jobs start again.
func (o *Operator) resume(ctx context.Context, cmd engine.Command) (engine.Receipt, error) {
	return o.onQueue(ctx, cmd, o.opt.Backend.Resume)
}

// queueCommand is a backend's Pause or Resume.
type queueCommand func(context.Context, engine.Queue, engine.Actor, string) (engine.Receipt, error)

// onQueue is what pause and resume have in common. engine.ErrNotFound for a queue that neither the
// program nor a job names.
func (o *Operator) onQueue(ctx context.Context, cmd engine.Command, run queueCommand) (engine.Receipt, error) {
	if cmd.Queue == "" {
		return refuse(engine.ErrInvalid, "name one, such as ingest.summoner.full", "no queue is named")
	}
	if !o.hasQueue(cmd.Queue) {
		return refuse(engine.ErrNotFound, "list them with `farsight queues`", "there is no queue %q", cmd.Queue)
	}
	if cmd.DryRun {
		return engine.Receipt{Matched: 1, Text: would(cmd.Op) + " " + string(cmd.Queue)}, nil
	}
	return run(ctx, cmd.Queue, cmd.By, cmd.Reason)
}

// hasQueue reports whether a queue is known: a mistyped one would be paused for
// nothing.
func (o *Operator) hasQueue(name engine.Queue) bool {
	// The program's own queues have a place before their first job; others are known by their jobs.
	return len(o.opt.Lines) == 0 || strings.HasPrefix(string(name), string(engine.CollectionQueue(""))) || slices.Contains(o.opt.Lines, name) ||
		slices.ContainsFunc(o.opt.Backend.Queues(), func(q engine.QueueRow) bool { return q.Name == name })
}
