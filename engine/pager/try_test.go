package pager_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/pager"
)

var operator = engine.Actor{User: "ana", Via: "test"}

// job is one by its key.
func (r *rig) job(key string) engine.JobDetail {
	r.t.Helper()
	d, err := r.store.Detail(r.t.Context(), engine.JobQuery{Key: key})
	if err != nil {
		r.t.Fatalf("job %s: %v", key, err)
	}
	return d
}

// A test says first who would hear it, then goes the way of an alert: to the next
// number when nobody picks up, opened and closed again at channels, signed at hooks.
func TestATestGoesTheWayOfAnAlert(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		in := &inbox{}
		r := newRig(t, dir, map[string][]string{first: {"busy"}, second: {"completed"}}, first, second)
		r.opt.Channels = append(channels(), pager.Channel{Name: "command", Form: pager.FormCommand, Command: []string{"/usr/bin/notify"}})
		r.opt.Hooks = []pager.Hook{{Name: "one", URL: pager.NewSecret(hookURL + "/events"), Secret: pager.NewSecret(hookKey), Events: []string{pager.ReportBuilt}}}
		r.start()
		said, err := r.pager.Try(t.Context(), "", operator, true)
		if err != nil || said.Would != 6 || len(r.voice.Calls()) > 0 {
			t.Fatalf("a dry run: %+v, %v", said, err)
		}
		for _, want := range []string{"call …2345, then …8765 when nobody has picked up", "webhook at hooks.example, signed", "discord at chat.example", "pagerduty at duty.example", "command /usr/bin/notify", "events at hooks.example"} {
			if !slices.ContainsFunc(said.Sample, func(s string) bool { return strings.Contains(s, want) }) {
				t.Errorf("no word of %q in %q", want, said.Sample)
			}
		}
		if strings.Contains(fmt.Sprint(said), "token-4711") || strings.Contains(fmt.Sprint(said), first) {
			t.Errorf("it shows a secret: %s", said.Text)
		}

		// The alerts are known and well: a test is heard all the same.
		r.alerts()
		if _, err := r.pager.Try(t.Context(), pager.TryCall, operator, false); err != nil {
			t.Fatal(err)
		}
		_, err = r.pager.Try(t.Context(), pager.TryCall, operator, false)
		if p, ok := errors.AsType[*engine.Problem](err); !ok || !errors.Is(err, engine.ErrConflict) || p.Job != r.job("alert.call:test").Job.ID {
			t.Errorf("a second test call: %v", err)
		}
		time.Sleep(time.Hour)
		if d := r.job("alert.call:test"); d.Job.State != engine.Discarded || len(d.Attempts) != 3 || d.Job.Policy != engine.PolicyCall {
			t.Errorf("the first number: %s after %d, policy %q", d.Job.State, len(d.Attempts), d.Job.Policy)
		}
		if d := r.job("alert.call:test:2"); d.Job.State != engine.Completed {
			t.Errorf("the second number: %s", d.Job.State)
		}
		if said := r.voice.Calls()[0].Text; !strings.Contains(said, "This is a test of the Farsight pager, asked for by ana. Nothing is wrong") {
			t.Errorf("it says %s", said)
		}

		r.wire.h = in
		for _, name := range []string{"webhook", "pagerduty", pager.TryHooks} {
			if _, err := r.pager.Try(t.Context(), name, operator, false); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		var actions []string
		for _, p := range in.to(dutyURL) {
			var e struct {
				Action string `json:"event_action"`
			}
			_ = json.Unmarshal(p.body, &e)
			actions = append(actions, e.Action)
		}
		if !slices.Equal(actions, []string{"trigger", "resolve"}) {
			t.Errorf("an incident is %v", actions)
		}
		events := in.to(hookURL + "/events")
		if len(events) != 1 || events[0].header.Get(pager.HeaderEvent) != pager.TestEvent {
			t.Fatalf("events %v", events)
		}
		h := events[0].header
		if err := pager.Verify(hookKey, h.Get(pager.HeaderTimestamp), h.Get(pager.HeaderSignature), events[0].body, events[0].at); err != nil {
			t.Error(err)
		}
	})
}

