package storage

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func account(id, name, tag string) league.Account {
	return league.Account{
		ID: id, GameName: name, TagLine: tag, Platform: "euw1", PUUIDs: map[string]string{"dev": "puuid-" + id}, Resolved: noon,
		Tracked: true, Tags: []string{"team"}, Policy: league.Policy{Queues: []int{420, 440}, Type: "ranked", Lookback: 720 * time.Hour, Timelines: league.TimelinesAll, Priority: 2},
		Status: "never", Coverage: league.Coverage{Head: "EUW1_9", HeadAt: noon, Floor: noon.Add(-time.Hour), ReachedEnd: true},
		Created: noon, Updated: noon, LastSync: noon, LastError: "x\u202e",
	}
}

func saveAccount(t testing.TB, db *DB, a league.Account) {
	t.Helper()
	write(t, db, func(tx engine.Tx) error { return db.SaveAccount(tx, a) })
}

func TestAccountsAreFoundByWhatTheyAreCalled(t *testing.T) {
	db := start(t, "")
	a, b := account("01A", "Faker Ü", "KR1"), account("01B", "faker ü", "kr1")
	b.Platform = "kr"
	saveAccount(t, db, a)
	saveAccount(t, db, b)
	read(t, db, func(tx *txn) error {
		got, err := db.Account(tx, a.ID)
		if err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("stored %+v\nwant %+v (%v)", got, a, err)
		}
		for _, platform := range []string{"kr", "KR"} {
			if got, err := db.AccountNamed(tx, "FAKER Ü", "kR1", platform); err != nil || got.ID != b.ID {
				t.Errorf("on %s: %s, %v", platform, got.ID, err)
			}
		}
		if got, err := db.AccountNamed(tx, "FAKER Ü", "kR1", ""); err != nil || got.ID != a.ID {
			t.Errorf("anywhere: %s, %v", got.ID, err)
		}
		if id, ok, err := db.AccountOfPUUID(tx, "puuid-01B"); id != b.ID || !ok || err != nil {
			t.Errorf("by PUUID: %q %t %v", id, ok, err)
		}
		for _, name := range []string{"Faker", "Faker Ü#KR1", ""} {
			if _, err := db.AccountNamed(tx, name, "KR1", ""); !errors.Is(err, engine.ErrNotFound) {
				t.Errorf("%q: %v", name, err)
			}
		}
		return nil
	})
	// A new name and a second key project: the old name leads nowhere, both PUUIDs lead here.
	a.GameName, a.PUUIDs = "Hide on bush", map[string]string{"dev": "puuid-new", "prod": "puuid-prod"}
	saveAccount(t, db, a)
	read(t, db, func(tx *txn) error {
		if got, err := db.AccountNamed(tx, "faker ü", "KR1", "euw1"); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("the old name leads to %s, %v", got.ID, err)
		}
		for puuid, want := range map[string]string{"puuid-new": a.ID, "puuid-prod": a.ID, "puuid-01A": "", "puuid-01B": b.ID} {
			if id, _, err := db.AccountOfPUUID(tx, puuid); id != want || err != nil {
				t.Errorf("%s leads to %q, want %q (%v)", puuid, id, want, err)
			}
		}
		return nil
	})
	ctx := context.Background()
	for _, id := range []string{"01A", "hide ON bush#kr1"} {
		if row, err := db.AccountRow(ctx, id); err != nil || row.ID != a.ID || row.RiotID != "Hide on bush#KR1" || row.PUUID != "puuid-new" {
			t.Errorf("%q: %+v %v", id, row, err)
		}
	}
	if _, err := db.AccountRow(ctx, "nobody#EUW"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("nobody: %v", err)
	}
	ids, err := db.Identities(ctx, a.ID)
	if err != nil || !slices.Equal(ids, []engine.Identity{{Project: "dev", PUUID: "puuid-new"}, {Project: "prod", PUUID: "puuid-prod"}}) {
		t.Errorf("identities %v %v", ids, err)
	}
	if totals, err := db.Totals(ctx); totals.Accounts != 2 || err != nil {
		t.Errorf("totals %+v %v", totals, err)
	}
}

