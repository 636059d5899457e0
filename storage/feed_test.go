package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
)

// fed reads a feed to its end in pages of the given size.
func fed(t rapid.TB, db *DB, kind engine.FeedKind, after string, limit int) (rows []engine.FeedRow, next string) {
	t.Helper()
	for {
		page, err := db.Feed(context.Background(), engine.FeedQuery{Kind: kind, Page: engine.Page{After: after, Limit: limit}})
		if err != nil {
			t.Fatalf("%s after %q: %v", kind, after, err)
		}
		if limit > 0 && len(page.Rows) > limit || page.More && page.Next == after || after != "" && page.Rows != nil && page.Rows[0].Cursor == after {
			t.Fatalf("%s after %q: a page of %d rows of %d, more: %t", kind, after, len(page.Rows), limit, page.More)
		}
		rows, after = append(rows, page.Rows...), page.Next
		if !page.More {
			return rows, after
		}
	}
}

// bare is what a row says, without its place.
func bare(r engine.FeedRow) string {
	switch {
	case r.Match != nil:
		return fmt.Sprintf("%+v", *r.Match)
	case r.Timeline != nil:
		return fmt.Sprintf("%+v", *r.Timeline)
	case r.Seat != nil:
		return seatText(*r.Seat)
	case r.Rank != nil:
		return fmt.Sprintf("%+v", *r.Rank)
	case r.Job != nil:
		return fmt.Sprintf("%s %s %d", r.Job.ID, r.Job.State, r.Job.Rev)
	}
	return "corrupt " + r.ID
}

func bares(rows []engine.FeedRow) (list []string) {
	for _, r := range rows {
		list = append(list, bare(r))
	}
	return list
}

func seatsFor(match string, n, seed int) (ps []league.Participant) {
	for i := range n {
		ps = append(ps, league.Participant{Match: match, Index: i, PUUID: "BOT", RiotID: fmt.Sprint("bot ", seed), Kills: i})
	}
	return ps
}

func seatText(r engine.SeatRow) string {
	text, err := json.Marshal(r)
	return fmt.Sprint(string(text), err)
}

// placed is one item of a feed's model: its rows, which move together.
type placed struct {
	id   string
	rows []string
}

// feedOrder is the model of one feed: what changes goes to the end.
type feedOrder []placed

func (o *feedOrder) set(id string, rows ...string) {
	at := slices.IndexFunc(*o, func(p placed) bool { return p.id == id })
	if at >= 0 && slices.Equal((*o)[at].rows, rows) {
		return
	}
	o.drop(id)
	*o = append(*o, placed{id, rows})
}

func (o *feedOrder) drop(id string) {
	*o = slices.DeleteFunc(*o, func(p placed) bool { return p.id == id })
}

func (o feedOrder) flat() (rows []string) {
	for _, p := range o {
		rows = append(rows, p.rows...)
	}
	return rows
}

// feedModel is what the feeds of a store must say, and one consumer that reads on from time to time and only appends.
type feedModel struct {
	db    *DB
	ref   league.PayloadRef
	feeds map[engine.FeedKind]*feedOrder
	jobs  []engine.Job
	read  map[engine.FeedKind]string            // the consumer's cursors
	kept  map[engine.FeedKind]map[string]string // what it has, by match and seat: the last line wins
}

