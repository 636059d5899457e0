package forecast_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
)

var now = time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)

// window is a limit that opens all at once: so many per span, some of them used.
type window struct {
	limit, used int
	span, reset time.Duration
}

func (w window) After(_ string, n int) forecast.Wait {
	wait := forecast.Wait{Bucket: "app", Known: true}
	if rest := n - (w.limit - w.used); rest > 0 {
		wait.Wait = w.reset + time.Duration((rest-1)/w.limit)*w.span
	}
	return wait
}

func (w window) Turn(method string, n int) forecast.Wait { return w.After(method, n) }

func (w window) Rate(string) (float64, string) { return float64(w.limit) / w.span.Seconds(), "app" }

// state is a host in asia with such a limit.
func state(w window, waiting int) forecast.State {
	return forecast.State{
		Now: now, Limits: func(string) forecast.Limits { return w },
		Buckets: []engine.BucketRow{{Kind: "app", Host: "asia", Limit: w.limit, Window: w.span, Used: w.used, Reset: now.Add(w.reset), Waiting: waiting}},
	}
}

func match(id, owner string, due time.Duration) forecast.Waiting {
	return forecast.Waiting{Job: engine.Job{ID: engine.JobID(id), Owner: owner, State: engine.Retryable, Priority: engine.PriorityHigh, Due: now.Add(due)}, Host: "asia", Method: forecast.MatchMethod}
}

// TestI2_NoWindowIsPromisedMoreThanItHas: retries, what is in line and a command's calls
// take no more of any window together than its limit, every call is dealt, and no retry
// starts before its instant.
func TestI2_NoWindowIsPromisedMoreThanItHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := window{limit: rapid.IntRange(2, 50).Draw(t, "limit"), span: 2 * time.Minute, reset: time.Duration(rapid.IntRange(1, 120).Draw(t, "reset")) * time.Second}
		w.used = rapid.IntRange(0, w.limit).Draw(t, "used")
		s := state(w, rapid.IntRange(0, 200).Draw(t, "waiting"))
		for i := range rapid.IntRange(0, 200).Draw(t, "retries") {
			s.Waiting = append(s.Waiting, match(fmt.Sprint(i), "a", time.Duration(rapid.IntRange(-5, 600).Draw(t, "due"))*time.Second))
		}
		p := forecast.New(s)
		for _, r := range s.Waiting {
			if at := p.Starts()[r.ID].At; at.Before(r.Due) || at.Before(now) {
				t.Fatalf("due %v starts %v", r.Due, at)
			}
		}
		calls := rapid.IntRange(1, 900).Draw(t, "calls")
		for _, h := range []engine.HostForecast{
			p.Answer(24*time.Hour, nil).Hosts[0],
			*p.Beside("asia", calls, time.Duration(rapid.IntRange(0, 3600).Draw(t, "takes"))*time.Second),
		} {
			line, retries, command := 0, 0, 0
			for i, x := range h.Windows {
				if x.Calls() > w.limit || i > 0 && !x.Begin.Equal(h.Windows[i-1].End) {
					t.Fatalf("window %d: %+v", i, x)
				}
				line, retries, command = line+x.Line, retries+x.Retries, command+x.Command
			}
			if line != s.Buckets[0].Waiting || retries != len(s.Waiting) || command != 0 && command != calls {
				t.Fatalf("%d in line, %d retries, %d calls are dealt", line, retries, command)
			}
		}
	})
}

