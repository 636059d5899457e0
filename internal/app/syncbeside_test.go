package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/riot/sim"
)

// besides runs commands on a directory that somebody works on.
func besides(t testing.TB, dir string) func(args ...string) result {
	return func(args ...string) result {
		t.Helper()
		return command{args: append(args, "--data-dir", dir), env: map[string]string{"FARSIGHT_PLATFORM": "euw1"}}.run(t)
	}
}

// TestSync_HoldsNoOneOut: while a sync runs, lists, commands and consoles attach to it as
// to any engine; what is triggered there is carried out; what the sync is no part of waits;
// and to cancel its run ends it.
func TestSync_HoldsNoOneOut(t *testing.T) {
	t.Parallel()
	own, other := player("Holds Nobody#OUT", 40), player("Comes Beside#OUT", 3)
	s := startSim(t, quick(own, other))
	ends := []string{slices.Max(s.MatchIDs(own.RiotID)), slices.Max(s.MatchIDs(other.RiotID))}
	letGo := s.hold(t, func(id string) bool { return slices.Contains(ends, id) }) // neither sync ends, and all else is answered
	dir := freshDir(t)
	p := command{args: []string{"sync", own.RiotID, "--platform", "euw1", "--data-dir", dir}, env: s.env()}.start(t)
	p.says("matches")
	cli := besides(t, dir)

	if status := cli("status", "--json").wants(t, exitDone).stdout; !strings.Contains(status, own.RiotID) || !strings.Contains(status, `"only_served":true`) {
		t.Errorf("status: %s", status)
	}
	if n := counts(t, cli("jobs", "--json").wants(t, exitDone).stdout)["all"]; n < 20 {
		t.Errorf("%d jobs are listed", n)
	}
	w := attached(t, dir)
	u := w.until(t, "its run", func(u engine.Update) bool { return len(u.Accounts) > 0 })
	if u.Accounts[0].RiotID != own.RiotID || u.Engine == nil || u.Engine.State != engine.EngineLive {
		t.Errorf("a console sees %+v", u.Accounts)
	}

	// Another sync is carried out by it, and the same one is joined.
	beside := command{args: []string{"sync", other.RiotID, "--platform", "euw1", "--data-dir", dir, "--json"}, env: s.env()}.start(t)
	beside.says(`"phase"`)
	w.until(t, "the run of the other", func(u engine.Update) bool {
		for _, a := range u.Accounts {
			if a.RiotID == other.RiotID && a.Status == engine.Syncing {
				return true
			}
		}
		return false
	})
	joined := command{args: []string{"sync", own.RiotID, "--platform", "euw1", "--data-dir", dir}, env: s.env()}.start(t)
	joined.says("matches")

	row := ask[engine.AccountDetail](t, w, engine.AccountQuery{ID: own.RiotID}).Row
	cli("cancel", string(row.Job)).wants(t, exitDone)
	for _, q := range []*child{p, joined} {
		if out := q.wait().wants(t, exitCancelled).stdout; !strings.Contains(out, own.RiotID+" cancelled") {
			t.Errorf("cancelled, it said %q", out)
		}
	}

	// Its engine has ended with its own sync: the one beside takes the directory over.
	letGo()
	sum := beside.wait().wants(t, exitDone).summary(t)
	if sum.Result != "completed" || sum.Matches.Success != 3 || sum.Timelines.Success != 3 {
		t.Errorf("the sync beside it: %+v", sum)
	}
	noViolations(t, s) // a call may be made twice that was under way when its engine ended
	sound(t, dir)
}

// TestSync_BesideAnEngineIsCarriedOutByIt: same output, same exit codes, and no key is
// needed here.
func TestSync_BesideAnEngineIsCarriedOutByIt(t *testing.T) {
	t.Parallel()
	whole, gaps, late := player("All There#BESIDE", 30), player("Some Gone#BESIDE", 20), player("Goes On#BESIDE", 25)
	gaps.Missing = 2
	s := startSim(t, quick(whole, gaps, late))
	dir := freshDir(t)
	d := s.serving(t, dir, nil)
	cli := besides(t, dir)

	res := cli("sync", whole.RiotID, "--json").wants(t, exitDone)
	want := summaryCounts{Total: 30, Success: 30}
	if sum := res.summary(t); sum.Result != "completed" || sum.Matches != want || sum.Timelines != want {
		t.Errorf("summary %+v", sum)
	}
	var told story
	told.goesOn(t, res.progress(t))
	if again := cli("sync", whole.RiotID).wants(t, exitDone); !strings.Contains(again.stdout, "nothing to do") {
		t.Errorf("within the cooldown it said %q", again.stdout)
	}
	if sum := cli("sync", gaps.RiotID, "--json").wants(t, exitIncomplete).summary(t); sum.Result != "incomplete" || sum.Matches.Permanent != 2 {
		t.Errorf("summary %+v", sum)
	}
	oneSentence(t, cli("sync", "No One#BESIDE").wants(t, exitFailed).stderr, "No One#BESIDE")

	// Who leaves is told that the engine goes on, and how to end it.
	s.upTo(s.calls.Load() + 10)
	p := command{args: []string{"sync", late.RiotID, "--platform", "euw1", "--data-dir", dir}}.start(t)
	p.says("matches")
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	out := p.wait().wants(t, exitInterrupted).stdout
	row := ask[engine.AccountDetail](t, attached(t, dir), engine.AccountQuery{ID: late.RiotID}).Row
	if !strings.Contains(out, fmt.Sprintf("the engine (process %d) goes on with it", d.cmd.Process.Pid)) || !strings.Contains(out, "farsight cancel "+string(row.Job)) {
		t.Errorf("interrupted, it said %q", out)
	}
	s.upTo(0)
	if sum := cli("sync", late.RiotID, "--json").wants(t, exitDone).summary(t); sum.Matches.Total != 0 && sum.Matches.Success != 25 {
		t.Errorf("summary %+v", sum)
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.wait().wants(t, exitDone)
	onceEach(t, s)
	sound(t, dir)
}

// TestSync_FollowsTheDaemonOverItsRestart: whoever waits for a sync does so on the next
// engine; a daemon that stays away is said, and its directory is left alone.
func TestSync_FollowsTheDaemonOverItsRestart(t *testing.T) {
	t.Parallel()
	who := player("Over A Restart#BESIDE", 40)
	s := startSim(t, sim.Options{Seed: 3, Limits: limits("200:1"), Players: []sim.PlayerSpec{who}})
	s.upTo(15)
	dir := freshDir(t)
	d := s.serving(t, dir, nil)
	p := command{args: []string{"sync", who.RiotID, "--platform", "euw1", "--data-dir", dir}, env: s.env()}.start(t)
	p.says("matches")
	d.kill()
	p.says("the engine has gone: looking for the next one")
	s.upTo(0)
	d = s.serving(t, dir, nil)
	if out := p.wait().wants(t, exitDone).stdout; !strings.Contains(out, who.RiotID+" completed: 40 matches stored") {
		t.Errorf("it said %q", out)
	}
	c := api.NewClient(controlSocket(dir))
	defer c.Close()
	if h, err := c.Hello(context.Background()); err != nil || h.PID != d.cmd.Process.Pid || h.PID == os.Getpid() {
		t.Errorf("the directory is not the daemon's: %+v, %v", h, err)
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.wait().wants(t, exitDone)
	sound(t, dir)
}
