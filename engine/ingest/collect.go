package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// A collection is worked off in rounds, each a job of its own. The job reads the ladders, a page per step, and then
// lets each player be synced as an account is, as children of it: lists, looks and matches keep the rules of every
// sync. Some players are under way at a time. Whichever ends lets the next begin, in the same transaction, so that
// neither a kill nor a large ladder needs more than that; the job itself wakes when none is left.

const (
	ladderWrite    = 500    // entries of a ladder that one transaction stores
	maxLadderPages = 10_000 // of one division: a ladder that goes on behind them has no end
)

// classLadder is of a collection that has found nobody to list.
const classLadder engine.Class = "ladder"

// collects carry out the rounds of collections.
type collects struct {
	means
	*ranges
	counted counted
}

// counted are the first pages of the ladders that were counted last, for what it would cost: the round that begins then
// does not ask for them again, nor does who counts them again.
type counted struct {
	mu    sync.Mutex
	at    time.Time // of the oldest
	pages map[ladderOf][]riot.LeagueEntry
}

// countedFor is how long a page that was counted stands for the ladder.
const countedFor = time.Minute

// keep keeps the pages of a count, in place of those of the one before.
func (c *counted) keep(pages map[ladderOf][]riot.LeagueEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now().Sub(c.at) > countedFor {
		c.at = now()
	}
	c.pages = pages
}

// claim gives a page that has just been counted, once.
func (c *counted) claim(l ladderOf) (entries []riot.LeagueEntry, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now().Sub(c.at) > countedFor {
		c.pages = nil
	}
	entries, ok = c.pages[l]
	delete(c.pages, l)
	return entries, ok
}

// ladderOf is one division of a platform's queue.
type ladderOf struct {
	platform route.Platform
	queue    string // RANKED_SOLO_5x5
	league.Division
}

// rankedQueues are the queues that have ladders, by what people call them: Riot's name of the ladder, and the queue of its
// matches.
var rankedQueues = map[string]struct {
	ladder string
	id     int
}{"solo": {league.RankedSolo, 420}, "flex": {league.RankedFlex, 440}}

// laddersOf are all that a collection reads, in their order.
func laddersOf(c engine.Collection) (all []ladderOf) {
	divisions, _ := league.ParseDivisions(c.Tiers) // they were checked when it was made
	for _, p := range c.Platforms {
		for _, d := range divisions {
			all = append(all, ladderOf{route.Platform(p), rankedQueues[c.Queue].ladder, d})
		}
	}
	return all
}

// collect is the handler of a collection's round.
func (in *collects) collect(ctx context.Context, r engine.Run) engine.Outcome {
	args, err := decode[collectArgs](r.Job)
	if err != nil {
		return badArgs(err)
	}
	var c engine.Collection
	left, enough := false, false
	err = in.store.Read(ctx, func(tx engine.Tx) error {
		if c, err = in.store.Collection(tx, args.Collection); err != nil {
			return err
		}
		if enough, err = in.enough(tx, c); err != nil || enough {
			return err
		}
		_, left, err = in.store.NextPlayer(tx, c.ID, c.After)
		return err
	})
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return badArgs(err)
	case err != nil:
		return traffic.Fault(fmt.Errorf("load collection %s: %w", args.Collection, err))
	case c.Job != r.Job.ID: // tried again when the next round was planned already
		return engine.Done(nil)
	}
	if ladders := laddersOf(c); c.Ladder < len(ladders) {
		return in.readLadder(ctx, r, c, ladders[c.Ladder])
	}
	switch {
	case c.Players == 0:
		return engine.Fail(errors.New("the ladders name nobody: a season may just have begun; run the same command again when games were played")).
			As(classLadder)
	case left || r.Group(groupPlayers).Open > 0:
		return engine.Wait(groupPlayers, func(tx engine.Tx) error {
			return in.changeCollection(tx, c.ID, func(c *engine.Collection) error { return in.begin(tx, c) })
		})
	}
	if c.Depth < c.Spread && !enough {
		return in.spread(ctx, c)
	}
	return engine.Done(func(tx engine.Tx) error {
		return in.changeCollection(tx, c.ID, func(c *engine.Collection) error { return in.finish(tx, c) })
	})
}

