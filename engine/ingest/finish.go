package ingest

import (
	"context"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// finish ends a sync: everything it waited for is settled. Before that it looks at what lies behind the
// ends of its lists: by a step of its own, which is admitted like a page.
func (in *syncs) finish(ctx context.Context, r engine.Run, p pass) engine.Outcome {
	switch next := p.run; {
	case next.Ends == 0 || next.Error != "":
		return in.endRun(p, next)
	case r.Job.Group == 0:
		return in.list(ctx, r, p)
	case next.Looks == maxLooks:
		next.Error = notProven("it grew each time that it was looked at")
		return in.endRun(p, next)
	}
	return engine.Wait(0, func(tx engine.Tx) error {
		return in.change(tx, p.args, func(_ *league.Account, run *league.Run) error {
			run.Looks++
			lookAt(run, p.staged, 0)
			return nil
		})
	})
}

// endRun is the end of a run. The account is completed although the run may be incomplete: LastSync
// says when it was looked at, the run's result what was to be had.
func (in *syncs) endRun(p pass, next league.Run) engine.Outcome {
	return engine.Done(func(tx engine.Tx) error {
		return in.change(tx, p.args, func(a *league.Account, run *league.Run) error {
			moveOn(run, next)
			run.Phase, run.Finished = string(engine.PhaseDone), now()
			a.Status, a.LastError = engine.SyncCompleted.String(), ""
			a.LastSync = run.Finished
			if err := in.endLists(tx, a, *run); err != nil {
				return fmt.Errorf("move the known range: %w", err)
			}
			cancelled, err := in.judge(tx, run)
			if err != nil || !cancelled {
				return err
			}
			return in.setRangesAside(tx, a, *run) // unfetched still: list them again
		})
	})
}

// report is the phase of a sync behind its matches: the play-time report is
// built from what is stored, in the transaction that lets the sync go on. It then waits for the
// timelines; a run that wants none has an empty group there, which lets it go on at once.
func (in *syncs) report(_ context.Context, _ engine.Run, p pass) engine.Outcome {
	return engine.Wait(league.GroupTimelines, func(tx engine.Tx) error {
		return in.change(tx, p.args, func(a *league.Account, run *league.Run) error {
			run.Phase = string(engine.PhaseTimelines)
			missing, err := in.missingMatches(tx, *run)
			if err != nil {
				return err
			}
			return in.saveReport(tx, a.ID, missing)
		})
	})
}
