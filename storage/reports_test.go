package storage

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
)

func rank(account, queue string, at time.Time, points int) league.Rank {
	return league.Rank{Account: account, Queue: queue, At: at, Tier: "GOLD", Division: "II", Points: points, Wins: 10, Losses: 9}
}

func TestS4_9_RanksKeepTheirOrderAndTheirPlace(t *testing.T) {
	db := start(t, "")
	saveAccount(t, db, account("01A", "Ana", "EUW"))
	saveAccount(t, db, account("01B", "Ben", "EUW"))
	var want []league.Rank
	for i := range 7 {
		for _, a := range []string{"01A", "01B"} {
			r := rank(a, league.RankedSolo, noon.Add(time.Duration(i)*24*time.Hour), i)
			write(t, db, func(tx engine.Tx) error { return db.SaveRank(tx, r) })
			write(t, db, func(tx engine.Tx) error { return db.SaveRank(tx, r) }) // again: nothing new
			want = append(want, r)
		}
	}
	doubt := league.Rank{Account: "01A", Queue: league.RankedFlex, At: noon, Unranked: true, Unsure: true}
	write(t, db, func(tx engine.Tx) error { return db.SaveRank(tx, doubt) })
	var got []engine.RankRow
	for q := (engine.FeedQuery{Kind: engine.FeedRanks, Page: engine.Page{Limit: 4}}); ; {
		page, err := db.Feed(context.Background(), q)
		must(t, err)
		for _, row := range page.Rows {
			got = append(got, *row.Rank)
		}
		if q.After = page.Next; !page.More {
			break
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d rows in order, want %d", len(got), len(want))
	}
	for i, r := range want {
		if got[i].Account != r.Account || !got[i].At.Equal(r.At) || got[i].Points != r.Points || got[i].Tier != "GOLD" {
			t.Errorf("row %d is %+v, want %+v", i, got[i], r)
		}
	}
	read(t, db, func(tx *txn) error {
		last, err := db.LastRanks(tx, "01A")
		must(t, err)
		if len(last) != 2 || last[0].Same(last[1]) || !(last[0] == doubt || last[1] == doubt) {
			t.Errorf("%+v", last)
		}
		return nil
	})
	page, err := db.RankHistory(context.Background(), engine.RanksQuery{Account: "Ana#EUW", Page: engine.Page{Limit: 5}})
	must(t, err)
	rest, err := db.RankHistory(context.Background(), engine.RanksQuery{Account: "01A", Page: engine.Page{Limit: 5, After: page.Next}})
	must(t, err)
	if len(page.Ranks) != 5 || page.Ranks[0].Points != 6 || len(rest.Ranks) != 2 || rest.Next != "" {
		t.Errorf("%+v, then %+v", page, rest)
	}
	write(t, db, func(tx engine.Tx) error { return db.DropRank(tx, doubt) })
	if err := db.Write(context.Background(), func(tx engine.Tx) error { return db.DropRank(tx, want[0]) }); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("a sure rank was dropped: %v", err)
	}
	wantSound(t, db)
}

func TestPoliciesRangesAndListingsSurvive(t *testing.T) {
	db := start(t, "")
	p := league.Policy{Queues: []int{420}, Lookback: 90 * 24 * time.Hour, Timelines: league.TimelinesNone, Cadence: 6 * time.Hour, Priority: 3}
	c := league.Coverage{Head: "EUW1_9", HeadAt: noon, Floor: noon.Add(-time.Hour), Timelines: league.TimelinesAll}
	ids := league.CachedIDs{At: noon, Floor: noon.Add(-time.Hour), Whole: true, IDs: []string{"EUW1_2", "EUW1_1"}}
	a := account("01A", "Ana", "EUW")
	a.Policy.Cadence = 2 * time.Hour
	run := league.Run{ID: "01R", Account: "01A", List: 1, From: 7, Ask: league.Ask{Mode: "full", Filter: "queue=420,440"}}
	write(t, db, func(tx engine.Tx) error {
		return errors.Join(db.SaveAccount(tx, a), db.SaveTagPolicy(tx, "pro", p), db.SaveCoverage(tx, "01A", "queue=420", c), db.SaveCoverage(tx, "01AB", "", c),
			db.CacheIDs(tx, "01A", "queue=420", ids), db.SaveRun(tx, run))
	})
	read(t, db, func(tx *txn) error {
		gotP, err := db.TagPolicy(tx, "pro")
		must(t, err)
		gotC, err := db.Coverage(tx, "01A", "queue=420")
		must(t, err)
		gotIDs, ok, err := db.CachedIDs(tx, "01A", "queue=420")
		must(t, err)
		gotA, err := db.Account(tx, "01A")
		must(t, err)
		gotRun, err := db.Run(tx, "01R")
		must(t, err)
		if !reflect.DeepEqual(gotP, p) || gotC != c || !ok || !reflect.DeepEqual(gotIDs, ids) || !reflect.DeepEqual(gotA.Policy, a.Policy) || gotRun != run {
			t.Errorf("%+v\n%+v\n%+v\n%+v\n%+v", gotP, gotC, gotIDs, gotA.Policy, gotRun)
		}
		return nil
	})
	write(t, db, func(tx engine.Tx) error {
		return errors.Join(db.SaveTagPolicy(tx, "pro", league.Policy{}), db.DropCoverage(tx, "01A"))
	})
	read(t, db, func(tx *txn) error {
		gotP, err := db.TagPolicy(tx, "pro")
		must(t, err)
		gone, err := db.Coverage(tx, "01A", "queue=420")
		must(t, err)
		kept, err := db.Coverage(tx, "01AB", "")
		must(t, err)
		if !gotP.IsZero() || gone != (league.Coverage{}) || kept != c {
			t.Errorf("%+v, %+v, %+v", gotP, gone, kept)
		}
		return nil
	})
	wantSound(t, db)
}

