package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestS0_4_RetentionIsCountedInCalendarYears(t *testing.T) {
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 12, 0, 0, 0, time.UTC) }
	two := league.Span{Years: 2}
	for name, c := range map[string]struct {
		now, played time.Time
		span        league.Span
		expired     bool
	}{
		"exactly two years":           {day(2026, 11, 20), day(2024, 11, 20), two, false},
		"a second older":              {day(2026, 11, 20), day(2024, 11, 20).Add(-time.Second), two, true},
		"a second younger":            {day(2026, 11, 20), day(2024, 11, 20).Add(time.Second), two, false},
		"from a leap day":             {day(2028, 2, 29), day(2026, 3, 1), two, false},
		"before a leap day's cutoff":  {day(2028, 2, 29), day(2026, 2, 28), two, true},
		"over a leap year: 731 days":  {day(2025, 1, 1), day(2023, 1, 1), two, false},
		"730 days, not two years yet": {day(2025, 1, 1), day(2023, 1, 2), two, false},
		"date unknown":                {day(2026, 11, 20), time.Time{}, two, false},
		"retention off":               {day(2026, 11, 20), day(2010, 1, 1), league.Span{}, false},
		"other zone, same instant":    {day(2026, 11, 20).In(time.FixedZone("", 9*3600)), day(2024, 11, 20), two, false},
	} {
		if got := c.span.Expired(c.played, c.now); got != c.expired {
			t.Errorf("%s: expired %v", name, got)
		}
	}
}

func TestS0_4_TheTwoListsMeetAtTheCutoff(t *testing.T) {
	in := New(Options{Matches: league.Span{Years: 2}})
	anchor := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	cutoff := anchor.AddDate(-2, 0, 0)
	floor := anchor.AddDate(-3, 0, 0)
	recent := anchor.AddDate(0, -1, 0)
	for name, c := range map[string]struct {
		run        league.Run
		from, to   time.Time
		start, ask int
		old        bool
	}{
		"all":              {run: league.Run{}, from: cutoff, to: anchor, ask: 100, old: true},
		"third page":       {run: league.Run{Start: 200}, from: cutoff, to: anchor, start: 200, ask: 100, old: true},
		"beyond retention": {run: league.Run{OldPart: true}, to: cutoff.Add(-time.Second), ask: 100, old: true},
		"since 3 years":    {run: league.Run{Ask: league.Ask{Floor: floor}}, from: cutoff, to: anchor, ask: 100, old: true},
		"the old part of that": {
			run: league.Run{OldPart: true, Ask: league.Ask{Floor: floor}}, from: floor, to: cutoff.Add(-time.Second), ask: 100, old: true,
		},
		"since a month": {run: league.Run{Ask: league.Ask{Floor: recent}}, from: recent, to: anchor, ask: 100},
		"newest 20":     {run: league.Run{Ask: league.Ask{Count: 20}}, from: cutoff, to: anchor, ask: 20},
		"250, 200 there": {
			run: league.Run{Start: 200, Staged: 200, Ask: league.Ask{Count: 250}}, from: cutoff, to: anchor, start: 200, ask: 50,
		},
	} {
		c.run.Anchor = anchor
		q := in.query(c.run)
		if !q.StartTime.Equal(c.from) || !q.EndTime.Equal(c.to) || q.Start != c.start || q.Count != c.ask {
			t.Errorf("%s: %+v", name, q)
		}
		if got := in.hasOldPart(c.run); got != c.old {
			t.Errorf("%s: old part %v", name, got)
		}
	}
	off := New(Options{})
	if q := off.query(league.Run{Anchor: anchor}); !q.StartTime.IsZero() || off.hasOldPart(league.Run{Anchor: anchor}) {
		t.Errorf("retention off: %+v", q)
	}
}

// ids are match ids, the highest number first.
func ids(from, to int) (list []string) {
	for n := from; n >= to; n-- {
		list = append(list, fmt.Sprintf("EUW1_%d", n))
	}
	return list
}

func stagedOf(list []string) (s []league.Staged) {
	for _, id := range list {
		s = append(s, league.Staged{ID: id})
	}
	return s
}

