package ingest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
)

// ranges say how far the lists of an account are known, and what to list next.
type ranges struct {
	means
}

// The range that is known to be complete belongs to a list: an account's own
// holds for all of its games, that of a filter for the list's games alone (P9).

// loadList reads what the next page of the run depends on.
func (in *ranges) loadList(tx engine.Tx, p *pass) (err error) {
	if p.staged, err = in.store.Staged(tx, p.run.ID); err != nil {
		return fmt.Errorf("list what run %s staged: %w", p.run.ID, err)
	}
	if p.known, err = in.rangeOf(tx, p.account, p.run, p.run.List); err != nil {
		return err
	}
	return in.loadSlice(tx, p)
}

// rangeOf is how far one of the lists of a run is known: that of the account's own, or of one of its
// filter's.
func (in *ranges) rangeOf(tx engine.Tx, a league.Account, run league.Run, list int) (league.Coverage, error) {
	if run.Ask.Filter == "" {
		return a.Coverage, nil
	}
	run.List = list
	c, err := in.store.Coverage(tx, a.ID, listOf(run).Name())
	if err != nil {
		return c, fmt.Errorf("load the known range of %s: %w", a.RiotID(), err)
	}
	return c, nil
}

// endLists moves the known ranges at the end of a run: all listed ids are in the table, and the ends are
// proven. Where one is not, no range moves, and no later sync takes pages out of this listing: the next
// one reads the lists again.
func (in *ranges) endLists(tx engine.Tx, a *league.Account, run league.Run) error {
	listed, err := in.store.Staged(tx, run.ID)
	if err != nil {
		return fmt.Errorf("list what run %s staged: %w", run.ID, err)
	}
	for i, l := range run.Ask.Filter.Lists() {
		if run.Error != "" {
			if err := in.store.CacheIDs(tx, a.ID, l.Name(), league.CachedIDs{}); err != nil {
				return err
			}
			continue
		}
		known, err := in.rangeOf(tx, *a, run, i)
		if err != nil {
			return err
		}
		c := in.cover(known, run, ofList(listed, i), i)
		if run.Ask.Filter == "" {
			a.Coverage = c
		} else if err := in.store.SaveCoverage(tx, a.ID, l.Name(), c); err != nil {
			return err
		}
	}
	return in.store.Unstage(tx, run.ID)
}

// ofList are the ids of one of a run's lists.
func ofList(listed []league.Staged, list int) []league.Staged {
	return slices.DeleteFunc(slices.Clone(listed), func(s league.Staged) bool { return s.List != list })
}

// setRangesAside is for a run that leaves listed matches unfetched: the next one
// lists everything again, unless this one becomes complete before.
func (in *ranges) setRangesAside(tx engine.Tx, a *league.Account, run league.Run) error {
	of := run.Ranges()
	err := in.store.MoveCoverage(tx, a.ID, of.Filters)
	if run.Listed == 0 || a.Coverage == (league.Coverage{}) {
		return err
	}
	err = errors.Join(err, in.store.SaveCoverage(tx, of.Own, "", a.Coverage))
	a.Coverage = league.Coverage{}
	return err
}

// restoreRanges takes back what setRangesAside did.
func (in *ranges) restoreRanges(tx engine.Tx, a *league.Account, run league.Run) error {
	of := run.Ranges()
	own, err := in.store.Coverage(tx, of.Own, "")
	if err != nil {
		return fmt.Errorf("load the known range of %s: %w", a.RiotID(), err)
	}
	if own.Head != "" {
		a.Coverage = own
	}
	return errors.Join(in.store.DropCoverage(tx, of.Own), in.store.MoveCoverage(tx, of.Filters, a.ID))
}

// dropRanges forgets what a run kept aside: a later one lists again.
func (in *ranges) dropRanges(tx engine.Tx, run string) error {
	of := league.Run{ID: run}.Ranges()
	return errors.Join(in.store.DropCoverage(tx, of.Making), in.store.DropCoverage(tx, of.Own),
		in.store.DropCoverage(tx, of.Filters), in.store.Unstage(tx, run))
}

// idsTTL is how long a listing answers for Riot (S4-8).
const idsTTL = 5 * time.Minute

// maxCachedIDs is about all that Riot lists of a player.
const maxCachedIDs = 1000

