package overview

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestV3a_CallsInTheOrderTheyLeave: what was made with what became of it, what is under way, and then
// what leaves, by when it really goes and not by when it was due; a job that has left is in one place.
func TestV3a_CallsInTheOrderTheyLeave(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive}})
	at := func(s float64) time.Time { return v.Now.Add(time.Duration(s * float64(time.Second))) }
	row := func(id string, state engine.State, goes float64) engine.JobRow {
		j := engine.JobRow{Job: engine.Job{ID: engine.JobID(id), Rev: 1, Kind: "match.fetch", Key: "match:KR_" + id, State: state, Due: at(goes)}, Player: "카인#KR1"}
		if state == engine.Available {
			j.Due, j.Until = time.Time{}, at(goes)
		}
		return j
	}
	late, held := row("late", engine.Retryable, -60), row("held", engine.Scheduled, 9)
	late.Tries, late.LateBy, late.Starts = 1, "app:asia 100/120s", at(7)
	soon := row("soon", engine.Retryable, 7.5)
	soon.Tries, soon.LateBy, soon.Starts = 1, "app:asia 100/120s", at(8) // half a second is not late
	held.Hold = engine.HoldThrottled
	runs := row("runs", engine.Running, 0)
	runs.Tries, runs.Started = 1, at(-0.1)
	again := row("again", engine.Retryable, 30)
	again.Tries = 1
	v.Jobs, v.JobAt = []engine.JobRow{runs, late, soon, again, held}, map[engine.JobID]int{}
	page.SortJobs(v.Jobs)
	for i := range v.Jobs {
		v.JobAt[v.Jobs[i].ID] = i
	}
	v.Calls = []engine.CallRow{
		{Seq: 0, At: at(-2.5), Job: "quick", Method: "match-v5.match", Target: "KR_quick", Status: 200, Took: 5 * time.Millisecond},
		{Seq: 1, At: at(-3), Job: "made", Method: "match-v5.match", Target: "KR_made", Status: 200, Took: 85 * time.Millisecond},
		{Seq: 2, At: at(-2), Job: "again", Method: "match-v5.match", Target: "KR_again", Status: 503, Try: 1},
		{Seq: 3, At: at(-1), Job: "lost", Method: "match-v5.match", Target: "KR_lost", Status: 404},
	}
	var d departures
	d.Answer.At = at(-5)
	d.got(v, engine.JobsQuery{Soonest: true}, engine.JobsPage{Jobs: []engine.JobRow{late, row("made", engine.Available, -3), row("first", engine.Available, 0.4), row("next", engine.Available, 5), soon, again, held}}, nil)
	d.see(v, v.Calls, 4, 20)
	want := [][3]string{
		{"KR_made", "", "✓ landed 85 ms"}, {"KR_quick", "", "✓ landed 5 ms"}, {"KR_again", "", "✗ 503, holds"}, {"KR_lost", "", "✗ 404"},
		{"KR_runs", "", "● in the air"}, {"KR_first", "in 0.4 s", "on time"}, {"KR_next", "in 5.0 s", "on time"},
		{"KR_late", "in 7.0 s", "late 1:07"}, {"KR_soon", "in 8.0 s", "on time"}, {"KR_held", "in 9.0 s", "held by a 429"}, {"KR_again", "in 30 s", "on time"},
	}
	if len(d.rows) != len(want) || d.first != 4 {
		t.Fatalf("%d rows, the first to come is %d", len(d.rows), d.first)
	}
	ids := map[string]bool{}
	for i, r := range d.rows {
		if r.target != want[i][0] || want[i][1] != "" && r.leaves != want[i][1] || r.remark.Text != want[i][2] {
			t.Errorf("row %d: %s %q %q, want %v", i, r.target, r.leaves, r.remark.Text, want[i])
		}
		if ids[r.id] {
			t.Errorf("%s stands twice", r.id)
		}
		ids[r.id] = true
	}
	if v.Whose(&d.rows[0].row) != "카인#KR1" || d.rows[2].tries != 1 || d.rows[7].tries != 2 {
		t.Errorf("for %q, tries %d and %d", v.Whose(&d.rows[0].row), d.rows[2].tries, d.rows[7].tries)
	}
}

