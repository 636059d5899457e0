package app

import (
	"os"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// A `sync` works its own run only. What an interrupted sync of another
// account has left stays as it is, and goes on with that account's own command.
func TestSync_LeavesOtherRunsAlone(t *testing.T) {
	t.Parallel()
	first, second := player("Left Behind#SYNC", 60), player("Own Run#SYNC", 12)
	o := quick(first, second)
	o.Latency = sim.Latency{Base: 30 * time.Millisecond}
	s := startSim(t, o)
	dir := freshDir(t)
	cmd := s.sync(first.RiotID, dir)
	cmd.env["WORKER_CONCURRENCY"] = "1"
	letGo := s.holdFrom(t, 10)
	p := cmd.start(t)
	p.says(`"phase":"matches"`)
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	letGo()
	p.wait().wants(t, exitInterrupted)

	sum := s.sync(second.RiotID, dir).run(t).wants(t, exitDone).summary(t)
	if sum.Matches.Success != 12 || sum.Calls != 5+12+12 {
		t.Errorf("the own run: %+v", sum)
	}
	left := func() engine.Progress {
		c, db := look(t, dir)
		defer db.Close()
		return ask[engine.AccountDetail](t, c, engine.AccountQuery{ID: first.RiotID}).Row.Matches
	}
	before := left()
	if before.Open == 0 || before.Done() == 60 {
		t.Errorf("the other run was worked on: %+v", before)
	}
	s.sync(first.RiotID, dir).run(t).wants(t, exitDone)
	if n := repeats(s); n > 1 { // the one that was under way when the first was interrupted
		t.Errorf("%d calls were made again", n)
	}
	sound(t, dir)
}
