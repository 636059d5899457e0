package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// list fetches one page of match ids. The last page creates the children. A page that was
// listed for another sync less than five minutes ago is taken from the store instead.
//
// A PUUID that the key cannot read is resolved again once per run. One that was resolved in this run, or
// whose first page was read, is of this key's project: it is asked for again as it is.
func (in *syncs) list(ctx context.Context, r engine.Run, p pass) engine.Outcome {
	puuid := p.account.PUUIDs[p.project]
	if puuid == "" { // the key was replaced by one of another project
		return in.resolveAnew(p)
	}
	q := in.query(p.run)
	region := route.Platform(p.account.Platform).Region()
	trip := traffic.Trip{Run: r, Account: p.account.ID, At: listLane(p.account), Region: region,
		Read: p.run.Pages > 0 || !p.account.Resolved.Before(p.run.Started)}
	ids, ok := p.slice, p.sliced
	var o engine.Outcome
	if !ok {
		o, ok = in.calls.Call(ctx, trip, func(ctx context.Context) (err error) {
			ids, err = in.api.MatchIDs(ctx, region, puuid, q)
			return err
		})
	}
	switch {
	case ok:
	case o.Verb == engine.VerbFail && o.Class == riot.ClassWrongProject:
		return in.resolveAnew(p).With(o.Call)
	// All that was listed is here: that its end could not be looked at fails no sync.
	case p.run.Looks > 0 && (o.Verb == engine.VerbFail || o.Verb == engine.VerbRetry && r.Job.Tries >= r.Policy.Max):
		p.run.Error = notProven("what lies behind it cannot be asked for: %v", o.Err)
		return in.endRun(p, p.run).With(o.Call)
	default:
		return o
	}
	pg := read(p.run, p.staged, p.known, ids, q.Count)
	pg.asked, pg.sliced = q, p.sliced
	next, more := in.after(p.run, pg)
	if p.run.Looks > 0 {
		next, more = lookOn(p.run, p.staged, pg)
	}
	if more {
		return engine.Wait(0, func(tx engine.Tx) error { return in.savePage(tx, p, pg, next) }).With(o.Call)
	}
	if p.run.Looks > 0 && next.Staged == p.run.Listed && !(next.Mingled && countOf(p.staged, next.List, true) > 0) {
		return in.endRun(p, next).With(o.Call) // nothing was found
	}
	stat := o.Call
	if p.run.Looks == 0 {
		o, ok = in.atHome(ctx, r, p, idsOf(p.staged, ids))
		stat = plus(stat, o.Call)
		if !ok {
			return o.With(stat)
		}
	}
	if p.args.Force {
		var err error
		if pg.spoilt, err = in.spoilt(ctx, idsOf(p.staged, ids)); err != nil {
			return traffic.Fault(err)
		}
	}
	return engine.Wait(league.GroupMatches, func(tx engine.Tx) error { return in.fanOut(tx, r.Job, p, pg, next) }).With(stat)
}

// resolveAnew goes back to the Riot ID of an account whose PUUID the key cannot read. Of a player nothing else is known.
func (in *syncs) resolveAnew(p pass) engine.Outcome {
	if p.account.RiotID() == "" {
		return engine.Fail(errors.New("the PUUID is of the key of another project: the next round of the collection finds the player anew")).
			As(classUnknown)
	}
	return engine.Wait(0, in.forget(p))
}

// spoilt are the stored parts of listed matches whose payloads are not whole: a forced sync fetches them
// again.
func (in *syncs) spoilt(ctx context.Context, ids []string) (list map[stored]bool, err error) {
	var parts []stored
	err = in.store.Read(ctx, func(tx engine.Tx) error {
		parts = parts[:0]
		for _, id := range ids {
			m, err := in.store.Match(tx, id)
			if err != nil && !errors.Is(err, engine.ErrNotFound) {
				return fmt.Errorf("load match %s: %w", id, err)
			}
			for _, part := range []league.Part{league.PartMatch, league.PartTimeline} {
				if f := m.Of(part); f.Status == league.Success && !f.Ref.Dropped() {
					parts = append(parts, stored{id, part})
				}
			}
		}
		return nil
	})
	list = map[stored]bool{}
	for _, p := range parts {
		if err := in.store.CheckPayload(ctx, p.match, p.part); errors.Is(err, engine.ErrUnreadable) || errors.Is(err, engine.ErrNotFound) {
			list[p] = true
		} else if err != nil {
			return nil, fmt.Errorf("check the %s of %s: %w", p.part, p.match, err)
		}
	}
	return list, err
}

// stored names a part of a match.
type stored struct {
	match string
	part  league.Part
}

// idsOf are all ids that a run has listed: those staged, and the last page.
func idsOf(staged []league.Staged, last []string) []string {
	all := slices.Clone(last)
	for _, s := range staged {
		all = append(all, s.ID)
	}
	return all
}

