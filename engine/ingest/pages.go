package ingest

import (
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// pageSize is the largest page that Riot gives.
const pageSize = 100

// cutoff is the oldest instant inside retention, as the run saw it when it began
// to list: a whole second, since that is the grain of Riot's lists. Zero = off.
func (in *ranges) cutoff(run league.Run) time.Time {
	if in.opt.Matches.Off() {
		return time.Time{}
	}
	return in.opt.Matches.Before(run.Anchor)
}

// query asks for the run's next page. The list inside retention ends at the
// anchor, so that games which end meanwhile do not shift the pages; the list
// beyond it ends a second before the cutoff: exactly two years are fetched.
//
//	floor, or always   cutoff                       anchor
//	-------|--------------|-------------------------|----> time
//	        the old part   inside retention: listed first
func (in *ranges) query(run league.Run) riot.MatchIDsQuery {
	list := listOf(run)
	q := riot.MatchIDsQuery{
		Start: run.Start, Count: pageSize, StartTime: run.Ask.Floor, EndTime: run.Anchor, Queue: list.Queue,
		Type: list.Type,
	}
	cutoff := in.cutoff(run)
	switch {
	case run.OldPart:
		q.EndTime = cutoff.Add(-time.Second)
	case cutoff.After(q.StartTime):
		q.StartTime = cutoff
	}
	if run.Ask.Count > 0 {
		q.Count = min(pageSize, run.Ask.Count-taken(run))
	}
	return q
}

// page is what one answer adds to a run.
type page struct {
	ids    []league.Staged // all of it, once each
	fresh  int             // ids that no earlier page had
	joined bool            // it reaches the range that is known to be complete
	end    bool            // nothing follows in this list

	asked  riot.MatchIDsQuery
	raw    []string // as Riot listed them
	sliced bool     // out of an earlier listing, without a call
}

// read judges one page. Lists may shift, repeat, hold ids twice or never end: an
// id counts once, and a page without a new id ends the list.
func read(run league.Run, staged []league.Staged, known league.Coverage, ids []string, asked int) page {
	seen := make(map[string]bool, len(staged)+len(ids))
	for _, s := range staged {
		seen[s.ID] = true
	}
	var p page
	listed := make(map[string]bool, len(ids))
	for _, id := range ids {
		if _, err := route.OfMatch(id); err != nil || listed[id] {
			continue // nobody could say which region has it
		}
		listed[id] = true
		p.ids = append(p.ids, league.Staged{ID: id, TooOld: run.OldPart})
		if !seen[id] {
			p.fresh++
		}
	}
	p.joined = !run.OldPart && known.Head != "" && listed[known.Head]
	// What lies below the head is in the table already, unless somebody wants it looked at again, asks
	// for older games, or for timelines that the runs before left out.
	stop := p.joined && run.Ask.Count == 0 && !run.Ask.Force &&
		known.Reaches(run.Ask.Floor) && known.Holds(run.Ask.Timelines)
	full := run.Ask.Count > 0 && taken(run)+p.fresh >= run.Ask.Count
	p.end = stop || full || len(ids) < asked || p.fresh == 0
	// A listing that goes on past the head makes a range of its own: it leans on the old one in
	// nothing.
	p.joined = p.joined && (stop || run.Ask.Count > 0)
	return p
}

// after says how the run goes on behind a page; more is false when it was the
// last one. One list after another, and of each first what is inside retention, then the rest.
func (in *ranges) after(run league.Run, pg page) (next league.Run, more bool) {
	next = run
	next.Pages++
	next.Staged += pg.fresh
	next.Start += pageSize
	if !pg.end {
		return next, true
	}
	if !run.OldPart && !pg.joined && in.hasOldPart(run) {
		next.OldPart, next.Start = true, 0
		return next, true
	}
	if run.List+1 >= len(run.Ask.Filter.Lists()) {
		return next, false
	}
	next.List, next.From, next.OldPart, next.Start = run.List+1, next.Staged, false, 0
	return next, true
}

// listOf is the list that the run reads now.
func listOf(run league.Run) league.List {
	lists := run.Ask.Filter.Lists()
	return lists[min(run.List, len(lists)-1)]
}

// taken is how many ids the run has of the list that it reads now: with Count the newest so many of each
// list are wanted, and not of all together.
func taken(run league.Run) int { return run.Staged - run.From }

// hasOldPart reports whether games beyond retention are to be listed too: the
// newest N and what was played since a recent floor hold none.
func (in *ranges) hasOldPart(run league.Run) bool {
	cutoff := in.cutoff(run)
	return !cutoff.IsZero() && run.Ask.Count == 0 && run.Ask.Floor.Before(cutoff)
}

// cover gives the range that is complete once all of the listed ids are in the table (S1-13, P9): from
// its head, the newest id, down to its floor. Such as:
//
//	old     head EUW1_70, down to the end of all games
//	listed  EUW1_75 … EUW1_70, joined             -> head EUW1_75, down to the end
//	listed  EUW1_95 … EUW1_76, the newest 20 only -> as before: what lies between is not known
//
// A run that listed nothing leaves the range as it was.
func cover(old league.Coverage, run league.Run, listed []league.Staged, joined bool) league.Coverage {
	newest := slices.IndexFunc(listed, func(s league.Staged) bool { return !s.TooOld })
	if newest < 0 && len(listed) > 0 {
		newest = 0
	}
	c := league.Coverage{
		HeadAt: run.Anchor, Floor: run.Ask.Floor, ReachedEnd: run.Ask.Floor.IsZero(),
		Timelines: run.Ask.Timelines,
	}
	switch {
	case newest < 0:
		return old
	case joined: // everything between the old head and now is listed
		c.Floor, c.ReachedEnd = old.Floor, old.ReachedEnd
		c.Timelines = league.Least(old.Timelines, run.Ask.Timelines)
	case run.Ask.Count > 0: // a hole may lie below
		return old
	}
	c.Head = listed[newest].ID
	return c
}

// pass is what one attempt of a sync works on, as it was stored when it began.
type pass struct {
	args    syncArgs
	account league.Account
	run     league.Run
	project string
	cached  string // PUUID of the Riot ID, resolved less than a day ago
	staged  []league.Staged
	known   league.Coverage  // of the list that is read now
	ids     league.CachedIDs // what was listed of it last
	slice   []string         // the next page out of that
	sliced  bool
}