func TestReadPage(t *testing.T) {
	known := league.Coverage{Head: "EUW1_150", ReachedEnd: true, Timelines: league.TimelinesAll}
	all := league.Ask{Timelines: league.TimelinesAll}
	for name, c := range map[string]struct {
		run    league.Run
		staged []string // of list 0
		known  league.Coverage
		page   []string
		asked  int
		fresh  int
		joined bool
		end    bool
	}{
		"full page":           {run: league.Run{Ask: all}, page: ids(300, 201), asked: 100, fresh: 100},
		"short page":          {run: league.Run{Ask: all}, page: ids(300, 222), asked: 100, fresh: 79},
		"empty page":          {run: league.Run{Ask: all}, asked: 100, end: true},
		"shifted":             {run: league.Run{Ask: all}, staged: ids(300, 201), page: ids(203, 104), asked: 100, fresh: 97},
		"nothing new":         {run: league.Run{Ask: all}, staged: ids(300, 201), page: ids(300, 201), asked: 100, end: true},
		"meets the range":     {run: league.Run{Ask: all}, known: known, page: ids(200, 101), asked: 100, fresh: 100, joined: true, end: true},
		"forced":              {run: league.Run{Ask: league.Ask{Force: true, Timelines: league.TimelinesAll}}, known: known, page: ids(200, 101), asked: 100, fresh: 100},
		"range too short":     {run: league.Run{Ask: all}, known: league.Coverage{Head: "EUW1_150", Floor: noon, Timelines: league.TimelinesAll}, page: ids(200, 101), asked: 100, fresh: 100},
		"range long enough":   {run: league.Run{Ask: league.Ask{Floor: noon.Add(time.Hour), Timelines: league.TimelinesAll}}, known: league.Coverage{Head: "EUW1_150", Floor: noon, Timelines: league.TimelinesAll}, page: ids(200, 101), asked: 100, fresh: 100, joined: true, end: true},
		"range had no others": {run: league.Run{Ask: all}, known: league.Coverage{Head: "EUW1_150", ReachedEnd: true, Timelines: league.TimelinesNone}, page: ids(200, 101), asked: 100, fresh: 100},
		"newest 20":           {run: league.Run{Ask: league.Ask{Count: 20}}, page: ids(300, 281), asked: 20, fresh: 20, end: true},
		"newest 20, known":    {run: league.Run{Ask: league.Ask{Count: 20}}, known: known, page: ids(160, 141), asked: 20, fresh: 20, joined: true, end: true},
		"beyond retention":    {run: league.Run{Ask: all, OldPart: true}, known: known, page: ids(200, 101), asked: 100, fresh: 100},
		"unreadable ids":      {run: league.Run{Ask: all}, page: append(ids(300, 202), "XX9_1"), asked: 100, fresh: 100},
		"latest, a hole":      {run: league.Run{Ask: league.Ask{Mode: ModeLatest, Count: 20}}, known: known, page: ids(300, 281), asked: 20, fresh: 20},
		"latest, first time":  {run: league.Run{Ask: league.Ask{Mode: ModeLatest, Count: 20}}, page: ids(300, 281), asked: 20, fresh: 20, end: true},
		"latest, joined":      {run: league.Run{Ask: league.Ask{Mode: ModeLatest, Count: 20}}, known: known, page: ids(155, 136), asked: 20, fresh: 20, joined: true, end: true},
		"read whole":          {run: league.Run{Ask: league.Ask{Whole: true, Timelines: league.TimelinesAll}}, known: known, page: ids(200, 101), asked: 100, fresh: 100},
		"without an end":      {run: league.Run{Ask: all, Staged: maxListed - 100}, page: ids(200, 101), asked: 100, fresh: 100, end: true},
		"mingled":             {run: league.Run{Ask: all, OldPart: true}, staged: ids(200, 101), page: ids(150, 51), asked: 100, fresh: 50, end: true},
		"named by another":    {run: league.Run{Ask: all, OldPart: true, List: 1}, staged: ids(200, 101), page: ids(150, 51), asked: 100, fresh: 50},
	} {
		p := read(c.run, stagedOf(c.staged), c.known, c.page, c.asked)
		if p.fresh != c.fresh || p.joined != c.joined || p.end != c.end {
			t.Errorf("%s: %d fresh, joined %v, end %v", name, p.fresh, p.joined, p.end)
		}
	}
}

