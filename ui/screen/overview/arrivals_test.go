package overview

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestV3e_ArrivedWithItsTimelines: a sync whose timelines still wait has not arrived, and its bar never moves back.
func TestV3e_ArrivedWithItsTimelines(t *testing.T) {
	matches := func(done int) engine.Progress { return engine.Progress{Total: 100, Stored: done} }
	was := -1.0
	for _, c := range []struct {
		name string
		row  engine.AccountRow
		want float64
	}{
		{"listing", engine.AccountRow{WantsTimelines: true, Phase: engine.PhaseList, Matches: engine.Progress{Total: -1}}, -1},
		{"half of the matches", engine.AccountRow{WantsTimelines: true, Phase: engine.PhaseMatches, Matches: matches(50), Timelines: engine.Progress{Total: 50}}, 0.25},
		{"all matches", engine.AccountRow{WantsTimelines: true, Phase: engine.PhaseMatches, Matches: matches(100), Timelines: engine.Progress{Total: 98}}, 0.5},
		{"timelines", engine.AccountRow{WantsTimelines: true, Phase: engine.PhaseTimelines, Matches: matches(100), Timelines: engine.Progress{Total: 60, Stored: 20}}, 0.75},
		{"all", engine.AccountRow{WantsTimelines: true, Phase: engine.PhaseReport, Matches: matches(100), Timelines: engine.Progress{Total: 60, Stored: 60}}, 1},
		{"all, none wanted", engine.AccountRow{Phase: engine.PhaseMatches, Matches: matches(100)}, 1},
	} {
		got := arrived(&c.row)
		if got != c.want || got < was {
			t.Errorf("%s: %v after %v, want %v", c.name, got, was, c.want)
		}
		was = got
	}
}

// TestRetriesWithoutARowAreCounted: what the stack has no room for is told beside its title, so that its rows add up to it.
func TestRetriesWithoutARowAreCounted(t *testing.T) {
	v := pagetest.View(&page.Data{})
	jobs := make([]engine.JobRow, 10)
	for i := range jobs {
		jobs[i] = engine.JobRow{Job: engine.Job{ID: engine.JobID(rune('a' + i)), State: engine.Retryable, Tries: 1 + i/9, Due: v.Now.Add(time.Minute)}}
	}
	v.Jobs = jobs
	if s := stackBlock(v, 39, 3); s.Tail != "9 more" {
		t.Errorf("of ten retries with room for one row: %q", s.Tail)
	}
	if s := stackBlock(v, 39, 8); s.Tail != "" {
		t.Errorf("all have a row: %q", s.Tail)
	}
}

// TestV1f_LateForWhat: why retries are late is told without the limiter's own words and in the cells that there are, with
// the host whose own limit it is where there are several, whichever of them sets the pace.
func TestV1f_LateForWhat(t *testing.T) {
	europe := engine.BucketRow{Host: "europe", Paces: true, Limit: 100, Window: 12 * time.Second}
	asia := engine.BucketRow{Host: "asia", Paces: true, Limit: 100, Window: 2 * time.Minute}
	v := &page.View{Data: &page.Data{Limits: engine.LimitsRow{Buckets: []engine.BucketRow{europe, asia, {Host: "kr"}}}}}
	for by, want := range map[string]string{
		"app:europe 100/12s":                                 "europe has no room",
		"app:asia 100/120s":                                  "asia has no room",
		"match-v5.match:europe 31/30, next call now":         "the match limit is full",
		"match-v5.match:europe recovering from a 429, 0.3 s": "a 429 holds match calls",
		"162nd in line":                                      "others leave first",
		"app:asia 95/100, spread over the window":            "asia is paced",
		"app:kr 500/10s":                                     "kr has no room",
	} {
		if got := full(v, by); got != want {
			t.Errorf("%s: %q, want %q", by, got, want)
		}
	}
	due := func(by string) engine.JobRow {
		return engine.JobRow{Job: engine.Job{State: engine.Retryable, Due: time.Unix(8, 0)}, Starts: time.Unix(9, 0), LateBy: by}
	}
	v.Now = time.Unix(1, 0).UTC()
	jobs := []engine.JobRow{due("app:asia 100/120s"), due("app:asia 100/120s"), due("app:europe 100/12s"), due("")}
	if got := stackText(v, jobs, 38)[0].Text; got != "3 late: 2 as asia has no room" {
		t.Errorf("of two hosts: %q", got)
	}
	down := func(why string) engine.JobRow {
		return engine.JobRow{Job: engine.Job{State: engine.Retryable}, Why: why, Stand: engine.StandDown}
	}
	jobs = []engine.JobRow{down("match calls to asia fail"), down("match calls to asia fail"), down("timeline calls to asia fail")}
	if got := stackText(v, jobs, 38); len(got) != 1 || got[0].Text != "3 wait, 2 as match calls to asia fail" {
		t.Errorf("where one row holds it: %+v", got)
	}
	if got := stackText(v, jobs, 30); len(got) != 2 || got[0].Text != "3 wait, 2 of them as" {
		t.Errorf("where one row is too short: %+v", got)
	}
	v.Data.Queues = []engine.QueueRow{{QueueState: engine.QueueState{Paused: true, By: engine.Actor{User: "ana"}}}}
	jobs[0] = engine.JobRow{Job: engine.Job{State: engine.Available}, Why: engine.FarBack + ": app:asia 62/100, paced"}
	if got := stackText(v, jobs, 38); len(got) != 1 || got[0].Text != "3 wait: queue paused by ana" {
		t.Errorf("of a paused queue: %+v", got)
	}
	if got := stackText(v, jobs[:1], 38); got[0].Text != "1 waits: queue paused by ana" {
		t.Errorf("of one: %+v", got)
	}
	v.Data.Queues = nil
	jobs = []engine.JobRow{jobs[0], jobs[0], down("match calls to asia fail")}
	if got := stackText(v, jobs, 38); len(got) != 1 || got[0].Text != "3 wait, 2 as others leave first" {
		t.Errorf("of some that are far back: %+v", got)
	}
	v.Data.Limits.Buckets = []engine.BucketRow{europe}
	if got := full(v, "app:europe 100/12s"); got != "the 12 s window is full" {
		t.Errorf("of one host: %q", got)
	}
}

