package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// monthOf names the shard of a match: the month its game was created, else
// played, else now, since an aborted game may tell neither. So a match that is fetched anew goes to the
// shard which has it.
func monthOf(m riot.Match) string {
	at := m.PlayedAt()
	switch {
	case m.CreationMs > 0:
		at = time.UnixMilli(m.CreationMs).UTC()
	case at.IsZero():
		at = now()
	}
	return at.Format("2006-01")
}

// nameOf is a player's Riot ID in a match; old matches have the name alone.
func nameOf(p riot.Participant) string {
	if p.Tag == "" {
		return p.Name
	}
	return p.Name + "#" + p.Tag
}

// sortForParents tells every run that waits for the match what becomes of its
// timeline, and creates the one job that fetches it for all who want it. Runs that miss the match are
// left to closeGaps, which counts them otherwise; a match that nobody waits for or misses was asked for
// by hand or by the sweep.
func (in *fetches) sortForParents(tx engine.Tx, job engine.Job, args fetchArgs) error {
	m, err := in.store.Match(tx, args.Match)
	if err != nil {
		return fmt.Errorf("load match %s: %w", args.Match, err)
	}
	gaps, err := in.store.Gaps(tx, args.Match)
	if err != nil {
		return fmt.Errorf("look for runs that miss match %s: %w", args.Match, err)
	}
	var groups []engine.GroupID
	var first syncArgs
	waiting := len(gaps) > 0
	err = in.eachRun(tx, job, league.GroupMatches, func(parent engine.Job, want syncArgs, run *league.Run) error {
		if parent.State.Terminal() || slices.ContainsFunc(gaps,
			func(g league.Gap) bool { return g.Run == run.ID && g.Part == league.PartMatch }) {
			return nil // closeGaps sorts it
		}
		waiting = true
		w := wish{run: run, args: want, parent: parent.ID}
		if m.Match.Status != league.Success {
			w.lacksMatch(m)
			return nil
		}
		open, err := in.sortTimeline(tx, &m, w)
		if open {
			groups, first = append(groups, w.group()), want
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !waiting && m.Match.Status == league.Success:
		return in.fetchUnwaited(tx, job, m)
	case len(groups) == 0:
		return nil
	}
	_, err = tx.Enqueue(timelineSpec(job.Queue, job.Owner, m.ID, first, groups))
	if err != nil {
		return fmt.Errorf("create the job of timeline %s: %w", m.ID, err)
	}
	return nil
}

// fetchMatch is the handler of match.fetch.
func (in *fetches) fetchMatch(ctx context.Context, r engine.Run) engine.Outcome {
	return fetch(ctx, in, r, source[riot.Match]{
		part: league.PartMatch, method: route.Match, fetch: in.api.Match, read: riot.ReadMatch, store: in.storeMatch,
		settled: in.sortForParents,
		payload: func(_ league.Match, got riot.Match) (riot.Payload, string) { return got.Payload, monthOf(got) },
	})
}

// storeMatch is the success of a match: its facts, its seats, and the job of its
// timeline, in the transaction that ends its own job.
func (in *fetches) storeMatch(tx engine.Tx, job engine.Job, args fetchArgs, got fetched[riot.Match]) error {
	stored := false
	err := in.changePart(tx, args.Match, league.PartMatch, func(m *league.Match, f *league.Fetch) {
		succeed(f, got.ref)
		// They stay in the record when the payload is archived or damaged.
		m.Played, m.Duration = got.body.PlayedAt(), time.Duration(got.body.DurationS)*time.Second
		m.QueueID, m.Mode, m.Patch = got.body.QueueID, got.body.Mode, got.body.Patch
		m.Aborted, m.Remake, m.Participants = got.body.Aborted, got.body.Remake, len(got.body.Participants)
		stored = true
	})
	if err != nil {
		return err
	}
	if stored { // else another run settled it meanwhile
		seats := make([]league.Participant, len(got.body.Participants))
		for i, p := range got.body.Participants {
			seats[i] = league.Participant{
				Match: got.body.ID, Index: p.Index, PUUID: p.PUUID, RiotID: nameOf(p), Champion: p.ChampionName,
				Team: p.TeamID, Won: p.Win, Kills: p.Kills, Deaths: p.Deaths, Assists: p.Assists,
			}
		}
		if err := in.store.SaveParticipants(tx, args.Match, seats); err != nil {
			return fmt.Errorf("save the seats of match %s: %w", args.Match, err)
		}
	}
	return in.sortForParents(tx, job, args)
}

// fetchTimeline is the handler of timeline.fetch.
func (in *fetches) fetchTimeline(ctx context.Context, r engine.Run) engine.Outcome {
	return fetch(ctx, in, r, source[riot.Timeline]{
		part: league.PartTimeline, method: route.Timeline, fetch: in.api.Timeline, read: riot.ReadTimeline,
		payload: func(m league.Match, got riot.Timeline) (riot.Payload, string) { return got.Payload, shardOf(m) },
		store: func(tx engine.Tx, _ engine.Job, args fetchArgs, got fetched[riot.Timeline]) error {
			return in.changePart(tx, args.Match, league.PartTimeline,
				func(_ *league.Match, f *league.Fetch) { succeed(f, got.ref) })
		},
		settled: func(engine.Tx, engine.Job, fetchArgs) error { return nil },
	})
}

// shardOf is the shard of a timeline: that of its match, 2026-11. A match that is not stored yet has none.
func shardOf(m league.Match) string {
	switch {
	case m.Match.Ref.Month != "":
		return m.Match.Ref.Month
	case !m.Played.IsZero():
		return m.Played.UTC().Format("2006-01")
	}
	return now().Format("2006-01")
}
