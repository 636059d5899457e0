package operation

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
	"github.com/farsight-console/farsight/engine/human"
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
	r.Sample, r.Text = o.examples(ctx, p), receiptText(Of(cmd.Op).Did, r)
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
	r.Select, r.Sample, r.Text = &p.sel, o.examples(ctx, p), receiptText(would(cmd.Op), r)
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

// jobStore is where jobs are kept.
type jobStore interface {
	// Jobs lists live jobs (q.Ended: ended ones too), newest first.
	Jobs(ctx context.Context, q engine.JobsQuery) (jobs []engine.Job, next string, total int, err error)
	// Live iterates all live jobs; one that cannot be read comes with its error.
	Live(ctx context.Context) iter.Seq2[engine.Job, error]
}

// EachJob gives every job in one of the states, live ones first. A job that cannot
// be read is skipped: check names it.
func EachJob(ctx context.Context, store jobStore, states []engine.State, each func(engine.Job) error) error {
	for j, err := range store.Live(ctx) {
		if err != nil || !slices.Contains(states, j.State) {
			if j.ID == "" && err != nil {
				return err // not one job: the table
			}
			continue
		}
		if err := each(j); err != nil {
			return err
		}
	}
	// A job that moves between the two may be met twice, or not at all: whoever acts on one checks its
	// revision.
	ended := slices.DeleteFunc(slices.Clone(states), engine.State.Live)
	if len(ended) == 0 {
		return nil
	}
	// From the archive, page by page: there may be hundreds of thousands.
	q := engine.JobsQuery{States: ended, Page: engine.Page{Limit: engine.LargestPage}}
	for {
		jobs, next, _, err := store.Jobs(ctx, q)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if err := each(j); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		q.After = next
	}
}

// maxPicked bounds one selection: more than that nobody has looked at.
const maxPicked = 100_000

// samples are how many jobs a receipt names.
const samples = 5

// picked is a frozen selection with the jobs as they were counted.
type picked struct {
	sel  engine.Selection
	jobs map[engine.JobID]engine.Job // may lack some
}

// pick freezes what a command acts on: one job, the ids that its caller has
// counted, or what its filter finds now.
//
//	nothing selected    the one job, at the revision that its caller saw
//	ids                 those, at their revisions, or still fitting the filter they were counted by
//	a filter            what fits now, up to maxPicked
func (o *Operator) pick(ctx context.Context, cmd engine.Command) (picked, error) {
	if cmd.Select == nil {
		d, err := o.opt.Find(ctx, engine.JobQuery{ID: cmd.Job})
		if err != nil {
			return picked{}, err
		}
		return picked{
			sel:  engine.Selection{IDs: []engine.JobID{cmd.Job}, Revs: []engine.Revision{cmd.IfRev}},
			jobs: map[engine.JobID]engine.Job{cmd.Job: d.(engine.JobDetail).Job.Job},
		}, nil
	}
	if len(cmd.Select.IDs) > 0 {
		if n := len(cmd.Select.Revs); n > 0 && n != len(cmd.Select.IDs) {
			return picked{}, engine.Problemf(engine.ErrInvalid, "give one for each", "%d jobs are named, but %d revisions",
				len(cmd.Select.IDs), n)
		}
		// They were counted before, by a dry run or on a screen. Which of them still can be acted on, the
		// backend asks of each.
		p := picked{sel: *cmd.Select}
		if f := p.sel.Filter; f != nil {
			p.sel.Fits = o.fitting(cmd.Op, *f)
		}
		return p, nil
	}
	filter := engine.JobFilter{}
	if cmd.Select.Filter != nil {
		filter = *cmd.Select.Filter
	}
	p := picked{sel: engine.Selection{Filter: &filter, Fits: o.fitting(cmd.Op, filter)},
		jobs: map[engine.JobID]engine.Job{}}
	err := EachJob(ctx, o.opt.Store, statesOf(cmd.Op, filter), func(j engine.Job) error {
		if !p.sel.Fits(j) {
			return nil
		}
		// Refused and not cut: nobody would know which of them were left out.
		if len(p.sel.IDs) == maxPicked {
			return engine.Problemf(engine.ErrRefused, "narrow it down", "more than %d jobs fit", maxPicked)
		}
		p.sel.IDs, p.sel.Revs = append(p.sel.IDs, j.ID), append(p.sel.Revs, j.Rev)
		p.jobs[j.ID] = j
		return nil
	})
	return p, err
}

// statesOf are the states in which a filter looks for jobs.
func statesOf(op engine.Op, f engine.JobFilter) []engine.State {
	if len(f.States) > 0 {
		return f.States
	}
	return Of(op).Picks()
}

// fitting is a filter as it is asked of one job, when it is counted and again when it
// is acted on.
func (o *Operator) fitting(op engine.Op, f engine.JobFilter) func(engine.Job) bool {
	states := statesOf(op, f)
	return func(j engine.Job) bool {
		return slices.Contains(states, j.State) && fits(f, j) &&
			(f.Class == "" || engine.ClassOf(j, o.opt.Lane(j)).Fits(f.Class))
	}
}

// fits asks all of a filter but its states and its class, which depend on the operation and on where
// the job calls.
func fits(f engine.JobFilter, j engine.Job) bool {
	// An empty criterion fits every job; a text is looked for in the key: "kr_72" in match:KR_7214550881.
	return (f.Queue == "" || f.Queue == j.Queue) &&
		(f.Kind == "" || f.Kind == j.Kind) &&
		(f.Owner == "" || f.Owner == j.Owner) &&
		(f.Text == "" || strings.Contains(strings.ToLower(j.Key), strings.ToLower(f.Text)))
}

// refuseAll stops a selection without any criterion that nobody has confirmed by
// its word (P-32). A list of ids was looked at by somebody; a filter without a criterion is a mistake
// more often than a wish.
func (p picked) refuseAll(cmd engine.Command, sample []string) error {
	if p.sel.Filter == nil || !p.sel.Filter.Empty() || cmd.Confirm == engine.ConfirmAll {
		return nil
	}
	return engine.Problemf(engine.ErrRefused,
		fmt.Sprintf("say which by class, queue or state, or confirm with the word %q", engine.ConfirmAll),
		"nothing narrows this down: it %s %s%s", would(cmd.Op), human.Counted(len(p.sel.IDs), "job", "jobs"), suchAs(sample))
}

// suchAs names examples behind a count; "" of none.
func suchAs(sample []string) string {
	if len(sample) == 0 {
		return ""
	}
	return " such as " + strings.Join(sample, ", ")
}

// examples names a few of the jobs.
func (o *Operator) examples(ctx context.Context, p picked) (names []string) {
	for _, id := range p.sel.IDs[:min(samples, len(p.sel.IDs))] {
		names = append(names, o.calledBy(ctx, p.jobs[id], id))
	}
	return names
}

// calledBy is nameOf, but a sync has its player's name.
func (o *Operator) calledBy(ctx context.Context, j engine.Job, id engine.JobID) string {
	if player := o.opt.Player(ctx, j); player != "" {
		return "the sync of " + player
	}
	if j.Key != "" {
		return j.Key
	}
	return "job " + string(id)
}

// byPlayer gives a sync its player's name in a sentence that calls it by its id.
func (o *Operator) byPlayer(ctx context.Context, id engine.JobID, text string) string {
	d, err := o.opt.Store.Detail(ctx, engine.JobQuery{ID: id})
	if err != nil || o.opt.Player(ctx, d.Job.Job) == "" {
		return text
	}
	return strings.ReplaceAll(text, "job "+string(id), o.calledBy(ctx, d.Job.Job, id))
}
