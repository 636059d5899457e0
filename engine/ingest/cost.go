package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
)

// indexed is about how many games Riot lists of a player (developer-relations#517):
// the worst case for one whose games nobody has counted yet.
const indexed = 1000

// CallsOf is what a sync costs: one call to resolve, one per page, one per match
// and one per timeline (spec section 2.3).
func CallsOf(listed, matches, timelines int) int {
	pages := max(1, (listed+pageSize-1)/pageSize)
	return 1 + pages + matches + timelines
}

// Cost says what a sync would take before it is started (S3-12): at most, when
// the account's games are not counted yet.
func (in *Ingest) Cost(ctx context.Context, q engine.CostQuery) (engine.Cost, error) {
	want, err := askOf(q.Sync)
	if err != nil {
		return engine.Cost{}, err
	}
	w, err := whoIs(q.Account, q.Sync.Platform)
	if err != nil {
		return engine.Cost{}, err
	}
	var calls int
	platform := w.platform
	err = in.store.Read(ctx, func(tx engine.Tx) error {
		a, err := in.findOrMake(tx, w, false)
		if errors.Is(err, engine.ErrNotFound) && platform != "" {
			calls = callsFor(in.complete(want, league.Policy{}), indexed, 0)
			return nil
		}
		if err != nil {
			return err
		}
		platform = route.Platform(a.Platform)
		policy, err := in.policyOf(tx, a)
		if err != nil {
			return err
		}
		calls, err = in.callsOf(tx, a, in.complete(want, policy))
		return err
	})
	if err != nil {
		return engine.Cost{}, err
	}
	eta := in.opt.Limits.ETA(string(platform.Region()), string(route.Match), calls)
	return engine.Cost{Calls: calls, Takes: eta.Low, Bucket: eta.Bucket}, nil
}

// callsOf expects an account to have as many games as its last run listed, or as
// are stored, and as few new ones as may be.
func (in *Ingest) callsOf(tx engine.Tx, a league.Account, want league.Ask) (int, error) {
	if want.Count == 0 && !want.Force && want.Filter == "" && a.Coverage.Reaches(want.Floor) && a.Coverage.Holds(want.Timelines) {
		return CallsOf(0, 0, 0), nil
	}
	listed := 0
	if a.Run != "" {
		run, err := in.store.Run(tx, a.Run)
		if err != nil {
			return 0, fmt.Errorf("load run %s: %w", a.Run, err)
		}
		listed = run.Listed
	}
	stored := 0
	for _, err := range in.store.Games(tx, a.ID) {
		if err != nil {
			return 0, fmt.Errorf("count the games of account %s: %w", a.ID, err)
		}
		stored++
	}
	if listed = max(listed, stored); listed == 0 {
		listed = indexed
	}
	return callsFor(want, listed, stored), nil
}

func callsFor(want league.Ask, listed, stored int) int {
	if want.Count > 0 {
		listed = min(listed, want.Count)
	}
	matches := max(0, listed-stored)
	if want.Timelines == league.TimelinesNone {
		return CallsOf(listed, matches, 0)
	}
	return CallsOf(listed, matches, matches)
}
