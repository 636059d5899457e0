package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV7a_JobsStandsStill: while jobs are in line their group is there, with all workers busy and with none, and
// what runs keeps its row.
func TestV7a_JobsStandsStill(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		s.Jobs = nil // all that were known have gone since they were asked for
		d := open(t, s, 120, 40, testOptions())
		d.press("3")
		d.wants("0 RUNNING  0 of 12 workers", "7,153 AVAILABLE")
		at := func() int { // the row of the heading, and of that below it
			above, rest, _ := strings.Cut(d.screen(), "AVAILABLE")
			between, _, _ := strings.Cut(rest, "RETRYABLE")
			return 100*strings.Count(above, "\n") + strings.Count(between, "\n")
		}
		idle := at()
		j := uitest.Busy().Jobs[0]
		j.State = engine.Running
		u := s.Update
		u.Snapshot, u.Jobs, u.Seq = false, []engine.JobRow{j}, u.Seq+1
		if d.send(u); at() != idle {
			t.Errorf("a job that runs moved what is in line:\n%s", d.screen())
		}
		d.wants("1 RUNNING  1 of 12 workers")
		q := u.Queues[0]
		q.Counts[engine.Running], q.Counts[engine.Available] = 1, 0 // the last one
		u.Queues, u.Jobs, u.Seq = []engine.QueueRow{q}, nil, u.Seq+1
		if d.send(u); at() != idle {
			t.Errorf("the last job that runs moved its group:\n%s", d.screen())
		}
		d.wait(2 * block.KeepLines)
		u.Seq++
		if d.send(u); at() != idle {
			t.Errorf("the group in line has lost its line:\n%s", d.screen())
		}
		q.Counts[engine.Running], q.Counts[engine.Pending] = 0, 1 // a sync that waits for a retry
		u.Jobs, u.Gone, u.Seq = nil, []engine.JobID{j.ID}, u.Seq+1
		d.send(u)
		d.wait(2 * block.KeepLines)
		u.Gone, u.Seq = nil, u.Seq+1
		if d.send(u); at() != idle {
			t.Errorf("nothing is left in line for a moment, and the groups move:\n%s", d.screen())
		}
	})
}

// TestV1i_TheHoldingStackKeepsItsRows: a try that no retry waits for any more leaves its row while others wait and a
// while longer, and what stands below does not move.
func TestV1i_TheHoldingStackKeepsItsRows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(20, uitest.Noon)
		for i := range 3 {
			j := &s.Jobs[i]
			j.State, j.Tries, j.Due = engine.Retryable, i+1, uitest.Noon.Add(time.Minute)
		}
		s.Update.Jobs = s.Jobs[:3]
		d := open(t, s, 120, 40, testOptions())
		d.wants("try 2", "try 4")
		arrivals := func() int {
			above, _, _ := strings.Cut(d.screen(), "ARRIVALS")
			return strings.Count(above, "\n")
		}
		stood := arrivals()
		u := s.Update
		u.Snapshot, u.Jobs, u.Gone, u.Seq = false, nil, []engine.JobID{s.Jobs[1].ID, s.Jobs[2].ID}, u.Seq+1
		d.send(u)
		d.wait(2 * block.KeepLines)
		u.Gone, u.Seq = nil, u.Seq+1
		d.send(u)
		if d.lacks("try 4"); arrivals() != stood {
			t.Errorf("the arrivals moved by %d:\n%s", arrivals()-stood, d.screen())
		}
		u.Gone, u.Seq = []engine.JobID{s.Jobs[0].ID}, u.Seq+1
		d.send(u)
		d.wait(2 * block.KeepLines)
		u.Gone, u.Seq = nil, u.Seq+1
		if d.send(u); arrivals() >= stood {
			t.Errorf("the rows are kept for good:\n%s", d.screen())
		}
	})
}

