package page

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
)

// TestHorizonsKeepTheOrderOfTime: what is later never stands farther left, and the
// middle of a cell lies in that cell.
func TestHorizonsKeepTheOrderOfTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(horizons).Draw(t, "horizon")
		w := rapid.IntRange(10, 180).Draw(t, "w")
		a, b := time.Duration(rapid.Int64Range(0, int64(25*time.Hour)).Draw(t, "a")), time.Duration(rapid.Int64Range(0, int64(25*time.Hour)).Draw(t, "b"))
		if a, b := min(a, b), max(a, b); h.cell(a, w) > h.cell(b, w) {
			t.Errorf("%v stands at %d of %d, %v at %d", a, h.cell(a, w), w, b, h.cell(b, w))
		}
		cell := rapid.IntRange(0, w-1).Draw(t, "cell")
		if got := h.cell(h.ahead(cell, w), w); got != cell {
			t.Errorf("the middle of cell %d of %d stands at %d", cell, w, got)
		}
	})
}

// TestPromisesNeverExceedTheLimit: retries that are promised a start get no more of
// a window than it has, and none starts before its instant.
func TestPromisesNeverExceedTheLimit(t *testing.T) {
	now := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		limit, window := rapid.IntRange(1, 50).Draw(t, "limit"), 2*time.Minute
		v := &View{Now: now, Data: &Data{Accounts: []engine.AccountRow{{ID: "a", Region: "asia"}}, Limits: engine.LimitsRow{Buckets: []engine.BucketRow{{
			Kind: "app", Host: "asia", Limit: limit, Window: window, Used: rapid.IntRange(0, limit).Draw(t, "used"),
			Reset: now.Add(time.Duration(rapid.IntRange(1, 120).Draw(t, "reset")) * time.Second), Waiting: rapid.IntRange(0, 200).Draw(t, "waiting"),
		}}}}}
		rows := make([]engine.JobRow, rapid.IntRange(1, 200).Draw(t, "rows"))
		for i := range rows {
			rows[i].ID, rows[i].Kind, rows[i].Owner = engine.JobID(rune('A'+i)), "match.fetch", "a"
			rows[i].Due = now.Add(time.Duration(rapid.IntRange(-5, 600).Draw(t, "due")) * time.Second)
		}
		starts, hosts := promises(v, rows)
		per := map[int]int{0: v.Limits.Buckets[0].Used}
		for i := range rows {
			p := starts[rows[i].ID]
			if p.start.Before(rows[i].Due) || p.start.Before(now) {
				t.Fatalf("due %v starts %v", rows[i].Due, p.start)
			}
			per[hosts[0].at(p.start)]++
		}
		for n, calls := range per {
			if calls > limit {
				t.Errorf("window %d of %d calls has %d", n, limit, calls)
			}
		}
	})
}

// TestRetriesWaitForWhatIsInLineBefore: a retry goes to the end of its account's
// line, and accounts of one region take turns.
func TestRetriesWaitForWhatIsInLineBefore(t *testing.T) {
	now := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	row := func(id, region string, open int) engine.AccountRow {
		return engine.AccountRow{ID: id, Region: region, Status: engine.Syncing, Matches: engine.Progress{Total: 900, Open: open}}
	}
	v := &View{Now: now, Data: &Data{
		Accounts: []engine.AccountRow{row("long", "asia", 150), row("short", "asia", 50), row("far", "europe", 500)},
		Limits: engine.LimitsRow{Buckets: []engine.BucketRow{
			{Kind: "app", Host: "asia", Limit: 100, Window: 100 * time.Second, Used: 100, Reset: now.Add(10 * time.Second), Waiting: 260},
		}},
	}}
	job := func(id engine.JobID, kind engine.Kind, owner string) engine.JobRow {
		return engine.JobRow{Job: engine.Job{ID: id, Kind: kind, Owner: owner, Due: now.Add(time.Second)}}
	}
	starts, _ := promises(v, []engine.JobRow{
		job("1", "match.fetch", "long"), job("2", "match.fetch", "short"), job("3", "timeline.fetch", "short"), job("4", "alert.call", ""), job("5", "match.fetch", "far"),
	})
	for id, want := range map[engine.JobID]time.Duration{
		"1": 210 * time.Second, // 150 of its own and 50 of the other before it
		"2": 110 * time.Second, // 50 of its own, 50 of the other
		"3": 270 * time.Second, // all that waits
		"4": time.Second, "5": time.Second,
	} {
		if got := starts[id].start.Sub(now); got != want {
			t.Errorf("%s starts after %v, want %v", id, got, want)
		}
	}
}