// TestV3k_TheOneFurthestBehindIsAmongThoseShown: the account that is done last stands in the last row, which says so, where
// others between have none; where all have one the order tells it.
func TestV3k_TheOneFurthestBehindIsAmongThoseShown(t *testing.T) {
	v := pagetest.View(&page.Data{})
	o := New()
	for i := range 5 {
		id := strconv.Itoa(i)
		v.Accounts = append(v.Accounts, engine.AccountRow{ID: id, RiotID: "Player " + id + "#EUW", Status: engine.Syncing})
		o.plan.Plan.Accounts = append(o.plan.Plan.Accounts, engine.AccountForecast{Account: id, Ends: v.Now.Add(time.Duration(1+(i+2)%5) * time.Minute)})
	}
	v.Accounts[4].ID, v.Accounts[2].ID = "2", "4" // the one that began last is done last
	v.Accounts[4].RiotID, v.Accounts[2].RiotID = "Player 2#EUW", "Player 4#EUW"
	for h, want := range map[int][]string{2: {"3", "2"}, 4: {"3", "4", "0", "2"}, 5: {"3", "4", "2", "0", "1"}} {
		rows := o.arrivalsBlock(v, 39, h).Rows
		for i, id := range want {
			row := ansi.Strip(rows[i])
			if last := i == h-1 && h < 5; !strings.Contains(row, "Player "+id) || strings.Contains(row, "last ~") != last {
				t.Errorf("row %d of %d: %q, want Player %s", i+1, h, row, id)
			}
		}
	}
}

// TestV3k_TheNextRetryIsNamed: on two rows by a line for all tries, else in a sentence; what is too long ends in a sign of it.
func TestV3k_TheNextRetryIsNamed(t *testing.T) {
	v := pagetest.View(&page.Data{})
	retry := func(id string, tries int, in time.Duration) engine.JobRow {
		return engine.JobRow{Job: engine.Job{ID: engine.JobID(id), Kind: "match.fetch", Key: "match:" + id, State: engine.Retryable, Tries: tries, Due: v.Now.Add(in)}}
	}
	v.Jobs = []engine.JobRow{retry("EUW1_6789620817", 1, 3*time.Minute), retry("KR_6789061595", 2, 12*time.Second)}
	for h, want := range map[int]string{2: " KR_6789061595    12 s try 3 ", 6: " Next: KR_6789061595 in 12 s."} {
		s := stackBlock(v, 39, h)
		if text := ansi.Strip(strings.Join(s.Rows, "\n")); !strings.Contains(text, want) || len(s.Rows) > h {
			t.Errorf("on %d rows:\n%s", h, text)
		}
	}
	v.Limits.Buckets = []engine.BucketRow{{Host: "americas"}, {Host: "asia"}}
	for i, why := range []string{"timeline calls to americas fail", "timeline calls to asia fail"} {
		v.Jobs[i].Why, v.Jobs[i].Stand, v.Jobs[i].Due = why, engine.StandDown, time.Time{}
	}
	if row := ansi.Strip(stackBlock(v, 39, 2).Rows[1]); !strings.Contains(row, "2 wait, 1 as timeline") || !strings.Contains(row, "…") {
		t.Errorf("of an outage: %q", row)
	}
}
