package ingest

import (
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// finish ends a sync: everything it waited for is settled. The account is completed although the run
// may be incomplete: LastSync says when it was looked at, the run's result what was to be had.
func (in *syncs) finish(_ context.Context, _ engine.Run, p pass) engine.Outcome {
	return engine.Done(func(tx engine.Tx) error {
		return in.change(tx, p.args, func(a *league.Account, run *league.Run) error {
			run.Phase, run.Finished = string(engine.PhaseDone), now()
			a.Status, a.LastError = engine.SyncCompleted.String(), ""
			a.LastSync = run.Finished
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
