package local

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
)

var (
	testNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	errTest = errors.New("503 service unavailable")
)

// runningJob is on its second try, in its first round.
func runningJob() engine.Job {
	return engine.Job{
		ID: "a1", Rev: 7, Kind: "match.fetch", State: engine.Running, Boot: "b", Round: 1, Tries: 2, Attempts: 2, Crashes: 2,
		Front: true, Due: testNow.Add(-2 * time.Second), Created: testNow.Add(-time.Hour), Started: testNow.Add(-time.Second),
	}
}

func TestSettle(t *testing.T) {
	open := engine.GroupStat{Total: 3, Open: 1, Done: 2}
	policy := engine.DefaultPolicies()[engine.PolicyMatch]
	for name, c := range map[string]struct {
		outcome  engine.Outcome
		change   func(*ending)
		state    engine.State
		due      time.Duration // after now; -1 = none
		tries    int
		attempts int
		holds    int
		verb     engine.Verb
	}{
		"done":          {outcome: engine.Done(nil), state: engine.Completed, due: -1, tries: 2, attempts: 2, verb: engine.VerbDone},
		"retry":         {outcome: engine.Retry(errTest), state: engine.Retryable, due: time.Minute, tries: 2, attempts: 2, verb: engine.VerbRetry},
		"fail":          {outcome: engine.Fail(errTest), state: engine.Discarded, due: -1, tries: 2, attempts: 2, verb: engine.VerbFail},
		"abort":         {outcome: engine.Abort(errTest), state: engine.Cancelled, due: -1, tries: 2, attempts: 2, verb: engine.VerbAbort},
		"snooze":        {outcome: engine.Snooze(testNow.Add(17*time.Second), engine.HoldThrottled, nil), state: engine.Scheduled, due: 17 * time.Second, tries: 1, attempts: 1, holds: 1, verb: engine.VerbSnooze},
		"snooze, table": {outcome: engine.Snooze(time.Time{}, engine.HoldOutage, nil), state: engine.Scheduled, due: 30 * time.Second, tries: 1, attempts: 1, holds: 1, verb: engine.VerbSnooze},
		"wait":          {outcome: engine.Wait(1, nil), change: func(e *ending) { e.group = open }, state: engine.Pending, due: -1, tries: 2, attempts: 2, verb: engine.VerbWait},
		"wait, settled": {outcome: engine.Wait(1, nil), state: engine.Available, due: 0, tries: 0, attempts: 2, verb: engine.VerbWait},
		"used up":       {outcome: engine.Retry(errTest), change: func(e *ending) { e.job.Tries = 5 }, state: engine.Discarded, due: -1, tries: 5, attempts: 2, verb: engine.VerbRetry},
		"unknown verb":  {outcome: engine.Outcome{Verb: 99}, state: engine.Discarded, due: -1, tries: 2, attempts: 2, verb: engine.VerbFail},
		"stopped":       {outcome: engine.Retry(errTest), change: func(e *ending) { e.stopped = true }, state: engine.Available, due: 0, tries: 1, attempts: 1, holds: 1, verb: engine.VerbInterrupted},
		"cancelled":     {outcome: engine.Done(nil), change: func(e *ending) { e.job.CancelAsked = true }, state: engine.Cancelled, due: -1, tries: 2, attempts: 2, verb: engine.VerbAbort},
	} {
		t.Run(name, func(t *testing.T) {
			e := ending{job: runningJob(), outcome: c.outcome, policy: policy, now: testNow, took: time.Second}
			if c.change != nil {
				c.change(&e)
			}
			v := settle(e)
			j := v.job
			if j.State != c.state || j.Tries != c.tries || j.Attempts != c.attempts || j.Holds != c.holds {
				t.Errorf("state %s, tries %d, attempts %d, holds %d", j.State, j.Tries, j.Attempts, j.Holds)
			}
			want := time.Time{}
			if c.due >= 0 {
				want = testNow.Add(c.due)
			}
			if !j.Due.Equal(want) {
				t.Errorf("due %v, want %v", j.Due, want)
			}
			if j.Rev != 8 || j.Boot != "" || j.CancelAsked {
				t.Errorf("revision %d, boot %q, cancel asked %v", j.Rev, j.Boot, j.CancelAsked)
			}
			if v.attempt.Verb != c.verb || (v.attempt.Number == 0) != (c.holds > 0) {
				t.Errorf("attempt %+v", v.attempt)
			}
			if failed := v.attempt.Verb == engine.VerbRetry || v.attempt.Verb == engine.VerbFail; failed != (len(j.Failed) == 1) || failed && !j.Failed[0].Equal(testNow) {
				t.Errorf("failed at %v", j.Failed)
			}
			if j.State.Terminal() == j.Finished.IsZero() {
				t.Errorf("state %s, finished %v", j.State, j.Finished)
			}
		})
	}
}