// TestV7c_WhatLeftSaysWhatBecameOfIt: the row of a job that has ended stays in its place with its answer, and goes
// after a while.
func TestV7c_WhatLeftSaysWhatBecameOfIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		a, b := s.Jobs[0], s.Jobs[1]
		a.State, a.Started, b.State, b.Started = engine.Running, uitest.Noon, engine.Running, uitest.Noon
		s.Jobs, s.Update.Jobs = append([]engine.JobRow{a, b}, s.Jobs[2:]...), []engine.JobRow{a, b}
		d := open(t, s, 120, 40, testOptions())
		d.press("3")
		name := func(j engine.JobRow) string { return strings.TrimPrefix(j.Key, "match:") }
		rowOf := func(j engine.JobRow) int {
			above, _, found := strings.Cut(d.screen(), name(j))
			if !found {
				t.Fatalf("no %s:\n%s", j.Key, d.screen())
			}
			return strings.Count(above, "\n")
		}
		first, second := rowOf(a), rowOf(b)
		u := s.Update
		u.Snapshot, u.Jobs, u.Gone, u.Seq = false, nil, []engine.JobID{a.ID}, u.Seq+1
		u.Calls = []engine.CallRow{{
			Seq: u.Calls[len(u.Calls)-1].Seq + 1, At: uitest.Noon, Host: "europe", Method: "match-v5.match",
			Target: name(a), Job: a.ID, Status: 200, Took: 62 * time.Millisecond,
		}}
		d.send(u)
		if rowOf(a) != first || rowOf(b) != second || !strings.Contains(d.rowWith(name(a)), "200 in 62 ms") {
			t.Errorf("a job that left moved the others, or does not say what became of it:\n%s", d.screen())
		}
		d.wait(2 * block.KeepLines)
		u.Gone, u.Calls, u.Seq = nil, nil, u.Seq+1
		if d.send(u); strings.Contains(d.screen(), "200 in 62 ms") {
			t.Errorf("it is still there:\n%s", d.screen())
		}
	})
}

// TestV7e_WhatRunsGoesBeforeWhatLeft: where a small screen has no room for both, what runs is shown, and a job that
// left before anything is known of its call has no sign of a good end.
func TestV7e_WhatRunsGoesBeforeWhatLeft(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		run := func(jobs []engine.JobRow) []engine.JobRow {
			jobs = slices.Clone(jobs)
			for i := range jobs {
				jobs[i].State, jobs[i].Started, jobs[i].Tries = engine.Running, uitest.Noon, 1
				jobs[i].Rev++
			}
			return jobs
		}
		first := run(s.Jobs[:4])
		for i, state := range []engine.State{engine.Retryable, engine.Scheduled, engine.Pending} { // groups that take the room
			s.Jobs[10+i].State, s.Jobs[10+i].Until = state, uitest.Noon.Add(time.Hour)
		}
		s.Update.Jobs = slices.Concat(first, s.Jobs[10:13])
		d := open(t, s, 80, 24, testOptions())
		d.press("3")
		name := func(j engine.JobRow) string { return strings.TrimPrefix(j.Key, "match:") }
		u := s.Update
		u.Snapshot, u.Calls, u.Jobs, u.Seq = false, nil, nil, u.Seq+1
		for _, j := range first[:3] {
			u.Gone = append(u.Gone, j.ID)
		}
		d.send(u)
		if d.wants("1 RUNNING"); d.rowWith(name(first[3])) == "" {
			t.Errorf("the one that runs is not shown:\n%s", d.screen())
		}
		d = open(t, s, 120, 40, testOptions())
		d.press("3")
		d.send(u)
		if row := d.rowWith(name(first[1])); row == "" || strings.Contains(row, "✓") {
			t.Errorf("of a call that is not known: %q", row)
		}
	})
}