// B-19c: behind as many ids as are known a page must be empty: one that repeats them has the list read once more
// from its head, to its end, and only then its end cannot be proven.
func TestB19c_LookOn(t *testing.T) {
	staged := stagedOf(ids(300, 51)) // 250
	for name, c := range map[string]struct {
		start int
		again bool
		page  []string
		more  bool
		next  int // where the next page begins, if any
		says  string
	}{
		"empty":                  {start: 250},
		"repeats":                {start: 250, page: ids(60, 51), more: true},
		"repeats, the head":      {again: true, page: ids(300, 201), more: true, next: 100},
		"repeats, at the end":    {start: 250, again: true, page: ids(60, 51), more: true, next: 260},
		"repeats, behind it":     {start: 251, again: true, page: ids(60, 51), says: "repeats its pages"},
		"fewer than before":      {start: 249, again: true, says: "250 ids, and later fewer"},
		"has grown":              {start: 250, page: ids(50, 41), more: true, next: 260},
		"has grown without end":  {start: 250, page: ids(-1, -maxListed+250), says: "no end"},
		"has grown, all but one": {start: 250, page: ids(-2, -maxListed+250), more: true, next: 350},
	} {
		run := league.Run{Ends: 1, Looks: 1, Start: c.start, Again: c.again}
		pg := read(run, staged, league.Coverage{}, c.page, pageSize)
		next, more := lookOn(run, staged, pg)
		if more != c.more || more && next.Start != c.next || (c.says == "") != (next.Error == "") || !strings.Contains(next.Error, c.says) {
			t.Errorf("%s: more %v from %d, %q", name, more, next.Start, next.Error)
		}
	}
}

// listings are a store of one account's listing, which says of each match when it was played.
type listings struct {
	Store
	had    league.CachedIDs
	played map[string]time.Time
	kept   *league.CachedIDs
}

func (l *listings) CachedIDs(engine.Tx, string, string) (league.CachedIDs, bool, error) {
	return l.had, true, nil
}

func (l *listings) CacheIDs(_ engine.Tx, _, _ string, c league.CachedIDs) error {
	l.kept = &c
	return nil
}

func (l *listings) Match(_ engine.Tx, id string) (league.Match, error) {
	at, ok := l.played[id]
	if !ok {
		return league.Match{}, engine.ErrNotFound
	}
	return league.Match{ID: id, Played: at}, nil
}

// B-19c: a page is taken out of an earlier listing only where that surely names what Riot would.
func TestB19c_SlicesOfAListing(t *testing.T) {
	month, older := noon.AddDate(0, -1, 0), noon.AddDate(0, -2, 0)
	recent := map[string]time.Time{"EUW1_201": noon}
	for name, c := range map[string]struct {
		run    league.Run
		floor  time.Time // of the listing
		played map[string]time.Time
		sliced bool
	}{
		"as it was listed":                {sliced: true},
		"the second page, which it lacks": {run: league.Run{Start: 100}},
		"asked for once more":             {run: league.Run{Again: true}},
		"a look":                          {run: league.Run{Looks: 1}},
		"read whole":                      {run: league.Run{Ask: league.Ask{Whole: true}}},
		"forced":                          {run: league.Run{Ask: league.Ask{Force: true}}},
		"beyond retention":                {run: league.Run{OldPart: true}},
		"listed later":                    {run: league.Run{Anchor: noon.Add(-time.Second)}},
		"listed too long ago":             {run: league.Run{Anchor: noon.Add(idsTTL + time.Second)}},
		"the last is recent":              {run: league.Run{Ask: league.Ask{Floor: month}}, floor: older, played: recent, sliced: true},
		"the last is too old":             {run: league.Run{Ask: league.Ask{Floor: month}}, floor: older, played: map[string]time.Time{"EUW1_201": older}},
		"the last has no date":            {run: league.Run{Ask: league.Ask{Floor: month}}, floor: older, played: map[string]time.Time{"EUW1_201": {}}},
		"the last is not known":           {run: league.Run{Ask: league.Ask{Floor: month}}, floor: older},
	} {
		if c.run.Anchor.IsZero() {
			c.run.Anchor = noon
		}
		in := &ranges{means{opt: &Options{}, store: &listings{
			had: league.CachedIDs{At: noon, Floor: c.floor, IDs: ids(300, 201)}, played: c.played,
		}}}
		p := pass{run: c.run, account: league.Account{PUUIDs: map[string]string{"": "p"}}}
		if err := in.loadSlice(nil, &p); err != nil || p.sliced != c.sliced || c.sliced && len(p.slice) != 100 {
			t.Errorf("%s: sliced %v, %d ids, %v", name, p.sliced, len(p.slice), err)
		}
	}
}

