package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
)

// plan is the rest of a bulk command that waits for its canary: one job that was
// let run first. It is kept in the store, so that a restart does not forget it.
//
//	retry --class 5xx --canary    of 412 jobs
//	the first that can runs       Canary = b41, Rest = the other 411, stored
//	b41 completes                 the rest is let run, as one command of its own in the audit
//	b41 ends otherwise            the rest stays as it is, and consoles are told so
type plan struct {
	Canary engine.JobID     `json:"canary"`
	Op     engine.Op        `json:"op"`
	Rest   engine.Selection `json:"rest"`
	By     engine.Actor     `json:"by"`
	Reason string           `json:"reason,omitempty"`
	Since  time.Time        `json:"since"`
}

// canaryState is the name under which the plans are kept.
const canaryState = "canaries"

// Observe takes the changes of a commit: one of them may end a canary. It does not block. It is called for
// every commit, so that it asks a map in memory and reads no plan.
func (o *Operator) Observe(changes []engine.Change) {
	for i := range changes {
		j := changes[i].Job
		if j == nil || !j.State.Terminal() {
			continue
		}
		if _, ok := o.canary.watched.Load(j.ID); ok {
			o.canary.wake.Ring()
		}
	}
}

// sendCanary lets the first job run that can, and keeps the rest for when it has
// succeeded. A job that is skipped is no canary: the next one is tried.
func (o *Operator) sendCanary(ctx context.Context, cmd engine.Command, p picked) (engine.Receipt, error) {
	total := engine.Receipt{Matched: len(p.sel.IDs), Skipped: map[string]int{}, Sample: o.examples(ctx, p)}
	for i, id := range p.sel.IDs {
		first := cmd
		first.Select = &engine.Selection{
			IDs: []engine.JobID{id}, Revs: []engine.Revision{p.sel.Rev(i)}, Filter: p.sel.Filter, Fits: p.sel.Fits,
		}
		r, err := o.opt.Backend.Bulk(ctx, first)
		if err != nil {
			return total, err
		}
		for why, n := range r.Skipped {
			total.Skipped[why] += n
		}
		if r.Applied == 0 {
			continue
		}
		// The filter goes along: whether the others still fit it is asked again when their turn comes.
		total.Job, total.Applied, total.Moves, total.Seq = id, 1, r.Moves, r.Seq
		rest := engine.Selection{IDs: p.sel.IDs[i+1:], Filter: p.sel.Filter}
		for n := range rest.IDs {
			rest.Revs = append(rest.Revs, p.sel.Rev(i+1+n))
		}
		total.Text = fmt.Sprintf("%s goes first; the other %d follow when it has succeeded",
			o.calledBy(ctx, p.jobs[id], id), len(rest.IDs))
		if len(rest.IDs) == 0 {
			return total, nil
		}
		return total, o.keepPlan(ctx, plan{
			Canary: id, Op: cmd.Op, Rest: rest, By: cmd.By, Reason: cmd.Reason, Since: time.Now().UTC(),
		})
	}
	total.Nothing, total.Text = true, receiptText(Of(cmd.Op).Did, total)
	return total, nil
}

// keepPlan stores a plan, then looks whether its canary has ended already. The bell rings in any case:
// the job may have ended between its start and the plan, and nobody would have watched it.
func (o *Operator) keepPlan(ctx context.Context, p plan) error {
	o.canary.mu.Lock()
	defer o.canary.mu.Unlock()
	plans, err := o.plans(ctx)
	if err != nil {
		return err
	}
	if err := o.savePlans(ctx, append(plans, p)); err != nil {
		return err
	}
	o.canary.watched.Store(p.Canary, true)
	o.canary.wake.Ring()
	return nil
}

// plans reads the stored plans, the oldest first. The caller has canary.mu.
func (o *Operator) plans(ctx context.Context) (plans []plan, err error) {
	_, err = engine.LoadStored(ctx, o.opt.Store, canaryState, &plans)
	return plans, err
}

// savePlans takes the place of what is stored. The caller has canary.mu.
func (o *Operator) savePlans(ctx context.Context, plans []plan) error {
	return engine.SaveStored(ctx, o.opt.Store, canaryState, plans)
}

// Run carries the rest of bulk operations out whose canaries have ended: it looks at the
// start, and whenever one has.
func (o *Operator) Run(ctx context.Context) error {
	for {
		if err := o.judge(ctx); err != nil && ctx.Err() == nil {
			o.opt.Note(engine.Note{At: time.Now(), Level: engine.LevelWarn,
				Text: "the rest of a canary's jobs was not looked at: " + err.Error()})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-o.canary.wake:
		}
	}
}

// judge carries out the plans whose canary has completed, and drops those whose
// canary has come to another end. A plan is taken from the store first: what a
// crash interrupts is not begun twice, and can be asked for again.
func (o *Operator) judge(ctx context.Context) error {
	o.canary.mu.Lock()
	defer o.canary.mu.Unlock()
	plans, err := o.plans(ctx)
	if err != nil || len(plans) == 0 {
		return err
	}
	var wait, due []plan
	ends := map[engine.JobID]engine.State{}
	for _, p := range plans {
		o.canary.watched.Store(p.Canary, true) // before the look: it may end just after
		d, err := o.opt.Store.Detail(ctx, engine.JobQuery{ID: p.Canary})
		switch {
		case err != nil && !errors.Is(err, engine.ErrNotFound):
			return err
		case err == nil && d.Job.State.Live():
			wait = append(wait, p)
		// A job that was pruned is gone: nobody can tell that it succeeded.
		default:
			ends[p.Canary] = engine.Cancelled
			if err == nil {
				ends[p.Canary] = d.Job.State
			}
			due = append(due, p)
		}
	}
	// Each plan is taken out by itself: a crash between two of them leaves the others stored.
	for i, p := range due {
		if err := o.savePlans(ctx, slices.Concat(wait, due[i+1:])); err != nil {
			return err
		}
		o.canary.watched.Delete(p.Canary)
		o.carryOn(ctx, p, ends[p.Canary])
	}
	return nil
}

// carryOn does the rest of a plan, or says why not. ConfirmAll stands for the question that was
// answered when the canary was sent. The revisions are those of that time: a job that has changed
// since, and does not fit its filter any more, is left alone.
func (o *Operator) carryOn(ctx context.Context, p plan, end engine.State) {
	note := engine.Note{At: time.Now(), Level: engine.LevelWarn, Job: p.Canary}
	if end != engine.Completed {
		note.Text = fmt.Sprintf("canary job %s ended %s: %s left as they are", p.Canary, end,
			human.Counted(len(p.Rest.IDs), "other job is", "other jobs are"))
		o.opt.Note(note)
		return
	}
	reason := fmt.Sprintf("canary job %s has succeeded", p.Canary)
	if p.Reason != "" {
		reason = safe.Line(p.Reason, maxReason-len(reason)-len(" ()")) + " (" + reason + ")"
	}
	r, err := o.Do(ctx, engine.Command{Op: p.Op, Select: &p.Rest, Confirm: engine.ConfirmAll, By: p.By, Reason: reason})
	note.Level, note.Text = engine.LevelOK, fmt.Sprintf("canary job %s has succeeded: %s", p.Canary, r.Text)
	if err != nil {
		note.Level, note.Text = engine.LevelErr, fmt.Sprintf("canary job %s has succeeded, but: %v", p.Canary, err)
	}
	o.opt.Note(note)
}
