package control

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
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
func (c *Control) pick(ctx context.Context, cmd engine.Command) (picked, error) {
	if cmd.Select == nil {
		d, err := c.find(ctx, engine.JobQuery{ID: cmd.Job})
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
			return picked{}, engine.Problemf(engine.ErrInvalid, "give one for each", "%d jobs are named, but %d revisions", len(cmd.Select.IDs), n)
		}
		p := picked{sel: *cmd.Select}
		if f := p.sel.Filter; f != nil {
			p.sel.Fits = c.fitting(cmd.Op, *f)
		}
		return p, nil
	}
	filter := engine.JobFilter{}
	if cmd.Select.Filter != nil {
		filter = *cmd.Select.Filter
	}
	p := picked{sel: engine.Selection{Filter: &filter, Fits: c.fitting(cmd.Op, filter)}, jobs: map[engine.JobID]engine.Job{}}
	err := c.walk(ctx, statesOf(cmd.Op, filter), func(j engine.Job) error {
		if !p.sel.Fits(j) {
			return nil
		}
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
	return operation.Of(op).Picks()
}

// fitting is a filter as it is asked of one job, when it is counted and again when it
// is acted on.
func (c *Control) fitting(op engine.Op, f engine.JobFilter) func(engine.Job) bool {
	states := statesOf(op, f)
	return func(j engine.Job) bool {
		return slices.Contains(states, j.State) && fits(f, j) && (f.Class == "" || engine.ClassOf(j, c.lane(j)).Fits(f.Class))
	}
}

func fits(f engine.JobFilter, j engine.Job) bool {
	return (f.Queue == "" || f.Queue == j.Queue) &&
		(f.Kind == "" || f.Kind == j.Kind) &&
		(f.Owner == "" || f.Owner == j.Owner) &&
		(f.Text == "" || strings.Contains(strings.ToLower(j.Key), strings.ToLower(f.Text)))
}

// walk gives every job in one of the states, live ones first. A job that cannot
// be read is skipped: check names it.
func (f finder) walk(ctx context.Context, states []engine.State, each func(engine.Job) error) error {
	for j, err := range f.store.Live(ctx) {
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
	ended := slices.DeleteFunc(slices.Clone(states), engine.State.Live)
	if len(ended) == 0 {
		return nil
	}
	q := engine.JobsQuery{States: ended, Page: engine.Page{Limit: storePage}}
	for {
		jobs, next, _, err := f.store.Jobs(ctx, q)
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

// refuseAll stops a selection without any criterion that nobody has confirmed by
// its word (P-32).
func (p picked) refuseAll(cmd engine.Command, sample []string) error {
	if p.sel.Filter == nil || !p.sel.Filter.Empty() || cmd.Confirm == engine.ConfirmAll {
		return nil
	}
	return engine.Problemf(engine.ErrRefused, fmt.Sprintf("say which by class, queue or state, or confirm with the word %q", engine.ConfirmAll),
		"nothing narrows this down: it %s %s%s", would(cmd.Op), human.Counted(len(p.sel.IDs), "job", "jobs"), suchAs(sample))
}

func suchAs(sample []string) string {
	if len(sample) == 0 {
		return ""
	}
	return " such as " + strings.Join(sample, ", ")
}

// examples names a few of the jobs.
func (c *Control) examples(ctx context.Context, p picked) (names []string) {
	for _, id := range p.sel.IDs[:min(samples, len(p.sel.IDs))] {
		names = append(names, c.calledBy(ctx, p.jobs[id], id))
	}
	return names
}

// kindSync is the job of a sync: people know it by its player, not by its key.
const kindSync engine.Kind = "account.sync"

// calledBy is nameOf, but a sync has its player's name.
func (c *Control) calledBy(ctx context.Context, j engine.Job, id engine.JobID) string {
	if player := playerOf(ctx, c.store, j); player != "" {
		return "the sync of " + player
	}
	return nameOf(j, id)
}

// playerOf is whose sync a job is; "" of other jobs, and while it is not known.
func playerOf(ctx context.Context, store Store, j engine.Job) string {
	if j.Kind != kindSync || j.Owner == "" {
		return ""
	}
	row, err := store.AccountRow(ctx, j.Owner)
	if err != nil {
		return ""
	}
	return row.RiotID
}

// byPlayer gives a sync its player's name in a sentence that calls it by its id.
func (c *Control) byPlayer(ctx context.Context, id engine.JobID, text string) string {
	d, err := c.store.Detail(ctx, engine.JobQuery{ID: id})
	if err != nil || d.Job.Kind != kindSync {
		return text
	}
	return strings.ReplaceAll(text, "job "+string(id), c.calledBy(ctx, d.Job.Job, id))
}

func nameOf(j engine.Job, id engine.JobID) string {
	if j.Key != "" {
		return j.Key
	}
	return "job " + string(id)
}

// describe names a selection in an audit entry.
func describe(s engine.Selection) string {
	if len(s.IDs) > 0 {
		return human.Counted(len(s.IDs), "job", "jobs")
	}
	if s.Filter == nil || s.Filter.Empty() {
		return "all jobs"
	}
	var parts []string
	for _, p := range []struct{ name, value string }{
		{"class", string(s.Filter.Class)}, {"queue", string(s.Filter.Queue)}, {"kind", string(s.Filter.Kind)},
		{"account", s.Filter.Owner}, {"key", s.Filter.Text},
	} {
		if p.value != "" {
			parts = append(parts, p.name+" "+p.value)
		}
	}
	for _, st := range s.Filter.States {
		parts = append(parts, st.String())
	}
	return "jobs: " + strings.Join(parts, ", ")
}
