package backendtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// S0_2_DelaysAreTheTable: 30, 60, 120, 300 s after failed attempts 1 to 4, exactly.
func S0_2_DelaysAreTheTable(t testing.TB, s Site) {
	runs := newTally()
	r := newRig(t, s, runs.counting(failing)).start()
	id := r.add(spec("match:1"))
	time.Sleep(time.Hour)
	at := runs.times(id)
	want := []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}
	if len(at) != len(want)+1 {
		t.Fatalf("%d runs, want %d", len(at), len(want)+1)
	}
	for i, w := range want {
		if got := at[i+1].Sub(at[i]); got < w || got > w+50*time.Millisecond {
			t.Errorf("wait after attempt %d = %s, want %s", i+1, got, w)
		}
	}
	d := r.want(id, engine.Discarded)
	for i, w := range want {
		if a := d.Attempts[i]; a.Decision != fmt.Sprintf("policy match step %d: %s", i+1, human.Span(w)) {
			t.Errorf("decision of attempt %d = %q", i+1, a.Decision)
		}
	}
	r.down()
}

// S0_3_FifthFailureEndsIt: no sixth run by the scheduler, a sweep or a restart.
func S0_3_FifthFailureEndsIt(t testing.TB, s Site) {
	runs := newTally()
	r := newRig(t, s, runs.counting(failing)).start()
	id := r.add(spec("match:1"))
	time.Sleep(3 * time.Hour)
	r.down()
	r.start()
	time.Sleep(3 * time.Hour)
	d := r.want(id, engine.Discarded)
	if runs.of(id) != 5 || len(d.Attempts) != 5 || d.Job.Tries != 5 {
		t.Errorf("%d runs, %d attempts, %d tries; want 5 of each", runs.of(id), len(d.Attempts), d.Job.Tries)
	}
	if d.ShouldRetry || d.Job.Class != "503" {
		t.Errorf("should_retry %v, class %q", d.ShouldRetry, d.Job.Class)
	}
	r.down()
}

// S0_9_PastRetryRunsOnce: a retry that fell due while nothing ran runs once, soon.
func S0_9_PastRetryRunsOnce(t testing.TB, s Site) {
	runs := newTally()
	r := newRig(t, s, runs.counting(func(_ context.Context, run engine.Run) engine.Outcome {
		if run.Job.Attempts == 1 {
			return engine.Retry(errors.New("503"))
		}
		return engine.Done(nil)
	})).start()
	id := r.add(spec("match:1"))
	r.want(id, engine.Retryable)
	r.down()
	time.Sleep(6 * time.Hour)
	r.start()
	time.Sleep(50 * time.Millisecond)
	r.want(id, engine.Completed)
	time.Sleep(time.Hour)
	if runs.of(id) != 2 {
		t.Errorf("%d runs, want 2", runs.of(id))
	}
	r.down()
}

// S2_4_AttemptsTellTheirStory: each run has its own number, external id, status,
// times and reason, and the count is the length of the list.
func S2_4_AttemptsTellTheirStory(t testing.TB, s Site) {
	r := newRig(t, s, func(_ context.Context, run engine.Run) engine.Outcome {
		stat := engine.CallStat{Calls: 1, Status: 500 + run.Job.Attempts, External: fmt.Sprint("call-", run.Job.Attempts), HTTP: time.Second}
		time.Sleep(2 * time.Second)
		if run.Job.Attempts < 3 {
			return engine.Retry(fmt.Errorf("busy %d", run.Job.Attempts)).As("busy").With(stat)
		}
		return engine.Done(nil).With(stat)
	}).start()
	id := r.add(spec("call:1"))
	time.Sleep(time.Second)
	if d := r.want(id, engine.Running); len(d.Attempts) != 1 || !d.Attempts[0].End.IsZero() {
		t.Errorf("attempts of the running job: %+v", d.Attempts)
	}
	time.Sleep(10 * time.Minute)
	d := r.want(id, engine.Completed)
	if len(d.Attempts) != 3 {
		t.Fatalf("%d attempts, want 3", len(d.Attempts))
	}
	for i, a := range d.Attempts {
		if a.External != fmt.Sprint("call-", i+1) || a.Status != 501+i || a.Try != i+1 || a.End.Sub(a.Start) != 2*time.Second || a.HTTP != time.Second {
			t.Errorf("attempt %d: %+v", i+1, a)
		}
	}
	if a := d.Attempts[1]; a.Class != "busy" || a.Err != "busy 2" || a.Verb != engine.VerbRetry || a.Next.IsZero() {
		t.Errorf("attempt 2: %+v", a)
	}
	r.down()
}

// S2_5_ShouldRetryAndItsInstant: set while a retry is to come, and never after
// success, exhaustion or a cancel.
func S2_5_ShouldRetryAndItsInstant(t testing.TB, s Site) {
	r := newRig(t, s, failing).start()
	id, other := r.add(spec("a")), r.add(spec("b"))
	d := r.want(id, engine.Retryable)
	if !d.ShouldRetry || d.NextRetryAt.Before(time.Now().Add(29*time.Second)) {
		t.Errorf("should_retry %v at %v", d.ShouldRetry, d.NextRetryAt)
	}
	r.cancel(id)
	if d := r.want(id, engine.Cancelled); d.ShouldRetry {
		t.Error("a cancelled job says that it will be retried")
	}
	time.Sleep(time.Hour)
	if d := r.want(other, engine.Discarded); d.ShouldRetry || len(d.Attempts) != 5 {
		t.Errorf("should_retry %v after %d attempts", d.ShouldRetry, len(d.Attempts))
	}
	r.down()
}