func TestAccountsArePaged(t *testing.T) {
	db := start(t, "")
	write(t, db, func(tx engine.Tx) error {
		for i := range 25 {
			if err := db.SaveAccount(tx, account(fmt.Sprintf("01%02d", i), fmt.Sprint("player", i%2), fmt.Sprint(i))); err != nil {
				return err
			}
		}
		return nil
	})
	for text, want := range map[string]int{"": 25, "PLAYER1": 12, "0107": 1, "nobody": 0} {
		q, got := engine.AccountsQuery{Text: text, Page: engine.Page{Limit: 4}}, 0
		for {
			page, err := db.Accounts(context.Background(), q)
			must(t, err)
			got += len(page.Accounts)
			if page.Total != want {
				t.Errorf("%q: total %d, want %d", text, page.Total, want)
			}
			if q.After = page.Next; page.Next == "" {
				break
			}
		}
		if got != want {
			t.Errorf("%q: %d rows, want %d", text, got, want)
		}
	}
}

func TestRunsAndStagedIdsComeBack(t *testing.T) {
	db := start(t, "")
	saveAccount(t, db, account("01A", "A", "1"))
	j := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "q"})
	run := league.Run{
		ID: "R1", Account: "01A", Job: string(j.ID), Ask: league.Ask{Mode: "full", Count: 9, Floor: noon, Timelines: league.TimelinesRanked, Force: true},
		Phase: "list", Anchor: noon, Start: 100, Pages: 2, Staged: 3, OldPart: true, Listed: 4, Had: 5, TooOld: 6, TimelinesHad: 7,
		TimelinesTooOld: 8, TimelinesNone: 9, Triggered: noon, Started: noon, Finished: noon, Resumed: 1, ResumedAt: 134, Result: "failed", Error: "e", By: "ana",
		Lost: 3, TimelinesLost: 1, Left: 2, TimelinesLeft: 4, Closed: noon, Before: "R0",
	}
	stage := func(ids ...league.Staged) (added int) {
		write(t, db, func(tx engine.Tx) (err error) {
			added, err = db.Stage(tx, run.ID, ids)
			return err
		})
		return added
	}
	write(t, db, func(tx engine.Tx) error { return db.SaveRun(tx, run) })
	first := stage(league.Staged{ID: "C"}, league.Staged{ID: "B"}, league.Staged{ID: "C"})
	second := stage(league.Staged{ID: "B", TooOld: true}, league.Staged{ID: "A", TooOld: true}, league.Staged{ID: "C"}, league.Staged{ID: "A"})
	if first != 2 || second != 1 {
		t.Errorf("added %d and %d", first, second)
	}
	read(t, db, func(tx *txn) error {
		if got, err := db.Run(tx, "R1"); err != nil || !reflect.DeepEqual(got, run) {
			t.Errorf("stored %+v\nwant %+v (%v)", got, run, err)
		}
		want := []league.Staged{{ID: "C"}, {ID: "B"}, {ID: "A"}} // inside retention by one page each
		if got, err := db.Staged(tx, "R1"); err != nil || !slices.Equal(got, want) {
			t.Errorf("staged %v, want %v (%v)", got, want, err)
		}
		if got, err := db.Staged(tx, "R"); len(got) != 0 || err != nil {
			t.Errorf("another run has staged ids: %v %v", got, err)
		}
		return nil
	})
	write(t, db, func(tx engine.Tx) error { return db.Unstage(tx, "R1") })
	read(t, db, func(tx *txn) error {
		if got, err := db.Staged(tx, "R1"); len(got) != 0 || err != nil {
			t.Errorf("after Unstage: %v %v", got, err)
		}
		return nil
	})
}