// TestV7l_ALeftJobIsDrawnOnce: a job under a chosen cursor that leaves its line stays there once, and moves nothing else.
func TestV7l_ALeftJobIsDrawnOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		d := open(t, s, 120, 40, testOptions())
		d.press("3", "down", "down")
		name := regexp.MustCompile(`EUW1_\d+`).FindString(d.rowWith("▌"))
		gone := slices.IndexFunc(s.Jobs, func(j engine.JobRow) bool { return j.Key == "match:"+name })
		if gone < 0 {
			t.Fatalf("no job of %q", name)
		}
		heading := func() int {
			above, _, _ := strings.Cut(d.screen(), "RETRYABLE")
			return strings.Count(above, "\n")
		}
		stood := heading()
		u := s.Update
		u.Snapshot, u.Jobs, u.Gone, u.Seq = false, nil, []engine.JobID{s.Jobs[gone].ID}, u.Seq+1
		u.Calls = []engine.CallRow{{
			Seq: u.Calls[len(u.Calls)-1].Seq + 1, At: time.Now(), Host: "europe", Method: "match-v5.match",
			Target: name, Job: s.Jobs[gone].ID, Status: 200, Took: 62 * time.Millisecond,
		}}
		d.fake.Scene.Jobs = slices.Delete(slices.Clone(s.Jobs), gone, gone+1)
		d.send(u)
		for range 3 {
			above, _, _ := strings.Cut(d.screen(), "WHY")
			if n := strings.Count(above, name); n != 1 || !strings.Contains(d.rowWith("▌"), name) || heading() != stood {
				t.Fatalf("%s is drawn %d times, the heading below moved by %d:\n%s", name, n, heading()-stood, d.screen())
			}
			d.wait(time.Second)
		}
	})
}

// TestV7h_WhatComesAndGoesMovesNothingElse: a hold takes its lines from what is in line and leaves nothing behind, and
// what runs has its lines before it runs.
func TestV7h_WhatComesAndGoesMovesNothingElse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		retry := s.Jobs[10]
		retry.State, retry.Until, retry.Tries = engine.Retryable, uitest.Noon.Add(time.Hour), 1
		s.Jobs[10], s.Update.Jobs = retry, []engine.JobRow{retry}
		d := open(t, s, 120, 40, testOptions())
		d.press("3")
		d.wants("1 RETRYABLE")
		u := s.Update
		u.Snapshot, u.Jobs = false, nil
		at := func() (rows []int) { // of the headings
			for _, word := range []string{"RUNNING", " AVAILABLE", " RETRYABLE", "WHY"} {
				above, _, _ := strings.Cut(d.screen(), word)
				rows = append(rows, strings.Count(above, "\n"))
			}
			return rows
		}
		was := at()
		change := func(what string, jobs ...engine.JobRow) {
			t.Helper()
			u.Jobs, u.Seq = jobs, u.Seq+1
			if d.send(u); !slices.Equal(at(), was) {
				t.Errorf("%s moved the groups from %v to %v:\n%s", what, was, at(), d.screen())
			}
		}
		in := func(i int, state engine.State, hold engine.Hold) engine.JobRow {
			j := s.Jobs[i]
			j.State, j.Hold, j.Due, j.Started, j.Rev = state, hold, uitest.Noon.Add(time.Second), uitest.Noon, j.Rev+1
			if state != engine.Available {
				j.Line, j.Place, j.Until = "", 0, j.Due
			}
			s.Jobs[i] = j
			return j
		}
		change("a hold", in(20, engine.Scheduled, engine.HoldThrottled))
		d.wants("1 HELD")
		change("its end", in(20, engine.Available, engine.HoldNone))
		d.lacks("HELD  ", "0 HELD")
		change("three that run", in(30, engine.Running, engine.HoldNone), in(31, engine.Running, engine.HoldNone), in(32, engine.Running, engine.HoldNone))
		d.wants("3 RUNNING")
	})
}

