package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
)

// pageSize is the largest page that Riot gives.
const pageSize = 100

// indexed is about how many games Riot lists of a player (developer-relations#517):
// the worst case for one whose games nobody has counted yet (engine.Cost.AtMost).
const indexed = 1000

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
	if left := run.Ask.Count - taken(run); left > 0 && run.Looks == 0 {
		q.Count = min(pageSize, left)
	}
	return q
}

// page is what one answer adds to a run.
type page struct {
	ids     []league.Staged // all of it, once each
	fresh   int             // ids that no earlier page had, or that are not too old after all
	joined  bool            // it reaches the range that is known to be complete
	end     bool            // nothing follows in this list
	onlyOld bool            // all that the list has named so far is beyond retention
	mingled bool            // the lists inside and beyond retention name the same id: a filter was ignored

	asked  riot.MatchIDsQuery
	raw    []string // as Riot listed them
	sliced bool     // out of an earlier listing, without a call

	spoilt map[stored]bool // what is stored of them and is not whole, of a forced sync
}

// places is how far on in the list the next page begins. A page that holds more than was asked for repeats ids, or has
// some that have no place of their own: the next one begins where this one should have ended.
func (p page) places() int { return min(len(p.raw), cmp.Or(p.asked.Count, pageSize)) }

// maxListed bounds the ids that one list may have: twice what Riot keeps of a player. A list that goes
// on behind it has no end.
const maxListed = 2 * indexed

// read judges one page. A page that is shorter than asked is no end: a list goes on behind it until a
// page is empty. Lists may shift, repeat, hold ids twice or never end: an id counts once, and a page
// without a new id ends the reading. What that end is worth, a look finds out: see lookOn.
func read(run league.Run, staged []league.Staged, known league.Coverage, ids []string, asked int) page {
	was := make(map[string]league.Staged, len(staged))
	for _, s := range staged {
		was[s.ID] = s
	}
	p := page{raw: ids, mingled: run.Mingled}
	listed := make(map[string]bool, len(ids))
	for _, id := range ids {
		if listed[id] {
			continue
		}
		listed[id] = true
		s, seen := was[id]
		p.ids = append(p.ids, league.Staged{ID: id, TooOld: run.OldPart, List: run.List})
		if !seen || s.TooOld && !run.OldPart {
			p.fresh++
		}
		p.mingled = p.mingled || seen && s.List == run.List && s.TooOld != run.OldPart
	}
	p.onlyOld = run.OldPart && taken(run)+p.fresh > 0 && countOf(staged, run.List, false) == 0
	p.joined = !run.OldPart && known.Head != "" && listed[known.Head] && !run.Ask.Whole
	// What lies below the head is in the table already, unless somebody wants it looked at again, asks
	// for older games, or for timelines that the runs before left out.
	stop := p.joined && run.Ask.Count == 0 && !run.Ask.Force &&
		known.Reaches(run.Ask.Floor) && known.Holds(run.Ask.Timelines)
	// The newest few are enough where nothing is known, or a person has said how many. `latest` goes on
	// until it joins what is known: between the two nothing would look again.
	full := run.Ask.Count > 0 && taken(run)+p.fresh >= run.Ask.Count &&
		(run.Ask.Mode != ModeLatest || known.Head == "" || p.joined)
	p.joined = p.joined && (stop || run.Ask.Count > 0)
	// What lies beyond retention cannot be had: its first short page is its end, until it is looked at again.
	p.end = stop || full || p.joined && run.Ask.Mode == ModeLatest || p.fresh == 0 || taken(run)+p.fresh >= maxListed ||
		run.OldPart && (p.mingled || len(ids) < asked)
	return p
}