// saveMatch moves one match at random; a move that is not legal changes nothing.
func (m *feedModel) saveMatch(rt *rapid.T) {
	id := fmt.Sprintf("EUW1_%d", rapid.IntRange(0, 6).Draw(rt, "match"))
	f := func(part string) league.Fetch {
		return league.Fetch{
			Status: league.Status(rapid.IntRange(0, 4).Draw(rt, part)), Ref: m.ref,
			Attempts: rapid.IntRange(0, 1).Draw(rt, part+" attempts"), LastError: rapid.SampledFrom([]string{"", "503"}).Draw(rt, part+" error"),
		}
	}
	row := league.Match{ID: id, Match: f("match"), Timeline: f("timeline"), Played: noon}
	if row.Timeline.Status == league.Unfetched {
		row.Timeline = league.Fetch{}
	}
	operator := rapid.Bool().Draw(rt, "operator")
	err := m.db.Write(context.Background(), func(tx engine.Tx) error { return m.db.SaveMatch(tx, row, operator) })
	if errors.Is(err, engine.ErrRefused) {
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	m.feeds[engine.FeedMatches].set(id, fmt.Sprintf("%+v", engine.MatchRow{
		ID: id, Status: row.Match.Status.String(), Timeline: row.Timeline.Status.String(), Attempts: row.Match.Attempts,
		LastError: row.Match.LastError, Played: noon,
	}))
	line := fmt.Sprintf("%+v", engine.TimelineRow{
		Match: id, Status: row.Timeline.Status.String(), Attempts: row.Timeline.Attempts, LastError: row.Timeline.LastError,
		Played: noon,
	})
	timelines := m.feeds[engine.FeedTimelines]
	listed := slices.ContainsFunc(*timelines, func(p placed) bool { return p.id == id })
	if listed || row.Timeline.Status != league.Unfetched {
		timelines.set(id, line)
	}
}

func (m *feedModel) saveSeats(rt *rapid.T) {
	id := fmt.Sprintf("EUW1_%d", rapid.IntRange(0, 6).Draw(rt, "seats of"))
	ps := seatsFor(id, rapid.IntRange(1, 5).Draw(rt, "seats"), rapid.IntRange(0, 1).Draw(rt, "names"))
	err := m.db.Write(context.Background(), func(tx engine.Tx) error { return m.db.SaveParticipants(tx, id, ps) })
	if errors.Is(err, engine.ErrNotFound) {
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	var rows []string
	for _, p := range ps {
		rows = append(rows, seatText(engine.SeatRow{Match: id, Index: p.Index, PUUID: p.PUUID, RiotID: p.RiotID, Kills: p.Kills, Won: new(false), Played: noon}))
	}
	m.feeds[engine.FeedParticipants].set(id, rows...)
}

// moveJob ends a job, or lets an operator run an ended one again.
func (m *feedModel) moveJob(rt *rapid.T) {
	at := rapid.IntRange(0, len(m.jobs)-1).Draw(rt, "job")
	j := &m.jobs[at]
	j.Rev++
	j.State = rapid.SampledFrom([]engine.State{engine.Available, engine.Completed, engine.Discarded}).Draw(rt, "state")
	if err := m.db.Write(context.Background(), func(tx engine.Tx) error { return m.db.SaveJob(tx, *j) }); err != nil {
		rt.Fatal(err)
	}
	ended := m.feeds[engine.FeedJobs]
	if j.State.Live() {
		ended.drop(string(j.ID))
		return
	}
	ended.set(string(j.ID), fmt.Sprintf("%s %s %d", j.ID, j.State, j.Rev))
}

// verify compares every feed with the model, from its beginning and from every place.
func (m *feedModel) verify(rt *rapid.T) {
	for kind, o := range m.feeds {
		want := o.flat()
		all, end := fed(rt, m.db, kind, "", rapid.IntRange(1, 9).Draw(rt, "limit"))
		if got := bares(all); !slices.Equal(got, want) {
			rt.Fatalf("%s:\n%q, want\n%q", kind, got, want)
		}
		for i, r := range all {
			rest, last := fed(rt, m.db, kind, r.Cursor, rapid.IntRange(1, 9).Draw(rt, "limit"))
			if got := bares(rest); !slices.Equal(got, want[i+1:]) || last != end {
				rt.Fatalf("%s after %s: %q up to %s, want %q up to %s", kind, r.Cursor, got, last, want[i+1:], end)
			}
		}
		m.consume(rt, kind, all)
	}
}

// consume lets the consumer read on: with what it has from before it must have all that there is.
func (m *feedModel) consume(rt *rapid.T, kind engine.FeedKind, all []engine.FeedRow) {
	news, next := fed(rt, m.db, kind, m.read[kind], 3)
	m.read[kind] = next
	for _, r := range news {
		m.kept[kind][seatID(r)] = bare(r)
	}
	for _, r := range all {
		if m.kept[kind][seatID(r)] != bare(r) {
			rt.Fatalf("%s: the consumer has %q, there is %q", kind, m.kept[kind][seatID(r)], bare(r))
		}
	}
	if again, _ := fed(rt, m.db, kind, next, 3); len(again) != 0 {
		rt.Fatalf("%s: nothing changed, but %q comes again", kind, bares(again))
	}
}

func seatID(r engine.FeedRow) string {
	if r.Seat != nil {
		return fmt.Sprint(r.ID, "/", r.Seat.Index)
	}
	return r.ID
}

// TestFeedsAreADurableOrder settles and changes items at random. After every few moves: each item stands once, at the place
// of its last change; after any cursor comes exactly the rest; and who only reads on has everything.
func TestFeedsAreADurableOrder(t *testing.T) {
	db := start(t, "")
	ref, body := gzipped("{}")
	for i := range 7 {
		for _, part := range []league.Part{league.PartMatch, league.PartTimeline} {
			must(t, db.PutPayload(context.Background(), fmt.Sprintf("EUW1_%d", i), part, ref, body))
		}
	}
	m := &feedModel{db: db, ref: ref, feeds: map[engine.FeedKind]*feedOrder{}, read: map[engine.FeedKind]string{}, kept: map[engine.FeedKind]map[string]string{}}
	for _, f := range feedList {
		if f.from == nil {
			m.feeds[f.kind], m.kept[f.kind] = &feedOrder{}, map[string]string{}
		}
	}
	for range 4 {
		m.jobs = append(m.jobs, enqueue(t, db, engine.Spec{Kind: "k", Queue: "q"}))
	}
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 8).Draw(rt, "moves") {
			rapid.SampledFrom([]func(*rapid.T){m.saveMatch, m.saveMatch, m.saveSeats, m.moveJob}).Draw(rt, "move")(rt)
		}
		m.verify(rt)
	})
}

