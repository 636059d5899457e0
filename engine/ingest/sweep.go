package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
)

// upkeep are the handlers that keep the store in order.
type upkeep struct {
	means
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
		list, total, err := in.store.Strays(tx, in.due, in.opt.SweepCount, matchKey)
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
		return in.note(tx, r.Job, in.swept(list, total, args.Every))
	})
}

// due reports whether a match that failed is to be asked for again by now: one that only failed after
// sweepAge, one that Riot did not find at each age of AskAgain that it has come to since (B-3b). The age counts
// from when its id was listed, which needs no count of its own of how often it was asked for. A match may have waited
// longer for its first attempt than all of the ages are: so the first one counts from that attempt.
func (in *upkeep) due(m *league.Match) bool {
	f, from := m.Match, m.Listed
	if f.Status != league.PermanentlyUnfetchable {
		return f.LastAttemptAt.Before(now().Add(-sweepAge))
	}
	if f.Attempts == 1 {
		from = f.LastAttemptAt
	}
	return f.LastClass == riot.ClassMissing && slices.ContainsFunc(in.opt.AskAgain, func(age time.Duration) bool {
		at := from.Add(age)
		return f.LastAttemptAt.Before(at) && !now().Before(at)
	})
}

// sweepUp inserts the job of one match, or settles it when its attempts are used
// up: no path makes a sixth call. One that was not found begins anew.
func (in *upkeep) sweepUp(tx engine.Tx, s league.Stray) error {
	args := fetchArgs{Match: s.Match, Used: s.Used}
	switch {
	case s.Ended:
		args.Used, args.Again = 0, true
	case s.Used >= in.opt.Attempts:
		return in.changePart(tx, s.Match, league.PartMatch,
			func(_ *league.Match, f *league.Fetch) { f.Status = league.PermanentlyUnfetchable })
	}
	_, err := in.askAgain(tx, s.Match, league.PartMatch, matchSpec(s.Owner, args))
	return err
}

// swept says what was done, and how long the rest takes at one sweep so often: "100 of 340 matches are tried
// again, the other 240 within 3 h; 12 of the 100 were not found before".
func (in *upkeep) swept(list []league.Stray, total int, every time.Duration) string {
	done, ended, text := len(list), 0, ""
	switch left := total - done; {
	case left == 0:
		text = fmt.Sprintf("%d matches are tried again", done)
	case every == 0:
		text = fmt.Sprintf("%d of %d matches are tried again, the other %d wait: no further sweep is planned", done,
			total, left)
	default:
		text = fmt.Sprintf("%d of %d matches are tried again, the other %d within %s", done, total, left,
			human.Span(drainTime(left, in.opt.SweepCount, every)))
	}
	for _, s := range list {
		if s.Ended {
			ended++
		}
	}
	if ended > 0 {
		text += fmt.Sprintf("; %d of the %d were not found before", ended, done)
	}
	return text
}

// drainTime is how long sweeps take for so many matches, one sweep so often: three for 240, at 100 each.
func drainTime(matches, perSweep int, every time.Duration) time.Duration {
	return time.Duration((matches+perSweep-1)/perSweep) * every
}

// careFor is the handler of one.
func (in *upkeep) careFor(do func(context.Context) (string, error)) engine.Handler {
	return func(ctx context.Context, r engine.Run) engine.Outcome {
		if _, err := decode[noArgs](r.Job); err != nil {
			return badArgs(err)
		}
		done, err := do(ctx)
		if err != nil {
			return traffic.Fault(fmt.Errorf("%s: %w", r.Job.Kind, err))
		}
		return engine.Done(func(tx engine.Tx) error { return in.note(tx, r.Job, done) })
	}
}

// note leaves what upkeep has done in the history of its job.
func (in *upkeep) note(tx engine.Tx, j engine.Job, done string) error {
	return in.store.AddHistory(tx, string(j.ID),
		engine.Transition{At: now(), From: string(j.Kind), To: "done", Actor: "engine", Reason: done})
}