// B-19c: a listing keeps no page that does not go on where it ended.
func TestB19c_AListingHasNoHole(t *testing.T) {
	first := league.CachedIDs{At: noon, IDs: ids(300, 201)}
	for name, c := range map[string]struct {
		had   league.CachedIDs
		start int
		page  []string
		kept  int // -1 = as it was
	}{
		"the first page":                   {page: ids(300, 201), kept: 100},
		"the second":                       {had: first, start: 100, page: ids(200, 101), kept: 200},
		"the end":                          {had: first, start: 100, kept: 100},
		"the third":                        {had: first, start: 200, page: ids(100, 1), kept: -1},
		"the second, shifted":              {had: first, start: 97, page: ids(200, 101), kept: -1},
		"the second of another run's list": {had: league.CachedIDs{At: noon.Add(-time.Minute), IDs: first.IDs}, start: 100, page: ids(200, 101), kept: -1},
	} {
		store := &listings{}
		in := &ranges{means{opt: &Options{}, store: store}}
		pg := page{raw: c.page, asked: riot.MatchIDsQuery{Start: c.start, Count: pageSize}}
		if err := in.keepIDs(nil, league.Run{Anchor: noon}, c.had, pg); err != nil {
			t.Fatal(err)
		}
		switch k := store.kept; {
		case c.kept < 0 && k == nil:
		case c.kept < 0 || k == nil || len(k.IDs) != c.kept || k.Whole != (len(c.page) == 0) || !k.At.Equal(noon):
			t.Errorf("%s: %+v", name, k)
		}
	}
}

