package app

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// jsonLines reads one value per line of what a list printed.
func jsonLines[T any](t *testing.T, dir string, args ...string) []T {
	t.Helper()
	res := command{args: append(args, "--json", "--data-dir", dir)}.asked(t).wants(t, exitDone)
	var out []T
	for line := range strings.Lines(res.stdout) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		out = append(out, v)
	}
	return out
}

func alertOf(t *testing.T, dir, id string) engine.AlertRow {
	t.Helper()
	for _, a := range jsonLines[engine.AlertRow](t, dir, "alerts") {
		if a.ID == id {
			return a
		}
	}
	t.Fatalf("no alert %s is listed", id)
	return engine.AlertRow{}
}

// The lists and commands on alerts, metrics and ended jobs, on a directory that
// nobody holds: what a sync has counted is there, a silence is kept for the next
// engine, and the engine keeps it.
func TestAlertMetricsAndJobLogCommands(t *testing.T) {
	t.Parallel()
	who := player("Count Me#CLI", 6)
	o := quick(who)
	ids := sim.New(o).MatchIDs(who.RiotID)
	o.Faults = []sim.Fault{{Name: "gone", Kind: sim.NotFound, Match: sim.Match{Method: route.Match, ID: ids[1]}}}
	s := startSim(t, o)
	dir := freshDir(t)
	s.sync(who.RiotID, dir).run(t).wants(t, exitIncomplete)

	m := jsonLines[engine.Metrics](t, dir, "metrics", "--days", "2")[0]
	if m.Discarded != 1 || m.Completed < 11 || m.Statuses["404"] != 1 || m.FailureRate == 0 || m.PerMin == 0 {
		t.Errorf("metrics: %+v", m)
	}
	sum := engine.DaySum{}
	for _, d := range m.Days { // midnight may lie between
		sum = sum.Plus(d)
	}
	if int(sum.Completed) != m.Completed || sum.Discarded != 1 || sum.Attempts == 0 {
		t.Errorf("the days %+v and the hour %+v do not agree", m.Days, m)
	}
	log := jsonLines[engine.JobLog](t, dir, "joblog")
	if len(log) != int(sum.Completed+sum.Discarded) {
		t.Errorf("%d jobs in the log, %+v ended", len(log), sum)
	}
	dead := 0
	for _, j := range log {
		if j.Status == engine.Discarded && strings.Contains(j.Error, "404") && j.Key == "match:"+ids[1] {
			dead++
		}
		if j.Job == "" || j.Type == "" || j.Created.IsZero() || j.Finished.IsZero() {
			t.Errorf("a line lacks something: %+v", j)
		}
	}
	if matches := jsonLines[engine.JobLog](t, dir, "joblog", "--kind", "match.fetch", "--limit", "4"); dead != 1 || len(matches) != 4 {
		t.Errorf("%d lost matches, %d lines of 4", dead, len(matches))
	}
	table := command{args: words("joblog -o csv --limit 1 --data-dir " + dir)}.asked(t).wants(t, exitDone).stdout
	if at := log[0].Finished.UTC().Format("2006-01-02T15:04:05.000Z"); !strings.Contains(table, ","+at+",") {
		t.Errorf("a job that ended at %s is told as\n%s", at, table)
	}
	for _, args := range []string{"alerts", "metrics", "joblog"} {
		res := command{args: words(args + " --data-dir " + dir)}.asked(t).wants(t, exitDone)
		if strings.Contains(res.stdout, "{") || strings.Count(res.stdout, "\n") < 5 {
			t.Errorf("%s prints\n%s", args, res.stdout)
		}
	}

	if dry := receiptOf(t, dir, "silence", "give-ups", "--for", "2h", "--dry-run"); dry.Applied != 0 || alertOf(t, dir, "give-ups").State == engine.AlertSilenced {
		t.Errorf("dry run: %+v", dry)
	}
	before := time.Now()
	if r := receiptOf(t, dir, "silence", "key", "--for", "2h", "--reason", "on purpose"); r.Applied != 1 || r.Audit == 0 || r.Due.Before(before.Add(2*time.Hour)) {
		t.Errorf("silence: %+v", r)
	}
	if a := alertOf(t, dir, "key"); a.State != engine.AlertSilenced || a.By.Via != "cli" || a.Until.Before(before) {
		t.Errorf("after it: %+v", a)
	}
	s.sync(who.RiotID, dir, "--force").run(t)
	if a := alertOf(t, dir, "key"); a.State != engine.AlertSilenced {
		t.Errorf("after the next engine: %+v", a)
	}
	if r := receiptOf(t, dir, "silence", "key", "--end"); r.Applied != 1 || alertOf(t, dir, "key").State != engine.AlertOK {
		t.Errorf("ended: %+v", r)
	}
	sound(t, dir)
}

// Bad input: one sentence, the right exit code, nothing changed.
func TestAlertCommandsRefuse(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	for _, args := range []string{"alerts", "metrics", "joblog", "ack key", "silence key --for 1h"} {
		res := command{args: words(args + " --data-dir " + dir)}.asked(t).wants(t, exitFailed)
		oneSentence(t, res.stderr, "stored")
	}
	who := player("Refuse Alerts#CLI", 2)
	startSim(t, quick(who)).sync(who.RiotID, dir).run(t).wants(t, exitDone)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"ack", exitUsage, "name one alert, such as 503/europe"},
		{"ack key", exitFailed, "not firing: list those that fire with `farsight alerts`"},
		{"ack nonsense", exitFailed, "no alert"},
		{"silence nonsense --for 1h", exitFailed, "no alert"},
		{"silence key", exitUsage, "--for 2h"},
		{"silence key --for 1h --end", exitUsage, "--for 2h"},
		{"silence key --for never", exitUsage, "never"},
		{"silence key --for -1h", exitUsage, "-1h"},
		{"silence key --for 200h", exitUsage, "seven days"},
		{"silence key --until noonish", exitUsage, "noonish"},
		{"metrics --window 2h", exitUsage, "over 2 h are not kept: ask for at most an hour"},
		{"metrics --window 1s", exitUsage, "1m to 1h"},
		{"metrics --days 401", exitUsage, "400"},
		{"joblog --limit -1", exitUsage, "--limit"},
	} {
		res := command{args: words(c.args + " --data-dir " + dir)}.asked(t).wants(t, c.code)
		oneSentence(t, res.stderr, c.says)
	}
}