// TestV7j_WhatLeavesNextStandsFirst: what is in line stands in the order in which it leaves, which is that of the board
// of Overview, also where the list has read other jobs than those; one that has left gives its row to the next. The
// smallest screen shows some of them whatever else there is.
func TestV7j_WhatLeavesNextStandsFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		for i := range s.Jobs { // the oldest go last, and those far back in line have no instant
			j := &s.Jobs[i]
			if n := len(s.Jobs) - i; n < 30 {
				j.Place, j.Until = n, uitest.Noon.Add(time.Minute+time.Duration(n)*1500*time.Millisecond)
			} else {
				j.Place, j.Until, j.Why = 0, time.Time{}, engine.FarBack
			}
			if i%2 == 0 {
				j.Place, j.Line = j.Place/2, "latest europe/match-v5.match"
			}
		}
		d := open(t, s, 120, 40, testOptions())
		d.fake.Page = 40 // without those that leave next
		rows := func() (keys []string) {
			for _, row := range strings.Split(d.screen(), "\n") {
				if key := regexp.MustCompile(`EUW1_\d+`).FindString(row); strings.Contains(row, "on time") || strings.Contains(row, "boarding") || strings.Contains(row, "○····") {
					keys = append(keys, key)
				}
			}
			return keys
		}
		d.wait(3 * time.Second)
		board := rows()
		d.press("3")
		d.wait(10 * time.Second)
		was := rows()
		if n := min(len(board), len(was)); n < 8 || !slices.Equal(board[:n], was[:n]) || !strings.HasSuffix(s.Jobs[len(s.Jobs)-1].Key, was[0]) {
			t.Fatalf("on the board %v, on Jobs %v:\n%s", board, was, d.screen())
		}
		at := slices.IndexFunc(s.Jobs, func(j engine.JobRow) bool { return strings.HasSuffix(j.Key, was[0]) })
		u := s.Update
		u.Snapshot, u.Jobs, u.Seq = false, nil, u.Seq+1
		u.Calls = []engine.CallRow{{Seq: u.Calls[len(u.Calls)-1].Seq + 1, At: time.Now().Add(10 * time.Second), Host: "europe", Method: "match-v5.match",
			Target: was[0], Job: s.Jobs[at].ID, Status: 200, Took: 62 * time.Millisecond}}
		d.send(u)
		d.wait(2 * time.Second)
		if is := rows(); len(is) != len(was) || !slices.Equal(is[:len(was)-1], was[1:]) {
			t.Errorf("of %v the first has left: %v\n%s", was, is, d.screen())
		}
		s = uitest.DevKey(60, uitest.Noon)
		for i, state := range []engine.State{engine.Retryable, engine.Retryable, engine.Discarded, engine.Pending, engine.Running} {
			s.Jobs[10+i].State, s.Jobs[10+i].Until = state, uitest.Noon.Add(time.Hour)
		}
		s.Update.Jobs = s.Jobs[10:15]
		d = open(t, s, 80, 24, testOptions())
		d.press("3")
		if n := strings.Count(d.screen(), "○····"); n < 4 {
			t.Errorf("%d rows are in line:\n%s", n, d.screen())
		}
	})
}

// TestV7p_RetriesStandAsTheirRowsSay: what is tried again stands in the order in which it leaves, also where the limits
// have no room for a try at its instant; and what it failed with is told in words where all failed alike.
func TestV7p_RetriesStandAsTheirRowsSay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		for i := range 2 {
			j := &s.Jobs[10+i]
			j.State, j.Tries, j.Place, j.Line, j.Due, j.Class = engine.Retryable, 1, 0, "", uitest.Noon.Add(time.Duration(20+i)*time.Second), "5xx"
			j.LastError = "riot: match-v5.match on europe: status " + []string{"503: Service unavailable", "500: Internal server error"}[i]
		}
		late, soon := &s.Jobs[10], s.Jobs[11]
		late.LateBy, late.Starts = "app:europe 100/2m", uitest.Noon.Add(time.Minute)
		s.Update.Jobs = s.Jobs[10:12]
		d := open(t, s, 120, 40, testOptions())
		d.press("3")
		d.wants("2 RETRYABLE  back off after 5xx   ")
		first, then := strings.Index(d.screen(), strings.TrimPrefix(soon.Key, "match:")), strings.Index(d.screen(), strings.TrimPrefix(late.Key, "match:"))
		if first < 0 || then < first {
			t.Errorf("%s goes before %s:\n%s", soon.Key, late.Key, d.screen())
		}
	})
}