// TestAccountRowFollowsItsRun is promise P5: at every commit the stages add up, and one commit makes one row.
func TestAccountRowFollowsItsRun(t *testing.T) {
	db := start(t, "")
	var rows []engine.AccountRow
	db.OnCommit(func(_ uint64, changes []engine.Change) {
		for _, c := range changes {
			if c.Account != nil {
				rows = append(rows, *c.Account)
			}
		}
	})
	a := account("01A", "A", "1")
	a.Status, a.Run = "syncing", "R1"
	sync := enqueue(t, db, engine.Spec{Kind: "account.sync", Queue: "ingest.summoner.full", Owner: a.ID})
	run := league.Run{ID: "R1", Account: a.ID, Job: string(sync.ID), Ask: league.Ask{Mode: "full"}, Phase: "list", Pages: 1}
	write(t, db, func(tx engine.Tx) error { return errors.Join(db.SaveAccount(tx, a), db.SaveRun(tx, run)) })
	if len(rows) != 1 || rows[0].Matches.Total != -1 || rows[0].Queue != "ingest.summoner.full" || rows[0].Job != sync.ID || rows[0].Status != engine.Syncing {
		t.Fatalf("while listing: %+v", rows)
	}
	var kids []engine.Job
	write(t, db, func(tx engine.Tx) error {
		kids = kids[:0]
		for i := range 5 {
			e, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Owner: a.ID, Key: fmt.Sprint("match:", i), Parents: []engine.GroupID{{Parent: sync.ID, Group: league.GroupMatches}}})
			if err != nil {
				return err
			}
			j, err := db.Job(tx, e[0].ID)
			if err != nil {
				return err
			}
			kids = append(kids, j)
		}
		run.Phase, run.Listed, run.Had, run.TooOld = "matches", 8, 2, 1
		return errors.Join(db.SaveRun(tx, run), db.AddAttempt(tx, sync.ID, engine.Attempt{Number: 1, Status: 200}), db.AddAttempt(tx, sync.ID, engine.Attempt{Status: 429}))
	})
	for i, to := range []engine.State{engine.Completed, engine.Discarded, engine.Cancelled, engine.Retryable} {
		kids[i].State, kids[i].Rev = to, 2
		write(t, db, func(tx engine.Tx) error {
			if err := db.SaveJob(tx, kids[i]); err != nil {
				return err
			}
			_, err := db.Mark(tx, kids[i].ID, engine.MarkOf(to), 2, 1)
			return err
		})
	}
	if len(rows) != 6 {
		t.Fatalf("%d rows for 6 commits", len(rows))
	}
	for i, r := range rows[1:] {
		p := r.Matches
		if p.Done()+p.Cancelled+p.Open != p.Total || p.Total != run.Listed || p.Done()+p.Cancelled != 3+min(i, 3) {
			t.Errorf("row %d does not add up: %+v", i+1, p)
		}
	}
	want := engine.Progress{Total: 8, Stored: 1, Had: 2, Retrying: 1, Failed: 1, TooOld: 1, Cancelled: 1, Open: 2}
	last := rows[len(rows)-1]
	if last.Matches != want || last.Calls != 10 || last.Throttled != 5 || last.Listed != 8 || last.Pages != 1 {
		t.Errorf("got %+v", last)
	}
	if row, err := db.AccountRow(context.Background(), a.ID); err != nil || !reflect.DeepEqual(row, last) {
		t.Errorf("read later: %+v %v", row, err)
	}
}

func saveMatch(t testing.TB, db *DB, m league.Match) {
	t.Helper()
	write(t, db, func(tx engine.Tx) error { return db.SaveMatch(tx, m, false) })
}