func TestTheLatestWeeklyReportIsFound(t *testing.T) {
	db := start(t, "")
	if _, err := db.Weekly(context.Background(), ""); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("of an empty store: %v", err)
	}
	for _, week := range []string{"2026-11-09", "2026-11-16", "2026-10-05"} {
		write(t, db, func(tx engine.Tx) error { return db.SaveWeekly(tx, engine.WeeklyReport{Week: week, Played: 7}) })
	}
	for ask, want := range map[string]string{"": "2026-11-16", "2026-10-05": "2026-10-05"} {
		r, err := db.Weekly(context.Background(), ask)
		must(t, err)
		if r.Week != want || r.Played != 7 {
			t.Errorf("%q: %+v", ask, r)
		}
	}
}

// What was given up comes after whatever only failed, however old it is, and never when it was cancelled.
func TestB3b_WhatWasGivenUpIsSweptLast(t *testing.T) {
	db := start(t, "")
	write(t, db, func(tx engine.Tx) (err error) {
		for i, f := range []league.Fetch{
			{Status: league.PermanentlyUnfetchable, LastAttemptAt: noon.Add(-3 * time.Hour)},
			{Status: league.TemporaryFailure, LastAttemptAt: noon.Add(-time.Hour)},
			{Status: league.PermanentlyUnfetchable, LastAttemptAt: noon.Add(-2 * time.Hour)},
			{Status: league.PermanentlyUnfetchable, Cancelled: league.CancelledAlone},
			{Status: league.TemporaryFailure, LastAttemptAt: noon.Add(-4 * time.Hour)},
			{Status: league.PermanentlyUnfetchable, LastAttemptAt: noon},
		} {
			err = errors.Join(err, db.SaveMatch(tx, league.Match{ID: fmt.Sprint("EUW1_", i), Match: f}, false))
		}
		return err
	})
	read(t, db, func(tx *txn) error {
		due := func(m *league.Match) bool { return m.Match.LastAttemptAt.Before(noon) }
		list, total, err := db.Strays(tx, due, 3, func(id string) string { return "match:" + id })
		must(t, err)
		got := ""
		for _, s := range list {
			got += fmt.Sprintln(s.Match, s.Ended)
		}
		if want := "EUW1_4 false\nEUW1_1 false\nEUW1_0 true\n"; got != want || total != 4 {
			t.Errorf("%d of %d:\n%s", len(list), total, got)
		}
		return nil
	})
}

func TestS0_5_StraysAreTheOldestFirst(t *testing.T) {
	db := start(t, "")
	saveAccount(t, db, account("01A", "Ana", "EUW"))
	key := func(id string) string { return "match:" + id }
	write(t, db, func(tx engine.Tx) error {
		for i := range 450 {
			id := fmt.Sprintf("EUW1_%d", 1000+i)
			at := noon.Add(-time.Duration(i) * time.Minute) // the last ones are the oldest
			m := league.Match{ID: id, Match: league.Fetch{Status: league.TemporaryFailure, Attempts: 2, LastAttemptAt: at}}
			if err := errors.Join(db.SaveMatch(tx, m, false), db.LinkMatch(tx, "01A", id)); err != nil {
				return err
			}
		}
		_, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:EUW1_1449"})
		return err
	})
	read(t, db, func(tx *txn) error {
		list, total, err := db.Strays(tx, func(m *league.Match) bool { return m.Match.LastAttemptAt.Before(noon.Add(-10 * time.Minute)) }, 100, key)
		must(t, err)
		if total != 450-11-1 || len(list) != 100 {
			t.Fatalf("%d of %d", len(list), total)
		}
		for i, s := range list {
			if s.Match != fmt.Sprintf("EUW1_%d", 1448-i) || s.Owner != "01A" || s.Used != 2 {
				t.Fatalf("the %d. is %+v", i, s)
			}
		}
		return nil
	})
	wantSound(t, db)
}
