package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
)

// pageSize is the largest page that Riot gives.
const pageSize = 100

// list fetches one page of match ids. The last page creates the children.
func (in *Ingest) list(ctx context.Context, r engine.Run, p pass) engine.Outcome {
	puuid := p.account.PUUIDs[p.project]
	if puuid == "" { // the key was replaced by one of another project
		return engine.Wait(0, in.forget(p))
	}
	q := in.query(p.run)
	region := route.Platform(p.account.Platform).Region()
	trip := traffic.Trip{Run: r, Account: r.Job.Owner, At: listLane(p.account), Region: region, PUUID: puuid}
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
	case o.Class == riot.ClassWrongProject && p.account.Resolved.Before(p.run.Started):
		return engine.Wait(0, in.forget(p)).With(o.Call)
	default:
		return o
	}
	pg := read(p.run, p.staged, p.known, ids, q.Count)
	pg.asked, pg.raw, pg.sliced = q, ids, p.sliced
	if next, more := in.after(p.run, pg); more {
		return engine.Wait(0, func(tx engine.Tx) error { return in.savePage(tx, p, pg, next) }).With(o.Call)
	}
	stat := o.Call
	o, ok = in.atHome(ctx, r, p, idsOf(p.staged, ids))
	stat = plus(stat, o.Call)
	if !ok {
		return o.With(stat)
	}
	return engine.Wait(league.GroupMatches, func(tx engine.Tx) error { return in.fanOut(tx, r.Job, p, pg) }).With(stat)
}

// idsOf are all ids that a run has listed: those staged, and the last page.
func idsOf(staged []league.Staged, last []string) []string {
	all := slices.Clone(last)
	for _, s := range staged {
		all = append(all, s.ID)
	}
	return all
}

// plus adds up what two calls of one attempt took; the status is the later one's.
func plus(a, b engine.CallStat) engine.CallStat {
	if b.Calls == 0 {
		return a
	}
	b.Calls, b.Limiter, b.HTTP, b.Bytes = a.Calls+b.Calls, a.Limiter+b.Limiter, a.HTTP+b.HTTP, a.Bytes+b.Bytes
	return b
}

// cutoff is the oldest instant inside retention, as the run saw it when it began
// to list: a whole second, since that is the grain of Riot's lists. Zero = off.
func (in *Ingest) cutoff(run league.Run) time.Time {
	if in.opt.Matches.Off() {
		return time.Time{}
	}
	return in.opt.Matches.Before(run.Anchor)
}

// query asks for the run's next page. The list inside retention ends at the
// anchor, so that games which end meanwhile do not shift the pages; the list
// beyond it ends a second before the cutoff: exactly two years are fetched.
func (in *Ingest) query(run league.Run) riot.MatchIDsQuery {
	list := listOf(run)
	q := riot.MatchIDsQuery{
		Start: run.Start, Count: pageSize, StartTime: run.Ask.Floor, EndTime: run.Anchor, Queue: list.Queue, Type: list.Type,
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
	stop := p.joined && run.Ask.Count == 0 && !run.Ask.Force &&
		known.Reaches(run.Ask.Floor) && known.Holds(run.Ask.Timelines)
	full := run.Ask.Count > 0 && taken(run)+p.fresh >= run.Ask.Count
	p.end = stop || full || len(ids) < asked || p.fresh == 0
	p.joined = p.joined && (stop || run.Ask.Count > 0)
	return p
}

// after says how the run goes on behind a page; more is false when it was the
// last one.
func (in *Ingest) after(run league.Run, pg page) (next league.Run, more bool) {
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

// taken is how many ids the run has of the list that it reads now.
func taken(run league.Run) int { return run.Staged - run.From }

// hasOldPart reports whether games beyond retention are to be listed too: the
// newest N and what was played since a recent floor hold none.
func (in *Ingest) hasOldPart(run league.Run) bool {
	cutoff := in.cutoff(run)
	return !cutoff.IsZero() && run.Ask.Count == 0 && run.Ask.Floor.Before(cutoff)
}

func (in *Ingest) savePage(tx engine.Tx, p pass, pg page, next league.Run) error {
	if _, err := in.store.Stage(tx, next.ID, pg.ids); err != nil {
		return fmt.Errorf("stage page %d of run %s: %w", next.Pages, next.ID, err)
	}
	if next.List != p.run.List {
		if err := in.endList(tx, p, pg); err != nil {
			return err
		}
	}
	if err := in.keepIDs(tx, p.run, p.ids, pg); err != nil {
		return err
	}
	return in.change(tx, p.args, func(_ *league.Account, run *league.Run) error {
		run.List, run.From = next.List, next.From
		run.Pages, run.Staged, run.Start, run.OldPart = next.Pages, next.Staged, next.Start, next.OldPart
		return nil
	})
}

// cover gives the range that is complete once all of the listed ids are in the
// table (S1-13, P9).
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