func TestS0_1_MatchStatusMovesAsListed(t *testing.T) {
	db := start(t, "")
	all := []league.Status{league.Unfetched, league.Success, league.TemporaryFailure, league.PermanentlyUnfetchable, league.OutsideRetentionWindow}
	ref, body := gzipped("{}")
	for _, from := range all {
		for _, to := range all {
			for _, operator := range []bool{false, true} {
				id := fmt.Sprintf("EUW1_%d_%d_%t", from, to, operator)
				must(t, db.PutPayload(context.Background(), id, league.PartMatch, ref, body))
				saveMatch(t, db, league.Match{ID: id, Match: league.Fetch{Status: from, Ref: ref}})
				err := db.Write(context.Background(), func(tx engine.Tx) error {
					return db.SaveMatch(tx, league.Match{ID: id, Match: league.Fetch{Status: to, Ref: ref}}, operator)
				})
				want := from == to || league.LegalStatus(from, to, operator)
				if (err == nil) != want || err != nil && !errors.Is(err, engine.ErrRefused) {
					t.Errorf("%s to %s, by operator %t: %v", from, to, operator, err)
				}
			}
		}
	}
}

func TestMatchesComeBackAsTheyWere(t *testing.T) {
	db := start(t, "")
	ref, body := gzipped("{}")
	must(t, db.PutPayload(context.Background(), "EUW1_1", league.PartMatch, ref, body))
	m := league.Match{
		ID:       "EUW1_1",
		Match:    league.Fetch{Status: league.Success, Attempts: 2, FetchedAt: noon, LastAttemptAt: noon, LastError: "e", LastClass: "503", Ref: ref},
		Timeline: league.Fetch{Status: league.TemporaryFailure, Attempts: 1, LastAttemptAt: noon, LastError: "t", LastClass: "timeout", Cancelled: league.CancelledAlong},
		Played:   noon, Duration: 30 * time.Minute, QueueID: 420, Mode: "CLASSIC", Patch: "26.22", Aborted: true, Remake: true, Participants: 10, Listed: noon,
	}
	saveMatch(t, db, m)
	seats := []league.Participant{{Match: m.ID, Index: 0, PUUID: "BOT", RiotID: "B#1", Champion: "Ahri", Team: 100, Won: true, Kills: 1, Deaths: 2, Assists: 3}, {Match: m.ID, Index: 1, PUUID: "BOT"}}
	for range 2 { // S4-9: a re-run changes nothing
		write(t, db, func(tx engine.Tx) error { return db.SaveParticipants(tx, m.ID, seats) })
	}
	read(t, db, func(tx *txn) error {
		if got, err := db.Match(tx, m.ID); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("stored %+v\nwant %+v (%v)", got, m, err)
		}
		if got, err := tx.seats(m.ID); err != nil || !slices.Equal(got, seats) {
			t.Errorf("seats %+v (%v)", got, err)
		}
		for r := range tx.Rows(tMatches.Table, nil) {
			if len(r.Value) > 220 {
				t.Errorf("a match record of %d bytes", len(r.Value))
			}
		}
		return nil
	})
}

// Riot lets one team win a remake; lists and feeds tell that nobody has.
func TestW1_NobodyWinsARemake(t *testing.T) {
	db := start(t, "")
	a := account("01A", "A", "1")
	a.PUUIDs = map[string]string{"k1": "p"}
	saveAccount(t, db, a)
	ref, body := gzipped("{}")
	for id, remake := range map[string]bool{"EUW1_1": true, "EUW1_2": false} {
		must(t, db.PutPayload(context.Background(), id, league.PartMatch, ref, body))
		m := league.Match{ID: id, Played: noon, Remake: remake, Match: league.Fetch{Status: league.Success, FetchedAt: noon, Ref: ref}}
		saveMatch(t, db, m)
		write(t, db, func(tx engine.Tx) error {
			return errors.Join(db.SaveParticipants(tx, id, []league.Participant{{Match: id, PUUID: "p", Champion: "Ahri", Won: true, Kills: 3}}), db.LinkMatch(tx, a.ID, id))
		})
	}
	list, err := db.Matches(context.Background(), engine.MatchesQuery{Account: a.ID})
	if err != nil || len(list.Matches) != 2 {
		t.Fatalf("%+v (%v)", list, err)
	}
	for _, m := range list.Matches {
		if m.Kills == nil || *m.Kills != 3 || m.Remake != (m.Won == nil) || m.Remake != (m.ID == "EUW1_1") {
			t.Errorf("%+v", m)
		}
	}
	feed, err := db.Feed(context.Background(), engine.FeedQuery{Kind: engine.FeedParticipants})
	if err != nil || len(feed.Rows) != 2 {
		t.Fatalf("%+v (%v)", feed, err)
	}
	for _, r := range feed.Rows {
		if (r.ID == "EUW1_1") != (r.Seat.Won == nil) {
			t.Errorf("%s", seatText(*r.Seat))
		}
	}
}