func TestS4_9_ARepeatedRunChangesNothing(t *testing.T) {
	dir := world(t)
	db := start(t, dir)
	m := league.Match{ID: "EUW1_3", Played: noon.Add(time.Microsecond), Match: league.Fetch{Status: league.TemporaryFailure, Attempts: 1, LastAttemptAt: noon.Add(time.Nanosecond)}}
	save := func() {
		write(t, db, func(tx engine.Tx) error {
			return errors.Join(db.SaveMatch(tx, m, false), db.SaveParticipants(tx, m.ID, seatsFor(m.ID, 10, 1)))
		})
	}
	read := func() (all [][]engine.FeedRow) {
		for _, f := range feedList {
			rows, _ := fed(t, db, f.kind, "", 0)
			all = append(all, rows)
		}
		return all
	}
	save()
	first := read()
	save()
	if again := read(); !reflect.DeepEqual(again, first) {
		t.Errorf("the second run moved something:\n%+v\n%+v", again, first)
	}
	seats, _ := fed(t, db, engine.FeedParticipants, "", 0)
	seen := map[string]bool{}
	for _, r := range seats {
		id := seatID(r)
		if seen[id] {
			t.Errorf("%s stands twice", id)
		}
		seen[id] = true
	}
	if !seen["EUW1_3/9"] || len(seen) != 11 {
		t.Errorf("seats %v", seen)
	}
	// An archived payload is the same payload; another one under the same name is not.
	match := func(change func(*league.Match)) (moved bool) {
		_, end := fed(t, db, engine.FeedMatches, "", 0)
		write(t, db, func(tx engine.Tx) error {
			m, err := db.Match(tx, "EUW1_1")
			change(&m)
			return errors.Join(err, db.SaveMatch(tx, m, false))
		})
		rows, _ := fed(t, db, engine.FeedMatches, end, 0)
		return len(rows) == 1 && rows[0].ID == "EUW1_1"
	}
	if match(func(m *league.Match) { m.Match.Ref.Size-- }) {
		t.Error("a payload that is stored otherwise moved its match")
	}
	ref, body := gzipped(`{"metadata":{},"info":{}}`)
	must(t, db.PutPayload(context.Background(), "EUW1_1", league.PartMatch, ref, body))
	if !match(func(m *league.Match) { m.Match.Ref = ref }) {
		t.Error("another payload moved nothing")
	}
	if !match(func(m *league.Match) { m.QueueID++ }) {
		t.Error("a change of what is shown moved nothing")
	}
}

