package backendtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
)

const callKind engine.Kind = "call.voice"

// phone is a kind of policy `call` whose attempts end as scripted: "busy busy
// completed"; the last word stands for all later attempts.
func phone(t testing.TB, s Site) *rig {
	r := newRig(t, s, succeed)
	r.kinds = append(r.kinds, engine.KindSpec{Kind: callKind, Policy: engine.PolicyCall, Handler: func(_ context.Context, run engine.Run) engine.Outcome {
		script := strings.Fields(run.Job.Owner)
		word := script[min(run.Job.Attempts, len(script))-1]
		if !engine.CallStatus(word).Rule().Ended {
			time.Sleep(time.Second) // the attempt goes on, until it has ended
			word = "completed"
		}
		status, reason, _ := strings.Cut(word, ".")
		return engine.CallEnd{Status: engine.CallStatus(status), Reason: reason, External: fmt.Sprintf("CA%s-%d", run.Job.Key, run.Job.Attempts)}.Outcome()
	}})
	return r.start()
}

func (r *rig) call(key, script string) engine.JobID {
	return r.add(engine.Spec{Kind: callKind, Queue: "call", Key: key, Owner: script})
}

// S2_CallsByOutcome proves S2-1 to S2-6: which statuses are tried again, at most
// three times, 5 and 15 minutes apart, and what stands at the end.
func S2_CallsByOutcome(t testing.TB, s Site) {
	cases := []struct {
		script string
		state  engine.State
		final  engine.CallStatus
		starts []time.Duration // minutes after the first
	}{
		{"busy busy completed", engine.Completed, "completed", minutes(0, 5, 20)},
		{"no-answer", engine.Discarded, "no-answer", minutes(0, 5, 20)},
		{"busy", engine.Discarded, "busy", minutes(0, 5, 20)},
		{"failed", engine.Discarded, "failed", minutes(0, 5, 20)},
		{"failed no-answer busy", engine.Discarded, "busy", minutes(0, 5, 20)},
		{"busy canceled", engine.Cancelled, "canceled", minutes(0, 5)},
		{"failed.network completed", engine.Completed, "completed", minutes(0, 5)},
		{"failed.invalid-number", engine.Discarded, "failed", minutes(0)},
		{"completed", engine.Completed, "completed", minutes(0)},
		{"ringing", engine.Completed, "completed", minutes(0)},
		{"in-progress", engine.Completed, "completed", minutes(0)},
		{"initiated", engine.Completed, "completed", minutes(0)},
		{"queued", engine.Completed, "completed", minutes(0)},
		{"teleported", engine.Discarded, "teleported", minutes(0)},
	}
	r := phone(t, s)
	ids := make([]engine.JobID, len(cases))
	for i, c := range cases {
		ids[i] = r.call(fmt.Sprint("call:", i), c.script)
	}
	for range 30 { // S2-4 and S2-5 hold at every moment
		for _, id := range ids {
			r.sound(r.detail(id))
		}
		time.Sleep(time.Minute)
	}
	for i, c := range cases {
		d := r.want(ids[i], c.state)
		if final := finalCallStatus(d.Attempts); final != c.final {
			t.Errorf("%q ended %q, want %q", c.script, final, c.final)
		}
		if d.ShouldRetry || !d.NextRetryAt.IsZero() {
			t.Errorf("%q: should_retry %t, next_retry_at %v at its end", c.script, d.ShouldRetry, d.NextRetryAt)
		}
		var starts []time.Duration
		for n, a := range d.Attempts {
			starts = append(starts, a.Start.Sub(d.Attempts[0].Start).Round(time.Second))
			if want := fmt.Sprintf("CAcall:%d-%d", i, n+1); a.External != want || a.Class == "" || a.End.IsZero() {
				t.Errorf("%q: attempt %d is %+v, want external id %s", c.script, n+1, a, want)
			}
		}
		if !slices.Equal(starts, c.starts) {
			t.Errorf("%q was called at %v, want %v", c.script, starts, c.starts)
		}
	}
	r.down()
}