func TestS0_8_HiddenMatchesAreCounted(t *testing.T) {
	db := start(t, "")
	a := account("01A", "A", "1")
	saveAccount(t, db, a)
	ref, body := gzipped("{}")
	write(t, db, func(tx engine.Tx) error {
		for i := range 30 {
			m := league.Match{ID: fmt.Sprintf("EUW1_%02d", i), Played: noon.Add(time.Duration(i) * time.Hour)}
			if i%3 == 0 {
				m.Match.Status = league.PermanentlyUnfetchable
			}
			if err := errors.Join(db.SaveMatch(tx, m, false), db.LinkMatch(tx, a.ID, m.ID)); err != nil {
				return err
			}
		}
		return db.LinkMatch(tx, a.ID, "EUW1_99") // listed, not stored yet
	})
	ctx := context.Background()
	must(t, db.PutPayload(ctx, "EUW1_01", league.PartMatch, ref, body))
	for _, c := range []struct {
		account string
		all     bool
		rows    int
		hidden  int
		first   string
		last    string
	}{
		{"A#1", false, 21, 10, "EUW1_29", "EUW1_99"},
		{"01A", true, 31, 0, "EUW1_29", "EUW1_99"},
		{"", false, 20, 10, "EUW1_29", "EUW1_01"},
		{"", true, 30, 0, "EUW1_29", "EUW1_00"},
	} {
		q := engine.MatchesQuery{Account: c.account, All: c.all, Page: engine.Page{Limit: 7}}
		var got []string
		for {
			page, err := db.Matches(ctx, q)
			must(t, err)
			if page.Hidden != c.hidden {
				t.Errorf("%q all %t: %d hidden, want %d", c.account, c.all, page.Hidden, c.hidden)
			}
			for _, m := range page.Matches {
				got = append(got, m.ID)
			}
			if q.After = page.Next; page.Next == "" {
				break
			}
		}
		if len(got) != c.rows || got[0] != c.first || got[len(got)-1] != c.last {
			t.Errorf("%q all %t: %v", c.account, c.all, got)
		}
	}
	if _, err := db.Matches(ctx, engine.MatchesQuery{Account: "01A", Page: engine.Page{After: "zz"}}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("a bad cursor: %v", err)
	}
	totals, err := db.Totals(ctx)
	if err != nil || totals.Matches != 30 || totals.Permanent != 10 || totals.Unfetched != 20 {
		t.Errorf("%+v %v", totals, err)
	}
}