func TestAFeedIsTheSameAfterARestart(t *testing.T) {
	dir := world(t)
	db, err := Open(Options{Dir: dir})
	must(t, err)
	stop := serve(t, db)
	var ends []string
	for _, f := range feedList {
		_, end := fed(t, db, f.kind, "", 1)
		ends = append(ends, end)
	}
	db = reopen(t, db, stop)
	stop = serve(t, db)
	defer func() { stop(); must(t, db.Close()) }()
	j := move(t, db, enqueue(t, db, engine.Spec{Kind: "k", Queue: "q"}), engine.Completed)
	for i, f := range feedList {
		rows, _ := fed(t, db, f.kind, ends[i], 0)
		if want := f.kind == engine.FeedJobs; (len(rows) == 1 && rows[0].ID == string(j.ID)) != want || !want && len(rows) > 0 {
			t.Errorf("%s: %+v", f.kind, rows)
		}
	}
}

func TestFeedPagesAtTheirEdges(t *testing.T) {
	db := start(t, "")
	total := engine.LargestPage + 3
	write(t, db, func(tx engine.Tx) error {
		var errs []error
		for i := range total {
			m := league.Match{ID: fmt.Sprintf("EUW1_%d", i)}
			errs = append(errs, db.SaveMatch(tx, m, false))
		}
		for i := range 3 {
			id := fmt.Sprintf("EUW1_%d", i)
			errs = append(errs, db.SaveParticipants(tx, id, seatsFor(id, 4*i, 0))) // 0, 4 and 8 seats
		}
		_, err := tx.Enqueue(make([]engine.Spec, total)...)
		return errors.Join(append(errs, err)...)
	})
	for kind, want := range map[engine.FeedKind]int{engine.FeedMatches: total, engine.FeedLive: total, engine.FeedParticipants: 12, engine.FeedJobs: 0} {
		whole, end := fed(t, db, kind, "", 0)
		for _, limit := range []int{1, 3, 4, 5, 8, 12, 100, engine.LargestPage, engine.LargestPage + 1, 10 * engine.LargestPage} {
			rows, last := fed(t, db, kind, "", min(limit, engine.LargestPage))
			if len(rows) != want || !reflect.DeepEqual(rows, whole) || last != end {
				t.Errorf("%s in pages of %d: %d rows up to %s, want %d up to %s", kind, limit, len(rows), last, want, end)
			}
		}
	}
}

func TestACursorMustBeOneOfThisFeed(t *testing.T) {
	db := start(t, world(t))
	other := start(t, world(t))
	seats, _ := fed(t, db, engine.FeedParticipants, "", 0)
	matches, end := fed(t, db, engine.FeedMatches, "", 0)
	foreign, _ := fed(t, other, engine.FeedMatches, "", 0)
	mine := end[len(end)-8:]
	for kind, cursors := range map[engine.FeedKind][]string{
		engine.FeedMatches: {
			"EUW1_1", "m", "m1", "-", "m-" + mine, "m-1-" + mine, "m01-" + mine, "m+1-" + mine, "m1.1-" + mine, "m1.-" + mine, end + " ", "m1-" + mine[1:],
			"m18446744073709551615-" + mine, "m9999-" + mine, seats[0].Cursor, foreign[0].Cursor, "\x1b[31m", "=1+1",
		},
		engine.FeedParticipants: {matches[0].Cursor, "p1.0-" + mine, "p1.-1-" + mine, "p1.99999999999999999999-" + mine},
		engine.FeedLive:         {"l9999-" + mine, end},
		"nothing":               {""},
	} {
		for _, cursor := range cursors {
			page, err := db.Feed(context.Background(), engine.FeedQuery{Kind: kind, Page: engine.Page{After: cursor}})
			p, ok := errors.AsType[*engine.Problem](err)
			if !ok || !errors.Is(err, engine.ErrInvalid) || len(page.Rows) > 0 || p.Sentence == "" {
				t.Errorf("%s after %q: %+v %v", kind, cursor, page, err)
			}
		}
	}
}