// B-1c: which asks read a list whole again, and how far down.
func TestB1c_Relist(t *testing.T) {
	every := 7 * 24 * time.Hour
	walked, floor := now().Add(-2*every), now().AddDate(0, -1, 0)
	for name, c := range map[string]struct {
		known league.Coverage
		ask   league.Ask
		whole bool
		floor time.Time
	}{
		"nothing is known":      {ask: league.Ask{Mode: ModeFull}},
		"walked just now":       {known: league.Coverage{Head: "EUW1_1", Walked: now(), ReachedEnd: true}, ask: league.Ask{Mode: ModeFull}},
		"known to its end":      {known: league.Coverage{Head: "EUW1_1", Walked: walked, ReachedEnd: true}, ask: league.Ask{Mode: ModeLatest, Count: 20, Floor: floor}, whole: true},
		"known down to before":  {known: league.Coverage{Head: "EUW1_1", Walked: walked, Floor: floor.AddDate(-1, 0, 0)}, ask: league.Ask{Mode: ModeLatest, Floor: floor}, whole: true, floor: floor.AddDate(-1, 0, 0)},
		"known down to later":   {known: league.Coverage{Head: "EUW1_1", Walked: walked, Floor: floor.Add(time.Hour)}, ask: league.Ask{Mode: ModeLatest, Floor: floor}, whole: true, floor: floor},
		"the newest few":        {known: league.Coverage{Head: "EUW1_1", Walked: walked, ReachedEnd: true}, ask: league.Ask{Mode: ModeFull, Count: 20}},
		"of before it was kept": {known: league.Coverage{Head: "EUW1_1", HeadAt: now(), ReachedEnd: true}, ask: league.Ask{Mode: ModeFull}, whole: true},
	} {
		in := &ranges{means{opt: &Options{Relist: every}}}
		got, err := in.relist(nil, league.Account{ID: "a", Coverage: c.known}, c.ask)
		want := c.ask
		if c.whole {
			want.Whole, want.Count, want.Floor = true, 0, c.floor
		}
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestS1_13_Cover(t *testing.T) {
	old := league.Coverage{Head: "EUW1_150", Floor: noon, Timelines: league.TimelinesRanked}
	anchor := noon.AddDate(1, 0, 0)
	floor := noon.AddDate(0, 6, 0)
	all := league.Ask{Timelines: league.TimelinesAll}
	in := New(Options{Matches: league.Span{Years: 1}})
	for name, c := range map[string]struct {
		ask    league.Ask
		listed []league.Staged
		ends   int
		want   league.Coverage
	}{
		"nothing listed": {ask: all, want: old},
		"everything": {
			ask: all, listed: stagedOf(ids(300, 1)), ends: 1,
			want: league.Coverage{Head: "EUW1_300", HeadAt: anchor, ReachedEnd: true, Timelines: league.TimelinesAll, Walked: anchor},
		},
		"down to a floor": {
			ask: league.Ask{Floor: floor, Timelines: league.TimelinesAll}, listed: stagedOf(ids(300, 200)), ends: 1,
			want: league.Coverage{Head: "EUW1_300", HeadAt: anchor, Floor: floor, Timelines: league.TimelinesAll, Walked: anchor},
		},
		"joined": {
			ask: all, listed: stagedOf(ids(300, 101)),
			want: league.Coverage{Head: "EUW1_300", HeadAt: anchor, Floor: noon, Timelines: league.TimelinesRanked},
		},
		"newest 20 leave a hole": {ask: league.Ask{Count: 20}, listed: stagedOf(ids(300, 281)), want: old},
		"newest 200 leave none": {
			ask: league.Ask{Count: 200, Timelines: league.TimelinesNone}, listed: stagedOf(ids(300, 101)),
			want: league.Coverage{Head: "EUW1_300", HeadAt: anchor, Floor: noon, Timelines: league.TimelinesNone},
		},
		"newest 400, of which 150 are within retention": {
			ask: league.Ask{Count: 400, Timelines: league.TimelinesAll}, listed: stagedOf(ids(300, 151)), ends: 1,
			want: league.Coverage{Head: "EUW1_300", HeadAt: anchor, Floor: noon, Timelines: league.TimelinesAll, Walked: anchor},
		},
		"all beyond retention": {
			ask: all, listed: []league.Staged{{ID: "EUW1_9", TooOld: true}, {ID: "EUW1_8", TooOld: true}}, ends: 1,
			want: league.Coverage{Head: "EUW1_9", HeadAt: anchor, ReachedEnd: true, Timelines: league.TimelinesAll, Walked: anchor},
		},
	} {
		if got := in.cover(old, league.Run{Ask: c.ask, Anchor: anchor, Ends: c.ends}, c.listed, 0); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// world is a player of one game in some of the hours, every third of another queue, and what was listed.
type world struct {
	*rapid.T
	in     *Ingest
	hours  []bool // played
	known  []league.Coverage
	listed map[string]bool
}

func listOfGame(n int) int { return min(n%3, 1) }

func playedAt(game int) time.Time { return noon.Add(time.Duration(game) * time.Hour) }

// answer is what Riot lists, newest first.
func (w *world) answer(q riot.MatchIDsQuery) (page []string) {
	for n := len(w.hours); n > 0; n-- {
		at := playedAt(n)
		if w.hours[n-1] && (q.Queue == 0 || q.Queue == 420+listOfGame(n)) && !at.Before(q.StartTime) && !at.After(q.EndTime) {
			page = append(page, fmt.Sprintf("EUW1_%d", n))
		}
	}
	return page[min(q.Start, len(page)):min(q.Start+q.Count, len(page))]
}

// page reads the next one, and stages it as the store does.
func (w *world) page(run league.Run, staged *[]league.Staged) page {
	q := w.in.query(run)
	pg := read(run, *staged, w.known[run.List], w.answer(q), q.Count)
	pg.asked = q
	for _, s := range pg.ids {
		if !slices.ContainsFunc(*staged, func(was league.Staged) bool { return was.ID == s.ID }) {
			*staged = append(*staged, s)
		}
	}
	return pg
}

// sync is one run, which also looks behind the ends of its lists.
func (w *world) sync(run league.Run) (staged []league.Staged) {
	for more := true; more; {
		pg := w.page(run, &staged)
		if pg.fresh != len(pg.raw) {
			w.Fatalf("from %d on %d of %d ids were listed before", run.Start, len(pg.raw)-pg.fresh, len(pg.raw))
		}
		run, more = w.in.after(run, pg)
	}
	looks, want := 0, 0
	for i := range w.known {
		if run.Ends&(1<<i) != 0 {
			want += 1 + min(countOf(staged, i, true), 1)
		}
	}
	run.Looks = 1
	for more := lookAt(&run, staged, 0); more; looks++ {
		before := len(staged)
		pg := w.page(run, &staged)
		had := 0 // of this list
		for _, s := range staged {
			if s.List == run.List && s.TooOld == run.OldPart {
				had++
			}
		}
		if len(staged) > before || len(pg.raw) > 0 || pg.asked.Start != had || pg.asked.Count != pageSize {
			w.Fatalf("behind %d of list %d, old %v: asked %+v, got %v", had, run.List, run.OldPart, pg.asked, pg.raw)
		}
		run, more = lookOn(run, staged, pg)
	}
	if run.Error != "" || looks != want {
		w.Fatalf("after %d of %d looks: %s", looks, want, run.Error)
	}
	for i := range w.known {
		w.known[i] = w.in.cover(w.known[i], run, ofList(staged, i), i)
	}
	return staged
}

// Whatever runs come one after another, of one list or two, within retention and beyond it: listing stops at a
// known id only if everything older inside the ask has been listed before, no page names what another has, and
// what a range says to be complete is.
func TestS1_13_B19c_NoSequenceOfRunsLeavesAHole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ask := league.Ask{Timelines: league.TimelinesAll, Filter: rapid.SampledFrom([]league.Filter{"", "queue=420,421"}).Draw(t, "filter")}
		lists := ask.Filter.Lists()
		w := &world{T: t, listed: map[string]bool{}, known: make([]league.Coverage, len(lists)),
			in: New(Options{Matches: league.Span{Days: rapid.SampledFrom([]int{0, 5, 10}).Draw(t, "days")}})}
		for range rapid.IntRange(1, 6).Draw(t, "runs") {
			w.hours = append(w.hours, slices.Repeat([]bool{true}, rapid.IntRange(0, 450).Draw(t, "new games"))...)
			w.hours = append(w.hours, make([]bool, rapid.SampledFrom([]int{0, 0, 100, 300}).Draw(t, "idle"))...)
			ask.Count = rapid.SampledFrom([]int{0, 0, 1, 20, 150}).Draw(t, "count")
			ask.Floor = time.Time{}
			if ask.Count == 0 && rapid.Bool().Draw(t, "since") {
				ask.Floor = playedAt(len(w.hours) - rapid.IntRange(0, 300).Draw(t, "games since"))
			}
			run := league.Run{Ask: ask, Anchor: playedAt(len(w.hours)).Add(time.Minute)}
			staged := w.sync(run)
			for _, s := range staged {
				w.listed[s.ID] = true
			}
			within := make([]int, len(lists)) // of each list
			for n := len(w.hours); n > 0; n-- {
				if !w.hours[n-1] {
					continue
				}
				list, id, at := listOfGame(n)*(len(lists)-1), fmt.Sprintf("EUW1_%d", n), playedAt(n)
				if !at.Before(w.in.cutoff(run)) {
					within[list]++
				}
				if ask.Count == 0 && !at.Before(ask.Floor) && !w.listed[id] {
					t.Fatalf("%s was never listed: %+v", id, w.known)
				}
				c := w.known[list]
				if c.Head != "" && !w.listed[id] && !at.After(c.HeadAt) && (c.ReachedEnd || !at.Before(c.Floor)) {
					t.Fatalf("%s was never listed, within %+v", id, c)
				}
			}
			for i := range lists {
				if got := len(ofList(staged, i)); ask.Count > 0 && got != min(ask.Count, within[i]) {
					t.Fatalf("newest %d of %d of list %d: listed %d", ask.Count, within[i], i, got)
				}
			}
		}
	})
}