// plus adds up what two calls of one attempt took; the status is the later one's, and so is the id that
// Riot gave it.
func plus(a, b engine.CallStat) engine.CallStat {
	if b.Calls == 0 {
		return a
	}
	b.Calls, b.Limiter, b.HTTP, b.Bytes = a.Calls+b.Calls, a.Limiter+b.Limiter, a.HTTP+b.HTTP, a.Bytes+b.Bytes
	return b
}

// savePage stages a page that others follow, and moves the run's cursor with it: after a
// crash the next attempt asks for the page behind it.
func (in *syncs) savePage(tx engine.Tx, p pass, pg page, next league.Run) error {
	if _, err := in.store.Stage(tx, next.ID, pg.ids); err != nil {
		return fmt.Errorf("stage page %d of run %s: %w", next.Pages, next.ID, err)
	}
	if err := in.keepIDs(tx, p.run, p.ids, pg); err != nil {
		return err
	}
	return in.change(tx, p.args, func(_ *league.Account, run *league.Run) error {
		moveOn(run, next)
		return nil
	})
}

// moveOn takes over how far a run has read its lists.
func moveOn(run *league.Run, next league.Run) {
	run.List, run.From, run.Pages, run.Staged = next.List, next.From, next.Pages, next.Staged
	run.Start, run.OldPart, run.Ends, run.Again = next.Start, next.OldPart, next.Ends, next.Again
	run.Mingled, run.Error = next.Mingled, next.Error
}

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
			if a.Collection != "" {
				return nil // nobody reads when a player plays
			}
			missing, err := in.missingMatches(tx, *run)
			if err != nil {
				return err
			}
			return in.saveReport(tx, a.ID, missing)
		})
	})
}

// A Riot ID belongs to all platforms, and whoever plays on another one is listed as a
// player without matches, or with those of the other platform if they share a region.
// So an account that nobody has seen on its platform yet, and of which no match there is
// listed, is asked for there once.

// atHome finds out whether the player of a listing that is complete is on the account's
// platform. ok is false when the outcome is the answer: nobody could tell yet, or it is
// unknown there. The call is made behind the last page alone, and fanOut notes on the account that it
// is at home: nobody asks again.
func (in *syncs) atHome(ctx context.Context, r engine.Run, p pass, listed []string) (o engine.Outcome, ok bool) {
	platform := route.Platform(p.account.Platform)
	if p.account.Home || slices.ContainsFunc(listed, func(id string) bool { return playedOn(id, platform) }) {
		return o, true
	}
	played, err := in.playedAt(ctx, p.account)
	switch {
	case err != nil:
		return traffic.Fault(err), false
	case played:
		return o, true
	}
	puuid := p.account.PUUIDs[p.project]
	trip := traffic.Trip{Run: r, Account: r.Job.Owner, At: traffic.To(platform, route.Summoner),
		Region: platform.AccountRegion()}
	o, ok = in.calls.Call(ctx, trip, func(ctx context.Context) error {
		_, err := in.api.Summoner(ctx, platform, puuid)
		return err
	})
	switch {
	case ok, o.Verb != engine.VerbFail:
		return o, ok
	case o.Class != riot.ClassMissing: // a key may be refused this path: what cannot be told is let pass
		return o, true
	}
	return engine.Fail(unknownThere(p.account.RiotID(), platform, listed)).As(ClassPlatform).With(o.Call), false
}

// unknownThere is the error of an account that is not on its platform. A match that was listed tells
// where the player does play.
func unknownThere(riotID string, there route.Platform, listed []string) error {
	for _, id := range listed {
		if other, err := route.OfMatch(id); err == nil {
			return fmt.Errorf("%s is unknown on %s: it has no summoner there, and plays on %s: sync it with --platform %s", riotID, there, other, other)
		}
	}
	return fmt.Errorf("%s is unknown on %s: it has no matches and no summoner there: sync it with the --platform on which it plays", riotID, there)
}

// playedOn reads the platform from a match's id: EUW1_7123 was played on euw1.
func playedOn(match string, platform route.Platform) bool {
	return strings.HasPrefix(match, strings.ToUpper(string(platform))+"_")
}

// playedAt reports whether a match of the account on its platform is stored: what was listed this time may
// be the newest few, and all of them of elsewhere.
func (in *syncs) playedAt(ctx context.Context, a league.Account) (played bool, err error) {
	err = in.store.Read(ctx, func(tx engine.Tx) error {
		for g, err := range in.store.Games(tx, a.ID) {
			if err != nil {
				return fmt.Errorf("read the games of account %s: %w", a.ID, err)
			}
			if playedOn(g.Match, route.Platform(a.Platform)) {
				played = true
				return nil
			}
		}
		return nil
	})
	return played, err
}