// TestV3g_TheBoardCountsEachCallOnce: two that stand first in lines of their own are the first and the second to leave,
// and while nothing leaves what follows is the rest of what is in line, whatever was planned.
func TestV3g_TheBoardCountsEachCallOnce(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive}})
	v.Queues = []engine.QueueRow{{Counts: map[engine.State]int{engine.Available: 136}}}
	o := New()
	var jobs []engine.JobRow
	for i, line := range []string{"full europe/match-v5.match", "full asia/match-v5.match", "full europe/match-v5.match"} {
		jobs = append(jobs, engine.JobRow{Job: engine.Job{ID: engine.JobID(line[i:]), Kind: "match.fetch", State: engine.Available}, Line: line, Place: 1 + i/2, Until: v.Now.Add(time.Duration(i) * time.Second)})
	}
	o.board.got(v, engine.JobsQuery{Soonest: true}, engine.JobsPage{Jobs: jobs}, nil)
	o.board.see(v, nil, 3, 20)
	for i, want := range []string{"1st to leave", "2nd to leave", "3rd to leave"} {
		if got := o.board.rows[i].why; got != want {
			t.Errorf("row %d: %q, want %q", i, got, want)
		}
	}
	stuck := charts.Timetable{Leave: 49, Plan: &engine.HostForecast{Stuck: true}}
	if got := ansi.Strip(o.follows(v, &stuck, 60)); !strings.Contains(got, " 133 more ") {
		t.Errorf("of 136 in line 3 are shown: %q", got)
	}
}

// TestV3h_TheBoardMovesBesideTheCharts: whenever it was drawn first, it moves at the half of each second, and the radar
// keeps its answers for some.
func TestV3h_TheBoardMovesBesideTheCharts(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive}})
	second := v.Now.Truncate(time.Second)
	call := engine.CallRow{Seq: 1, At: second, Job: "a", Method: "match-v5.match", Target: "KR_1", Status: 200}
	o := New()
	v.Now = second.Add(200 * time.Millisecond)
	o.board.see(v, []engine.CallRow{call}, 3, 20)
	for ms, want := range map[int]int{400: 1, 500: 2} {
		v.Now = second.Add(time.Duration(ms) * time.Millisecond)
		board := o.board
		if board.see(v, []engine.CallRow{call, call}, 3, 20); len(board.rows) != want {
			t.Errorf("at %d ms %d calls, want %d", ms, len(board.rows), want)
		}
	}
	v.Calls = []engine.CallRow{call}
	o.swept.Take(v)
	v.Now, v.Calls = v.Now.Add(2*time.Second), append(v.Calls, call)
	if n := len(o.swept.Take(v)); n != 1 {
		t.Errorf("the radar has %d answers after two seconds", n)
	}
}

// TestV3b_WhoseCallLandedIsTold: a call of a job that was gone before this console began has the name of its player,
// its try and how long it waited, however many jobs were made since.
func TestV3b_WhoseCallLandedIsTold(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive}})
	v.Accounts = []engine.AccountRow{{ID: "a1", RiotID: "Blue Heron#KR1"}}
	v.Calls = []engine.CallRow{{Seq: 1, At: v.Now, Job: "gone", Owner: "a1", Method: "match-v5.match", Target: "KR_gone", Status: 200,
		Try: 2, Asked: v.Now.Add(-time.Minute)}}
	d := departures{Answer: page.Answer{Have: true}}
	d.see(v, v.Calls, 3, 20)
	if r := &d.rows[0]; v.Whose(&r.row) != "Blue Heron#KR1" || r.tries != 2 || r.waited != "1 min" {
		t.Errorf("for %q, try %d, waited %q", v.Whose(&r.row), r.tries, r.waited)
	}
}

