package local

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/wall"
)

// errDry takes back what a dry run has written.
var errDry = errors.New("dry run")

// Bulk carries a command out on exactly the jobs of its frozen selection, a batch
// per transaction. A job that has moved on since it was counted, and does not fit
// what it was counted by, and one that the command makes no sense for, is skipped and
// counted by reason. With c.DryRun
// every batch is tried and taken back: what it tells is what would happen. An
// error ends it; the receipt tells what was done before.
func (b *Backend) Bulk(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	if acts[c.Op] == nil || c.Op == engine.OpUndo || c.Select == nil {
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "", "%s does not act on a selection of jobs", c.Op)
	}
	o := orderOf(c)
	o.fits = c.Select.Fits
	return b.each(ctx, *c.Select, o, c.DryRun)
}

// each acts on every job of a selection. What the batches have in common is along: a parent in one of
// them may take children along that a later one names.
func (b *Backend) each(ctx context.Context, sel engine.Selection, o order, dry bool) (engine.Receipt, error) {
	total := engine.Receipt{Matched: len(sel.IDs), Skipped: map[string]int{}}
	along := map[engine.JobID]engine.Revision{}
	for at, end := 0, 0; at < len(sel.IDs); at = end {
		end = o.whole(sel.IDs, min(at+b.opt.PerWrite, len(sel.IDs)))
		part := engine.Selection{IDs: sel.IDs[at:end]}
		if at < len(sel.Revs) {
			part.Revs = sel.Revs[at:min(end, len(sel.Revs))]
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
// took along, as it was, and grows by what this one does.
func (b *Backend) eachOf(
	ctx context.Context, sel engine.Selection, o order, along map[engine.JobID]engine.Revision, dry bool,
) (engine.Receipt, error) {
	left := map[int]string{}
	for {
		var r engine.Receipt
		err := b.write(ctx, func(tx engine.Tx) (err error) {
			o.why.now, o.why.trail = atLeast(wall.Now()), newTrail()
			r, err = b.batch(tx, sel, o, along, left)
			if err == nil && dry {
				return errDry
			}
			return err
		})
		// A transaction cannot take back half of what it wrote, so that it begins again without the job
		// that was refused. Each round leaves out one more, and so comes to an end.
		if bad, ok := errors.AsType[*refusedJob](err); ok {
			left[bad.at] = bad.why
			o.without(sel.IDs[bad.at], bad.why)
			continue
		}
		if errors.Is(err, errDry) {
			err = nil
		}
		if err != nil {
			return engine.Receipt{}, fmt.Errorf("%s %d jobs: %w", o.op, len(sel.IDs), err)
		}
		maps.Copy(along, o.why.trail.was)
		return r, nil
	}
}

// batch is the transaction of eachOf. left are the jobs that are known to be
// refused, with the reason. A job of the selection that its parent took along has
// not changed since it was shown: the command itself did that, and its move stands
// with its parent's.
func (b *Backend) batch(
	tx engine.Tx, sel engine.Selection, o order, along map[engine.JobID]engine.Revision, left map[int]string,
) (engine.Receipt, error) {
	r := engine.Receipt{Skipped: map[string]int{}}
	for i, id := range sel.IDs {
		if why, ok := left[i]; ok {
			r.Skipped[why]++
			continue
		}
		was, ok := along[id]
		if !ok {
			was, ok = o.why.trail.was[id]
		}
		if ok && (sel.Rev(i) == 0 || sel.Rev(i) == was) {
			r.Applied++
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
