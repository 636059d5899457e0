package app

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
)

// receiptOf is the JSON receipt of a command on a directory.
func receiptOf(t *testing.T, dir string, args ...string) engine.Receipt {
	t.Helper()
	res := command{args: append(args, "--json", "--data-dir", dir)}.asked(t).wants(t, exitDone)
	var r engine.Receipt
	if err := json.Unmarshal([]byte(res.stdout), &r); err != nil {
		t.Fatalf("%v: %s", err, res.stdout)
	}
	return r
}

func jobOf(t *testing.T, dir, key string) engine.Job {
	t.Helper()
	c, db := look(t, dir)
	defer db.Close()
	return ask[engine.JobDetail](t, c, engine.JobQuery{Key: key}).Job.Job
}

// The console's commands for scripts, on a directory that nobody holds:
// dry run, cost, class, undo, and the engine that starts next carries them out.
func TestActCommands(t *testing.T) {
	t.Parallel()
	who := player("Act On Me#CLI", 6)
	o := quick(who)
	ids := sim.New(o).MatchIDs(who.RiotID)
	o.Faults = []sim.Fault{
		{Name: "gone", Kind: sim.NotFound, Match: sim.Match{Method: route.Match, ID: ids[1], Attempts: 1}},
		{Name: "gone too", Kind: sim.NotFound, Match: sim.Match{Method: route.Match, ID: ids[2], Attempts: 1}},
	}
	s := startSim(t, o)
	dir := freshDir(t)
	s.sync(who.RiotID, dir).run(t).wants(t, exitIncomplete)
	lost := "match:" + ids[1]
	if j := jobOf(t, dir, lost); j.State != engine.Discarded {
		t.Fatalf("%s is %s", lost, j.State)
	}

	classes := command{args: words("jobs --classes --json --data-dir " + dir)}.asked(t).wants(t, exitDone)
	var class engine.ClassRow
	if err := json.Unmarshal([]byte(strings.SplitN(classes.stdout, "\n", 2)[0]), &class); err != nil || class.Jobs != 2 || class.Dead != 2 || class.Class != "404" || class.Host != "europe" || class.Method != "match-v5.match" {
		t.Errorf("jobs --classes: %v: %s", err, classes.stdout)
	}
	dry := receiptOf(t, dir, "reclass", "--class", class.ID, "--dry-run")
	if dry.Would != 2 || dry.Applied != 0 || dry.Cost == nil || dry.Cost.Calls != 2 || dry.Cost.Bucket == "" {
		t.Errorf("dry run: %+v", dry)
	}
	if r := receiptOf(t, dir, "reclass", "--class", class.ID); r.Applied != 2 || !r.Undo {
		t.Errorf("reclass: %+v", r)
	}
	if j := jobOf(t, dir, lost); j.State != engine.Available || j.Round != 2 {
		t.Errorf("after reclass: %+v", j)
	}
	receiptOf(t, dir, "undo")
	if j := jobOf(t, dir, lost); j.State != engine.Discarded || j.Round != 1 {
		t.Errorf("after the undo: %+v", j)
	}
	if r := receiptOf(t, dir, "retry", lost, "--reason", "Riot is back"); r.Applied != 1 || r.Attempt != 2 {
		t.Errorf("retry: %+v", r)
	}
	at := time.Now().Add(time.Hour)
	if r := receiptOf(t, dir, "reschedule", lost, "--in", "1h"); r.Due.Before(at) {
		t.Errorf("reschedule: %+v", r)
	}
	if r := receiptOf(t, dir, "cancel", "--state", "scheduled"); r.Applied != 1 {
		t.Errorf("cancel: %+v", r)
	}
	forced := "match:" + ids[0]
	if r := receiptOf(t, dir, "force", forced, "--reason", "looks odd"); r.Applied != 1 {
		t.Errorf("force: %+v", r)
	}
	full := string(ingest.QueueFull)
	receiptOf(t, dir, "pause", full, "--reason", "lunch")
	if r := receiptOf(t, dir, "pause", full); !r.Nothing {
		t.Errorf("a second pause: %+v", r)
	}
	receiptOf(t, dir, "resume", full)
	receiptOf(t, dir, "freeze", "asia", "--in", "1h", "--reason", "maintenance")
	if r := receiptOf(t, dir, "thaw", "asia"); r.Applied != 1 {
		t.Errorf("the freeze was not kept: %+v", r)
	}
	if r := receiptOf(t, dir, "trigger", who.RiotID, "--platform", "euw1", "--force", "--dry-run"); r.Cost == nil {
		t.Errorf("dry run of a trigger: %+v", r)
	}
	receiptOf(t, dir, "trigger", who.RiotID, "--platform", "euw1", "--force")
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	if f := s.Fetched(route.Match, ids[0]); f.Calls != 2 { // the run that was triggered joined the forced job
		t.Errorf("the forced match was fetched %d times, want 2", f.Calls)
	}
	sound(t, dir)
}