// P07_NoConflictWithItself: a unique job fails four times and succeeds: one row,
// one completion.
func P07_NoConflictWithItself(t testing.TB, s Site) {
	r := newRig(t, s, func(_ context.Context, run engine.Run) engine.Outcome {
		if run.Job.Tries < 5 {
			return engine.Retry(errors.New("503"))
		}
		return engine.Done(nil)
	}).start()
	id := r.add(spec("match:1"))
	time.Sleep(time.Hour)
	if d := r.want(id, engine.Completed); len(d.Attempts) != 5 {
		t.Errorf("%d attempts, want 5", len(d.Attempts))
	}
	r.down()
}

// P09_ThrottledIsNotCharged: 200 answers 429 in a row leave the attempt at one,
// and nothing starts before its instant.
func P09_ThrottledIsNotCharged(t testing.TB, s Site) {
	runs := newTally()
	var next time.Time
	r := newRig(t, s, func(_ context.Context, run engine.Run) engine.Outcome {
		if run.Job.Attempts != 1 || run.Job.Tries != 1 {
			t.Errorf("attempt %d, try %d; want 1, 1", run.Job.Attempts, run.Job.Tries)
		}
		if time.Now().Before(next) {
			t.Errorf("ran %s before Retry-After had passed", time.Until(next))
		}
		if runs.add(run.Job.ID) > 200 {
			return engine.Done(nil)
		}
		next = time.Now().Add(7*time.Second + 300*time.Microsecond)
		return engine.Snooze(next, engine.HoldThrottled, errors.New("429")).As("429.app")
	}).start()
	id := r.add(spec("match:1"))
	time.Sleep(10 * time.Second)
	d := r.want(id, engine.Scheduled)
	if d.Job.Hold != engine.HoldThrottled || d.Job.Attempts != 0 || len(d.Holds) != 2 {
		t.Errorf("hold %q, %d attempts, %d holds", d.Job.Hold, d.Job.Attempts, len(d.Holds))
	}
	time.Sleep(time.Hour)
	d = r.want(id, engine.Completed)
	if len(d.Attempts) != 1 || d.Job.Holds != 200 {
		t.Errorf("%d attempts, %d holds; want 1, 200", len(d.Attempts), d.Job.Holds)
	}
	r.down()
}

// P20_AnswersAreBounded: whatever instant an answer asks for, the wait lies in
// [0, 24 h].
func P20_AnswersAreBounded(t testing.TB, s Site) {
	waits := []time.Duration{0, -1, -time.Hour, math.MinInt64, time.Second, 24 * time.Hour, 25 * time.Hour, 292 * 365 * 24 * time.Hour, math.MaxInt64}
	made := map[string]engine.Outcome{}
	r := newRig(t, s, func(_ context.Context, run engine.Run) engine.Outcome {
		if run.Job.Holds > 0 || run.Job.Tries > 1 {
			return engine.Done(nil)
		}
		return made[run.Job.Key]
	}).start()
	for i, w := range waits {
		at := time.Now().Add(w)
		made[fmt.Sprint("snooze", i)] = engine.Snooze(at, engine.HoldThrottled, nil)
		made[fmt.Sprint("retry", i)] = engine.Retry(errors.New("503"))
		o := engine.Retry(errors.New("503"))
		o.At = at
		made[fmt.Sprint("retryat", i)] = o
	}
	start := time.Now()
	var ids []engine.JobID
	for name := range made {
		ids = append(ids, r.add(spec(name)))
	}
	for _, id := range ids {
		j := r.job(id)
		if j.State.Terminal() || j.State == engine.Available || j.State == engine.Running {
			continue // it was due at once
		}
		if j.Due.Before(start) || j.Due.After(time.Now().Add(engine.MaxDelay)) {
			t.Errorf("job %s waits until %v", j.Key, j.Due)
		}
	}
	time.Sleep(25 * time.Hour)
	for _, id := range ids {
		r.want(id, engine.Completed)
	}
	r.down()
}

// P21_DueJobStartsPunctually: within 50 ms of its instant, with 100,000 waiting.
func P21_DueJobStartsPunctually(t testing.TB, s Site, waiting int) {
	runs := newTally()
	r := newRig(t, s, runs.counting(succeed)).start()
	late := time.Now().Add(24 * time.Hour)
	specs := make([]engine.Spec, waiting)
	for i := range specs {
		specs[i] = engine.Spec{Kind: kind, Queue: queue, RunAt: late.Add(time.Duration(i) * time.Second)}
	}
	r.insert(specs...)
	for _, wait := range []time.Duration{2 * time.Second, 1500 * time.Millisecond, 10 * time.Minute, 7 * time.Millisecond} {
		due := time.Now().Add(wait)
		id := r.add(engine.Spec{Kind: kind, Queue: queue, RunAt: due})
		time.Sleep(wait + 50*time.Millisecond)
		at := runs.times(id)
		if len(at) != 1 || at[0].Before(due.Truncate(time.Millisecond)) {
			t.Errorf("due in %s: ran at %v, due %v", wait, at, due)
		}
	}
	r.down()
}
