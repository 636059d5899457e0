package inspector

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/uitest"
)

// retried is a job whose first try failed at noon, with 303 s to wait; an operator
// retried it after a second. Its second try, of round 2, has failed too.
func retried() engine.JobDetail {
	at := func(s float64) time.Time { return uitest.Noon.Add(time.Duration(s * float64(time.Second))) }
	first := engine.Attempt{Number: 1, Round: 1, Try: 1, Start: at(-1), End: at(0), HTTP: time.Second, Verb: engine.VerbRetry, Next: at(303)}
	second := engine.Attempt{Number: 2, Round: 2, Try: 1, Start: at(1.4), End: at(2), Queued: 400 * time.Millisecond, HTTP: 600 * time.Millisecond, Verb: engine.VerbRetry, Next: at(32)}
	d := engine.JobDetail{Attempts: []engine.Attempt{first, second}, MaxAttempts: 3}
	d.Policy.Delays = []time.Duration{30 * time.Second, time.Minute}
	d.Job.ID, d.Job.State, d.Job.Rev, d.Job.Round, d.Job.Tries, d.Job.Attempts, d.Job.Due, d.Job.Then = "j1", engine.Retryable, 7, 2, 1, 2, at(32), []time.Duration{time.Minute}
	return d
}

// The wait after a try ends when the next one stood in line, not when it was planned
// to; so the instants of the axis never run backwards, and its numbers go on.
func TestAWaitThatWasCutShortEndsThere(t *testing.T) {
	p := &Job{ID: "j1", Detail: retried()}
	v := pagetest.View(&page.Data{Ready: true})
	v.Now = uitest.Noon.Add(10 * time.Second)
	rungs := p.rungs(v)
	var numbers []int
	var last time.Time
	for _, r := range rungs {
		numbers = append(numbers, r.number)
		if r.at.Before(last) {
			t.Errorf("try %d is at %v, after %v", r.number, r.at, last)
		}
		last = engine.Latest(r.at, r.until)
	}
	if !slices.Equal(numbers, []int{1, 2, 3, 4}) || rungs[2].Attempt != nil || rungs[2].planned || !rungs[3].planned || rungs[3].after != time.Minute {
		t.Errorf("the rungs %+v", rungs)
	}
	// Its next try was due and nobody knows when it goes: neither is the one after it known.
	v.Now = uitest.Noon.Add(time.Minute)
	if r := p.rungs(v)[3]; rungs[3].at.IsZero() || !r.at.IsZero() {
		t.Errorf("the last try is planned for %v, and for %v once nobody knows", rungs[3].at, r.at)
	}
	if got := waitOf(rungs[0]); got != "wait 1 s of 303 s" || rungs[0].until.Sub(uitest.Noon) != time.Second {
		t.Errorf("the wait that was cut short: %q until %v", got, rungs[0].until)
	}
	if got := waitOf(rungs[1]); got != "wait 30 s" {
		t.Errorf("the wait as planned: %q", got)
	}
}

