package local

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/wall"
)

// errDry takes back what a dry run has written.
var errDry = errors.New("dry run")

// Bulk carries a command out on exactly the jobs of its frozen selection, a batch
// per transaction. A job that has moved on since it was counted, and one that the
// command makes no sense for, is skipped and counted by reason. With c.DryRun
// every batch is tried and taken back: what it tells is what would happen. An
// error ends it; the receipt tells what was done before.
func (b *Backend) Bulk(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	if acts[c.Op] == nil || c.Op == engine.OpUndo || c.Select == nil {
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "", "%s does not act on a selection of jobs", c.Op)
	}
	o := orderOf(c.Op, c.By, c.Reason)
	o.at = c.At
	return b.each(ctx, *c.Select, o, c.DryRun)
}

// Undo takes back what a command has done to jobs, each of them only as long as
// nothing has happened to it since: its state, its tries and its instant are as
// before. The others are skipped.
func (b *Backend) Undo(ctx context.Context, moves []engine.JobMove, by engine.Actor, reason string, dry bool) (engine.Receipt, error) {
	o := orderOf(engine.OpUndo, by, reason)
	o.why.cause = engine.ByUndo
	o.was = make(map[engine.JobID]engine.JobMove, len(moves))
	sel := engine.Selection{IDs: make([]engine.JobID, len(moves)), Revs: make([]engine.Revision, len(moves))}
	for i, m := range moves {
		o.was[m.Job] = m
		sel.IDs[i], sel.Revs[i] = m.Job, m.Rev
	}
	return b.each(ctx, sel, o, dry)
}

// undoOne puts one job back to where it stood.
func (b *Backend) undoOne(tx engine.Tx, j engine.Job, o order) (engine.Receipt, error) {
	was := o.was[j.ID].Before
	switch {
	case !engine.Legal(j.State, was.State, engine.ByUndo):
		return engine.Receipt{}, refusal(j, "it was "+was.State.String(), fmt.Sprintf("it was %s, and that cannot be brought back", was.State), "trigger or retry it instead")
	case j.State.Terminal():
		if err := b.keyIsFree(tx, j); err != nil {
			return engine.Receipt{}, err
		}
	}
	after := was.Put(j)
	after.Rev++
	return receipt(after, "job %s is %s again", j.ID, after.State), b.move(tx, j, after, o.why)
}

// each acts on every job of a selection.
func (b *Backend) each(ctx context.Context, sel engine.Selection, o order, dry bool) (engine.Receipt, error) {
	total := engine.Receipt{Matched: len(sel.IDs), Skipped: map[string]int{}}
	along := map[engine.JobID]taken{}
	for at := 0; at < len(sel.IDs); at += b.perWrite {
		part := engine.Selection{IDs: sel.IDs[at:min(at+b.perWrite, len(sel.IDs))]}
		if at < len(sel.Revs) {
			part.Revs = sel.Revs[at:min(at+b.perWrite, len(sel.Revs))]
		}
		r, err := b.eachOf(ctx, part, o, along, dry)
		total.Applied += r.Applied
		total.Moves = append(total.Moves, r.Moves...)
		for why, n := range r.Skipped {
			total.Skipped[why] += n
		}
		if err != nil {
			return total, err
		}
	}
	total.Seq = b.idx.version()
	total.Nothing = total.Applied == 0
	return total, nil
}

// refusedJob is a job that was refused after something had been written for it:
// its batch begins again without it.
type refusedJob struct {
	at  int
	why string
}

func (*refusedJob) Error() string { return "refused by the domain" }

// eachOf acts on one batch in one transaction. along is what the batches before it
// took along, and grows by what this one does.
func (b *Backend) eachOf(ctx context.Context, sel engine.Selection, o order, along map[engine.JobID]taken, dry bool) (engine.Receipt, error) {
	left := map[int]string{}
	for {
		var r engine.Receipt
		err := b.write(ctx, func(tx engine.Tx) (err error) {
			o.why.now, o.why.along = atLeast(wall.Now()), map[engine.JobID]taken{}
			r, err = b.batch(tx, sel, o, along, left)
			if err == nil && dry {
				return errDry
			}
			return err
		})
		if bad, ok := errors.AsType[*refusedJob](err); ok {
			left[bad.at] = bad.why
			continue
		}
		if errors.Is(err, errDry) {
			err = nil
		}
		if err != nil {
			return engine.Receipt{}, fmt.Errorf("%s %d jobs: %w", o.op, len(sel.IDs), err)
		}
		maps.Copy(along, o.why.along)
		return r, nil
	}
}

// batch is the transaction of eachOf. left are the jobs that are known to be
// refused, with the reason. A job of the selection that its parent took along has
// not changed since it was shown: the command itself did that.
func (b *Backend) batch(tx engine.Tx, sel engine.Selection, o order, along map[engine.JobID]taken, left map[int]string) (engine.Receipt, error) {
	r := engine.Receipt{Skipped: map[string]int{}}
	for i, id := range sel.IDs {
		if why, ok := left[i]; ok {
			r.Skipped[why]++
			continue
		}
		t, ok := along[id]
		if !ok {
			t, ok = o.why.along[id]
		}
		if ok && (sel.Rev(i) == 0 || sel.Rev(i) == t.was) {
			r.Applied++
			r.Moves = append(r.Moves, t.move)
			continue
		}
		one, err := b.carryOut(tx, id, sel.Rev(i), o)
		refused, isProblem := errors.AsType[*engine.Problem](err)
		_, late := errors.AsType[*domainError](err)
		switch {
		case late:
			return r, &refusedJob{at: i, why: whyOf(err)}
		case isProblem:
			r.Skipped[refused.Reason()]++
		case err != nil:
			return r, err
		case one.Nothing:
			for why := range maps.Keys(one.Skipped) {
				r.Skipped[why]++
			}
		default:
			r.Applied++
			r.Moves = append(r.Moves, one.Moves...)
		}
	}
	return r, nil
}

// whyOf is the reason of a refusal, without what wraps it.
func whyOf(err error) string {
	if p, ok := errors.AsType[*engine.Problem](err); ok {
		return p.Reason()
	}
	return cut(err.Error())
}
