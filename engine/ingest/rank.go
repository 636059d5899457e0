package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// ranks are the handler of rank.fetch. Riot tells of a player only the present rank: what is not asked for
// on a day is never known.
type ranks struct {
	means
}

// fetchRank is the handler of rank.fetch: one call, and at most one row per
// ranked queue.
func (in *ranks) fetchRank(ctx context.Context, r engine.Run) engine.Outcome {
	args, a, fault := loadRanked(ctx, in.store, r.Job)
	if fault != nil {
		return fault.outcome()
	}
	puuid := a.PUUIDs[in.project()]
	if puuid == "" {
		return engine.Abort(fmt.Errorf("the PUUID of %s is not known under the key in use: sync it first", a.RiotID())).
			As(classUnknown)
	}
	platform := route.Platform(args.Platform)
	trip := traffic.Trip{Run: r, Account: r.Job.Owner, At: accountLane(r.Job), Region: platform.AccountRegion()}
	var entries []riot.LeagueEntry
	o, ok := in.calls.Call(ctx, trip, func(ctx context.Context) (err error) {
		entries, err = in.api.LeagueEntries(ctx, platform, puuid)
		return err
	})
	if !ok {
		return o
	}
	return engine.Done(func(tx engine.Tx) error { return in.saveRanks(tx, a, entries) }).With(o.Call)
}

// saveRanks compares Riot's answer with what was stored last, queue by queue, and
// writes what is new: a change at once, else one row per day. Days are those of UTC, as all stored
// instants.
func (in *ranks) saveRanks(tx engine.Tx, a league.Account, entries []riot.LeagueEntry) error {
	stored, err := in.store.LastRanks(tx, a.ID)
	if err != nil {
		return fmt.Errorf("load the ranks of %s: %w", a.RiotID(), err)
	}
	last := map[string]league.Rank{}
	for _, r := range stored {
		last[r.Queue] = r
	}
	at := now()
	for _, r := range ranksOf(a.ID, entries, last, at) {
		if err := in.saveRank(tx, r, last[r.Queue]); err != nil {
			return fmt.Errorf("save the rank of %s in %s: %w", a.RiotID(), r.Queue, err)
		}
	}
	return nil
}

// ranksOf gives one row per queue that Riot names, one per queue that had a rank
// and is missing now, and the two ranked queues of everybody.
func ranksOf(account string, entries []riot.LeagueEntry, last map[string]league.Rank,
	at time.Time) (rows []league.Rank) {
	named := map[string]bool{}
	for _, e := range entries {
		if e.Queue == "" || named[e.Queue] {
			continue
		}
		named[e.Queue] = true
		rows = append(rows, league.Rank{
			Account: account, Queue: e.Queue, At: at, Unranked: e.Tier == "",
			Tier: e.Tier, Division: e.Rank, Points: e.Points, Wins: e.Wins, Losses: e.Losses,
		})
	}
	expected := []string{league.RankedSolo, league.RankedFlex}
	for queue := range last {
		expected = append(expected, queue)
	}
	for _, queue := range expected {
		if named[queue] {
			continue
		}
		named[queue] = true
		before, known := last[queue]
		rows = append(rows, league.Rank{Account: account, Queue: queue, At: at, Unranked: true, Unsure: known &&
			!before.Unranked})
	}
	return rows
}

// sureAfter is how much later a second answer must agree that a rank is gone. The daily run comes a day
// later, so that one answer alone is never believed, and two always are.
const sureAfter = 12 * time.Hour

// saveRank writes one row, or none. A rank that is missing is doubted until a
// later answer agrees; when it is back, the doubt never was. What has not changed
// gets one row per day, and an account that stays unranked none.
//
//	GOLD II               stored
//	no rank               stored as unsure
//	no rank, 1 h later    nothing: too soon to agree
//	no rank, 13 h later   the unsure row goes, unranked is stored; were it GOLD II again, that is
func (in *ranks) saveRank(tx engine.Tx, r, last league.Rank) error {
	sameDay := r.At.Format(time.DateOnly) == last.At.Format(time.DateOnly)
	switch {
	case last.Unsure && r.Unranked && r.At.Sub(last.At) < sureAfter:
		return nil
	case last.Unsure:
		if err := in.store.DropRank(tx, last); err != nil {
			return err
		}
	case r.Same(last) && (sameDay || r.Unranked):
		return nil
	}
	return in.store.SaveRank(tx, r)
}
