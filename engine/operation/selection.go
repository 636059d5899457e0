package operation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

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
