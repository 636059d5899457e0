package app

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// rowsOf reads NDJSON.
func rowsOf[T any](t testing.TB, text string) (rows []T) {
	t.Helper()
	for line := range strings.Lines(text) {
		var row T
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		rows = append(rows, row)
	}
	return rows
}

// Logs, audit and forensics of a directory that a sync has left behind, with a 429
// in it, and the log while the sync runs.
func TestI9_WhatHappenedIsToldByTheCommandLine(t *testing.T) {
	t.Parallel()
	who := player("Log Reader#LOG", 12)
	o := quick(who)
	id := sim.New(o).MatchIDs(who.RiotID)[3]
	o.Faults = []sim.Fault{{Name: "method", Kind: sim.LimitMethod, RetryAfter: "1", Match: sim.Match{ID: id, Attempts: 1}}}
	s := startSim(t, o)
	dir := freshDir(t)
	run := func(args ...string) result {
		return command{args: append(args, "--data-dir", dir), env: s.env()}.asked(t)
	}
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)

	res := run("logs", "--level", "warn", "--json", "--last", "0").wants(t, exitDone)
	warned := rowsOf[engine.LogRow](t, res.stdout)
	for _, r := range warned {
		if r.Level != "warn" && r.Level != "error" || r.At.IsZero() {
			t.Errorf("%+v", r)
		}
	}
	if !strings.Contains(res.stdout, "hold begun by a 429") || !strings.Contains(res.stdout, "call refused") {
		t.Errorf("%s", res.stdout)
	}
	job := ""
	for _, r := range warned {
		if r.Area == "riot" {
			job = string(r.Job)
		}
	}
	if res := run("logs", "--job", job, "--text", "REFUSED").wants(t, exitDone); job == "" || strings.Count(res.stdout, "\n") != 1 || !strings.Contains(res.stdout, "job="+job) {
		t.Errorf("of job %q: %q", job, res.stdout)
	}
	if res := run("logs").wants(t, exitDone); !strings.Contains(res.stdout, "engine started") || !strings.Contains(res.stdout, "sync ended") || !strings.Contains(res.stdout, "engine stopped") {
		t.Errorf("%s", res.stdout)
	}

	res = run("forensics").wants(t, exitDone)
	for _, want := range []string{"429 (method)", "service/method", "OURS", "SERVER", "SPENT BY"} {
		if !strings.Contains(res.stdout, want) {
			t.Errorf("forensics lacks %q:\n%s", want, res.stdout)
		}
	}
	f := rowsOf[engine.Forensics](t, run("forensics", "--json").wants(t, exitDone).stdout)
	if len(f) != 1 || f[0].Call.Status != 429 || len(f[0].Call.Counts) == 0 {
		t.Errorf("%+v", f)
	}
	entries := rowsOf[engine.AuditEntry](t, run("audit", "--json", "--op", "trigger").wants(t, exitDone).stdout)
	if len(entries) != 1 || entries[0].Op != engine.OpTrigger || entries[0].By.Via != "cli" {
		t.Errorf("%+v", entries)
	}
	if res := run("audit", "--text", who.RiotID).wants(t, exitDone); !strings.Contains(res.stdout, "trigger") {
		t.Errorf("%s", res.stdout)
	}
}

func TestLogs_FollowsAnEngineThatRuns(t *testing.T) {
	t.Parallel()
	who := player("Slow Reader#LOG", 600)
	o := quick(who)
	o.Limits = limits("4:1")
	s := startSim(t, o)
	dir := freshDir(t)
	engine := s.sync(who.RiotID, dir).start(t)
	engine.until("some matches", func() bool { return s.Stats().Calls > 4 })
	logs := command{args: []string{"logs", "--follow", "--data-dir", dir}, env: s.env()}.start(t)
	logs.says("engine started")
	_ = engine.cmd.Process.Signal(os.Interrupt)
	logs.says("engine stopped")
	engine.wait().wants(t, exitInterrupted)
	_ = logs.cmd.Process.Signal(os.Interrupt)
	logs.wait().wants(t, exitDone)
}

func TestWatchCommands_BadInput(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"logs"}, exitFailed, "nothing is stored in"},
		{[]string{"logs", "--level", "loud"}, exitUsage, "debug, info, warn, error"},
		{[]string{"logs", "--limit", "-1"}, exitUsage, "--limit"},
		{[]string{"logs", "x"}, exitUsage, "takes no"},
		{[]string{"audit", "--last", "-1"}, exitUsage, "--last"},
		{[]string{"audit"}, exitFailed, "nothing is stored in"},
		{[]string{"forensics", "x"}, exitUsage, "no number of a call"},
		{[]string{"forensics", "0"}, exitUsage, "no number of a call"},
		{[]string{"forensics", "1", "2"}, exitUsage, "one call at most"},
	} {
		res := command{args: append(c.args, "--data-dir", dir)}.asked(t).wants(t, c.code)
		oneSentence(t, res.stderr, c.says)
	}
	command{args: []string{"track", "Ana#EUW", "--platform", "euw1", "--data-dir", dir}}.asked(t).wants(t, exitDone)
	res := command{args: []string{"forensics", "--data-dir", dir}}.asked(t).wants(t, exitDone)
	if !strings.Contains(res.stdout, "no 429 is known") {
		t.Errorf("%q", res.stdout)
	}
	res = command{args: []string{"forensics", "7", "--data-dir", dir}}.asked(t).wants(t, exitFailed)
	oneSentence(t, res.stderr, "no call 7 is recorded")
}
