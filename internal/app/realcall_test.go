package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/pager/voice"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/sim"
)

// eventually waits in real time.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come", what)
		}
	}
}

// realPhone is an engine in real time, whose programs and whose calls go over loopback.
// A call's status is asked for much more often than a provider would like.
func realPhone(t *testing.T, env map[string]string) *client {
	t.Helper()
	dir := freshDir(t)
	env["FARSIGHT_DATA_DIR"], env["FARSIGHT_HTTP_LISTEN"], env["BACKUP_EVERY"], env["SCHEDULE_ENABLE"] = dir, "127.0.0.1:0", "0s", "false"
	cfg, err := config.Load(config.Inputs{Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	key, keyErr := riot.ParseKey(canary)
	if err := errors.Join(err, keyErr, os.MkdirAll(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	cfg.Pager.Call.Poll = 10 * time.Millisecond
	keys := keyring.Of(key, keyring.Env, filepath.Join(dir, "riot.key"))
	p, err := open(cfg, role{keys: keys, transport: sim.New(quick()).RoundTripper(), moments: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.listen(); err != nil {
		t.Fatal(errors.Join(err, p.close()))
	}
	p.start(context.Background(), func() {})
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	})
	return programAt(t, "http://"+p.http.String(), dir)
}

// testCall lets an engine make a test call.
func testCall(t testing.TB, c *client) {
	t.Helper()
	c.ask(t, "POST", "/v1/do", `{"op":"page","channel":"call","reason":"a test"}`, 200, nil)
}

// nthCall waits until the engine knows the n-th call, from 1.
func nthCall(t testing.TB, c *client, v *voice.Service, n int) voice.Call {
	t.Helper()
	eventually(t, fmt.Sprintf("call %d", n), func() bool {
		if len(v.Calls()) < n {
			return false
		}
		req, err := http.NewRequest(http.MethodGet, c.base+"/v1/calls/"+v.Calls()[n-1].SID, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+c.token)
		status, _, _, err := c.do(req)
		return err == nil && status == http.StatusOK
	})
	return v.Calls()[n-1]
}

// debugged waits until the debug view of a sid is as wanted. Each one on the way is
// checked for what holds at every moment (S2-4, S2-5), and for what is never retried.
func debugged(t *testing.T, c *client, sid string, ok func(api.CallDebug) bool) (d api.CallDebug) {
	t.Helper()
	eventually(t, "what was wanted of the call "+sid, func() bool {
		d = api.CallDebug{}
		c.ask(t, "GET", "/calls/"+sid+"/debug", "", 200, &d)
		last := d.Attempts[len(d.Attempts)-1]
		if d.Count != len(d.Attempts) || d.Max != 3 || d.ShouldRetry != (d.NextRetryAt != nil) || d.Status != last.Status {
			t.Errorf("%+v", d)
		}
		if d.Status == "in-progress" && d.ShouldRetry {
			t.Errorf("a call under way: %+v", d)
		}
		return ok(d)
	})
	return d
}

// TestS2_6_InRealTimeOverHTTP is both scenarios in real time, over HTTP from end to end:
// no-answer three times, then the second number, which is busy, busy and picks up. The
// delays are those of the table, 600 times as short.
func TestS2_6_InRealTimeOverHTTP(t *testing.T) {
	t.Parallel()
	v, env := switchboard(t, 60*time.Millisecond, map[string][]string{firstNumber: {"no-answer"}, secondNumber: {"busy", "busy", "completed"}}, firstNumber+","+secondNumber)
	env["FARSIGHT_RETRY_CALL"] = "500ms,1500ms,3s"
	c := realPhone(t, env)
	testCall(t, c)
	delays := []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond}
	for round, ends := range [][]string{{"no-answer", "no-answer", "no-answer"}, {"busy", "busy", "completed"}} {
		for i, end := range ends {
			call := nthCall(t, c, v, 3*round+i+1)
			d := debugged(t, c, call.SID, func(d api.CallDebug) bool { return d.Count > i && d.Attempts[i].Status == end })
			if *d.Attempts[i].SID != call.SID {
				t.Fatalf("after call %d of %s: %+v", i+1, call.To, d)
			}
			var job engine.JobDetail
			c.ask(t, "GET", "/v1/calls/"+call.SID, "", 200, &job)
			next := d.NextRetryAt
			if d.Count > i+1 { // whoever asks late finds the next call under way, or ended
				next = &job.Attempts[i+1].Start
			} else if d.ShouldRetry != (i < 2) {
				t.Fatalf("after call %d of %s: %+v", i+1, call.To, d)
			}
			if i == 2 {
				continue
			}
			if wait := next.Sub(job.Attempts[i].End); wait < delays[i] {
				t.Errorf("after call %d of %s it waits %s, want %s", i+1, call.To, wait, delays[i])
			}
		}
	}
	var one, two engine.JobDetail
	c.ask(t, "GET", "/v1/jobs/alert.call:test", "", 200, &one)
	c.ask(t, "GET", "/v1/jobs/alert.call:test:2", "", 200, &two)
	if one.Job.State != engine.Discarded || two.Job.State != engine.Completed || len(v.Calls()) != 6 {
		t.Errorf("%s, %s, %d calls", one.Job.State, two.Job.State, len(v.Calls()))
	}
}

// TestS2_8_RetryAndCancelByKeys: a person at a console attached to a daemon sees a call
// ring, retries it and cancels its next try by keys, and programs see the same.
func TestS2_8_RetryAndCancelByKeys(t *testing.T) {
	t.Parallel()
	v, env := switchboard(t, 3*time.Second, map[string][]string{firstNumber: {"busy"}}, firstNumber)
	s, dir := startSim(t, quick()), freshDir(t)
	p := s.serving(t, dir, env, "--http", "127.0.0.1:0")
	c := program(t, p, dir)
	testCall(t, c)
	first := nthCall(t, c, v, 1).SID

	x := inTmux(t, 120, 40, nil, "attach", "--data-dir", dir)
	x.shows("Overview")
	x.keys(":")
	x.keys("alert.call:test")
	x.keys("Enter")
	x.shows("Job", "alert.call:test", "RETRYABLE", "1 of 3 tries used, next +", "the call ended busy", "policy call step 1: 5 min", "call "+first)
	x.keys("r")
	x.toldOf("OK", "attempt 2")
	x.shows("2 of 3 tries used since it was retried")
	second := nthCall(t, c, v, 2).SID

	x.shows("▌  2", "call "+second) // while it rings; the cursor is on the newest try
	d := debugged(t, c, second, func(d api.CallDebug) bool { return d.Status == "busy" && d.Count == 2 })
	if !d.ShouldRetry {
		t.Errorf("%+v", d)
	}
	x.shows("RETRYABLE")
	x.keys("x")
	x.toldOf("is cancelled, and its next try at")
	x.shows("CANCELLED")
	c.ask(t, "GET", "/calls/"+first+"/debug", "", 200, &d)
	if d.ShouldRetry || d.NextRetryAt != nil || d.Status != "busy" || d.Count != 2 {
		t.Errorf("%+v", d)
	}
	x.keys("x") // asked twice it says so
	x.toldOf("has ended: it is CANCELLED")
}
