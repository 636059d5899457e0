package jobs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/uitest"
)

func grouped(n int, s engine.State, change func(j *engine.JobRow)) (rows []*engine.JobRow) {
	for i := range n {
		j := &engine.JobRow{Job: engine.Job{ID: engine.JobID(fmt.Sprint(s, i)), State: s}}
		if change != nil {
			change(j)
		}
		rows = append(rows, j)
	}
	return rows
}

// TestGroupsCountAllJobs: the list has the first few, the engine has grouped all, and the
// queues count them now; a group has as many as there are.
func TestGroupsCountAllJobs(t *testing.T) {
	inLine := func(j *engine.JobRow) { j.Place, j.Why = 1, "1st in line" }
	rows := append(grouped(2, engine.Running, nil), grouped(5, engine.Available, inLine)...)
	rows = append(rows, grouped(1, engine.Retryable, func(j *engine.JobRow) { j.Class = "503" })...)
	rows = append(rows, grouped(1, engine.Retryable, func(j *engine.JobRow) { j.Class = "timeout" })...)
	first := *rows[2]
	paused := engine.JobRow{Job: engine.Job{ID: "p", State: engine.Available}, Why: "queue paused by ana", Stand: engine.StandPaused}
	reasons := []engine.ReasonRow{
		{Shape: first.ReasonShape(), Jobs: 500, First: first}, {Shape: paused.ReasonShape(), Jobs: 30, First: paused},
		{Shape: "x", Jobs: 1, First: *rows[7]}, {Shape: "y", Jobs: 1, First: *rows[8]},
	}
	counts := map[engine.State]int{engine.Running: 2, engine.Available: 535, engine.Retryable: 2}
	got := map[string]int{}
	for _, g := range block.GroupJobs(rows, reasons, counts) {
		got[g.Word()+" "+g.Shape] = g.Jobs
	}
	want := map[string]int{"RUNNING ": 2, "AVAILABLE in line": 505, "AVAILABLE queue paused by ana": 30, "RETRYABLE ": 2}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A group that the list has a part of has all of them, those that are tried again are one group in line or not, and
	// what has gone since the reasons were told is in none.
	again := paused
	again.ID, again.Tries = "again", 1
	rows = append(rows, &again, &paused)
	reasons[0].First.Tries = 1
	counts[engine.Available], counts[engine.Retryable], want["RETRYABLE "] = 499, 3, 3
	want["AVAILABLE in line"], want["AVAILABLE queue paused by ana"] = 470, 29
	clear(got)
	for _, g := range block.GroupJobs(rows, reasons, counts) {
		got[g.Word()+" "+g.Shape] = g.Jobs
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("with a part of each: got %v, want %v", got, want)
	}
	counts[engine.Available] = 6
	for _, g := range block.GroupJobs(rows, reasons, counts) {
		if left := map[string]int{"in line": 5, "queue paused by ana": 1}[g.Shape]; g.State == engine.Available && g.Jobs != left {
			t.Errorf("%d %s of 6", g.Jobs, g.Shape)
		}
	}
	rows = rows[:len(rows)-2]
	if all := block.GroupJobs(rows, nil, nil); len(all) != 3 || all[1].Jobs != 5 {
		t.Errorf("without more: %+v", all)
	}
}

// TestTheFirstOfALineIsSaidToBe: those before a job have gone since the engine told its place,
// whatever places jobs of other lines have.
func TestTheFirstOfALineIsSaidToBe(t *testing.T) {
	at := map[string]*engine.JobRow{}
	p := New("", page.ShownLive).(*Screen)
	for _, in := range []struct {
		line  string
		place int
	}{{"asia", 1}, {"asia", 2}, {"asia", 3}, {"europe", 5}, {"asia", 4}, {"europe", 6}} {
		id := fmt.Sprint(in.line, in.place)
		at[id] = &engine.JobRow{Job: engine.Job{ID: engine.JobID(id), Key: id, State: engine.Available}, Line: in.line, Place: in.place}
		p.groups.still = append(p.groups.still, at[id])
	}
	for id, want := range map[string]int{"asia1": 1, "asia4": 4, "europe5": 1, "europe6": 2} {
		j := *at[id] // it is given its place
		if p.ahead(&j); j.Place != want {
			t.Errorf("%s is at %d, want %d", id, j.Place, want)
		}
	}
}

