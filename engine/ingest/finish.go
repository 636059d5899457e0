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
func (in *Ingest) finish(_ context.Context, r engine.Run, p pass) engine.Outcome {
	matches, timelines := r.Group(league.GroupMatches), r.Group(league.GroupTimelines)
	return engine.Done(func(tx engine.Tx) error {
		if matches.Cancelled+timelines.Cancelled > 0 {
			if err := in.forgetRanges(tx, p.args); err != nil {
				return err
			}
		}
		return in.change(tx, p.args, func(a *league.Account, run *league.Run) error {
			run.Phase, run.Finished = string(engine.PhaseDone), now()
			run.Result = resultOf(*run, matches, timelines)
			a.Status, a.LastError = engine.SyncCompleted.String(), ""
			a.LastSync = run.Finished
			if matches.Cancelled+timelines.Cancelled > 0 { // unfetched still: list them again
				a.Coverage = league.Coverage{}
			}
			return nil
		})
	})
}

// resultOf: what could not be had inside retention makes a run incomplete; the
// account is completed all the same.
func resultOf(run league.Run, groups ...engine.GroupStat) string {
	missing := run.Lost
	for _, g := range groups {
		missing += g.Dead + g.Cancelled
	}
	if missing > 0 {
		return resultIncomplete
	}
	return resultCompleted
}