// loadSlice takes the next page out of what was listed less than five minutes
// ago, if it is there. This is for the account that is synced again at once, or in two modes: its first
// pages cost no call.
func (in *ranges) loadSlice(tx engine.Tx, p *pass) error {
	if p.run.OldPart || p.run.Ask.Force || p.run.Ask.Whole || p.run.Again || p.run.Looks > 0 ||
		p.account.PUUIDs[p.project] == "" {
		return nil
	}
	c, ok, err := in.store.CachedIDs(tx, p.account.ID, listOf(p.run).Name())
	if err != nil {
		return fmt.Errorf("load the ids that were listed of %s: %w", p.account.RiotID(), err)
	}
	p.ids = c
	if age := p.run.Anchor.Sub(c.At); !ok || age < 0 || age > idsTTL {
		return nil
	}
	q := in.query(p.run)
	p.slice, p.sliced = sliceOf(c, q)
	if !p.sliced || !c.Floor.Before(q.StartTime) {
		return nil
	}
	// The listing went further back than this ask does. Its ids are newest first, so that the last of
	// the page decides.
	p.sliced, err = in.playedSince(tx, p.slice, q.StartTime)
	return err
}

// sliceOf gives the page that q asks for. Ids beyond the end of what was listed
// are not there, unless the list ended there for q, too.
func sliceOf(c league.CachedIDs, q riot.MatchIDsQuery) (ids []string, ok bool) {
	end := q.Start + q.Count
	if end <= len(c.IDs) {
		return c.IDs[q.Start:end], true
	}
	if !c.Whole || !c.Floor.Equal(q.StartTime) || q.Start > len(c.IDs) {
		return nil, false
	}
	return c.IDs[q.Start:], true
}

// playedSince reports whether the last of the ids, the oldest, is known to be
// young enough: the listing went further back than this one asks for.
func (in *ranges) playedSince(tx engine.Tx, ids []string, floor time.Time) (bool, error) {
	if len(ids) == 0 {
		return false, nil
	}
	m, err := in.store.Match(tx, ids[len(ids)-1])
	if errors.Is(err, engine.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("load match %s: %w", ids[len(ids)-1], err)
	}
	return !m.Played.IsZero() && !m.Played.Before(floor), nil
}

// keepIDs adds a page to what was listed; the first page replaces it. A page is added only if it goes
// on where the pages of the same run ended: a hole would be read as the next games.
func (in *ranges) keepIDs(tx engine.Tx, run league.Run, had league.CachedIDs, pg page) error {
	if pg.sliced || run.OldPart || run.Looks > 0 {
		return nil
	}
	q := pg.asked
	c := league.CachedIDs{At: run.Anchor, Floor: q.StartTime}
	switch {
	case q.Start == 0:
	case had.At.Equal(run.Anchor) && len(had.IDs) == q.Start && q.Start < maxCachedIDs:
		c.IDs = had.IDs
	default:
		return nil
	}
	c.IDs = append(c.IDs[:len(c.IDs):len(c.IDs)], pg.raw...)
	c.Whole = len(pg.raw) == 0
	if err := in.store.CacheIDs(tx, run.Account, listOf(run).Name(), c); err != nil {
		return fmt.Errorf("keep what was listed: %w", err)
	}
	return nil
}

// relist lets an ask read its account's lists to their end, whatever is known of them, when that was last
// done Options.Relist ago: an id that came late lies below the head of the known range, where no other
// sync looks.
func (in *ranges) relist(tx engine.Tx, a league.Account, want league.Ask) (league.Ask, error) {
	if in.opt.Relist <= 0 || want.Mode != ModeLatest && (want.Count > 0 || !want.Floor.IsZero()) {
		return want, nil
	}
	floor := want.Floor
	for i := range want.Filter.Lists() {
		c, err := in.rangeOf(tx, a, league.Run{Ask: want}, i)
		if err != nil {
			return want, err
		}
		want.Whole = want.Whole || c.Head != "" && in.isStale(c, a.ID, want.Mode)
		switch {
		case c.Head == "":
		case c.ReachedEnd:
			floor = time.Time{}
		case c.Floor.Before(floor):
			floor = c.Floor
		}
	}
	if want.Whole {
		want.Count, want.Floor = 0, floor
	}
	return want, nil
}

// isStale reports whether a list is to be read whole again. The accounts are spread over a quarter of the
// time: many of them are synced first in the same hour. A range of an earlier version does not say when it
// was read: a full sync reads it at once, and `latest` at an hour of the account's own.
func (in *ranges) isStale(c league.Coverage, account, mode string) bool {
	every, at := in.opt.Relist, now()
	h := fnv.New32a()
	_, _ = h.Write([]byte(account))
	share := time.Duration(h.Sum32() % 1000)
	switch {
	case !c.Walked.IsZero():
		return at.Sub(c.Walked) >= every-every/4000*share
	case mode == ModeFull:
		return true
	}
	turn := func(t time.Time) time.Time { return t.Add(every / 1000 * share).Truncate(every) }
	return turn(at).After(turn(c.HeadAt))
}
