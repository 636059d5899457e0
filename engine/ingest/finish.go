package ingest

import (
	"context"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

// Results of a run.
const (
	resultCompleted  = "completed"
	resultIncomplete = "incomplete"
	resultFailed     = "failed"
	resultCancelled  = "cancelled"
)

// finish ends a sync: everything it waited for is settled.
func (in *Ingest) finish(_ context.Context, _ engine.Run, p pass) engine.Outcome {
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