// TestAJobIsStillThere_BeforeTheFirstAnswerOfThoseNext: an answer that the list is not drawn of yet has no instant, and
// a call made before the list was read says nothing of its jobs.
func TestAJobIsStillThere_BeforeTheFirstAnswerOfThoseNext(t *testing.T) {
	p := New("", page.ShownLive).(*Screen)
	p.Shown = grouped(1, engine.Available, func(j *engine.JobRow) { j.Place, j.Why = 1, "1st in line" })
	p.came.list, p.groups.soon.Have = uitest.Noon, true
	v := pagetest.View(&page.Data{Ready: true, Calls: []engine.CallRow{{At: uitest.Noon.Add(-time.Second), Job: p.Shown[0].ID}}})
	if p.gather(v, nil, 20); len(p.groups.still) != 1 {
		t.Error("it is taken as gone")
	}
}

// TestGroupsFillTheScreen: whatever there is, lines are as many as fit; no group loses its
// heading, and each job of the list stands in a line or is counted in one that says more.
func TestGroupsFillTheScreen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []*engine.JobRow
		states := []engine.State{engine.Running, engine.Available, engine.Retryable, engine.Discarded, engine.Pending}
		need := 0
		for _, s := range states {
			most := 30
			if s == engine.Running { // its heading says how many more there are
				most = block.LeastLines
			}
			n := rapid.IntRange(0, most).Draw(t, "jobs")
			rows = append(rows, grouped(n, s, nil)...)
			if n > 0 {
				need += n + 1
			}
		}
		groups := block.GroupJobs(rows, nil, nil)
		h := rapid.IntRange(3, 50).Draw(t, "height")
		lines := block.LinesOf(groups, block.Deal(groups, h, func(_ block.GroupKey, need int) int { return need }))
		if len(groups) == 0 {
			return
		}
		heads, shown, more := 0, 0, 0
		for _, l := range lines {
			switch l.Kind {
			case block.HeadLine:
				heads++
			case block.RowLine:
				shown++
			case block.MoreLine:
				more += groups[l.Group].Jobs - l.Place
			}
		}
		if heads != len(groups) || shown+more != len(rows) {
			t.Fatalf("%d headings of %d groups, %d jobs and %d more of %d", heads, len(groups), shown, more, len(rows))
		}
		least := len(groups) * (1 + block.LeastLines)
		if len(lines) > max(h, least) {
			t.Fatalf("%d lines on %d", len(lines), h)
		}
		if need+len(groups)-1 <= h && more > 0 || h > least+len(groups) && len(lines) < min(h, need)-len(groups) {
			t.Fatalf("%d lines of %d, %d needed, %d jobs are left out", len(lines), h, need, more)
		}
	})
}

// TestNobodyKnowsWhenTheLastGoesBehindARefusedKey, or a wait of an hour that Riot has asked for: its instant is when one
// call asks whether that is over. A freeze ends when it says.
func TestNobodyKnowsWhenTheLastGoesBehindARefusedKey(t *testing.T) {
	v := pagetest.View(&page.Data{})
	g := &block.JobGroup{Why: engine.ReasonRow{Last: v.Now.Add(52 * time.Second)}}
	for ends, want := range map[bool]string{false: "", true: ", the last goes in 52 s"} {
		g.Why.First.Stand, g.Why.First.Ends = engine.StandHeld, ends
		if got := lastGoes(v, g); got != want {
			t.Errorf("it ends for sure, %v: %q", ends, got)
		}
		j := engine.JobRow{Job: engine.Job{State: engine.Available}, Stand: engine.StandHeld, Ends: ends, Until: v.Now.Add(time.Minute)}
		if got := page.GoesAt(&j); got.IsZero() == ends {
			t.Errorf("it ends for sure, %v: a job goes at %v", ends, got)
		}
	}
}