// readLadder reads one page of one division. Its players are stored in parts before the step ends: a league of ten
// thousand would keep other writers waiting, and whoever is stored twice is one.
func (in *collects) readLadder(ctx context.Context, r engine.Run, c engine.Collection, of ladderOf) engine.Outcome {
	trip := traffic.Trip{Run: r, Account: c.ID, At: traffic.To(of.platform, riot.LeagueMethod(of.Tier)),
		Region: of.platform.AccountRegion()}
	var entries []riot.LeagueEntry
	o, ok := engine.Outcome{}, false
	if c.Page <= 1 {
		entries, ok = in.counted.claim(of)
	}
	if !ok {
		o, ok = in.calls.Call(ctx, trip, func(ctx context.Context) (err error) {
			entries, err = in.api.League(ctx, of.platform, of.queue, of.Tier, of.Division.Division, max(c.Page, 1))
			return err
		})
	}
	switch {
	case ok:
	case o.Verb == engine.VerbFail && o.Class == riot.ClassMissing: // an empty ladder
	case o.Verb == engine.VerbFail && strings.HasPrefix(string(o.Class), "403."):
		o.Err = fmt.Errorf("the API key may not read ladders (league-v4 on %s): list the players in a file instead, with --players: %w", of.platform, o.Err)
		return o
	default:
		return o
	}
	stat, more := o.Call, len(entries) > 0 && !of.Apex() && c.Page < maxLadderPages
	for len(entries) > ladderWrite {
		if err := in.store.Write(ctx, func(tx engine.Tx) error { return in.addPlayers(tx, c.ID, of, entries[:ladderWrite]) }); err != nil {
			return traffic.Fault(err).With(stat)
		}
		entries = entries[ladderWrite:]
	}
	return engine.Wait(0, func(tx engine.Tx) error {
		if err := in.addPlayers(tx, c.ID, of, entries); err != nil {
			return err
		}
		return in.changeCollection(tx, c.ID, func(c *engine.Collection) error {
			c.Pages++
			if c.Page++; !more {
				c.Ladder, c.Page = c.Ladder+1, 1
				if c.Round == 1 {
					c.Upto = append(c.Upto, c.Players)
				}
			}
			return nil
		})
	}).With(stat)
}

// addPlayers makes players of a ladder's entries, and stores where they stand. An entry that is of another ladder, or
// names nobody, is left out by itself.
func (in *collects) addPlayers(tx engine.Tx, id string, of ladderOf, entries []riot.LeagueEntry) error {
	at := now()
	return in.changeCollection(tx, id, func(c *engine.Collection) error {
		for _, e := range entries {
			if e.PUUID == "" || len(e.PUUID) > engine.PUUIDLength || e.Tier != of.Tier || e.Queue != of.queue {
				continue
			}
			player, err := in.addPlayer(tx, c, string(of.platform), e.PUUID, at)
			if err != nil {
				return err
			}
			err = in.store.SaveRank(tx, league.Rank{Account: player, Queue: e.Queue, At: at, Tier: e.Tier,
				Division: e.Rank, Points: e.Points, Wins: e.Wins, Losses: e.Losses})
			if err != nil {
				return fmt.Errorf("save a place on the ladder: %w", err)
			}
		}
		return nil
	})
}

// spread makes players of those who sat in the matches that the collection has stored: whom it has found so far is then
// one game further away. It comes when all before have been listed, so that who is nearer is listed first. They are
// stored in parts; what is broken off is done anew.
func (in *collects) spread(ctx context.Context, c engine.Collection) engine.Outcome {
	at := now()
	for first, after := true, ""; first || after != ""; first = false {
		err := in.store.Write(ctx, func(tx engine.Tx) error {
			seats, next, err := in.store.SeatsOf(tx, c.ID, after, ladderWrite/10)
			if err != nil {
				return err
			}
			after = next
			return in.changeCollection(tx, c.ID, func(c *engine.Collection) error { return in.addSeats(tx, c, seats, at) })
		})
		if err != nil {
			return traffic.Fault(fmt.Errorf("spread collection %s: %w", c.Name, err))
		}
	}
	return engine.Wait(0, func(tx engine.Tx) error {
		return in.changeCollection(tx, c.ID, func(c *engine.Collection) error {
			c.Depth++
			return nil
		})
	})
}