// TestV7k_AHoldEndsAtOneInstant: the heading of what is in line, its first row and WHY tell the same end of a hold,
// though the engine was asked for the rows before it began.
func TestV7k_AHoldEndsAtOneInstant(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		for i := range s.Update.Limits.Buckets {
			if b := &s.Update.Limits.Buckets[i]; b.Host == "europe" && b.Method == "" {
				b.Blocked, b.BlockedBy = uitest.Noon.Add(4500*time.Millisecond), "429 application"
			}
		}
		d := open(t, s, 120, 40, testOptions())
		d.press("3")
		held := regexp.MustCompile(`it ends in (\d\.\d s)`).FindStringSubmatch(d.screen())
		if held == nil {
			t.Fatalf("no hold:\n%s", d.screen())
		}
		if row := d.rowWith("▌"); !strings.Contains(row, " "+held[1]) || !strings.Contains(d.screen(), "It goes in "+held[1]+": a 429 application") {
			t.Errorf("the hold ends in %s, and the first row is %q:\n%s", held[1], row, d.screen())
		}
	})
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(3, uitest.Noon)
		for i := range s.Update.Limits.Buckets {
			if b := &s.Update.Limits.Buckets[i]; b.Kind == "app" {
				b.Blocked, b.BlockedBy = uitest.Noon.Add(30*time.Second), "429 application"
			}
		}
		d := open(t, s, 120, 40, testOptions())
		d.press("2")
		d.wait(time.Second)
		if calls := strings.Count(d.screen(), " 29 s "); calls != 3 {
			t.Errorf("of three accounts under a hold %d say when it ends:\n%s", calls, d.screen())
		}
	})
}

// TestV7d_StairsStand: the past of the axis stands still, and what is to come is as near as the rows that are in
// line, however far ahead a retry is.
func TestV7d_StairsStand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		retry := s.Jobs[len(s.Jobs)-1]
		s.Jobs = append(s.Jobs, retry)
		axis := func(again time.Duration) string {
			retry.State, retry.Until, retry.Tries = engine.Retryable, uitest.Noon.Add(again), 1
			s.Jobs[len(s.Jobs)-1], s.Update.Jobs = retry, []engine.JobRow{retry}
			d := open(t, s, 120, 40, testOptions())
			d.press("3")
			d.wants("−1 min     −30 s", "1 RETRYABLE")
			return d.rowWith("WAITED")
		}
		near := axis(time.Second)
		if far := axis(time.Hour); far != near {
			t.Errorf("a retry in an hour moved the axis:\n%s\n%s", near, far)
		}
	})
}

// TestV7b_NoRedBarAtTheEnd: when all is done the bar of Jobs is empty, and not all of those that gave up.
func TestV7b_NoRedBarAtTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Demo()
		j := uitest.Busy().Jobs[0]
		j.State = engine.Discarded
		s.Jobs, s.Update.Jobs = []engine.JobRow{j}, nil
		s.Update.Queues[0].Counts = map[engine.State]int{engine.Discarded: 1}
		d := open(t, s, 120, 40, testOptions())
		d.press("3")
		if d.wants("1 discarded"); regexp.MustCompile(`✗{8}`).MatchString(d.screen()) {
			t.Errorf("a red bar:\n%s", d.screen())
		}
	})
}

// TestV11a_CutHeadingsSaySo: what a group waits for ends in an ellipsis where there is no room for all of it.
func TestV11a_CutHeadingsSaySo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		for _, a := range s.Update.Accounts {
			j := uitest.Busy().Jobs[0]
			j.ID, j.Key, j.State, j.Owner = a.Job, "full:"+a.ID, engine.Pending, a.ID
			s.Jobs, s.Update.Jobs = append(s.Jobs, j), append(s.Update.Jobs, j)
		}
		s.Update.Queues[0].Counts[engine.Pending] = 60
		d := open(t, s, 120, 40, testOptions())
		d.press("3")
		if row := d.rowWith("60 PENDING"); !strings.HasSuffix(strings.TrimSpace(row), "…") {
			t.Errorf("%q", row)
		}
	})
}

// TestV11c_SixFiguresKeepTheirWords: the smallest screen has all words of the six figures beside counts of four digits.
func TestV11c_SixFiguresKeepTheirWords(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Demo()
		s.Update.Engine.CallsPerMin, s.Update.Engine.Stored, s.Update.Engine.Failed = 1200, 12_409, 1204
		s.Update.Queues[0].Counts[engine.Available] = 1081
		open(t, s, 80, 24, testOptions()).
			wants("1,200/min  12.4k stored  1,081 in line  3 retrying  1,204 gave up  12 × 503")
	})
}