func minutes(at ...int) (out []time.Duration) {
	for _, m := range at {
		out = append(out, time.Duration(m)*time.Minute)
	}
	return out
}

// S2_8_RetryAndCancel: a manual retry answers with the new attempt's number and
// instant, a cancel clears the schedule and says so, and both may be asked twice.
func S2_8_RetryAndCancel(t testing.TB, s Site) {
	r := phone(t, s)
	id := r.call("call:1", "busy busy busy busy")
	d := r.want(id, engine.Retryable)
	if !d.ShouldRetry || d.NextRetryAt.IsZero() {
		t.Errorf("after a busy call: %+v", d)
	}
	time.Sleep(time.Minute)
	now := time.Now()
	rc := r.retry(id)
	if rc.Attempt != 2 || rc.Due.Sub(now).Abs() > time.Second || !strings.Contains(rc.Text, "attempt 2") {
		t.Errorf("retry answered %+v", rc)
	}
	d = r.want(id, engine.Retryable)
	if len(d.Attempts) != 2 || d.NextRetryAt.Sub(now).Round(time.Second) != 15*time.Minute {
		t.Errorf("after the manual retry: %d attempts, next %v", len(d.Attempts), d.NextRetryAt.Sub(now))
	}
	rc = r.cancel(id)
	if !strings.Contains(rc.Text, d.NextRetryAt.Format(time.RFC3339)) || !rc.Due.IsZero() {
		t.Errorf("cancel answered %+v", rc)
	}
	d = r.want(id, engine.Cancelled)
	if d.ShouldRetry || !d.NextRetryAt.IsZero() {
		t.Errorf("after the cancel: should_retry %t, next %v", d.ShouldRetry, d.NextRetryAt)
	}
	if rc := r.cancel(id); !rc.Nothing || rc.Applied != 0 {
		t.Errorf("a second cancel: %+v", rc)
	}
	time.Sleep(time.Hour)
	if d := r.want(id, engine.Cancelled); len(d.Attempts) != 2 {
		t.Errorf("a cancelled call was made: %d attempts", len(d.Attempts))
	}
	if _, err := r.node.Pause(context.Background(), "call", ana, ""); err != nil {
		t.Error(err)
	}
	r.retry(id)
	if rc := r.retry(id); !rc.Nothing {
		t.Errorf("a second retry: %+v", rc)
	}
	r.down()
}

// W11a_TheMaximumHolds: a retry by hand is one of the attempts that a call may have, whatever was cancelled
// between; only a force begins to count anew.
func W11a_TheMaximumHolds(t testing.TB, s Site) {
	r := phone(t, s)
	id := r.call("call:1", "busy")
	for n := 1; n <= 3; n++ {
		if n > 1 {
			r.cancel(id)
			r.retry(id)
		}
		synctest.Wait()
		if d := r.detail(id); len(d.Attempts) != n || d.Job.Tries != n || d.ShouldRetry != (n < 3) {
			t.Errorf("after try %d: %d attempts, %d tries, %s", n, len(d.Attempts), d.Job.Tries, d.Job.State)
		}
	}
	for _, op := range []engine.Op{engine.OpRetry, engine.OpReclass} {
		_, err := r.node.Act(context.Background(), engine.Command{Op: op, Job: id, By: ana})
		r.wantProblem(err, engine.ErrRefused, "all 3 calls were made")
	}
	if _, err := r.node.Act(context.Background(), engine.Command{Op: engine.OpForce, Job: id, By: ana, Reason: "she asked for it"}); err != nil {
		t.Error(err)
	}
	time.Sleep(time.Hour)
	if d := r.want(id, engine.Discarded); len(d.Attempts) != 6 {
		t.Errorf("%d attempts after a force, want 6", len(d.Attempts))
	}
	r.down()
}

// finalCallStatus is the status of the last attempt (S2-3); "" before the first
// one has ended.
func finalCallStatus(attempts []engine.Attempt) engine.CallStatus {
	for _, a := range slices.Backward(attempts) {
		if a.End.IsZero() {
			continue
		}
		status, _, _ := strings.Cut(string(a.Class), ".")
		return engine.CallStatus(status)
	}
	return ""
}