func TestInterruptedInARow(t *testing.T) {
	j := runningJob()
	j.Crashes, j.Tries, j.Attempts = 0, 0, 0
	for crash := 1; crash <= 6; crash++ {
		j.State, j.Tries, j.Attempts = engine.Running, j.Tries+1, j.Attempts+1
		j = interrupted(j, "its process ended", engine.ByRescue, testNow).job
		switch {
		case crash == 6 && (j.State != engine.Discarded || j.Class != "crash"):
			t.Errorf("after 6: %s, class %q", j.State, j.Class)
		case crash < 6 && (j.State != engine.Available || j.Suspect() != (crash >= 3) || j.Front == j.Suspect()):
			t.Errorf("after %d: %s, suspect %v, front %v", crash, j.State, j.Suspect(), j.Front)
		}
	}
	j = runningJob()
	if got := interrupted(j, "the engine stopped", engine.ByDrain, testNow).job; got.Crashes != j.Crashes {
		t.Errorf("a drain made %d crashes of %d", got.Crashes, j.Crashes)
	}
	if got := settle(ending{job: j, outcome: engine.Done(nil), now: testNow}).job; got.Crashes != 0 {
		t.Errorf("%d crashes after a good end", got.Crashes)
	}
}

// Durations are never negative and add up, whatever the clocks did.
func TestP36_DurationsAddUp(t *testing.T) {
	duration := rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.Int64().Draw(t, "ns")) })
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		return testNow.Add(time.Duration(rapid.Int64Range(-1e18, 1e18).Draw(t, "jump")))
	})
	rapid.Check(t, func(t *rapid.T) {
		j := runningJob()
		j.Due, j.Created, j.Started = instant.Draw(t, "due"), instant.Draw(t, "created"), instant.Draw(t, "started")
		o := engine.Retry(errTest).With(engine.CallStat{Limiter: duration.Draw(t, "limiter"), HTTP: duration.Draw(t, "http")})
		for _, v := range []verdict{
			settle(ending{job: j, outcome: o, now: instant.Draw(t, "now"), paced: duration.Draw(t, "paced"), took: time.Duration(rapid.Int64Range(-1e18, 1e18).Draw(t, "took"))}),
			interrupted(j, "its process ended", engine.ByRescue, instant.Draw(t, "found")),
		} {
			a := v.attempt
			took := a.End.Sub(a.Start)
			if took < 0 || a.Queued < 0 || a.Paced < 0 || a.Paced > a.Queued || a.Limiter < 0 || a.HTTP < 0 || a.Limiter+a.HTTP > took {
				t.Fatalf("attempt %+v", a)
			}
		}
	})
}

func TestP20_WaitsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := testNow.Add(time.Duration(rapid.Int64().Draw(t, "wait")))
		j := runningJob()
		j.Tries = rapid.IntRange(0, 10_000).Draw(t, "tries")
		for _, o := range []engine.Outcome{engine.Snooze(at, engine.HoldThrottled, nil), {Verb: engine.VerbRetry, Err: errTest, At: at}, engine.Snooze(time.Time{}, engine.HoldOutage, nil)} {
			v := settle(ending{job: j, outcome: o, policy: engine.DefaultPolicies()[engine.PolicyMatch], now: testNow})
			if v.job.State.Terminal() {
				continue
			}
			if wait := v.job.Due.Sub(testNow); wait < 0 || wait > engine.MaxDelay {
				t.Fatalf("%+v waits %s", o, wait)
			}
		}
	})
}

func TestP20_CapIsSaid(t *testing.T) {
	v := settle(ending{job: runningJob(), outcome: engine.Snooze(testNow.Add(100*time.Hour), engine.HoldThrottled, nil), now: testNow})
	if !strings.Contains(v.attempt.Decision, "capped at 24 h") {
		t.Errorf("decision %q", v.attempt.Decision)
	}
}

func TestLongErrorsAreCut(t *testing.T) {
	v := settle(ending{job: runningJob(), outcome: engine.Fail(errors.New(strings.Repeat("x", 1<<20))), now: testNow})
	if len(v.job.LastError) > maxError+8 {
		t.Errorf("%d bytes are stored", len(v.job.LastError))
	}
}

func TestHolds(t *testing.T) {
	running := func(rev engine.Revision, asked bool) engine.Job {
		return engine.Job{State: engine.Running, Rev: rev, CancelAsked: asked}
	}
	for name, c := range map[string]struct {
		job  engine.Job
		want bool
	}{
		"as claimed":     {running(7, false), true},
		"cancel asked":   {running(8, true), true},
		"claimed again":  {running(9, false), false},
		"claimed, asked": {running(10, true), false},
		"other revision": {running(8, false), false},
		"given back":     {engine.Job{State: engine.Available, Rev: 8}, false},
		"ended":          {engine.Job{State: engine.Cancelled, Rev: 7}, false},
	} {
		if got := holds(c.job, 7); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func settle(e ending) (v verdict) {
	v.decide(e)
	return v
}

// TestAWaitIsToldInWords: a job's page shows the decision of each of its tries.
func TestAWaitIsToldInWords(t *testing.T) {
	for want, open := range map[string]int{"waits for 1 job": 1, "waits for 1,203 jobs": 1203, "no job that it waited for is left: goes on": 0} {
		v := verdict{}
		if wait(ending{bears: &engine.ChildPolicy{}, group: engine.GroupStat{Total: 1203, Open: open}}, &v); v.attempt.Decision != want {
			t.Errorf("%q, want %q", v.attempt.Decision, want)
		}
	}
}
