package pager_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/pager"
	"github.com/farsight-console/farsight/engine/pager/voice"
)

// patience is the ceiling for whatever is waited for in real time. It is no measurement:
// only a hang is that slow.
const patience = 3 * time.Minute

// within waits for what must come, in real time.
func within(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("%s did not come", what)
}

// real is a rig in real time, with short delays and the real way out.
func real(t *testing.T, set func(*pager.Options)) *rig {
	r := newRig(t, t.TempDir(), nil)
	r.wire = nil
	set(&r.opt)
	r.startReal()
	return r
}

// The two scenarios through the simulated service over loopback, with the delays of
// the table four thousand times as short.
func TestS2_6_ThroughTheSimulatedVoiceService(t *testing.T) {
	t.Parallel()
	service := voice.New(voice.Options{Account: account, Token: canary, Stage: 20 * time.Millisecond, Numbers: map[string][]string{
		first: {"no-answer"}, second: {"busy", "busy", "completed"},
	}})
	server := httptest.NewServer(service)
	defer server.Close()
	r := real(t, func(o *pager.Options) {
		o.Call = &pager.CallOptions{
			BaseURL: server.URL, Account: pager.NewSecret(account), Token: pager.NewSecret(canary),
			From: from, To: []string{first, second}, Poll: 5 * time.Millisecond,
		}
	})
	a := fires(time.Now())
	r.pager.Alerts([]engine.AlertRow{a})
	within(t, "the answered call", func() bool {
		d, err := r.store.Detail(t.Context(), engine.JobQuery{Key: r.pageKey(a) + ":2"})
		return err == nil && d.Job.State == engine.Completed
	})
	one, two := r.page(a, ""), r.page(a, ":2")
	for _, d := range []engine.JobDetail{one, two} {
		r.sound(d)
		if len(d.Attempts) != 3 || d.ShouldRetry {
			t.Errorf("%d attempts, should_retry %t", len(d.Attempts), d.ShouldRetry)
		}
	}
	if got := append(externals(one), externals(two)...); !slices.Equal(got, sids(service.Calls())) {
		t.Errorf("attempts have %v, placed were %v", got, sids(service.Calls()))
	}
	if said := service.Calls()[0].Text; !strings.Contains(said, "503 burst per 1 min is 7, limit above 2") || strings.Contains(said, "&lt;") {
		t.Errorf("it says %s", said)
	}
}

// script writes a program.
func script(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "notify")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func commandRig(t *testing.T, timeout time.Duration, argv ...string) (*rig, engine.AlertRow) {
	r := real(t, func(o *pager.Options) {
		o.Channels = []pager.Channel{{Name: "command", Form: pager.FormCommand, Command: argv, Timeout: timeout}}
	})
	a := fires(time.Now())
	r.pager.Alerts([]engine.AlertRow{a})
	within(t, "the job", func() bool {
		_, err := r.store.Detail(t.Context(), engine.JobQuery{Key: noticeKey("command", "fired", a)})
		return err == nil
	})
	return r, a
}

// A command gets the alert on its standard input and its arguments as they are; its
// environment holds no secret.
func TestCommandGetsTheAlert(t *testing.T) {
	t.Setenv("TWILIO_AUTH_TOKEN", canary)
	out := filepath.Join(t.TempDir(), "out")
	r, a := commandRig(t, 0, script(t, `cat >"$1.json"; env >"$1.env"; printf %s "$2" >"$1.arg"; mv "$1.json" "$1"`), out, "$(touch x); a b")
	within(t, "the command's end", func() bool { return r.notice("command", "fired", a).Job.State == engine.Completed })
	var body struct{ Type string }
	got, err := os.ReadFile(out)
	if err != nil || json.Unmarshal(got, &body) != nil || body.Type != "alert.fired" {
		t.Errorf("%s, %v", got, err)
	}
	if arg, _ := os.ReadFile(out + ".arg"); string(arg) != "$(touch x); a b" {
		t.Errorf("the argument was %q", arg)
	}
	env, _ := os.ReadFile(out + ".env")
	if strings.Contains(string(env), canary) || !strings.Contains(string(env), "FARSIGHT_EVENT=alert.fired") {
		t.Errorf("the environment was %s", env)
	}
}

// A command that takes too long is ended with all that it has started, and tried
// again.
func TestCommandTimeoutEndsTheProcessGroup(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	r, a := commandRig(t, time.Second, script(t, `sleep 300 & echo $! >>"$1"; wait`), pids)
	within(t, "the timeout", func() bool {
		d := r.notice("command", "fired", a)
		return len(d.Attempts) > 0 && d.Attempts[0].Class == "timeout"
	})
	var child int // of the first try that came as far as to start it
	within(t, "a child", func() bool {
		text, _ := os.ReadFile(pids)
		line, _, whole := strings.Cut(string(text), "\n")
		child, _ = strconv.Atoi(line)
		return whole && child > 0
	})
	within(t, "the child's end", func() bool { return gone(child) })
}

// gone reports whether a process has ended; one that nobody has waited for yet has.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestCommandFailures(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		argv  []string
		class engine.Class
		says  string
	}{
		"exit code": {[]string{script(t, "echo it is broken >&2; exit 3")}, "exit.3", "it is broken"},
		"missing":   {[]string{"/nowhere/notify"}, "command", "cannot be run"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, a := commandRig(t, patience, c.argv...)
			within(t, "its end", func() bool {
				d := r.notice("command", "fired", a)
				return d.Job.State == engine.Discarded && d.Attempts[0].Class == c.class && strings.Contains(d.Job.LastError, c.says)
			})
		})
	}
}

// startReal is start in real time: policies four thousand times as fast.
func (r *rig) startReal() {
	r.fast = map[string]engine.Policy{}
	for name, p := range engine.DefaultPolicies() {
		delays := make([]time.Duration, len(p.Delays))
		for i, d := range p.Delays {
			delays[i] = d / 4000
		}
		r.fast[name] = engine.NewPolicy(name, p.Max, delays...)
	}
	r.start()
}
