package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
)

// Forecast are the calls that the run of a schedule at an instant is expected to make:
// of `latest` what looking at each account that will be due takes, of `rank.daily` one
// of each tracked account. The other schedules make none. It reads the accounts as they are now: the
// further away the instant, the rougher the answer. With syncs switched off no schedule makes a call.
func (in *Ingest) Forecast(ctx context.Context, schedule string, at time.Time) (loads []engine.Load, err error) {
	foresee := map[string]func(engine.Tx, time.Time) ([]engine.Load, error){
		scheduleLatest: in.foreseeLatest, scheduleRank: in.foreseeRanks,
	}[schedule]
	if foresee == nil || in.opt.SyncOff {
		return nil, nil
	}
	err = in.store.Read(ctx, func(tx engine.Tx) (err error) {
		loads, err = foresee(tx, at)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("foresee the calls of schedule %s: %w", schedule, err)
	}
	return loads, nil
}

// foreseeLatest leaves out the accounts that are being synced: they are not due again
// right after.
func (in *Ingest) foreseeLatest(tx engine.Tx, at time.Time) (loads []engine.Load, err error) {
	due, err := in.due(tx, &skips{}, false, at)
	if err != nil {
		return nil, err
	}
	for _, b := range due[:min(len(due), maxStarts)] {
		loads = append(loads, in.lookLoads(b)...)
	}
	return loads, nil
}

// lookLoads are the calls of looking at an account once. Of one that never was synced
// as many games as `latest` takes are expected, of others those that the cadence
// expects.
func (in *Ingest) lookLoads(b beat) []engine.Load {
	lists, games := 2.0, (callsPerLook(b)-2)/2
	if b.account.LastSync.IsZero() {
		lists, games = float64(callsOf(in.opt.LatestCount, 0, 0)), float64(in.opt.LatestCount)
	}
	will := plannedCalls{priority: engine.Priority(b.policy.Priority)}
	loads := will.loads(route.Platform(b.account.Platform), b.account.ID, ModeLatest,
		cmp.Or(will.priority, engine.PriorityHigh))
	for i, calls := range []float64{lists, games, games} {
		loads[i].Calls = calls
	}
	return slices.DeleteFunc(loads, func(l engine.Load) bool { return l.Calls == 0 })
}

// foreseeRanks leaves out, as fireRanks does, those whose PUUID is not known under the key in use.
func (in *Ingest) foreseeRanks(tx engine.Tx, _ time.Time) (loads []engine.Load, err error) {
	project := in.opt.Project()
	for _, a := range in.trackedIn(tx) {
		if a.PUUIDs[project] == "" {
			continue
		}
		loads = append(loads, engine.Load{
			Host: a.Platform, Method: string(route.LeagueEntries), Queue: QueueRank, Owner: a.ID,
			Priority: engine.PriorityNormal, Calls: 1,
		})
	}
	return loads, nil
}