func TestACursorIsOfNoUseAfterARestore(t *testing.T) {
	db := start(t, world(t))
	rows, _ := fed(t, db, engine.FeedMatches, "", 0)
	write(t, db, func(tx engine.Tx) error { return own(tx).PutInstant(tMeta, metaRestored, noon) })
	_, err := db.Feed(context.Background(), engine.FeedQuery{Kind: engine.FeedMatches, Page: engine.Page{After: rows[0].Cursor}})
	if !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), "put back") {
		t.Errorf("got %v", err)
	}
	if again, _ := fed(t, db, engine.FeedMatches, "", 0); !slices.Equal(bares(again), bares(rows)) {
		t.Errorf("%v, want %v", bares(again), bares(rows))
	}
}

func TestP28_AFeedGoesOnBehindACorruptRecord(t *testing.T) {
	db, err := Open(Options{Dir: world(t)})
	must(t, err)
	stop := serve(t, db)
	defer func() { stop(); must(t, db.Close()) }()
	write(t, db, func(tx engine.Tx) error {
		for _, c := range []struct {
			tb *collection.Table
			k  []byte
		}{{tMatches.Table, []byte("EUW1_1")}, {tParticipants.Table, []byte("EUW1_1")}, {tArchive.Table, mustKey("a3")}, {tJobState.Table, mustKey("a1")}} {
			b := own(tx).Bucket(c.tb)
			v := bytes.Clone(b.Get(c.k))
			v[len(v)/2] ^= 0x40
			if err := b.Put(c.k, v); err != nil {
				return err
			}
		}
		own(tx).Dirty = true
		return nil
	})
	for kind, want := range map[engine.FeedKind][]string{
		engine.FeedMatches: {"EUW1_1 true", "EUW1_2 false"}, engine.FeedParticipants: {"EUW1_1 true"},
		engine.FeedJobs: {"a3 true"}, engine.FeedLive: {"a1 true", "a2 false"},
	} {
		rows, _ := fed(t, db, kind, "", 1)
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprint(r.ID, " ", r.Corrupt))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
}

func mustKey(id engine.JobID) []byte {
	k, err := jobKey(id)
	if err != nil {
		panic(err)
	}
	return k
}