// TestV7g_AStepChangesFewCells: while ten calls a second are made in a window of the limit, for one player or for
// sixty, or by turns for a sync and a collection over several windows, with retries, a hold, and a sync that begins and
// ends, no step of Jobs changes more than 300 cells, or 400 as a hold begins or ends, colours counted.
func TestV7g_AStepChangesFewCells(t *testing.T) {
	long(t)
	cases := []struct {
		size    [2]int
		players int
		demo    bool
	}{{sizes[0], 1, false}, {sizes[1], 2, true}, {sizes[2], 60, false}, // the others differ in their sizes
		{sizes[0], 60, false}, {sizes[0], 2, true}, {sizes[1], 1, false}, {sizes[1], 60, false}, {sizes[2], 1, false}}
	for _, c := range cases[:scratch.Sized(3, len(cases))] {
		bubble(t, func(t *testing.T) { fewCells(t, c.size, c.players, c.demo) })
	}
}

func fewCells(t *testing.T, size [2]int, players int, demo bool) {
	a := newAtWork(100*time.Millisecond, false)
	if a.players, a.demo = players, demo; demo {
		for i := range a.Scene.Update.Limits.Buckets {
			b := &a.Scene.Update.Limits.Buckets[i]
			if b.Window == 2*time.Minute {
				b.Window, b.Limit = 12*time.Second, 60
			}
			if b.Paces { // collections have a host of their own
				other := *b
				other.Host = "asia"
				a.Scene.Update.Limits.Buckets = append(a.Scene.Update.Limits.Buckets, other)
			}
		}
	}
	opt := testOptions()
	opt.Getenv, opt.Theme = trueColor, "dark"
	d := open(t, a.Scene, size[0], size[1], opt)
	d.m.console, a.began, a.jobs = a, time.Now(), map[engine.JobID]engine.JobRow{}
	for _, j := range a.Scene.Update.Jobs {
		a.jobs[j.ID] = j
	}
	d.press("3")
	d.wait(time.Second)
	was, done, steps, sum := cells(d.m.frame), 0, 0, 0
	all := human.Either(demo, 300, 220) // until the window of the others ends
	for step := range all {
		d.wait(a.every)
		calls := int(time.Since(a.began) * perSecond / time.Second)
		d.send(a.since(done, calls, time.Now()))
		done = calls
		is, n := cells(d.m.frame), 0
		for y, row := range is {
			for x, cell := range row {
				if y >= len(was) || x >= len(was[y]) || was[y][x] != cell {
					n++
				}
			}
		}
		most := 300
		if since := time.Since(a.began).Truncate(time.Second); demo && (since == 20*time.Second || since == 23*time.Second) {
			most = 400 // other rows are next
		}
		if n > most && step > 20 { // until then rows come in
			t.Errorf("%d players: step %d changed %d cells:\n%s", players, step, n, d.screen())
		}
		if was = is; n > 0 {
			steps, sum = steps+1, sum+n
		}
	}
	t.Logf("%d players: %d steps of %d changed something, %d cells each", players, steps, all, sum/max(steps, 1))
	if steps < 20 {
		t.Errorf("only %d of %d steps changed anything", steps, all)
	}
}

// cells are those of a frame, each with the colours it is written in.
func cells(frame string) (out [][]string) {
	for _, line := range strings.Split(frame, "\n") {
		var row []string
		style, state := "", byte(0)
		for line != "" {
			seq, width, n, next := ansi.DecodeSequence(line, state, nil)
			if line, state = line[n:], next; width == 0 {
				if style += seq; strings.HasPrefix(seq, "\x1b[0;") || seq == "\x1b[m" || seq == "\x1b[0m" { // it begins anew
					style = seq
				}
				continue
			}
			for range width {
				row = append(row, style+seq)
			}
		}
		out = append(out, row)
	}
	return out
}

// TestV7n_WhatGoesNextIsShownBesideWhatIsPaused: where the jobs of a paused queue are all that the list has read, those
// in line have their rows.
func TestV7n_WhatGoesNextIsShownBesideWhatIsPaused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		s.PauseOne()
		s.Update.Jobs = nil // none is about to go
		slices.SortStableFunc(s.Jobs, func(a, b engine.JobRow) int { return strings.Compare(string(b.Stand), string(a.Stand)) })
		d := open(t, s, 120, 40, testOptions())
		d.fake.Page = 40 // all are of the paused queue
		d.press("3")
		d.wait(10 * time.Second)
		inLine, _, _ := strings.Cut(d.screen(), "queue paused by ana")
		if n := len(regexp.MustCompile(`EUW1_\d+ +match +Player \d+ .* s `).FindAllString(inLine, -1)); n < 3 {
			t.Errorf("%d of those in line are shown:\n%s", n, d.screen())
		}
	})
}