// Until there is another try, the row says when the wait has ended.
func TestAWaitEndsAsTheRowSays(t *testing.T) {
	for name, c := range map[string]struct {
		state    engine.State
		due, end time.Duration // after the try; 0 = none
		want     string
	}{
		"as planned":   {engine.Retryable, 303 * time.Second, 0, "wait 303 s"},
		"later":        {engine.Retryable, 600 * time.Second, 0, "wait 10 min"},
		"retried":      {engine.Available, 1500 * time.Millisecond, 0, "wait 1.5 s of 303 s"},
		"cancelled":    {engine.Cancelled, 303 * time.Second, 20 * time.Second, "wait 20 s of 303 s"},
		"no due known": {engine.Running, 0, 0, "wait 303 s"},
	} {
		d := retried()
		d.Attempts = d.Attempts[:1]
		d.Job.State, d.Job.Due, d.Job.Finished = c.state, instantAfter(c.due), instantAfter(c.end)
		p := &Job{ID: "j1", Detail: d}
		if got := waitOf(p.rungs(pagetest.View(&page.Data{Ready: true}))[0]); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func instantAfter(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return uitest.Noon.Add(d)
}

// waitOf says what was waited after a try.
func waitOf(r rung) string { return waitText(*r.Attempt, r.End, r.until) }

// The detail is read anew as soon as the job's row has moved, or has left the live
// ones, and once for each: an engine that answers with an older detail is not asked
// in a circle.
func TestAJobIsReadAgainWithItsRow(t *testing.T) {
	p := NewJob("j1")
	row := retried().Job
	v := pagetest.View(&page.Data{Ready: true})
	show := func(rev engine.Revision) {
		row.Rev = rev
		v.Data.Jobs, v.Data.JobAt = []engine.JobRow{row}, map[engine.JobID]int{"j1": 0}
	}
	asks := func() bool { return p.Want(v) != nil }
	answer := func(rev engine.Revision) {
		d := retried()
		d.Job.Rev = rev
		p.Got(v, engine.JobQuery{ID: "j1"}, d, nil)
	}
	steps := []struct {
		name string
		do   func()
		want bool
	}{
		{"at first", func() { show(7) }, true},
		{"while it waits", func() { show(8) }, false},
		{"the row moved meanwhile", func() { answer(7) }, true},
		{"answered", func() { answer(8) }, false},
		{"the next revision", func() { show(9) }, true},
		{"an older answer", func() { answer(8) }, false},
		{"which is asked for later", func() { v.Now = v.Now.Add(page.ReloadEvery) }, true},
		{"and came", func() { answer(9) }, false},
		{"it left the live rows", func() { v.Data.Jobs, v.Data.JobAt = nil, nil }, true},
		{"and ended", func() { answer(9) }, false},
		{"the database moves", func() { v.Data.Seq = 50 }, false},
		{"for a while", func() { v.Now = v.Now.Add(page.ReloadEvery) }, true},
		{"no news of it", func() { answer(9); v.Data.Seq++ }, false},
		{"the operator acted", func() { v.Acts++ }, true},
	}
	for _, s := range steps {
		s.do()
		if got := asks(); got != s.want {
			t.Errorf("%s: asks %v", s.name, got)
		}
	}
}

// A job that was let run stands in line from then on until now.
func TestAJobThatWasRetriedStandsInLine(t *testing.T) {
	d := retried()
	d.Job.State, d.Job.Tries, d.Job.Due = engine.Available, 0, uitest.Noon.Add(5*time.Second)
	v := pagetest.View(&page.Data{Ready: true})
	v.Now = uitest.Noon.Add(9 * time.Second)
	rungs := (&Job{ID: "j1", Detail: d}).rungs(v)
	last := rungs[2]
	if last.number != 3 || last.Attempt != nil || !last.at.Equal(d.Job.Due) || !v.Ticks {
		t.Errorf("%+v", last)
	}
	if got := waitOf(rungs[1]); got != "wait 3 s of 30 s" {
		t.Errorf("the wait before: %q", got)
	}
}

// TestP36_TriesOfAClockThatWasSetBack: what ended before it began is drawn and told, never below zero.
func TestP36_TriesOfAClockThatWasSetBack(t *testing.T) {
	d := retried()
	a := &d.Attempts[0]
	a.End, a.Next, a.Queued, a.HTTP = a.Start.Add(-time.Hour), a.Start.Add(-30*time.Minute), -time.Second, -time.Second
	p := &Job{ID: "j1", Detail: d, Answer: page.Answer{Have: true}}
	for _, now := range []time.Time{uitest.Noon.Add(-time.Hour), uitest.Noon.Add(time.Hour)} {
		v := pagetest.View(&page.Data{Ready: true})
		v.Now, v.W, v.H, v.Size = now, 120, 35, page.M
		for _, row := range p.Draw(v) {
			if text := ansi.Strip(row); strings.Contains(text, "+-") || strings.Contains(text, " -") || ansi.StringWidth(row) != 120 {
				t.Errorf("%q", text)
			}
		}
	}
}

// TestV8g_HistoryIsNeverEmpty: a job of which no move is stored has that it was made, and its end.
func TestV8g_HistoryIsNeverEmpty(t *testing.T) {
	d := retried()
	d.Job.Created, d.Job.State, d.Job.Finished = uitest.Noon.Add(-time.Minute), engine.Completed, uitest.Noon
	p := &Job{ID: "j1", Detail: d, Answer: page.Answer{Have: true}}
	v := pagetest.View(&page.Data{Ready: true})
	told := func() (words []string) {
		for _, row := range p.historyRows(v, 60, 5) {
			words = append(words, strings.Fields(ansi.Strip(row))[2])
		}
		return words
	}
	if got := told(); !slices.Equal(got, []string{"completed", "created"}) {
		t.Errorf("nothing is stored: %q", got)
	}
	p.Detail.History = []engine.Transition{{At: uitest.Noon, To: "completed", Reason: "done"}}
	if got := told(); !slices.Equal(got, []string{"completed", "created"}) {
		t.Errorf("its end is stored: %q", got)
	}
	p.Detail.Job.State = engine.Available
	p.Detail.History = nil
	if got := told(); !slices.Equal(got, []string{"created"}) {
		t.Errorf("it lives: %q", got)
	}
}

// TestV7i_TheJobBesideMovesWithTheList: an answer is shown from the next beat of the list on.
func TestV7i_TheJobBesideMovesWithTheList(t *testing.T) {
	k := Peek{Job: &Job{ID: "j1", Detail: retried(), Answer: page.Answer{Have: true}}}
	k.Beat()
	newer := retried()
	newer.Job.Rev++
	k.Job.Detail = newer
	old := engine.JobRow{Job: engine.Job{ID: "j1", Rev: newer.Job.Rev - 1}}
	if _, is := k.Newer(&old); is || k.shown().Detail.Job.Rev == newer.Job.Rev {
		t.Error("it is ahead of the list")
	}
	k.Beat()
	if j, is := k.Newer(&old); !is || j.Rev != newer.Job.Rev || k.shown().Detail.Job.Rev != newer.Job.Rev {
		t.Error("it stays behind the list")
	}
}

// TestASyncThatGoesOnWasNotRetried: each of its phases begins a round, as a retry by hand does.
func TestASyncThatGoesOnWasNotRetried(t *testing.T) {
	d := retried()
	d.Job.State = engine.Completed
	for phase, want := range map[int]string{0: "1 of 3 tries used since it was retried", 1: "1 of 3 tries used since it went on"} {
		d.Job.Phase = phase
		if got := (&Job{Detail: d}).triesText(nil, d.Job); got != want {
			t.Errorf("in phase %d of round 2: %q", phase, got)
		}
	}
}

// TestRiotsCountsAreToldInWords: what is no count is left as it came.
func TestRiotsCountsAreToldInWords(t *testing.T) {
	for header, want := range map[string]string{"17:1,84:120": "17 in 1 s, 84 in 2 min", "": "", "none": "none"} {
		if got := counted(header); got != want {
			t.Errorf("%q is told as %q", header, got)
		}
	}
}

// TestATryThatRunsTellsNoSpans: none has ended.
func TestATryThatRunsTellsNoSpans(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	try := engine.Attempt{Number: 1, Start: v.Now.Add(-time.Second)}
	for _, want := range []bool{false, true} {
		told := slices.ContainsFunc(NewJob("j").rungCells(v, rung{Attempt: &try, number: 1}, nil), func(c part.Cell) bool { return c.Text == human.Secs(0) })
		if told != want {
			t.Errorf("it ended at %v: a span is told: %v", try.End, told)
		}
		try.End = v.Now
	}
}
