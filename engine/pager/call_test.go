package pager_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// S2-1 to S2-6 through the engine and the pager: the two scenarios, looked at every
// ten seconds.
func TestS2_6_BusyBusyCompletedAndNoAnswerThrice(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		script []string
		state  engine.State
		ended  []engine.Class
	}{
		{"busy busy completed", []string{"busy", "busy", "completed"}, engine.Completed, []engine.Class{"busy", "busy", "completed"}},
		{"no-answer x 3", []string{"no-answer"}, engine.Discarded, []engine.Class{"no-answer", "no-answer", "no-answer"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				june()
				r := newRig(t, dir, map[string][]string{first: c.script}, first)
				r.start()
				a := fires(time.Now())
				r.alerts(a)
				followTable(t, r, a)
				d := r.page(a, "")
				r.sound(d)
				if d.Job.State != c.state || len(d.Attempts) != 3 || d.ShouldRetry || !d.NextRetryAt.IsZero() {
					t.Fatalf("it ended %s after %d attempts, should_retry %t", d.Job.State, len(d.Attempts), d.ShouldRetry)
				}
				for i, at := range d.Attempts {
					if at.Number != i+1 || at.Class != c.ended[i] || at.End.IsZero() {
						t.Errorf("attempt %d: %+v", i+1, at)
					}
				}
				if last := d.Attempts[len(d.Attempts)-1].Class; last != c.ended[2] { // S2-3
					t.Errorf("final status %q", last)
				}
				if got := externals(d); !slices.Equal(got, sids(r.voice.Calls())) {
					t.Errorf("attempts have %v, placed were %v", got, sids(r.voice.Calls()))
				}
				if len(d.Holds) > 0 {
					t.Errorf("following a call left %d holds", len(d.Holds))
				}
				// It still fires: nobody is called about the same firing again.
				time.Sleep(time.Hour)
				r.alerts(a)
				time.Sleep(time.Hour)
				if n := len(r.voice.Calls()); n != 3 {
					t.Errorf("%d calls were placed", n)
				}
			})
		})
	}
}

// followTable watches three attempts, 5 and 15 minutes apart (S2-2), with the
// count, should_retry and next_retry_at of each moment.
func followTable(t *testing.T, r *rig, a engine.AlertRow) {
	t.Helper()
	delays := []time.Duration{5 * time.Minute, 15 * time.Minute}
	for range 25 * 6 {
		time.Sleep(10 * time.Second)
		synctest.Wait()
		d := r.page(a, "")
		r.sound(d)
		if d.Job.State != engine.Retryable {
			continue
		}
		last := d.Attempts[len(d.Attempts)-1]
		if wait := d.NextRetryAt.Sub(last.End).Round(time.Second); wait != delays[len(d.Attempts)-1] {
			t.Fatalf("after attempt %d it waits %s", len(d.Attempts), wait)
		}
	}
}

// S2-8: a manual retry calls at once, as one of the tries that there are, a cancel clears the
// schedule; both may be asked twice.
func TestS2_8_ManualRetryAndCancelOfAPage(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, map[string][]string{first: {"busy"}}, first)
		r.start()
		a := fires(time.Now())
		r.alerts(a)
		time.Sleep(time.Minute)
		d := r.page(a, "")
		ana := engine.Actor{User: "ana", Via: "test"}
		rc, err := r.backend.Act(t.Context(), engine.Command{Op: engine.OpRetry, Job: d.Job.ID, By: ana})
		if err != nil || rc.Attempt != 2 || rc.Due.IsZero() {
			t.Fatalf("retry: %+v, %v", rc, err)
		}
		time.Sleep(time.Minute)
		d = r.page(a, "")
		r.sound(d)
		if len(d.Attempts) != 2 || d.Attempts[1].Round != 2 || d.Attempts[0].External == d.Attempts[1].External {
			t.Fatalf("after the retry: %+v", d.Attempts)
		}
		rc, err = r.backend.Act(t.Context(), engine.Command{Op: engine.OpCancel, Job: d.Job.ID, By: ana})
		if err != nil || !rc.Due.IsZero() || !strings.Contains(rc.Text, "its next try") {
			t.Fatalf("cancel: %+v, %v", rc, err)
		}
		if rc, err := r.backend.Act(t.Context(), engine.Command{Op: engine.OpCancel, Job: d.Job.ID, By: ana}); err != nil || !rc.Nothing {
			t.Fatalf("a second cancel: %+v, %v", rc, err)
		}
		time.Sleep(time.Hour)
		if d = r.page(a, ""); d.Job.State != engine.Cancelled || d.ShouldRetry || len(r.voice.Calls()) != 2 {
			t.Errorf("%s, should_retry %t, %d calls", d.Job.State, d.ShouldRetry, len(r.voice.Calls()))
		}
	})
}