// TestV10c_TheEndShowsTheReport: when every sync has ended, when the player with the most matches plays stands in the
// place of the windows; while there is work, and before there was any, it does not.
func TestV10c_TheEndShowsTheReport(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive}})
	v.Accounts = []engine.AccountRow{
		{ID: "few", RiotID: "few#KR1", Status: engine.SyncCompleted, Matches: engine.Progress{Total: 3, Stored: 3}},
		{ID: "most", RiotID: "카인#KR1", Status: engine.SyncCompleted, Matches: engine.Progress{Total: 9, Had: 9}},
	}
	o := New()
	a, done := o.allDone(v)
	if !done || a.ID != "most" {
		t.Fatalf("done %t, the report of %q", done, a.ID)
	}
	q, _ := o.plays.Want(v, a, nil).(engine.PlayQuery)
	r := engine.PlayReport{Account: "most", Matches: 9}
	r.Minutes[4][20] = 600
	o.Got(v, q, engine.Play{Account: "most", Draft: &r}, nil)
	s, ok := o.report(v, 118, 6)
	if rows := ansi.Strip(strings.Join(s.Rows, "\n")); !ok || s.Note != "the hours of 카인, from 9 of 9 matches" || !strings.Contains(rows, "20–21 h") {
		t.Errorf("%q\n%s", s.Note, rows)
	}
	v.Accounts[0].Status = engine.Syncing
	if _, ok := o.report(v, 118, 6); ok {
		t.Error("a sync is under way")
	}
	v.Accounts = nil
	if _, ok := o.report(v, 118, 6); ok {
		t.Error("there was no sync")
	}
}

// TestTheNextTryIsTheFirstOfAll: the cause names all that is down. Where nothing waits no try is made, while something does elsewhere.
func TestTheNextTryIsTheFirstOfAll(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineAPIDown, Why: "match calls to europe fail: 716 jobs wait"}})
	want := v.Now.Add(6 * time.Second)
	v.Limits.Breakers = []engine.BreakerRow{{Method: "match-v5.timeline", Waiting: 37, Next: want}, {Method: "match-v5.match", Waiting: 679, Next: want.Add(time.Second)}}
	for _, behind := range []int{37, 0} {
		if v.Limits.Breakers[0].Waiting = behind; behind == 0 {
			want = want.Add(time.Second)
		}
		if got, _ := goesOn(v); !got.Equal(want) {
			t.Errorf("%d wait: %v, want %v", behind, got, want)
		}
	}
}

// TestW5g_WhatEndsAPauseOfTheDisk: a pause that no operator made is ended by no key.
func TestW5g_WhatEndsAPauseOfTheDisk(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EnginePaused, Why: "disk low: 419.4 MB free"}})
	v.Queues = []engine.QueueRow{{QueueState: engine.QueueState{Name: "ingest.summoner.full"}}}
	if _, then := goesOn(v); then != "" {
		t.Errorf("for want of room: %q", then)
	}
	v.Queues[0].Paused = true
	if _, then := goesOn(v); !strings.Contains(then, "resumes the queue") {
		t.Errorf("paused by an operator: %q", then)
	}
}

// TestV3d_WhatNeedsYouSaysSinceWhen: only a narrow block whose rows are few has no room for it.
func TestV3d_WhatNeedsYouSaysSinceWhen(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive}})
	v.Queues = []engine.QueueRow{{QueueState: engine.QueueState{Name: "q", Paused: true, Since: v.Now.Add(-time.Hour)}}}
	v.Alerts = []engine.AlertRow{{ID: "a", About: "something", State: engine.AlertFiring, Since: v.Now.Add(-10 * time.Minute)}}
	var o Screen
	for size, want := range map[[2]int]int{{60, 6}: 2, {30, 6}: 2, {60, 2}: 2, {30, 2}: 0} {
		rows := strings.Join(o.needsBlock(v, size[0], size[1]).Rows, "\n")
		got := 0
		for _, at := range []time.Duration{time.Hour, 10 * time.Minute} {
			got += strings.Count(ansi.Strip(rows), v.Now.Add(-at).Format("since 15:04"))
		}
		if got != want {
			t.Errorf("%v: %d say since when, want %d:\n%s", size, got, want, ansi.Strip(rows))
		}
	}
}

