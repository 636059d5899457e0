package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
)

// callsOf is what a sync costs: one call to resolve, one per page, one per match
// and one per timeline. An empty list takes a page, too: that is how Riot says that there is nothing.
func callsOf(listed, matches, timelines int) int {
	pages := max(1, (listed+pageSize-1)/pageSize)
	return 1 + pages + matches + timelines
}

// Cost says what a sync would take before it is started (S3-12): at most, when
// the account's games are not counted yet. It writes nothing: an account that is not known yet is
// costed by its platform alone, as one with [indexed] games. Without a platform the error is
// engine.ErrNotFound.
func (in *Ingest) Cost(ctx context.Context, q engine.CostQuery) (engine.Cost, error) {
	want, err := askOf(q.Sync)
	if err != nil {
		return engine.Cost{}, err
	}
	w, err := whoIs(q.Account, q.Sync.Platform)
	if err != nil {
		return engine.Cost{}, err
	}
	var will plannedCalls
	owner, platform := "", w.platform
	err = in.store.Read(ctx, func(tx engine.Tx) error {
		a, err := in.findOrMake(tx, w, false)
		if errors.Is(err, engine.ErrNotFound) && platform != "" {
			will = in.callsFor(in.complete(want, league.Policy{}), 0, 0)
			return nil
		}
		if err != nil {
			return err
		}
		owner, platform = a.ID, route.Platform(a.Platform)
		policy, err := in.policyOf(tx, a)
		if err != nil {
			return err
		}
		want, err := in.relist(tx, a, in.complete(want, policy))
		if err != nil {
			return err
		}
		will, err = in.callsOf(tx, a, want)
		will.priority = engine.Priority(policy.Priority)
		return err
	})
	if err != nil {
		return engine.Cost{}, err
	}
	eta := in.opt.Limits.ETA(string(platform.Region()), string(route.Match), will.sum())
	return engine.Cost{Calls: will.sum(), AtMost: will.atMost, Takes: eta.Low, Bucket: eta.Bucket,
		Loads: will.loads(platform, owner, want.Mode, engine.PriorityOperator)}, nil
}

// plannedCalls are the calls that a sync is expected to make: those that resolve and
// list, the matches and their timelines.
type plannedCalls struct {
	lists, matches, timelines int
	atMost                    bool            // nobody has counted the games
	priority                  engine.Priority // of the matches, when the policy names one
}

func (p plannedCalls) sum() int { return p.lists + p.matches + p.timelines }

// loads are the calls as they stand in line: lists by who asked for them, timelines
// behind everything else.
func (p plannedCalls) loads(platform route.Platform, owner, mode string, asked engine.Priority) []engine.Load {
	one := engine.Load{Host: string(platform.Region()), Method: string(route.Match), Queue: QueueFull, Owner: owner}
	if mode == ModeLatest {
		one.Queue = QueueLatest
	}
	lists, matches, timelines := one, one, one
	lists.Priority, lists.Calls = asked, float64(p.lists)
	matches.Priority, matches.Calls = cmp.Or(p.priority, engine.PriorityHigh), float64(p.matches)
	timelines.Method, timelines.Priority, timelines.Calls = string(route.Timeline), engine.PriorityLow, float64(p.timelines)
	return []engine.Load{lists, matches, timelines}
}

// callsOf expects an account to have as many games as its last run listed, or as are stored, and as few
// new ones as may be. Where the known range reaches down to the floor, the listing ends at the first
// page that joins it.
func (in *Ingest) callsOf(tx engine.Tx, a league.Account, want league.Ask) (none plannedCalls, err error) {
	if want.Count == 0 && !want.Force && !want.Whole && want.Filter == "" && a.Coverage.Reaches(want.Floor) &&
		a.Coverage.Holds(want.Timelines) {
		return plannedCalls{lists: callsOf(0, 0, 0)}, nil
	}
	listed := 0
	if a.Run != "" {
		run, err := in.store.Run(tx, a.Run)
		if err != nil {
			return none, fmt.Errorf("load run %s: %w", a.Run, err)
		}
		listed = run.Listed
	}
	stored := 0
	for _, err := range in.store.Games(tx, a.ID) {
		if err != nil {
			return none, fmt.Errorf("count the games of account %s: %w", a.ID, err)
		}
		stored++
	}
	return in.callsFor(want, max(listed, stored), stored), nil
}

// callsFor expects the calls for so many games; with none counted, for as many as there may be. Of 879 games
// with 800 stored those are 10 to resolve and list, 79 matches and as many timelines. Timelines that only
// ranked games have are counted for all: which games are ranked nobody knows before they are fetched.
//
// A list that is read to its end takes two calls more, for what lies behind it, and one for what lies
// beyond retention.
func (in *Ingest) callsFor(want league.Ask, games, stored int) plannedCalls {
	listed := cmp.Or(games, indexed)
	if want.Count > 0 {
		listed = min(listed, want.Count)
	}
	p := plannedCalls{lists: callsOf(listed, 0, 0), matches: max(0, listed-stored), atMost: games == 0}
	if want.Count == 0 || listed < want.Count {
		p.lists += 2
	}
	if in.hasOldPart(league.Run{Ask: want, Anchor: now()}) {
		p.lists++
	}
	if want.Timelines != league.TimelinesNone {
		p.timelines = p.matches
	}
	return p
}

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
	project := in.project()
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
