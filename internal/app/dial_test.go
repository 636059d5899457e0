package app

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// wantsSilent wants of what is said beside a process that stands still which one that is, and what to do.
func wantsSilent(t *testing.T, p *child, said string) {
	t.Helper()
	pid := p.cmd.Process.Pid
	for _, part := range []string{fmt.Sprintf("is held by process %d", pid), "it does not answer", fmt.Sprintf("`kill -CONT %d`", pid), fmt.Sprintf("`kill -9 %d`", pid)} {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not in: %s", part, said)
		}
	}
	if strings.Contains(said, "no engine runs") {
		t.Errorf("it said: %s", said)
	}
}

// Beside an engine that stands still it is told that there is one, and what to do, not that none runs.
func TestAnEngineThatStandsStillIsNamed(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick(player("Still#EUW", 2)))
	dir := freshDir(t)
	p := s.serving(t, dir, nil)
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	asked := map[*child]int{} // each waits for an answer for its five seconds
	for code, commands := range map[int][][]string{
		exitHeld:   {{"status"}, {"jobs"}, {"trigger", "Still#EUW", "--platform", "euw1"}, {"attach", "--plain"}},
		exitFailed: {{"call", "+4915112345678", "--say", "Hello"}},
	} {
		for _, words := range commands {
			asked[command{args: append(words, "--data-dir", dir), env: s.env()}.start(t)] = code
		}
	}
	for c, code := range asked {
		wantsSilent(t, p, c.wait().wants(t, code).stderr)
	}
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	command{args: []string{"status", "--data-dir", dir}}.run(t).wants(t, exitDone)
}

// The same is told beside a member, with what its database has.
func TestPostgres_AMemberThatStandsStillIsNamed(t *testing.T) {
	longest(t)
	t.Parallel()
	const who = "Still#EUW"
	f := newFleet(t, sim.Options{Seed: 3, Limits: limits("20:1"), Latency: sim.Instant, Players: []sim.PlayerSpec{player(who, 2)}})
	pid := f.join()
	f.leader(0)
	beside := f.inSchema
	beside.dir = f.dirs[pid]
	beside.run(exitDone, "sync", who, "--platform", "euw1")
	p := f.members[pid]
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	said := beside.run(exitDone, "status").stdout
	wantsSilent(t, p, said)
	if !strings.Contains(said, "matches stored 2") {
		t.Errorf("what is stored is not in: %s", said)
	}
	var s engine.StatusAnswer
	unmarshal(t, beside.run(exitDone, "status", "--json").stdout, &s)
	if s.Engine.State != engine.EngineBrowse {
		t.Errorf("it is %s", s.Engine.State)
	}
	wantsSilent(t, p, s.Engine.Why)
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	f.ends()
}