// Bad input: one sentence, the right exit code, nothing changed.
func TestActCommandsRefuse(t *testing.T) {
	t.Parallel()
	who := player("Refuse Me#CLI", 3)
	s := startSim(t, quick(who))
	dir := freshDir(t)
	for _, args := range [][]string{{"retry", "match:X"}, {"pause", string(ingest.QueueFull)}, {"undo"}, {"freeze", "europe"}} {
		res := command{args: append(args, "--data-dir", dir)}.asked(t).wants(t, exitFailed)
		oneSentence(t, res.stderr, "stored")
	}
	s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	for _, name := range []string{"retry", "job"} {
		res := command{args: []string{name, "", "--data-dir", dir}}.asked(t).wants(t, exitUsage)
		oneSentence(t, res.stderr, "no job is named")
	}
	cases := []struct {
		args string
		code int
		says string
	}{
		{"retry", exitUsage, "name a job"},
		{"retry match:nope", exitFailed, "there is no job"},
		{"retry match:x --class 503", exitUsage, "not both"},
		{"cancel --state asleep", exitUsage, "asleep"},
		{"cancel --confirm yes", exitUsage, "all"},
		{"force match:" + s.MatchIDs(who.RiotID)[0], exitUsage, "--reason"},
		{"retry match:" + s.MatchIDs(who.RiotID)[0], exitFailed, "forced"},
		{"reschedule match:x", exitUsage, "say when"},
		{"reschedule match:x --at noon", exitUsage, "noon"},
		{"reschedule match:x --in -5m", exitUsage, "-5m"},
		{"pause", exitUsage, "name a queue"},
		{"pause ingest.summoner.ful", exitUsage, "ingest.summoner.full"},
		{"freeze mars", exitUsage, "mars"},
		{"freeze europe --cap 150", exitUsage, "150"},
		{"freeze", exitUsage, "name a host"},
		{"undo nothing", exitUsage, "nothing"},
		{"undo -1", exitUsage, "numbers are written without a dash"},
		{"undo -31 --dry-run", exitUsage, "\"-31\" is no flag"},
		{"undo 99", exitFailed, "99"},
		{"undo", exitFailed, "can be undone"},
		{"trigger nobody", exitUsage, "nobody"},
	}
	for _, tc := range cases {
		res := command{args: append(words(tc.args), "--data-dir", dir)}.asked(t)
		if res.code != tc.code {
			t.Errorf("%s: exit %d, want %d: %s", tc.args, res.code, tc.code, res.stderr)
		}
		oneSentence(t, res.stderr, tc.says)
	}
	sound(t, dir)
}

// A directory that another process holds ends a command with 4.
func TestActCommandsOnAHeldDirectory(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	letGo := holdDir(t, dir)
	for _, args := range []string{"retry match:x", "cancel --confirm all", "pause " + string(ingest.QueueFull), "undo", "thaw europe"} {
		res := command{args: append(words(args), "--data-dir", dir)}.asked(t).wants(t, exitHeld)
		oneSentence(t, res.stderr)
	}
	letGo()
}

// holdDir opens a store as one does that answers nobody: not an engine, but what works on
// the directory for a while.
func holdDir(t testing.TB, dir string) (letGo func()) {
	t.Helper()
	db, err := storage.Open(storage.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