// addSeats makes players of seats. Bots, and who was forgotten, have no PUUID there.
func (in *collects) addSeats(tx engine.Tx, c *engine.Collection, seats []league.Participant, at time.Time) error {
	for _, s := range seats {
		platform, err := route.OfMatch(s.Match)
		if err != nil || len(s.PUUID) != engine.PUUIDLength {
			continue
		}
		if _, known, err := in.store.PlayerOf(tx, c.ID, string(platform), s.PUUID); err != nil || known {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := in.addPlayer(tx, c, string(platform), s.PUUID, at); err != nil {
			return err
		}
	}
	return nil
}

// addPlayer finds a player of a collection by a PUUID or a Riot ID, or makes it, and gives its id. Of a Riot ID the
// player's first sync learns whose it is.
func (in *collects) addPlayer(tx engine.Tx, c *engine.Collection, platform, who string, at time.Time) (string, error) {
	a, known, err := in.store.PlayerOf(tx, c.ID, platform, who)
	if err != nil {
		return "", fmt.Errorf("look for a player of collection %s: %w", c.Name, err)
	}
	switch {
	case !known:
		a = league.Account{ID: newID(), Collection: c.ID, Platform: platform, Created: at}
		if name, tag, err := route.ParseRiotID(who); err == nil {
			a.GameName, a.TagLine = name, tag
		} else {
			a.Home, a.PUUIDs = true, map[string]string{in.project(): who}
		}
		c.Players++
	case !c.Started.IsZero() && a.Resolved.After(c.Started):
		c.Moved++
	}
	a.Resolved, a.Updated = at, at
	if err := in.store.SaveAccount(tx, a); err != nil {
		return "", fmt.Errorf("save a player of collection %s: %w", c.Name, err)
	}
	return a.ID, nil
}

// enough reports whether no further player is to be listed: so many matches are found as were asked for.
func (in *collects) enough(tx engine.Tx, c engine.Collection) (bool, error) {
	if c.Matches == 0 {
		return false, nil
	}
	found, err := in.store.CollectedMatches(tx, c.ID)
	return found >= c.Matches, err
}

// begin lets as many players be synced as shall be under way.
func (in *collects) begin(tx engine.Tx, c *engine.Collection) error {
	g, err := in.store.Group(tx, engine.GroupID{Parent: c.Job, Group: groupPlayers})
	for more := err == nil; more && g.Open < engine.CollectAhead; g.Open++ {
		more, err = in.beginNext(tx, c)
	}
	return err
}

// beginNext begins the sync of the next player; more is false when all have had their turn in this round, or enough is
// found.
func (in *collects) beginNext(tx engine.Tx, c *engine.Collection) (more bool, err error) {
	if enough, err := in.enough(tx, *c); err != nil || enough {
		return false, err
	}
	a, ok, err := in.store.NextPlayer(tx, c.ID, c.After)
	if !ok || err != nil {
		return false, err
	}
	phase := engine.PhaseList
	if a.PUUIDs[in.project()] == "" && a.RiotID() != "" {
		phase = engine.PhaseResolve
	}
	c.After = a.ID
	want, err := in.relist(tx, a, league.Ask{
		Mode: ModeFull, Floor: c.Floor, Timelines: cmp.Or(league.Timelines(c.Timelines), league.TimelinesAll),
		Filter: league.Policy{Queues: []int{rankedQueues[c.Queue].id}}.Filter(),
	})
	if err != nil {
		return false, err
	}
	run := league.Run{ID: newID(), Account: a.ID, Ask: want, Before: a.Run, Phase: string(phase), Triggered: now(), By: c.By}
	spec := syncSpec(a, run, league.Policy{Priority: uint8(c.Line())}, in.project(), engine.Actor{Via: "engine"})
	spec.Queue, spec.Owner, spec.By = engine.CollectionQueue(c.Name), c.ID, c.By
	spec.Parents = []engine.GroupID{{Parent: c.Job, Group: groupPlayers}}
	spec.Args = encode(syncArgs{
		Account: a.ID, Run: run.ID, Mode: run.Ask.Mode, Platform: a.Platform, Known: phase == engine.PhaseList, Timelines: run.Ask.Timelines,
		Collection: c.ID,
	})
	made, err := tx.Enqueue(spec)
	if err != nil || made[0].Duplicate { // the round before still lists it
		return true, err
	}
	run.Job = string(made[0].ID)
	a.Status, a.Run, a.LastError, a.Updated = engine.SyncPending.String(), run.ID, "", now()
	return true, errors.Join(in.dropRanges(tx, run.Before), in.store.SaveRun(tx, run), in.store.SaveAccount(tx, a))
}

// finish ends a round, and plans the next one of a collection that goes on.
func (in *collects) finish(tx engine.Tx, c *engine.Collection) error {
	c.Finished = now()
	err := in.judgeRound(tx, c)
	switch {
	case err != nil:
		return err
	case c.Relist:
		return in.newRound(tx, c, time.Time{})
	case c.Every > 0:
		return in.newRound(tx, c, c.Started.Add(c.Every))
	}
	return nil
}

// newRound makes the job of a collection's next round, which begins at an instant.
func (in *collects) newRound(tx engine.Tx, c *engine.Collection, at time.Time) error {
	c.Round++
	made, err := tx.Enqueue(engine.Spec{
		Kind: kindCollect, Queue: engine.CollectionQueue(c.Name), Key: fmt.Sprintf("%s:%d", collectKey(c.ID), c.Round),
		Owner: c.ID, By: c.By, Priority: c.Line(), RunAt: at, Args: encode(collectArgs{Collection: c.ID}),
	})
	if err != nil {
		return fmt.Errorf("create the job of round %d: %w", c.Round, err)
	}
	c.Job = made[0].ID
	c.Started, c.Finished, c.Result, c.Error = time.Time{}, time.Time{}, "", ""
	c.Ladder, c.Page, c.After, c.Moved, c.Short, c.Relist = 0, 1, "", 0, 0, false
	return nil
}

// collectMoved keeps a collection in step with the job of its round.
func (in *collects) collectMoved(tx engine.Tx, before, after engine.Job, _ engine.Outcome) error {
	args, err := decode[collectArgs](after)
	if err != nil || before.State == after.State {
		return nil // as in partMoved
	}
	return in.changeCollection(tx, args.Collection, func(c *engine.Collection) error {
		switch {
		case c.Job != after.ID: // of a round before
		case after.State == engine.Running && c.Started.IsZero():
			c.Started = now()
			c.Floor = floorOf(*c)
		case after.State == engine.Cancelled:
			c.Result, c.Finished = resultCancelled, now()
		case after.State == engine.Discarded && c.Every > 0: // a season may just have begun
			return in.newRound(tx, c, c.Started.Add(c.Every))
		case after.State == engine.Discarded:
			c.Result, c.Error, c.Finished = resultFailed, after.LastError, now()
		case before.State.Terminal():
			c.Result, c.Error, c.Finished = "", "", time.Time{}
		}
		return nil
	})
}

// floorOf is the oldest match that a collection's round lists; zero = there is none.
func floorOf(c engine.Collection) time.Time {
	if span, err := league.ParseSpan(c.Since); err == nil && c.Since != "" && !span.Off() {
		return span.Before(c.Started)
	}
	return time.Time{}
}

// playerMoved lets the next player of a collection begin when the sync of one ends. Of one that is cancelled the
// collection itself makes up for it, if that is not cancelled along.
func (in *collects) playerMoved(sync func(engine.Tx, engine.Job, engine.Job, engine.Outcome) error) func(engine.Tx, engine.Job, engine.Job, engine.Outcome) error {
	return func(tx engine.Tx, before, after engine.Job, o engine.Outcome) error {
		if err := sync(tx, before, after, o); err != nil {
			return err
		}
		args, err := decode[syncArgs](after)
		ended := before.State.Live() && (after.State == engine.Completed || after.State == engine.Discarded)
		if err != nil || args.Collection == "" || !ended {
			return nil // as in partMoved
		}
		run, err := in.store.Run(tx, args.Run)
		if err != nil {
			return fmt.Errorf("load run %s: %w", args.Run, err)
		}
		return in.tellRound(tx, after.ID, "", run.Result, func(c *engine.Collection) error { return in.begin(tx, c) })
	}
}
