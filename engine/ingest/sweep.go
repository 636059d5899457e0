package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
)

// upkeep are the handlers that keep the store in order.
type upkeep struct {
	opt   *Options
	store upkeepStore
	*settlement
}

// sweepAge is how old a failure must be before a sweep looks at it (S0-5).
const sweepAge = 10 * time.Minute

// sweep is the handler of the safety net: it gives a job to matches that failed
// and that no job tries any more. Attempts that were made count (S0-3). What it
// finds is looked at again in the transaction that inserts the jobs, for a match
// may have got one meanwhile.
func (in *upkeep) sweep(_ context.Context, r engine.Run) engine.Outcome {
	args, err := decode[sweepArgs](r.Job)
	if err != nil {
		return badArgs(err)
	}
	return engine.Done(func(tx engine.Tx) error {
		list, total, err := in.store.Strays(tx, now().Add(-sweepAge), in.opt.SweepCount, matchKey)
		if err != nil {
			return fmt.Errorf("look for matches that nobody tries: %w", err)
		}
		for _, s := range list {
			if err := in.sweepUp(tx, s); err != nil {
				return fmt.Errorf("sweep match %s: %w", s.Match, err)
			}
		}
		if total == 0 {
			return nil
		}
		return in.note(tx, r.Job, in.swept(len(list), total, args.Every))
	})
}

// sweepUp inserts the job of one match, or settles it when its attempts are used
// up: no path makes a sixth call. The job has no parents: a run that wanted the match gets it by its
// gap.
func (in *upkeep) sweepUp(tx engine.Tx, s league.Stray) error {
	if s.Used >= in.opt.Attempts {
		return in.changePart(tx, s.Match, league.PartMatch,
			func(_ *league.Match, f *league.Fetch) { f.Status = league.PermanentlyUnfetchable })
	}
	_, err := tx.Enqueue(engine.Spec{
		Kind: KindMatch, Queue: QueueFull, Key: matchKey(s.Match), Owner: s.Owner, Priority: engine.PriorityNormal,
		Args: encode(fetchArgs{Match: s.Match, Used: s.Used}),
	})
	return err
}

// swept says what was done, and how long the rest takes at one sweep so often: "100 of 340 matches are tried
// again, the other 240 within 3 h".
func (in *upkeep) swept(done, total int, every time.Duration) string {
	switch left := total - done; {
	case left == 0:
		return fmt.Sprintf("%d matches are tried again", done)
	case every == 0:
		return fmt.Sprintf("%d of %d matches are tried again, the other %d wait: no further sweep is planned", done,
			total, left)
	default:
		return fmt.Sprintf("%d of %d matches are tried again, the other %d within %s", done, total, left,
			human.Span(drainTime(left, in.opt.SweepCount, every)))
	}
}

// drainTime is how long sweeps take for so many matches, one sweep so often: three for 240, at 100 each.
func drainTime(matches, perSweep int, every time.Duration) time.Duration {
	return time.Duration((matches+perSweep-1)/perSweep) * every
}

// prune is the handler that deletes old ended jobs. The store decides which: it
// knows what still needs them (P-33).
func (in *upkeep) prune(ctx context.Context, r engine.Run) engine.Outcome {
	if _, err := decode[noArgs](r.Job); err != nil {
		return badArgs(err)
	}
	done, err := in.opt.Prune(ctx)
	if err != nil {
		return traffic.Fault(fmt.Errorf("prune ended jobs: %w", err))
	}
	return engine.Done(func(tx engine.Tx) error { return in.note(tx, r.Job, done) })
}

// note leaves what upkeep has done in the history of its job.
func (in *upkeep) note(tx engine.Tx, j engine.Job, done string) error {
	return in.store.AddHistory(tx, string(j.ID),
		engine.Transition{At: now(), From: string(j.Kind), To: "done", Actor: "engine", Reason: done})
}