// TestI2_RetriesWaitForWhatIsInLineBefore: a retry goes to the end of its account's line,
// accounts of one region take turns, and timelines give way to all else. One on another
// host, or that makes no call, goes at its instant; one whose queue is paused does not.
func TestI2_RetriesWaitForWhatIsInLineBefore(t *testing.T) {
	s := state(window{limit: 100, used: 100, span: 100 * time.Second, reset: 10 * time.Second}, 200)
	row := func(id, region string, open int) engine.AccountRow {
		return engine.AccountRow{ID: id, Region: region, Status: engine.Syncing, Matches: engine.Progress{Total: 900, Open: open}}
	}
	// Of a sync's open matches those that wait for an instant are in no line.
	s.Open = []engine.AccountRow{row("long", "asia", 150+2), row("short", "asia", 50+2), row("far", "europe", 500)}
	timeline := match("3", "short", time.Second)
	timeline.Priority = engine.PriorityLow
	call, rank, paused := match("4", "", time.Second), match("5", "long", time.Second), match("6", "long", time.Second)
	call.Host = ""
	rank.Host = "kr" // ranks are asked of the platform, not of the region of matches
	paused.Held = engine.Held{Reason: "queue paused by ana", Stand: engine.StandPaused}
	s.Waiting = []forecast.Waiting{match("1", "long", time.Second), match("2", "short", time.Second), timeline, call, rank, paused}
	starts := forecast.New(s).Starts()
	for id, want := range map[engine.JobID]time.Duration{
		"1": 210 * time.Second, // 150 of its own and 50 of the other before it
		"2": 110 * time.Second, // 50 of its own, 50 of the other
		"3": 210 * time.Second, // all matches of both before it
		"4": time.Second, "5": time.Second,
	} {
		if got := starts[id].At.Sub(now); got != want {
			t.Errorf("%s starts after %v, want %v", id, got, want)
		}
	}
	if got := starts["6"]; !got.At.IsZero() || got.LateBy != "queue paused by ana" {
		t.Errorf("behind a pause: %+v", got)
	}
	if got := starts["1"]; got.LateBy != "app:asia 100/100s" {
		t.Errorf("late by %q", got.LateBy)
	}
}

// TestI7_OneRetryOfWhatIsDownIsFirst: of the retries of a lane that is down the first goes when that is tried, whatever
// stands in line before it, unless one that stands in line itself goes then.
func TestI7_OneRetryOfWhatIsDownIsFirst(t *testing.T) {
	s := state(window{limit: 100, used: 50, span: 100 * time.Second, reset: 10 * time.Second}, 200)
	for _, id := range []string{"1", "2"} {
		w := match(id, "a", time.Second)
		w.Method, w.Priority = forecast.TimelineMethod, engine.PriorityLow
		w.Held = engine.Held{Reason: "timeline calls to asia fail", Until: now.Add(7 * time.Second), Stand: engine.StandDown}
		s.Waiting = append(s.Waiting, w)
	}
	behind := 110 * time.Second // what is in line takes all of the windows before
	for inLine, want := range [][]time.Duration{{7 * time.Second, behind}, {behind, behind}} {
		s.Buckets = append(s.Buckets[:1:1], engine.BucketRow{Kind: "method", Host: "asia", Method: forecast.TimelineMethod, Waiting: inLine})
		starts := forecast.New(s).Starts()
		for i, w := range s.Waiting {
			if got := starts[w.ID].At.Sub(now); got != want[i] {
				t.Errorf("with %d in line %s starts after %v, want %v", inLine, w.ID, got, want[i])
			}
		}
	}
}