// TestTheListOfAllJobsCountsByWhyToo: with what has ended in it a list that is not whole has its groups as the engine counted
// them, and the rest is not of the largest.
func TestTheListOfAllJobsCountsByWhyToo(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	down := func(host string) func(*engine.JobRow) {
		return func(j *engine.JobRow) { j.Why, j.Stand = "match calls to "+host+" fail", engine.StandDown }
	}
	p := New("", page.ShownAll).(*Screen)
	p.more = true
	p.Shown = append(grouped(3, engine.Available, down("asia")), grouped(2, engine.Available, down("europe"))...)
	p.groups.want(v, p) // those that gave up are asked for first
	if _, asked := p.groups.want(v, p).(engine.ReasonsQuery); !asked {
		t.Error("the engine is not asked why they wait")
	}
	for _, i := range []int{0, 3} {
		p.groups.reasons.Groups = append(p.groups.reasons.Groups, engine.ReasonRow{Shape: p.Shown[i].ReasonShape(), Jobs: 390, First: *p.Shown[i]})
	}
	p.groups.counts = map[engine.State]int{engine.Available: 780}
	p.gather(v, p.groups.counts, 40)
	for _, g := range p.groups.groups {
		if g.State == engine.Available && g.Jobs != 390 {
			t.Errorf("%d of 390 %s", g.Jobs, g.Shape)
		}
	}
}

// TestRowsThatComeAreAwaitedInTheirPlace: before the first answer a group of many has none of its jobs, and does not say
// that a key shows them.
func TestRowsThatComeAreAwaitedInTheirPlace(t *testing.T) {
	p := New("", page.ShownLive).(*Screen)
	p.groups.groups = []block.JobGroup{{GroupKey: block.GroupKey{ReasonKey: engine.ReasonKey{State: engine.Available}}, Jobs: 1200}}
	p.groups.lines = []block.JobLine{{Kind: block.MoreLine}}
	v := pagetest.View(&page.Data{Ready: true})
	for want, have := range map[string]bool{"loading jobs…": false, "1,200 more": true} {
		p.Have = have
		l := part.NewLine(v.Theme, 80)
		groupedJobs{p, v}.Line(0)(l)
		if got := l.String(); !strings.Contains(got, want) {
			t.Errorf("the answer is there, %v: %q", have, got)
		}
	}
}

// TestWhatHasEndedWaitsNoMore: how long it waited stands still from then on.
func TestWhatHasEndedWaitsNoMore(t *testing.T) {
	v := pagetest.View(&page.Data{})
	j := engine.JobRow{Job: engine.Job{Created: v.Now.Add(-10 * time.Minute)}}
	for _, want := range []string{"10 min", "3 s"} {
		for _, c := range block.JobGroupColumns {
			if got := c.Cell(page.Pen{View: v}, &j).Text; c.Name == "waited" && got != want {
				t.Errorf("ended %v: waited %s, want %s", j.Finished, got, want)
			}
		}
		j.State, j.Finished = engine.Completed, j.Created.Add(3*time.Second)
	}
}

// TestARowThatLeftDoesNotChangeColumns: its cells are those of the list that it left, under the heads of the other.
func TestARowThatLeftDoesNotChangeColumns(t *testing.T) {
	d := &page.Data{Ready: true, Version: 1}
	for i := range 3 {
		d.Jobs = append(d.Jobs, engine.JobRow{Job: engine.Job{ID: engine.JobID(fmt.Sprint("j", i)), State: engine.Running, Key: fmt.Sprint("match:EUW1_", i)}})
	}
	v, p := pagetest.View(d), New("", page.ShownLive)
	p.Draw(v)
	p.Act(v, page.ByReason)
	p.Draw(v)
	p.Act(v, page.Down)
	p.Draw(v)
	d.Jobs, d.Version = append(d.Jobs[:1:1], d.Jobs[2]), 2
	v.Now = v.Now.Add(time.Minute)
	if !strings.Contains(strings.Join(p.Draw(v), ""), "(left)") {
		t.Fatal("no row left")
	}
	p.Act(v, page.ByReason)
	if strings.Contains(strings.Join(p.Draw(v), ""), "(left)") {
		t.Error("a row of the flat list stands among the groups")
	}
}
