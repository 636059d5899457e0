package ingest

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

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
	next.Start += len(pg.raw)
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