func TestCheckFindsAFeedThatIsOff(t *testing.T) {
	for name, c := range map[string]struct {
		table string
		do    func(*txn) error
	}{
		"a match without a place":    {"matches", func(t *txn) error { return t.Remove(feedOf.Table, feedOfKey(tagMatches, "EUW1_2")) }},
		"a timeline without a place": {"matches", func(t *txn) error { return t.Remove(feedOf.Table, feedOfKey(tagTimelines, "EUW1_1")) }},
		"seats without a place":      {"participants", func(t *txn) error { return t.Remove(feedOf.Table, feedOfKey(tagParticipants, "EUW1_1")) }},
		"a second place":             {"feed", func(t *txn) error { return t.newPlace(tagMatches, "EUW1_1", 0) }},
		"a place of nothing": {"feed", func(t *txn) error {
			return tFeed.Put(t, feedKey(tagMatches, 99), &feedPlace{id: "EUW1_9"})
		}},
		"a way that leads nowhere":      {"feed_of", func(t *txn) error { return t.PutNumber(feedOf.Table, feedOfKey(tagMatches, "EUW1_1"), 99) }},
		"an ended job without a place":  {"feed", func(t *txn) error { return t.RemoveAll(tFeed.Table, []byte{tagJobs}) }},
		"an ended job with two of them": {"feed", func(t *txn) error { return t.newPlace(tagJobs, "a3", 2) }},
	} {
		dir := world(t)
		db, err := Open(Options{Dir: dir})
		must(t, err)
		stop := serve(t, db)
		write(t, db, func(tx engine.Tx) error {
			m, err := db.Match(tx, "EUW1_1")
			m.Timeline.Status = league.PermanentlyUnfetchable
			return errors.Join(err, db.SaveMatch(tx, m, false))
		})
		wantSound(t, db)
		write(t, db, func(tx engine.Tx) error { return c.do(own(tx)) })
		stop()
		must(t, db.Close())
		found := slices.ContainsFunc(check(t, dir).Findings, func(f Finding) bool { return f.Table == c.table })
		if !found {
			t.Errorf("%s: nothing found in %s: %+v", name, c.table, check(t, dir).Findings)
		}
	}
}

func TestRanksAreFedInTheOrderOfTheirStorage(t *testing.T) {
	db := start(t, "")
	saveAccount(t, db, account("01A", "A", "1"))
	day := func(n int) league.Rank {
		return league.Rank{Account: "01A", Queue: league.RankedSolo, At: noon.AddDate(0, 0, n), Tier: "GOLD", Division: "II", Points: n}
	}
	unsure := day(9)
	unsure.Unsure = true
	for _, r := range []league.Rank{day(5), day(1), unsure, day(3)} {
		write(t, db, func(tx engine.Tx) error { return db.SaveRank(tx, r) })
	}
	rows, end := fed(t, db, engine.FeedRanks, "", 2)
	var points []int
	for i, r := range rows {
		if r.ID != "01A" || r.Rank.RiotID != "A#1" {
			t.Errorf("row %d: %+v", i, r)
		}
		points = append(points, r.Rank.Points)
		rest, last := fed(t, db, engine.FeedRanks, r.Cursor, 1)
		if !slices.Equal(bares(rest), bares(rows[i+1:])) || last != end {
			t.Errorf("after %s: %v", r.Cursor, bares(rest))
		}
	}
	if !slices.Equal(points, []int{5, 1, 3}) {
		t.Errorf("order %v", points)
	}
}

func TestPrunedJobsLeaveTheirPlaces(t *testing.T) {
	db := start(t, "")
	var jobs []engine.Job
	for range 3 {
		j := enqueue(t, db, engine.Spec{Kind: "k", Queue: "q"})
		j.Finished = noon
		jobs = append(jobs, move(t, db, j, engine.Completed))
	}
	again := move(t, db, jobs[1], engine.Available) // its place does not count any more
	again.Finished = noon.AddDate(0, 0, 9)
	again = move(t, db, again, engine.Discarded)
	_, before := fed(t, db, engine.FeedJobs, "", 0)
	places := func() (n int) {
		read(t, db, func(tx *txn) error {
			for range tx.Rows(tFeed.Table, []byte{tagJobs}) {
				n++
			}
			return nil
		})
		return n
	}
	rule := engine.PruneAsk{Completed: time.Hour}
	for _, dryRun := range []bool{true, false} {
		if r, err := db.Prune(context.Background(), rule, noon.AddDate(0, 0, 1), dryRun); err != nil || r.Completed != 2 {
			t.Fatalf("%+v %v", r, err)
		}
		if got, want := places(), map[bool]int{true: 4, false: 1}[dryRun]; got != want {
			t.Errorf("dry run %t: %d places, want %d", dryRun, got, want)
		}
	}
	rows, end := fed(t, db, engine.FeedJobs, "", 0)
	if len(rows) != 1 || rows[0].ID != string(again.ID) || end != before {
		t.Errorf("%+v up to %s, was %s", rows, end, before)
	}
}
