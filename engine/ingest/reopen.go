package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
)

// reopen takes a part back to unfetched for an operator's new round. A stored
// payload stays until the new one takes its place: its reference tells that it is
// to be fetched again and not to be adopted. What Riot does not keep any more
// could only be lost.
func (in *settlement) reopen(tx engine.Tx, id string, part league.Part) error {
	m, err := in.store.Match(tx, id)
	if err != nil {
		return fmt.Errorf("load match %s: %w", id, err)
	}
	f := m.Of(part)
	was := *f
	f.Cancelled = league.NotCancelled
	switch {
	case f.Status == league.Success && in.span(part).Expired(m.Played, in.opt.Limits.Now()):
		return tooOld(id, part)
	case f.Status.Settled():
		f.Status = league.Unfetched
	}
	if *f == was {
		return nil
	}
	if err := in.store.SaveMatch(tx, m, true); err != nil {
		return fmt.Errorf("save match %s: %w", id, err)
	}
	return nil
}

// tooOld is the refusal of a part that could only be lost.
func tooOld(id string, part league.Part) error {
	p := engine.Problemf(engine.ErrRefused, "keep what is stored", "%s of %s is older than Riot keeps it", part, id)
	p.Why = "older than Riot keeps it"
	return p
}

// span is how long Riot keeps a part. Timelines have one of their own: Riot drops them earlier than
// matches.
func (in *settlement) span(part league.Part) league.Span {
	if part == league.PartTimeline {
		return in.opt.Timelines
	}
	return in.opt.Matches
}

// askAgain inserts the job of a part that no job tries any more, and begins a new round of it. The job has no
// parents: a run that wanted the part gets it by its gap. A live job of the part stays as it is.
func (in *settlement) askAgain(tx engine.Tx, id string, part league.Part, spec engine.Spec) (engine.Enqueued, error) {
	made, err := tx.Enqueue(spec)
	if err != nil {
		return engine.Enqueued{}, fmt.Errorf("create the job of %s %s: %w", part, id, err)
	}
	if made[0].Duplicate {
		return made[0], nil
	}
	return made[0], in.reopen(tx, id, part)
}

// matchSpec is the job of a match that no sync waits for.
func matchSpec(owner string, args fetchArgs) engine.Spec {
	return engine.Spec{
		Kind: KindMatch, Queue: QueueFull, Args: encode(args), Key: matchKey(args.Match), Policy: engine.PolicyMatch,
		Owner: owner, Priority: engine.PriorityNormal,
	}
}

// errDry takes back what a dry run has written.
var errDry = errors.New("dry run")

// bringBack carries out a retry or a force of a part that has no job: its job was deleted with the history of
// jobs, or it was settled without one (B-2f). cmd.Job is the key that its job has; known is false for keys of
// anything else.
func (in *upkeep) bringBack(ctx context.Context, cmd engine.Command) (r engine.Receipt, known bool, err error) {
	word, id, _ := strings.Cut(string(cmd.Job), ":")
	part, spec := league.PartMatch, matchSpec("", fetchArgs{Match: id})
	switch word + ":" {
	case matchKey(""):
	case timelineKey(""):
		part, spec = league.PartTimeline, timelineSpec(QueueFull, "", id, syncArgs{}, nil)
	default:
		return r, false, nil
	}
	spec.Priority, spec.By = engine.PriorityOperator, cmd.By.User
	err = in.opt.Store.Write(ctx, func(tx engine.Tx) (err error) {
		if err := in.mayBringBack(tx, cmd, id, part); err != nil {
			return err
		}
		if owners := in.settlement.store.AccountsOf(tx, id); len(owners) > 0 {
			spec.Owner = owners[0]
		}
		made, err := in.askAgain(tx, id, part, spec)
		if err != nil {
			return err
		}
		r = engine.Receipt{Job: made.ID, Matched: 1}
		if made.Duplicate {
			r.Nothing, r.Text = true, fmt.Sprintf("nothing to do for %s: job %s brings it", cmd.Job, made.ID)
			return nil
		}
		if cmd.DryRun {
			return errDry
		}
		r.Applied, r.Attempt, r.Due = 1, 1, now()
		r.Text = fmt.Sprintf("%s had no job any more: job %s asks for it when its turn comes", cmd.Job, made.ID)
		return in.settlement.store.AddHistory(tx, string(made.ID), engine.Transition{
			At: r.Due, From: "none", To: made.State.String(), Actor: cmd.By.Name(), Reason: cmd.Reason,
		})
	})
	if errors.Is(err, errDry) {
		at, _ := laneOf(engine.Job{Kind: spec.Kind, Key: spec.Key, Args: spec.Args})
		eta := in.opt.Limits.ETA(at.Host, at.Method, 1)
		r.Job, r.Would, err = "", 1, nil
		r.Cost = &engine.Cost{Calls: 1, Takes: eta.Low, Bucket: eta.Bucket}
		r.Text = "would ask for " + string(cmd.Job) + " again, which has no job any more: " + r.Cost.CallsText()
	}
	return r, true, err
}

// mayBringBack says what stands against asking for a part again.
func (in *upkeep) mayBringBack(tx engine.Tx, cmd engine.Command, id string, part league.Part) error {
	m, err := in.settlement.store.Match(tx, id)
	if errors.Is(err, engine.ErrNotFound) {
		return engine.Problemf(engine.ErrNotFound, "sync an account that has played it",
			"there is no job %s, and no account lists that match", cmd.Job)
	}
	if err != nil {
		return fmt.Errorf("load match %s: %w", id, err)
	}
	f := m.Of(part)
	_, odd := route.OfMatch(id)
	switch {
	case odd != nil:
		return engine.Problemf(engine.ErrRefused, "nobody can be asked for it", "%v", odd)
	case cmd.Op == engine.OpRetry && f.Status == league.Success:
		return engine.Problemf(engine.ErrRefused, "force fetches it again", "%s of %s is stored", part, id)
	case part == league.PartTimeline && m.Match.Status != league.Success:
		return engine.Problemf(engine.ErrRefused, "force "+matchKey(id)+": its timeline follows",
			"the match of %s is not stored", cmd.Job)
	case f.Status == league.OutsideRetentionWindow && in.span(part).Expired(m.Played, in.opt.Limits.Now()):
		return tooOld(id, part)
	}
	return nil
}