// A crash while the call is followed: the attempt comes back uncharged, finds its
// sid and places no second call. So does a stop in good order.
func TestS2_4_NoSecondCallAfterACrash(t *testing.T) {
	for name, end := range map[string]func(*rig){"crash": (*rig).crash, "stop": (*rig).down} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				june()
				r := newRig(t, dir, map[string][]string{first: {"busy", "completed"}}, first)
				r.start()
				a := fires(time.Now())
				r.alerts(a)
				time.Sleep(5 * time.Second)
				if d := r.page(a, ""); d.Job.State != engine.Running || len(r.voice.Calls()) != 1 {
					t.Fatalf("it is %s, with %d calls", d.Job.State, len(r.voice.Calls()))
				}
				end(r)
				time.Sleep(20 * time.Second)
				r.start()
				r.alerts(a)
				time.Sleep(time.Minute)
				d := r.page(a, "")
				r.sound(d)
				if calls := r.voice.Calls(); len(calls) != 1 || len(d.Attempts) != 1 || d.Attempts[0].External != calls[0].SID || d.Attempts[0].Class != "busy" {
					t.Fatalf("%d calls; attempts %+v", len(calls), d.Attempts)
				}
				if len(d.Holds) != 1 || d.Holds[0].Verb != engine.VerbInterrupted {
					t.Errorf("holds %+v", d.Holds)
				}
				time.Sleep(10 * time.Minute)
				if d = r.page(a, ""); d.Job.State != engine.Completed || len(r.voice.Calls()) != 2 {
					t.Errorf("it ended %s, with %d calls", d.Job.State, len(r.voice.Calls()))
				}
			})
		})
	}
}

// The request went out, and its answer was lost: with the process, or on the way.
// The call is found and followed; only when there is none, it is called again.
func TestS2_4_ALostAnswerIsLookedFor(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name          string
		before, after bool // where the first request is lost
		crash         bool
		calls         int
		attempts      int
	}{
		{name: "the process ended after the call was placed", after: true, crash: true, calls: 1, attempts: 1},
		{name: "the process ended before the call was placed", before: true, crash: true, calls: 1, attempts: 1},
		{name: "the answer got lost", after: true, calls: 1, attempts: 2},
		{name: "the request got lost", before: true, calls: 1, attempts: 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				june()
				r := newRig(t, dir, map[string][]string{first: {"completed"}}, first)
				lost := false
				lose := func(here bool) func(*http.Request) error {
					return func(q *http.Request) error {
						if !here || lost || q.Method != http.MethodPost {
							return nil
						}
						lost = true
						if c.crash {
							r.store.dead.Store(true)
						}
						return errors.New("connection reset by peer")
					}
				}
				r.wire.before, r.wire.after = lose(c.before), lose(c.after)
				r.start()
				a := fires(time.Now())
				r.alerts(a)
				time.Sleep(time.Second)
				if c.crash {
					r.down()
					time.Sleep(10 * time.Second)
					r.start()
					r.alerts(a)
				}
				time.Sleep(10 * time.Minute)
				d := r.page(a, "")
				r.sound(d)
				if n := len(r.voice.Calls()); n != c.calls || len(d.Attempts) != c.attempts || d.Job.State != engine.Completed {
					t.Fatalf("%s after %d attempts and %d calls: %+v", d.Job.State, len(d.Attempts), n, d.Attempts)
				}
				if got := d.Attempts[c.attempts-1].External; got != r.voice.Calls()[0].SID {
					t.Errorf("the last attempt followed %q", got)
				}
			})
		})
	}
}

// An engine that has just begun, and does not know yet how the alerts stand, takes none
// of them for over: the open call goes on.
func TestS2_4_AlertsThatAreNotKnownYetAreNotOver(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, map[string][]string{first: {"busy", "completed"}}, first)
		r.start()
		a := fires(time.Now())
		r.alerts(a)
		time.Sleep(time.Minute) // busy; called again in five minutes
		r.down()
		r.start()
		time.Sleep(time.Minute)
		synctest.Wait()
		if d := r.page(a, ""); d.Job.State != engine.Retryable {
			t.Errorf("nobody has said that the alert is over, and its page is %s", d.Job.State)
		}
		r.alerts(a)
		time.Sleep(10 * time.Minute)
		if d := r.page(a, ""); d.Job.State != engine.Completed || len(r.voice.Calls()) != 2 {
			t.Errorf("it ended %s, with %d calls", d.Job.State, len(r.voice.Calls()))
		}
	})
}