// TestV7o_NoGroupMovesWhenASyncEnds: what has ended stands below what is in line as far as that leaves room: no heading
// moves, whether hundreds are in line, some, or none.
func TestV7o_NoGroupMovesWhenASyncEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		inLine := slices.Clone(s.Jobs)
		var ended []engine.JobRow
		for i, j := range inLine[:40] {
			j.ID, j.State, j.Finished, j.Place, j.Line = engine.JobID(fmt.Sprint("e", i)), engine.Completed, uitest.Noon.Add(-time.Duration(i)*time.Second), 0, ""
			ended = append(ended, j)
		}
		gaveUp := ended[39]
		gaveUp.ID, gaveUp.State, gaveUp.Class = "gaveup", engine.Discarded, "404"
		ended = append(ended, gaveUp)
		queue := s.Update.Queues[0]
		of := func(n, pending int) {
			s.Jobs = slices.Concat(inLine[:min(n, len(inLine))], ended)
			queue.Counts = map[engine.State]int{engine.Available: n, engine.Discarded: 1, engine.Pending: pending}
		}
		of(7153, 60)
		s.Update.Queues = []engine.QueueRow{queue}
		for _, size := range [][2]int{{120, 40}, {200, 60}} {
			d := open(t, s, size[0], size[1], testOptions())
			d.press("3")
			d.wait(5 * time.Second)
			at := func() (rows []int) {
				_, list, _ := strings.Cut(d.screen(), "FOR ")
				for _, word := range []string{"RUNNING ", " AVAILABLE", " RETRYABLE", " DISCARDED", "WHY "} {
					above, _, found := strings.Cut(list, word)
					if !found {
						t.Errorf("no %s:\n%s", word, d.screen())
					}
					rows = append(rows, strings.Count(above, "\n"))
				}
				return rows
			}
			was, u := at(), s.Update
			u.Snapshot, u.Jobs, u.Calls = false, nil, nil
			for i, n := range []int{30, 4, 1, 0, 20, 0} {
				of(n, min(n, 1))
				d.fake.Scene.Jobs = s.Jobs
				u.Queues, u.Seq = []engine.QueueRow{queue}, u.Seq+1
				d.send(u)
				for range 5 {
					d.wait(2 * time.Second)
					u.Seq++
					d.send(u)
				}
				if is := at(); !slices.Equal(is, was) {
					t.Errorf("%d: with %d in line the headings stand in %v, and stood in %v:\n%s", i, n, is, was, d.screen())
				}
			}
			d.wants(" 0 AVAILABLE", "COMPLETED")
		}
	})
}