func TestGamesAreThoseOfTheAccountOldestFirst(t *testing.T) {
	db := start(t, "")
	a := account("01A", "A", "1")
	saveAccount(t, db, a)
	ref, body := gzipped("{}")
	for i, id := range []string{"EUW1_3", "EUW1_1", "EUW1_2", "EUW1_4"} {
		must(t, db.PutPayload(context.Background(), id, league.PartMatch, ref, body))
		write(t, db, func(tx engine.Tx) error { // listed, then fetched: only then is the time known
			return errors.Join(db.SaveMatch(tx, league.Match{ID: id}, false), db.LinkMatch(tx, a.ID, id))
		})
		m := league.Match{ID: id, Played: noon.Add(time.Duration(id[5]) * time.Hour).Add(123 * time.Microsecond), Duration: time.Minute, QueueID: i, Match: league.Fetch{Status: league.Success, Ref: ref}}
		if i == 3 {
			m.Match.Status = league.TemporaryFailure
		}
		puuid := "puuid-01A"
		if i == 2 {
			puuid = "somebody else"
		}
		write(t, db, func(tx engine.Tx) error {
			return errors.Join(db.SaveMatch(tx, m, false), db.SaveParticipants(tx, id, []league.Participant{{Index: 0, PUUID: puuid}}))
		})
	}
	read(t, db, func(tx *txn) error {
		var got []string
		for g, err := range db.Games(tx, a.ID) {
			must(t, err)
			got = append(got, fmt.Sprint(g.Match, " ", g.Here))
		}
		if want := []string{"EUW1_1 true", "EUW1_2 false", "EUW1_3 true"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		for _, err := range db.Games(tx, "nobody") {
			if !errors.Is(err, engine.ErrNotFound) {
				t.Errorf("nobody's games: %v", err)
			}
		}
		return nil
	})
	page, err := db.Matches(context.Background(), engine.MatchesQuery{Account: a.ID})
	if err != nil || len(page.Matches) != 4 || page.Matches[0].ID != "EUW1_4" || page.Matches[3].ID != "EUW1_1" {
		t.Errorf("%+v %v", page, err)
	}
}

// TestTotalsEqualARecount moves matches at random; the check at its end recounts all counters and lists.
func TestTotalsEqualARecount(t *testing.T) {
	db := start(t, "")
	for _, id := range []string{"01A", "01B"} {
		saveAccount(t, db, account(id, "N"+id, "1"))
	}
	ref, body := gzipped("{}")
	model := map[string]league.Status{}
	rapid.Check(t, func(rt *rapid.T) {
		id := fmt.Sprintf("EUW1_%d", rapid.IntRange(0, 9).Draw(rt, "match"))
		to := league.Status(rapid.IntRange(0, 4).Draw(rt, "status"))
		m := league.Match{ID: id, Match: league.Fetch{Status: to, Ref: ref}, Played: noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(rt, "played")) * time.Hour)}
		operator, account := rapid.Bool().Draw(rt, "operator"), rapid.SampledFrom([]string{"01A", "01B"}).Draw(rt, "account")
		must(t, db.PutPayload(context.Background(), id, league.PartMatch, ref, body))
		err := db.Write(context.Background(), func(tx engine.Tx) error {
			if err := db.SaveMatch(tx, m, operator); err != nil {
				return err
			}
			return db.LinkMatch(tx, account, id)
		})
		if err == nil {
			model[id] = to
		} else if !errors.Is(err, engine.ErrRefused) {
			rt.Fatal(err)
		}
	})
	totals, err := db.Totals(context.Background())
	if err != nil || totals.Matches != int64(len(model)) {
		t.Errorf("%+v, want %d matches (%v)", totals, len(model), err)
	}
}