// A lost request is not taken for the call about another alert to the same number.
func TestS2_4_AnotherAlertsCallIsNotAdopted(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, nil, first)
		posts := 0
		r.wire.before = func(q *http.Request) error {
			if q.Method == http.MethodPost {
				posts++
			}
			if posts == 2 {
				posts++
				return errors.New("connection reset by peer")
			}
			return nil
		}
		r.start()
		a := fires(time.Now())
		r.alerts(a)
		time.Sleep(30 * time.Second)
		b := a
		b.ID, b.Since = "429", time.Now()
		r.alerts(a, b)
		time.Sleep(10 * time.Minute)
		one, two := r.page(a, ""), r.page(b, "")
		if len(r.voice.Calls()) != 2 || len(two.Attempts) != 2 || two.Attempts[1].External == one.Attempts[0].External {
			t.Errorf("%d calls, %v and %v", len(r.voice.Calls()), externals(one), externals(two))
		}
	})
}

// A page whose alert is over is not called, whoever has brought it.
func TestS2_AStalePageIsNotCalled(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, nil, first)
		r.start()
		a := fires(time.Now())
		a.State = engine.AlertOK
		r.alerts(a)
		args := fmt.Sprintf(`{"turn":"fired","alert":%q,"firing_since":%q}`, a.ID, a.Since.Format(time.RFC3339Nano))
		if _, err := r.backend.Insert(t.Context(), engine.Spec{Kind: engine.KindCall, Queue: "pager", Key: r.pageKey(a), Args: []byte(args)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if d := r.page(a, ""); d.Job.State != engine.Cancelled || len(r.voice.Calls()) != 0 || d.Attempts[0].Class != "canceled.alert-over" {
			t.Errorf("it is %s, with %d calls: %+v", d.Job.State, len(r.voice.Calls()), d.Attempts)
		}
	})
}

// Attempts used up, or a number that can never be called: the next one is called.
func TestS2_EscalationToTheSecondNumber(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, map[string][]string{first: {"no-answer"}, second: {"busy", "completed"}}, first, "17000000", second)
		r.start()
		a := fires(time.Now())
		r.alerts(a)
		time.Sleep(21 * time.Minute)
		if d := r.page(a, ""); d.Job.State != engine.Discarded {
			t.Fatalf("the first number is %s", d.Job.State)
		}
		time.Sleep(10 * time.Minute)
		if d := r.page(a, ":2"); d.Job.State != engine.Discarded || len(d.Attempts) != 1 || d.Attempts[0].Class != "failed.invalid-number" {
			t.Errorf("the number that is none: %s, %+v", d.Job.State, d.Attempts)
		}
		if d := r.page(a, ":3"); d.Job.State != engine.Completed || len(d.Attempts) != 2 {
			t.Errorf("the last number: %s after %d attempts", d.Job.State, len(d.Attempts))
		}
		if !r.noted("cannot be made") {
			t.Error("nobody was told of the number that is none")
		}
	})
}

// An alert that ends, is acknowledged or silenced: its page is cancelled, a line
// that rings is told to stop, and what still comes is not called.
func TestS2_ClearedAndAcknowledgedAlertsCancelTheirPages(t *testing.T) {
	t.Parallel()
	for _, state := range []engine.AlertState{engine.AlertOK, engine.AlertAcknowledged, engine.AlertSilenced} {
		for name, after := range map[string]time.Duration{"ringing": 6 * time.Second, "waiting": 2 * time.Minute} {
			t.Run(string(state)+" while "+name, func(t *testing.T) {
				dir := t.TempDir()
				synctest.Test(t, func(t *testing.T) {
					june()
					r := newRig(t, dir, map[string][]string{first: {"busy"}}, first, second)
					r.start()
					a := fires(time.Now())
					r.alerts(a)
					time.Sleep(after)
					b := a
					b.State, b.Since, b.By = state, time.Now(), engine.Actor{User: "ana"}
					r.alerts(b)
					time.Sleep(time.Hour)
					r.alerts(b)
					d := r.page(a, "")
					if d.Job.State != engine.Cancelled || d.ShouldRetry || len(r.voice.Calls()) != 1 {
						t.Errorf("it is %s, with %d calls", d.Job.State, len(r.voice.Calls()))
					}
					if stopped := r.voice.Calls()[0].Stopped; stopped != (name == "ringing") {
						t.Errorf("the line was stopped: %t", stopped)
					}
				})
			})
		}
	}
}

// An alert that ends and fires again is another firing; one that was told is not
// told again after a restart.
func TestS2_EachFiringIsCalledOnce(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, nil, first)
		r.start()
		a := fires(time.Now())
		r.alerts(a)
		time.Sleep(time.Minute)
		r.down()
		r.start()
		r.alerts(a)
		time.Sleep(time.Hour)
		if n := len(r.voice.Calls()); n != 1 {
			t.Fatalf("%d calls about one firing", n)
		}
		b := fires(time.Now()) // with no look in between
		r.alerts(b)
		time.Sleep(time.Minute)
		if n := len(r.voice.Calls()); n != 2 {
			t.Errorf("%d calls about two firings", n)
		}
	})
}