// after says how the run goes on behind a page; more is false when it was the
// last one. One list after another, and of each first what is inside retention, then the rest.
func (in *ranges) after(run league.Run, pg page) (next league.Run, more bool) {
	next = run
	next.Pages++
	next.Staged += pg.fresh
	next.Start += pg.places()
	next.Mingled = pg.mingled
	if !pg.end {
		return next, true
	}
	// A list that was cut by number, or that has joined what is known, claims no end. Nor does `latest` that
	// was given nothing: no range moves by it, and it asks again within its cadence.
	switch wanted := run.Ask.Count; {
	case taken(next) >= maxListed:
		next.Error = endless
	case run.Ask.Mode == ModeLatest && taken(next) == 0:
	case !pg.joined && (wanted == 0 || pg.fresh == 0 || taken(next) < wanted):
		next.Ends |= 1 << run.List
	}
	switch {
	case !run.OldPart && !run.Again && !pg.joined && in.hasOldPart(run):
		next.OldPart, next.Start = true, 0
		return next, true
	// Only the list beyond retention has named anything: the other is asked once more before that is believed.
	case pg.onlyOld && !pg.mingled:
		next.OldPart, next.Again, next.Start = false, true, 0
		return next, true
	}
	if run.List+1 >= len(run.Ask.Filter.Lists()) {
		return next, false
	}
	next.List, next.From, next.OldPart, next.Again, next.Start = run.List+1, next.Staged, false, false, 0
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
//	listed  the same, and nothing is known before -> head EUW1_95, down to when it was listed
//
// A run that listed nothing leaves the range as it was. The newest N reach down to the cutoff at most: what lies
// beyond it they have not listed (see hasOldPart).
func (in *ranges) cover(old league.Coverage, run league.Run, listed []league.Staged, list int) league.Coverage {
	newest := slices.IndexFunc(listed, func(s league.Staged) bool { return !s.TooOld })
	if newest < 0 && len(listed) > 0 {
		newest = 0
	}
	c := league.Coverage{
		HeadAt: run.Anchor, Floor: run.Ask.Floor, ReachedEnd: run.Ask.Floor.IsZero(),
		Timelines: run.Ask.Timelines, Walked: run.Anchor,
	}
	if cutoff := in.cutoff(run); run.Ask.Count > 0 && cutoff.After(c.Floor) {
		c.Floor, c.ReachedEnd = cutoff, false
	}
	ended := run.Ends&(1<<list) != 0
	switch {
	case newest < 0:
		return old
	case ended:
	// Everything between the old head and now is listed.
	case slices.ContainsFunc(listed, func(s league.Staged) bool { return s.ID == old.Head }):
		c.Floor, c.ReachedEnd, c.Walked = old.Floor, old.ReachedEnd, old.Walked
		c.Timelines = league.Least(old.Timelines, run.Ask.Timelines)
	case old.Head != "": // a hole may lie below
		return old
	default:
		c.Floor, c.ReachedEnd = run.Anchor, false
	}
	c.Head = listed[newest].ID
	return c
}

// The end of a list is a claim: Riot's pages are short or empty for a moment, shift while they are read,
// or ignore where they shall start. So what lies behind an end is asked for twice, the second time after
// everything else of the sync. What that look finds becomes children of the same run, which then looks
// again; only what stays empty moves the known range. A range that was joined needs no look.

// maxLooks bounds how often a run looks: a list that has grown each time goes on with the next sync.
const maxLooks = 3

// notProven is why a sync is incomplete that has not seen the end of a list.
func notProven(format string, args ...any) string {
	return "its list is not proven: " + fmt.Sprintf(format, args...)
}

// countOf is how many ids are known of a list, or of its part beyond retention: its end is behind them.
func countOf(staged []league.Staged, list int, tooOld bool) (n int) {
	for _, s := range staged {
		if s.List == list && s.TooOld == tooOld {
			n++
		}
	}
	return n
}

// lookAt lets a run ask for what lies behind the end of the next list that claims one, from a list on; ok is
// false when there is none.
func lookAt(run *league.Run, staged []league.Staged, from int) (ok bool) {
	for run.List = from; run.Ends>>run.List != 0; run.List++ {
		if run.Ends&(1<<run.List) != 0 {
			run.OldPart, run.Again, run.Start = false, false, countOf(staged, run.List, false)
			return true
		}
	}
	return false
}

// lookOn says how a look goes on behind a page; more is false when it was the last one. A page behind as
// many ids as are known which names none but those shows that one is missing further up: then the list is
// read once more from its head.
func lookOn(run league.Run, staged []league.Staged, pg page) (next league.Run, more bool) {
	next = run
	next.Pages++
	next.Staged += pg.fresh
	next.Start += pg.places()
	next.Mingled = pg.mingled
	known := countOf(staged, run.List, run.OldPart)
	switch {
	case known+pg.fresh >= maxListed:
		next.Error = endless
	case pg.fresh > 0:
		return next, true
	case len(pg.raw) > 0 && !run.Again:
		next.Again, next.Start = true, 0
		return next, true
	case len(pg.raw) > 0 && run.Start <= known:
		return next, true
	case len(pg.raw) > 0:
		next.Error = notProven("Riot repeats its pages")
	case run.Start < known:
		next.Error = notProven("Riot gave %d ids, and later fewer", known)
	}
	if next.Error != "" {
		return next, false
	}
	if old := countOf(staged, run.List, true); !run.OldPart && !next.Mingled && old > 0 {
		next.OldPart, next.Again, next.Start = true, false, old
		return next, true
	}
	return next, lookAt(&next, staged, run.List+1)
}

// endless is the reason of a list that was cut at maxListed.
var endless = notProven("it has no end: %d ids were listed, twice what Riot keeps", maxListed)

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