func TestSmallThingsComeBack(t *testing.T) {
	db := start(t, "")
	ctx := context.Background()
	q := engine.QueueState{Name: "ingest.summoner.full", Paused: true, By: engine.Actor{User: "ana", Session: "s", Via: "console"}, Since: noon, Reason: "tournament"}
	r := engine.PlayReport{Account: "01A", Zone: "Asia/Seoul", Built: noon, Matches: 3, ByQueue: map[int]int{420: 3}}
	r.Minutes[6][23] = 59.5
	audit := engine.AuditEntry{At: noon, By: q.By, Op: engine.OpPause, Target: "q", Reason: "r", Result: "ok", Matched: 1, Applied: 1}
	write(t, db, func(tx engine.Tx) error {
		if n, err := db.AddAudit(tx, audit); n != 1 || err != nil {
			t.Errorf("first audit entry is %d, %v", n, err)
		}
		if n, err := db.AddAudit(tx, audit); n != 2 || err != nil {
			t.Errorf("second audit entry is %d, %v", n, err)
		}
		return errors.Join(db.SetQueue(tx, q), db.SaveReport(tx, r), db.CachePUUID(tx, "Name", "TAG", "dev", "p", noon))
	})
	must(t, db.SaveState(ctx, "limiter", []byte{1, 2, 0, 3}))
	if list, err := db.Queues(ctx); err != nil || len(list) != 1 || !reflect.DeepEqual(list[0], q) {
		t.Errorf("P-38: queues %+v %v", list, err)
	}
	if got, err := db.Report(ctx, "01A"); err != nil || !reflect.DeepEqual(*got, r) {
		t.Errorf("report %+v %v", got, err)
	}
	if got, err := db.Report(ctx, "none"); err != nil || got != nil {
		t.Errorf("no report: %+v %v", got, err)
	}
	if got, err := db.LoadState(ctx, "limiter"); err != nil || string(got) != "\x01\x02\x00\x03" {
		t.Errorf("blob %v %v", got, err)
	}
	if got, err := db.LoadState(ctx, "none"); err != nil || got != nil {
		t.Errorf("no blob: %v %v", got, err)
	}
	audit.Seq = 2
	if list, err := db.Audit(ctx, 1); err != nil || len(list) != 1 || !reflect.DeepEqual(list[0], audit) {
		t.Errorf("audit %+v %v", list, err)
	}
	read(t, db, func(tx *txn) error {
		for _, c := range []struct {
			project string
			now     time.Time
			ok      bool
		}{{"dev", noon.Add(-time.Second), true}, {"dev", noon, false}, {"prod", noon.Add(-time.Second), false}} {
			if p, ok, err := db.CachedPUUID(tx, "nAME", "tag", c.project, c.now); ok != c.ok || err != nil || ok && p != "p" {
				t.Errorf("cache %+v: %q %t %v", c, p, ok, err)
			}
		}
		return nil
	})
}

func TestFetchedMatchesAreThoseThatChangedLast(t *testing.T) {
	db := start(t, "")
	ref, body := gzipped("{}")
	for i := range 6 {
		id := fmt.Sprintf("EUW1_%d", i)
		m := league.Match{ID: id, Match: league.Fetch{Status: league.Success, Ref: ref}}
		must(t, db.PutPayload(context.Background(), id, league.PartMatch, ref, body))
		if i == 1 {
			must(t, db.PutPayload(context.Background(), id, league.PartTimeline, ref, body))
			m.Timeline = league.Fetch{Status: league.Success, Ref: ref}
		}
		saveMatch(t, db, m)
	}
	for i := 6; i < 20; i++ { // listed since
		saveMatch(t, db, league.Match{ID: fmt.Sprintf("EUW1_%d", i)})
	}
	read := func(p league.Part, n int) (ids []string) {
		must(t, db.Read(context.Background(), func(tx engine.Tx) error {
			ids = db.Fetched(tx, p, n, func(match string) bool { return match != "EUW1_4" })
			return nil
		}))
		return ids
	}
	if got := fmt.Sprint(read(league.PartMatch, 3)); got != "[EUW1_5 EUW1_3 EUW1_2]" {
		t.Errorf("three matches: %s", got)
	}
	if got := fmt.Sprint(read(league.PartMatch, 9)); got != "[EUW1_5 EUW1_3 EUW1_2 EUW1_1 EUW1_0]" {
		t.Errorf("all matches: %s", got)
	}
	if got := fmt.Sprint(read(league.PartTimeline, 3)); got != "[EUW1_1]" {
		t.Errorf("timelines: %s", got)
	}
}