// TestTheNextMinutesAddUp: the calls of the accounts are those of their host, and those of
// its windows; what was called in the past minute comes as it was counted.
func TestTheNextMinutesAddUp(t *testing.T) {
	s := state(window{limit: 100, used: 80, span: 12 * time.Second, reset: 4 * time.Second}, 499)
	s.Open = []engine.AccountRow{
		{ID: "heron", RiotID: "Night Heron#EUW", Region: "asia", Status: engine.Syncing, WantsTimelines: true, Matches: engine.Progress{Total: 900, Open: 478, Retrying: 1}},
		{ID: "fox", RiotID: "달빛 여우#KR1", Region: "asia", Status: engine.Syncing, Matches: engine.Progress{Total: 900}, Timelines: engine.Progress{Open: 22}},
	}
	s.Waiting = []forecast.Waiting{match("1", "heron", 30*time.Second)}
	past := map[string][]int{"heron": {0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 20, 30}, "left": {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}
	f := forecast.New(s).Answer(3*time.Minute, past)
	sum := func(steps []int) (n int) {
		for _, calls := range steps {
			n += calls
		}
		return n
	}
	if len(f.Accounts) != 3 || f.Accounts[0].Account != "heron" || f.Accounts[0].RiotID != "Night Heron#EUW" || sum(f.Accounts[0].Past) != 60 || f.Accounts[2].Account != "left" {
		t.Fatalf("%+v", f.Accounts)
	}
	const all = 477 + 1 + 478 + 22
	accounts, windows, left, h := 0, 0, 0, f.Hosts[0]
	for _, a := range f.Accounts {
		accounts, left = accounts+sum(a.Planned), left+a.Calls
	}
	if heron := f.Accounts[0]; left != all || heron.Calls != 2*478 || heron.Ends.Sub(now) < 111*time.Second || !f.Accounts[2].Ends.IsZero() {
		t.Errorf("%d calls of syncs, %+v", left, f.Accounts)
	}
	for _, w := range h.Windows {
		windows += w.Line + w.Retries
	}
	if accounts != all || sum(h.Planned) != all || windows != all || h.Line+h.Retries != all || h.Windows[0].Made != 80 || h.Planned[0] != 20+8 {
		t.Errorf("%d of the accounts, %d of the host, %d in windows, want %d: %+v", accounts, sum(h.Planned), windows, all, h)
	}
}

// TestAFrozenHostPlansNothing until somebody resumes it; under a cap it plans less.
func TestAFrozenHostPlansNothing(t *testing.T) {
	s := state(window{limit: 100, span: 10 * time.Second}, 300)
	s.Waiting = []forecast.Waiting{match("1", "", time.Second)}
	s.Buckets[0].Cap = 50
	if h := forecast.New(s).Answer(time.Minute, nil).Hosts[0]; h.Limit != 50 || h.Windows[0].Line != 50-h.Windows[0].Retries {
		t.Errorf("under a cap: %+v", h)
	}
	s.Buckets[0].BlockedBy = engine.BlockedFrozen
	p := forecast.New(s)
	if h := p.Answer(time.Minute, nil).Hosts[0]; !h.Stuck || h.Line != 300 || h.Windows[0].Line != 0 || h.Planned[0] != 0 || p.Beside("asia", 9, 0) != nil {
		t.Errorf("frozen: %+v", h)
	}
	if got := p.Starts()["1"]; !got.At.IsZero() || got.LateBy != "asia is frozen" {
		t.Errorf("frozen: %+v", got)
	}
}

// TestTheOpenWindowIsTheServers: what it has counted since its reset takes room in the open
// window, not what our limiter still counts of the one before, whose places come free
// before it ends.
func TestTheOpenWindowIsTheServers(t *testing.T) {
	s := state(window{limit: 100, used: 98, span: 12 * time.Second, reset: 10 * time.Second}, 300)
	s.Buckets[0].Server, s.Buckets[0].ServerAt = 12, now
	if w := forecast.New(s).Answer(time.Minute, nil).Hosts[0].Windows; w[0].Made != 12 || w[0].Line != 88 || w[1].Line != 100 {
		t.Errorf("%+v", w)
	}
}

// TestI2_WhatStandsStillIsCounted: of a sync that makes no call, and made none of late, the plan tells how many it has.
func TestI2_WhatStandsStillIsCounted(t *testing.T) {
	s := state(window{limit: 10, span: time.Minute, reset: time.Minute}, 3)
	s.Open = []engine.AccountRow{{ID: "a", Region: "asia", Matches: engine.Progress{Total: 3, Open: 3}}}
	s.Still = forecast.Still{"a": "queue paused by ana"}
	got := forecast.New(s).Answer(time.Minute, nil).Accounts
	if len(got) != 1 || got[0].Calls != 3 || !got[0].Ends.IsZero() {
		t.Errorf("%+v", got)
	}
}

// TestI2_AnOutagePromisesNoEnd: of a sync that stands still nobody knows the end, though one of its retries is told for the
// next try of what is down; nor is the list planned that another one waits with.
func TestI2_AnOutagePromisesNoEnd(t *testing.T) {
	s := state(window{limit: 100, span: time.Minute, reset: time.Minute}, 899+1)
	s.Open = []engine.AccountRow{
		{ID: "a", Region: "asia", Matches: engine.Progress{Total: 900, Open: 900}},
		{ID: "b", Region: "asia", Matches: engine.Progress{Total: -1}},
	}
	s.Still = forecast.Still{"a": "match calls to asia fail", "b": "ids calls to asia fail"}
	s.Waiting = []forecast.Waiting{match("1", "a", 2*time.Minute)}
	got := forecast.New(s).Answer(time.Hour, nil)
	if h := got.Hosts[0]; !h.Stuck || h.Line+h.Retries != 900 {
		t.Errorf("the host: %+v", h)
	}
	if len(got.Accounts) != 1 || got.Accounts[0].Calls != 900 || !got.Accounts[0].Ends.IsZero() {
		t.Errorf("the syncs: %+v", got.Accounts)
	}
}

// TestI7c_TimelinesArePlannedBesideAnOutage of matches: they go, and of their sync nobody knows the end.
func TestI7c_TimelinesArePlannedBesideAnOutage(t *testing.T) {
	s := state(window{limit: 100, span: time.Minute, reset: time.Minute}, 941)
	s.Open = []engine.AccountRow{{ID: "a", Region: "asia", WantsTimelines: true, Matches: engine.Progress{Total: 941, Open: 900}, Timelines: engine.Progress{Total: 41, Open: 41}}}
	s.Still, s.Late = forecast.Still{"a": "match calls to asia fail"}, map[string]bool{"a": true}
	got := forecast.New(s).Answer(time.Hour, nil)
	if h := got.Hosts[0]; h.Stuck || h.Line != 41 || h.Windows[0].Line != 41 {
		t.Errorf("the host: %+v", h)
	}
	if a := got.Accounts[0]; a.Calls != 900+41+900 || !a.Ends.IsZero() {
		t.Errorf("the sync: %+v", a)
	}
}

// TestI2_NothingIsPlannedBeforeAHoldEnds that an answer has put on all methods with calls in line: the host's own windows have room.
func TestI2_NothingIsPlannedBeforeAHoldEnds(t *testing.T) {
	s := state(window{limit: 100, used: 97, span: 2 * time.Minute, reset: time.Minute}, 150)
	held := now.Add(4 * time.Minute)
	s.Buckets = append(s.Buckets,
		engine.BucketRow{Kind: "method", Host: "asia", Method: forecast.MatchMethod, Waiting: 140, Blocked: held, BlockedBy: "429 service"},
		engine.BucketRow{Kind: "method", Host: "asia", Method: forecast.TimelineMethod, Waiting: 10, Blocked: held.Add(time.Minute), BlockedBy: "429 service"})
	for _, w := range forecast.New(s).Answer(time.Hour, nil).Hosts[0].Windows {
		if w.Line > 0 && !w.End.After(held) {
			t.Errorf("%d calls are planned before %v", w.Line, w.End)
		}
	}
	// What is down or frozen does not go meanwhile.
	all, rest := s.Buckets, engine.BucketRow{Kind: "method", Host: "asia", Method: "match-v5.ids", Waiting: 1}
	frozen, thaws := rest, rest
	frozen.BlockedBy, thaws.BlockedBy = engine.BlockedFrozen, engine.BlockedFrozen
	thaws.Blocked, thaws.Thaws = held, held
	for _, row := range []engine.BucketRow{rest, frozen, thaws} {
		s.Buckets = append(all[:len(all):len(all)], row)
		if s.Down = nil; row == rest {
			s.Down = []engine.BreakerRow{{Host: "asia", Method: rest.Method, Waiting: 1}}
		}
		if w := forecast.New(s).Answer(time.Hour, nil).Hosts[0].Windows[0]; w.Line != 0 {
			t.Errorf("%d calls are planned while nothing goes", w.Line)
		}
	}
	s.Buckets, s.Down = append(all, rest), nil
	if w := forecast.New(s).Answer(time.Hour, nil).Hosts[0].Windows[0]; w.Line != 3 {
		t.Errorf("%d calls are planned in the room of 3 while others go", w.Line)
	}
}

// TestI3_TimelinesThatAreDownAreNotPlanned, at the end of the matches or anywhere: nobody knows when they go.
func TestI3_TimelinesThatAreDownAreNotPlanned(t *testing.T) {
	s := state(window{limit: 100, span: 2 * time.Minute, reset: time.Minute}, 30)
	s.Open = []engine.AccountRow{{ID: "a", Region: "asia", Matches: engine.Progress{Total: 40, Stored: 10, Open: 30},
		Timelines: engine.Progress{Open: 10}, WantsTimelines: true}}
	for want, down := range map[int][]engine.BreakerRow{70: nil, 30: {{Host: "asia", Method: forecast.TimelineMethod, Waiting: 10}}} {
		s.Down = down
		got := forecast.New(s).Answer(time.Hour, nil)
		if got.Hosts[0].Line != want || got.Accounts[0].Calls != want {
			t.Errorf("%d calls are planned, %d of the account, want %d", got.Hosts[0].Line, got.Accounts[0].Calls, want)
		}
		if ends := got.Accounts[0].Ends; ends.IsZero() != (down != nil) {
			t.Errorf("with %v down it ends at %v", down, ends)
		}
	}
}

// TestI2_ARetryIsPlannedOnce: its account counts it as open, too.
func TestI2_ARetryIsPlannedOnce(t *testing.T) {
	s := state(window{limit: 100, span: 2 * time.Minute, reset: time.Minute}, 27)
	s.Open = []engine.AccountRow{{ID: "a", Region: "asia", Matches: engine.Progress{Total: 40, Stored: 10, Open: 30, Retrying: 3}, WantsTimelines: true}}
	for i := range 3 {
		s.Waiting = append(s.Waiting, match(fmt.Sprint(i), "a", time.Minute))
	}
	for _, still := range []forecast.Still{nil, {"a": "match calls to asia fail"}} {
		const want = 60
		s.Still = still
		h := forecast.New(s).Answer(time.Hour, nil).Hosts[0]
		if h.Line+h.Retries != want || h.Retries != 3 {
			t.Errorf("%d in line and %d retries are planned, want %d in all", h.Line, h.Retries, want)
		}
	}
}

// TestI2_ARetryThatIsHeldIsCounted: of what is frozen without an end nobody knows when it goes, and that it waits all the same.
func TestI2_ARetryThatIsHeldIsCounted(t *testing.T) {
	s := state(window{limit: 100, span: 2 * time.Minute, reset: time.Minute}, 27)
	s.Open = []engine.AccountRow{{ID: "a", Region: "asia", Matches: engine.Progress{Total: 40, Stored: 10, Open: 30, Retrying: 3}}}
	s.Still = forecast.Still{"a": "match calls to asia are frozen"}
	for i := range 3 {
		w := match(fmt.Sprint(i), "a", time.Minute)
		w.Held = engine.Held{Reason: s.Still["a"], Stand: engine.StandHeld}
		s.Waiting = append(s.Waiting, w)
	}
	if h := forecast.New(s).Answer(time.Hour, nil).Hosts[0]; h.Line != 30 || h.Retries != 0 {
		t.Errorf("%d in line and %d retries, want all 30 in line", h.Line, h.Retries)
	}
	for _, w := range forecast.New(s).Beside("asia", 10, time.Minute).Windows {
		if w.Retries != 0 {
			t.Errorf("%d of what is frozen are planned beside a command", w.Retries)
		}
	}
}

// TestI2_RetriesHideNobodyInLine: they wait for their instant, and are not among the calls that stand in line.
func TestI2_RetriesHideNobodyInLine(t *testing.T) {
	s := state(window{limit: 100, span: 2 * time.Minute, reset: time.Minute}, 80+15)
	s.Open = []engine.AccountRow{{ID: "a", Region: "asia", Matches: engine.Progress{Total: 100, Open: 100, Retrying: 20}}}
	for i := range 20 {
		s.Waiting = append(s.Waiting, match(fmt.Sprint(i), "a", time.Minute))
	}
	if h := forecast.New(s).Answer(time.Hour, nil).Hosts[0]; h.Line != 80+15 || h.Retries != 20 {
		t.Errorf("%d in line and %d retries, want 95 and 20", h.Line, h.Retries)
	}
}

// TestI7c_TimelinesThatAreFrozenAreNotPlanned either, until somebody resumes them, nor do they set the pace of what goes.
func TestI7c_TimelinesThatAreFrozenAreNotPlanned(t *testing.T) {
	s := state(window{limit: 100, span: 2 * time.Minute, reset: time.Minute}, 30)
	s.Open = []engine.AccountRow{{ID: "a", Region: "asia", Matches: engine.Progress{Total: 40, Stored: 10, Open: 30},
		Timelines: engine.Progress{Open: 10}, WantsTimelines: true}}
	s.Buckets = append(s.Buckets, engine.BucketRow{Kind: "method", Host: "asia", Method: forecast.TimelineMethod, Waiting: 10,
		Limit: 9, Window: time.Minute, Paces: true, BlockedBy: engine.BlockedFrozen})
	got := forecast.New(s).Answer(time.Hour, nil)
	if h, a := got.Hosts[0], got.Accounts[0]; h.Stuck || h.Limit != 100 || h.Line != 30 || a.Calls != 30 || !a.Ends.IsZero() {
		t.Errorf("the host: %+v\nthe sync: %+v", h, a)
	}
}

// TestI3_RetriesOfTimelinesThatAreDownAreTheirAccounts: they are planned for when that is tried.
func TestI3_RetriesOfTimelinesThatAreDownAreTheirAccounts(t *testing.T) {
	s := state(window{limit: 100, span: 2 * time.Minute, reset: time.Minute}, 30)
	s.Open = []engine.AccountRow{{ID: "a", Region: "asia", Matches: engine.Progress{Total: 40, Stored: 10, Open: 30},
		Timelines: engine.Progress{Open: 10, Retrying: 3}, WantsTimelines: true}}
	s.Down = []engine.BreakerRow{{Host: "asia", Method: forecast.TimelineMethod, Waiting: 7}}
	for i := range 3 {
		w := match(fmt.Sprint(i), "a", time.Second)
		w.Method, w.Priority = forecast.TimelineMethod, engine.PriorityLow
		w.Held = engine.Held{Reason: "timeline calls to asia fail", Until: now.Add(7 * time.Second), Stand: engine.StandDown}
		s.Waiting = append(s.Waiting, w)
	}
	got := forecast.New(s).Answer(time.Hour, nil)
	if h, a := got.Hosts[0], got.Accounts[0]; h.Line+h.Retries != 33 || a.Calls != 33 {
		t.Errorf("%d calls are planned, %d of the account, want 33", h.Line+h.Retries, a.Calls)
	}
}

// TestV3e_WhoGoesBehindAllOthersHasAnEnd, though none of its calls are in the minutes whose steps are told.
func TestV3e_WhoGoesBehindAllOthersHasAnEnd(t *testing.T) {
	s := state(window{limit: 100, span: 2 * time.Minute, reset: time.Minute}, 5009)
	s.Open = []engine.AccountRow{{ID: "a", Region: "asia", Matches: engine.Progress{Total: 5000, Open: 5000}},
		{ID: "b", Region: "asia", Matches: engine.Progress{Total: 300, Stored: 300}, Timelines: engine.Progress{Total: 300, Stored: 291, Open: 9}}}
	p := forecast.New(s)
	got := p.Answer(time.Hour, nil).Accounts
	for i, a := range got {
		want := now.Add(p.ETA(s.Open[i], true).High)
		if a.Account != s.Open[i].ID || a.Ends.Sub(now) < time.Hour || !a.Ends.Equal(want) {
			t.Errorf("%+v is not done at %v", a, want)
		}
	}
	if len(got) != 2 || slices.Max(got[1].Planned) > 0 {
		t.Errorf("%+v", got)
	}
	s.Buckets[0].BlockedBy = engine.BlockedFrozen
	for _, a := range forecast.New(s).Answer(time.Hour, nil).Accounts {
		if !a.Ends.IsZero() {
			t.Errorf("its host is frozen: %+v", a)
		}
	}
}