// TestV7u_TheJobBesideStaysAWhile: while nobody has chosen a row the job beside the list stays for ten seconds though it
// has left and somebody else gives a command, and the calls below it keep their lines; a key turns to the row that is
// chosen at once.
func TestV7u_TheJobBesideStaysAWhile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		for len(s.Update.Calls) < 60 { // more than there is room for
			c := s.Update.Calls[len(s.Update.Calls)-1]
			c.Seq, c.Target = c.Seq+1, fmt.Sprint("EUW1_", 5000+c.Seq)
			s.Update.Calls = append(s.Update.Calls, c)
		}
		d := open(t, s, 200, 60, testOptions())
		d.press("3")
		d.wait(2 * time.Second)
		beside := func() string { return regexp.MustCompile(`match:EUW1_\d+`).FindString(d.screen()) }
		first := beside()
		gone := slices.IndexFunc(s.Jobs, func(j engine.JobRow) bool { return j.Key == first })
		if gone < 0 {
			t.Fatalf("no job of %q:\n%s", first, d.screen())
		}
		lineOf := func(target string) int {
			above, _, _ := strings.Cut(d.screen(), target)
			return strings.Count(above, "\n")
		}
		called := s.Update.Calls[len(s.Update.Calls)-3].Target
		stood := lineOf(called)
		u := s.Update
		u.Snapshot, u.Jobs, u.Gone, u.Seq = false, nil, []engine.JobID{s.Jobs[gone].ID}, u.Seq+1
		last := u.Calls[len(u.Calls)-1]
		u.Calls = []engine.CallRow{{Seq: last.Seq + 1, At: time.Now(), Host: "europe", Method: "match-v5.match",
			Target: strings.TrimPrefix(first, "match:"), Job: s.Jobs[gone].ID, Status: 200, Took: 62 * time.Millisecond}}
		d.fake.Scene.Jobs = slices.Delete(slices.Clone(s.Jobs), gone, gone+1)
		d.send(u)
		d.wait(2 * time.Second)
		if d.wants("at most 2 new a second", "the cursor is on another"); beside() != first || lineOf(called) != stood {
			t.Errorf("beside the list is %s and not %s; a call moved by %d:\n%s", beside(), first, lineOf(called)-stood, d.screen())
		}
		u.Gone, u.Calls, u.Notes, u.Seq = nil, nil, noteBy(engine.Actor{User: "bo", Via: "socket"}).Notes, u.Seq+1
		if d.send(u); beside() != first {
			t.Errorf("a command of somebody else turned it to %s, from %s:\n%s", beside(), first, d.screen())
		}
		rows := lineOf("CALLS at most")
		for range 105 {
			d.wait(100 * time.Millisecond)
			if d.send(tick{}); beside() != first {
				break
			}
		}
		if beside() == first || time.Since(time.Now().Truncate(time.Second)) < time.Second/2 || lineOf("CALLS at most") != rows {
			t.Errorf("at %v it is %s beside %d rows, and was %s beside %d:\n%s", time.Now(), beside(), lineOf("CALLS at most"), first, rows, d.screen())
		}
		d.press("down")
		d.lacks("the cursor is on another")
		if chosen := beside(); !strings.Contains(d.rowWith("▌"), strings.TrimPrefix(chosen, "match:")) {
			t.Errorf("beside the list is %s, and not what was chosen:\n%s", chosen, d.screen())
		}
	})
}

// TestV7v_WordsBehindAFigureStandStill: a count that loses a digit moves nothing behind it.
func TestV7v_WordsBehindAFigureStandStill(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		words := func(n, used int) (at []int) {
			s.Update.Queues[0].Counts[engine.Available] = n
			for i := range s.Update.Limits.Buckets {
				s.Update.Limits.Buckets[i].Used = used
			}
			d := open(t, s, 120, 40, testOptions())
			d.press("3")
			for _, word := range []string{"AVAILABLE ", " of 100 calls", " more, the last"} {
				row := d.rowWith(word)
				at = append(at, len([]rune(row[:strings.Index(row, word)])))
			}
			return at
		}
		if more, less := words(1000, 20), words(999, 8); !slices.Equal(more, less) {
			t.Errorf("the words stand in %v and %v", more, less)
		}
	})
}

// TestV7t_WhatGoesWithinASecondSaysSo: what leaves within the second that a frame stands for goes "<1 s", what is due "now".
func TestV7t_WhatGoesWithinASecondSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		for i := range s.Jobs {
			s.Jobs[i].Until = uitest.Noon.Add(time.Duration(min(i, 2)) * 400 * time.Millisecond)
		}
		s.Update.Jobs = nil
		d := open(t, s, 120, 40, testOptions())
		d.press("3")
		if now, soon := strings.Count(d.screen(), "42 s     now"), strings.Count(d.screen(), "42 s    <1 s"); now != 1 || soon < 5 {
			t.Errorf("%d go now and %d within a second:\n%s", now, soon, d.screen())
		}
	})
}

// TestV7u_TheJobBesideGoesWithItsChoice: of another queue, and of those that failed, no job of the choice before stays.
func TestV7u_TheJobBesideGoesWithItsChoice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 200, 60, testOptions())
		d.press("3")
		for _, c := range []struct {
			keys []string
			want string
		}{{nil, "match:KR_7214550950 j"}, {[]string{"s"}, "match:KR_6011000003 j"}, {[]string{"s", "s", "Q", "down", "down"}, "latest:a-oslo j"}} {
			d.press(c.keys...)
			d.wants(c.want)
			d.wait(3 * time.Second)
		}
	})
}