// TestV3d_APauseSaysByWhom: in its only row, too, where that is long enough to cut nothing; below it why, if a reason was given.
func TestV3d_APauseSaysByWhom(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive}})
	v.Queues = []engine.QueueRow{{QueueState: engine.QueueState{Name: "report.weekly", Paused: true, By: engine.Actor{User: "ana", Via: "console"}}}}
	var o Screen
	for size, want := range map[[2]int]string{{60, 2}: "‖ report.weekly pause resumes paused by ana: nothing of it starts", {60, 1}: "‖ report.weekly · paused by ana pause resumes",
		{47, 1}: "‖ report.weekly · paused by ana pause resumes", {46, 1}: "‖ report.weekly pause resumes", {30, 1}: "‖ report.week… pause resumes"} {
		rows := strings.Join(o.needsBlock(v, size[0], size[1]).Rows, " ")
		if got := strings.Join(strings.Fields(ansi.Strip(rows)), " "); got != want {
			t.Errorf("%v: %q, want %q", size, got, want)
		}
	}
	v = pagetest.View(&page.Data{Ready: true, Engine: v.Engine, Queues: v.Queues})
	v.Queues[0].Reason = "deploy"
	if rows := o.needsBlock(v, 60, 2).Rows; !strings.Contains(ansi.Strip(rows[1]), "paused by ana: deploy") {
		t.Errorf("%q", rows)
	}
}

// TestV3i_WhatGoesOnByItselfNeedsNobody: of an outage it is told apart how much needs a person.
func TestV3i_WhatGoesOnByItselfNeedsNobody(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineAPIDown, Why: "ids calls to europe fail: 5 jobs wait"}})
	v.Alerts = []engine.AlertRow{{ID: "a", State: engine.AlertFiring, Next: "it goes on by itself: the engine probes the host"}}
	var o Screen
	for _, want := range []string{"0 · 2 go on by themselves", "1 · 2 go on by themselves"} {
		if got := o.needsBlock(v, 38, 4).Note; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		v.Alerts = append(v.Alerts, engine.AlertRow{ID: "b", State: engine.AlertFiring, Next: "paste a new key"})
		v = pagetest.View(v.Data)
	}
}

// TestACallThatHasLandedIsNotInTheAir: it is told of a moment before its job has moved on.
func TestACallThatHasLandedIsNotInTheAir(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineLive}})
	runs := func(id engine.JobID) engine.JobRow {
		return engine.JobRow{Job: engine.Job{ID: id, Kind: "match.fetch", Key: "match:KR_" + string(id), State: engine.Running, Tries: 1, Started: v.Now.Add(-time.Second)}}
	}
	v.Jobs, v.JobAt = []engine.JobRow{runs("flies"), runs("landed")}, map[engine.JobID]int{"flies": 0, "landed": 1}
	v.Calls = []engine.CallRow{{Seq: 1, At: v.Now.Add(-time.Minute), Job: "flies", Target: "KR_flies", Status: 503},
		{Seq: 2, At: v.Now.Add(-time.Second), Job: "landed", Target: "KR_landed", Status: 200}}
	var d departures
	d.see(v, v.Calls, 3, 20)
	if len(d.rows) != 3 || d.rows[1].target != "KR_landed" || d.rows[2].target != "KR_flies" || !d.rows[2].under {
		t.Errorf("on the board are %+v", d.rows)
	}
}

// TestAHeldCallLeavesWhenThereIsRoom, and not when its hold ends, where that is told as late.
func TestAHeldCallLeavesWhenThereIsRoom(t *testing.T) {
	now := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	j := engine.JobRow{Job: engine.Job{State: engine.Scheduled, Due: now.Add(time.Minute)}, Starts: now.Add(13 * time.Minute), LateBy: "app:europe 100/120s"}
	if got := page.GoesAt(&j); !got.Equal(j.Starts) {
		t.Errorf("%v, want %v", got, j.Starts)
	}
}

// TestV4a_TheTallCountdownGoesWithTheOthers: a try in less than a second is "1 s" beside the limits, and 0:01 in tall digits.
func TestV4a_TheTallCountdownGoesWithTheOthers(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineAPIDown, Why: "match calls fail"}})
	v.Now = v.Now.Truncate(time.Second)
	digits := func(in time.Duration) (out string) {
		v.Limits.Breakers = []engine.BreakerRow{{Host: "asia", Method: "match-v5.match", Next: v.Now.Add(in)}}
		for _, r := range (&Screen{}).cause(v, nil, 70, tallDigits).Rows {
			out += string([]rune(ansi.Strip(r))[:12]) + "\n"
		}
		return out
	}
	if soon, next := digits(400*time.Millisecond), digits(time.Second); soon != next {
		t.Errorf("%s%s", soon, next)
	}
}