// An alert whose rule does not hold any more is ending: nobody is paged with a value that
// is within the limit that the page names.
func TestWhatIsEndingPagesNobody(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, nil, first)
		r.start()
		a := fires(time.Now())
		a.Holds, a.Value = false, 1
		r.alerts(a)
		time.Sleep(time.Minute)
		if n := len(r.voice.Calls()); n != 0 {
			t.Errorf("%d calls about an alert that is ending", n)
		}
		a.Holds, a.Value = true, 3 // it holds again before it was over
		r.alerts(a)
		time.Sleep(time.Minute)
		if n := len(r.voice.Calls()); n != 1 {
			t.Errorf("%d calls about one that holds again", n)
		}
	})
}

// A status that is in no table is not retried and is told; so is a call that the
// service has lost. The next number is called: nobody knows whether anybody heard.
func TestS2_1_AnUnknownStatusIsTold(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, map[string][]string{first: {"teleported"}}, first, second)
		r.start()
		a := fires(time.Now())
		r.alerts(a)
		time.Sleep(time.Hour)
		d := r.page(a, "")
		if d.Job.State != engine.Discarded || len(d.Attempts) != 1 || d.Attempts[0].Class != "teleported" || !r.noted("not known") {
			t.Errorf("%s, %+v", d.Job.State, d.Attempts)
		}
		if d := r.page(a, ":2"); d.Job.State != engine.Completed {
			t.Errorf("the second number: %s", d.Job.State)
		}
	})
}

// A 429 of the service is not charged; a refused account is told and not retried.
func TestS2_RefusalsOfTheService(t *testing.T) {
	t.Parallel()
	cases := []struct {
		status, code int
		times        int
		state        engine.State
		attempts     int
		holds        int
		class        engine.Class
	}{
		{http.StatusTooManyRequests, 20429, 2, engine.Completed, 1, 2, ""},
		{http.StatusUnauthorized, 20003, 9, engine.Discarded, 1, 0, "failed.credentials"},
		{http.StatusServiceUnavailable, 0, 1, engine.Completed, 2, 0, ""},
		{http.StatusBadRequest, 99999, 9, engine.Discarded, 1, 0, "failed.refused"},
		{http.StatusBadRequest, 21215, 9, engine.Discarded, 1, 0, "failed.blocked"},
		{http.StatusFound, 0, 9, engine.Discarded, 1, 0, "failed.refused"},
	}
	for _, c := range cases {
		t.Run(http.StatusText(c.status), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				june()
				r := newRig(t, dir, nil, first)
				real, left := r.wire.h, c.times
				r.wire.h = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
					if left == 0 || q.Method != http.MethodPost {
						real.ServeHTTP(w, q)
						return
					}
					left--
					w.Header().Set("Location", "https://elsewhere.example/")
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(`{"code":` + itoa(c.code) + `,"message":"no, ` + canary + ` may not call ` + first + ` (` + first[1:] + `)"}`))
				})
				r.start()
				a := fires(time.Now())
				r.alerts(a)
				time.Sleep(time.Hour)
				d := r.page(a, "")
				r.sound(d)
				if d.Job.State != c.state || len(d.Attempts) != c.attempts || len(d.Holds) != c.holds || d.Attempts[0].Class != c.class && c.class != "" {
					t.Errorf("%s, attempts %+v, holds %+v", d.Job.State, d.Attempts, d.Holds)
				}
				if strings.Contains(d.Job.LastError, canary) {
					t.Errorf("the error holds the token: %s", d.Job.LastError)
				}
				if strings.Contains(d.Job.LastError, first[1:]) {
					t.Errorf("the error holds the whole number: %s", d.Job.LastError)
				}
			})
		})
	}
}

// Nothing is told when nobody is configured, and jobs of an earlier configuration
// say so.
func TestS2_WithoutANumber(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, nil)
		r.start()
		a := fires(time.Now())
		r.alerts(a)
		time.Sleep(time.Minute)
		if _, err := r.store.Detail(context.Background(), engine.JobQuery{Key: "alert.call:" + a.ID}); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("there is a page: %v", err)
		}
		got, err := r.backend.Insert(t.Context(), engine.Spec{Kind: engine.KindCall, Queue: "pager", Key: "k", Args: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		d, err := r.store.Detail(t.Context(), engine.JobQuery{ID: got[0].ID})
		if err != nil || d.Job.State != engine.Discarded || !strings.Contains(d.Job.LastError, "no number") {
			t.Errorf("%+v, %v", d.Job, err)
		}
	})
}
