package app

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

func TestPruneRuleOfTheFlags(t *testing.T) {
	rule, err := pruneFlags{completed: "12h", failed: "2w", classes: []string{"404=10d", "503=0"}, keep: 250}.rule()
	if err != nil || rule.Completed != 12*time.Hour || rule.Failed != 14*day || rule.KeepFailed != 250 || rule.Classes["404"] != 10*day || rule.Classes["crash"] != 365*day {
		t.Errorf("%+v %v", rule, err)
	}
	if age, ok := rule.Classes["503"]; !ok || age != 0 {
		t.Errorf("503 is kept for %v", age)
	}
	for _, bad := range []pruneFlags{
		{keep: 99}, {keep: 100, completed: "soon"}, {keep: 100, completed: "-1d"}, {keep: 100, failed: "30"}, {keep: 100, failed: "d"}, {keep: 100, failed: "585y"}, {keep: 100, completed: "36501d"},
		{keep: 100, classes: []string{"404"}}, {keep: 100, classes: []string{"=3d"}}, {keep: 100, classes: []string{"404=x"}},
	} {
		if _, err := bad.rule(); err == nil || exitCode(err) != exitUsage {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	said := engine.PruneDone{Completed: 1, Failed: 2, Spared: 3}.Text(true)
	if said != "1 completed and 2 failed jobs would be deleted, 3 are still needed" {
		t.Errorf("%q", said)
	}
}

// The commands on a directory at rest: what there is nothing of is said in one
// sentence, and a prune is in the audit.
func TestDomainCommands(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick(player("Ana#EUW", 3)))
	dir := freshDir(t)
	for _, cmd := range []string{"prune", "freshness", "ranks Ana#EUW", "weekly", "reresolve"} {
		res := command{args: append(words(cmd), "--data-dir", dir), env: s.env()}.asked(t).wants(t, exitFailed)
		oneSentence(t, res.stderr, "stored", "--data-dir")
	}
	s.sync("Ana#EUW", dir).run(t).wants(t, exitDone)
	command{args: []string{"track", "Ana#EUW", "--platform", "euw1", "--data-dir", dir}, env: s.env()}.asked(t).wants(t, exitDone)

	run := func(code int, args string) result {
		t.Helper()
		res := command{args: append(words(args), "--data-dir", dir), env: s.env()}.asked(t).wants(t, code)
		clean(t, args, res.stdout)
		return res
	}
	if res := run(exitDone, "ranks Ana#EUW"); !strings.Contains(res.stdout, "no rank is stored yet") {
		t.Errorf("%s", res.stdout)
	}
	if res := run(exitDone, "ranks Ana#EUW --json"); res.stdout != "" {
		t.Errorf("%s", res.stdout)
	}
	oneSentence(t, run(exitFailed, "ranks Nobody#EUW").stderr, "Nobody#EUW", "farsight accounts")
	oneSentence(t, run(exitFailed, "weekly").stderr, "no report")
	oneSentence(t, run(exitUsage, "weekly yesterday").stderr, "yesterday", "2026-11-16")
	var fresh engine.Freshness
	unmarshal(t, run(exitDone, "freshness --json").stdout, &fresh)
	if fresh.Accounts != 1 || len(fresh.Regions) != 1 || fresh.Regions[0].Region != "europe" {
		t.Errorf("%+v", fresh)
	}
	if res := run(exitDone, "freshness"); !strings.Contains(res.stdout, "1 tracked accounts") || !strings.Contains(res.stdout, "europe") {
		t.Errorf("%s", res.stdout)
	}

	before := run(exitDone, "jobs --all --json").stdout
	if res := run(exitDone, "prune --dry-run"); !strings.Contains(res.stdout, "0 completed and 0 failed jobs would be deleted") {
		t.Errorf("%s", res.stdout)
	}
	var report engine.PruneDone
	unmarshal(t, run(exitDone, "prune --json --completed 1d").stdout, &report)
	if report.Completed != 0 {
		t.Errorf("%+v", report)
	}
	if after := run(exitDone, "jobs --all --json").stdout; after != before {
		t.Error("young jobs were deleted")
	}
	oneSentence(t, run(exitUsage, "prune --keep 5").stderr, "--keep 5", "100")
	sound(t, dir)
}

// A key of another project: the cost first, then one job per account.
func TestReresolveSaysItsCostFirst(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick(player("Ana#EUW", 2), player("Ben#EUW", 2)))
	dir := freshDir(t)
	for _, name := range []string{"Ana#EUW", "Ben#EUW"} {
		s.sync(name, dir).run(t).wants(t, exitDone)
	}
	run := func(code int, args ...string) result {
		t.Helper()
		return command{args: append(append([]string{"reresolve"}, args...), "--data-dir", dir), env: s.env()}.asked(t).wants(t, code)
	}
	oneSentence(t, run(exitFailed).stderr, "nothing to accept")
	s.SetKey(canary, sim.Key{State: sim.KeyUnknown})
	command{args: []string{"reresolve", "--data-dir", dir}, env: map[string]string{"RIOT_BASE_URL": "http://" + s.addr + "/{routing}"}}.asked(t).wants(t, exitFailed)
	// The same directory with a key of another project.
	const other = "RGAPI-0b000000-dead-4bad-8bad-00ca9a51b12f"
	s.SetKey(other, sim.Key{Project: "other"})
	env := s.env("RIOT_API_KEY=" + other)
	as := func(args ...string) result {
		t.Helper()
		return command{args: append(args, "--data-dir", dir), env: env}.asked(t).wants(t, exitDone)
	}
	if res := as("reresolve", "--dry-run"); !strings.Contains(res.stdout, "would resolve 2 accounts again") {
		t.Errorf("%s", res.stdout)
	}
	if res := as("jobs", "resolve:"); strings.Contains(res.stdout, "resolve:0") {
		t.Errorf("a dry run made jobs: %s", res.stdout)
	}
	var r engine.Receipt
	unmarshal(t, as("reresolve", "--json", "--reason", "a production key").stdout, &r)
	if r.Applied != 2 || r.Cost == nil || r.Cost.Calls != 2 {
		t.Errorf("%+v", r)
	}
	if res := as("jobs", "resolve:", "--json"); strings.Count(res.stdout, `"key":"resolve:`) != 2 {
		t.Errorf("%s", res.stdout)
	}
}