// Nobody to be tried, and nobody by that name.
func TestATestOfNobody(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, nil)
		r.start()
		if _, err := r.pager.Try(t.Context(), "", operator, false); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("nobody: %v", err)
		}
		r.down()
		r.opt.Channels = channels()
		r.start()
		_, err := r.pager.Try(t.Context(), "telegram", operator, true)
		if p, ok := errors.AsType[*engine.Problem](err); !ok || !errors.Is(err, engine.ErrNotFound) || !strings.Contains(p.Do, "discord") {
			t.Errorf("telegram: %v", err)
		}
	})
}

// A call is found by its sid while it is queued, rings and is talked on, also after a
// crash, and is not retried meanwhile.
func TestS2_4_ACallUnderWayIsFoundByItsSid(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		r := newRig(t, dir, nil, first) // four seconds each: queued, ringing, in progress
		r.start()
		a := fires(time.Now())
		r.alerts(a)
		found := func(stage string) {
			t.Helper()
			synctest.Wait()
			d, call := r.page(a, ""), r.voice.Calls()[0]
			if got := r.backend.Externals()[d.Job.ID]; got != call.SID || d.Job.State != engine.Running {
				t.Errorf("while %s, job %s has the id %q, not %q", stage, d.Job.State, got, call.SID)
			}
			if _, err := r.backend.Act(t.Context(), engine.Command{Op: engine.OpRetry, Job: d.Job.ID, By: operator}); !errors.Is(err, engine.ErrConflict) {
				t.Errorf("while %s a retry: %v", stage, err)
			}
		}
		time.Sleep(time.Second)
		found("queued")
		time.Sleep(4 * time.Second)
		found("ringing")
		r.crash()
		r.start()
		r.alerts(a)
		time.Sleep(4 * time.Second)
		found("in progress")
		time.Sleep(time.Minute)
		if d := r.page(a, ""); d.Job.State != engine.Completed || len(r.voice.Calls()) != 1 || len(r.backend.Externals()) != 0 {
			t.Errorf("%s after %d calls, still under way: %v", d.Job.State, len(r.voice.Calls()), r.backend.Externals())
		}
	})
}

// New targets hold from the next attempt on; a call under way goes on with those that
// it began with, and an open call to a number that is gone is still cancelled.
func TestTargetsAreTakenOverWhileRunning(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		june()
		in := &inbox{}
		r := newRig(t, dir, map[string][]string{first: {"busy"}, second: {"busy"}}, first)
		r.start()
		a := fires(time.Now())
		r.alerts(a)
		time.Sleep(5 * time.Second)
		call := *r.opt.Call
		call.To = []string{second}
		take, err := r.pager.Prepare(pager.Targets{Call: &call})
		if err != nil {
			t.Fatal(err)
		}
		take()
		time.Sleep(6 * time.Minute)
		if calls := r.voice.Calls(); len(calls) != 2 || calls[0].To != first || calls[0].Stopped || calls[1].To != second {
			t.Fatalf("calls: %+v", calls)
		}

		// Nobody is called any more: the channel is told of the end, the open call cancelled.
		if take, err = r.pager.Prepare(pager.Targets{Channels: channels()[:1]}); err != nil {
			t.Fatal(err)
		}
		take()
		r.wire.h = in
		b := a
		b.State, b.Since = engine.AlertOK, time.Now()
		r.alerts(b)
		time.Sleep(time.Minute)
		if d := r.page(a, ""); d.Job.State != engine.Cancelled {
			t.Errorf("the open call is %s", d.Job.State)
		}
		if got := in.to(hookURL); len(got) != 1 || got[0].header.Get(pager.HeaderEvent) != "alert.resolved" {
			t.Errorf("the new channel got %d notices", len(got))
		}
		if _, err := r.pager.Prepare(pager.Targets{Channels: []pager.Channel{{Name: "x", Form: pager.FormDiscord, URL: pager.NewSecret("http://chat.example/")}}}); err == nil {
			t.Error("an address without TLS was taken")
		}
	})
}
