package app

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// hourly is how the run of `latest` at one o'clock goes: how long it takes from then,
// and by how much the engine said it would be later for a long sync that is started some
// minutes before, if it is.
func hourly(t *testing.T, withSync bool) (took time.Duration, foretold engine.Cost) {
	small, big := flowPlayer("Blue Heron#FLOW", 1), flowPlayer("Grey Stork#FLOW", 450)
	tracked := []sim.PlayerSpec{flowPlayer("Red Kite#FLOW", 20), flowPlayer("Barn Owl#FLOW", 20), flowPlayer("Jack Daw#FLOW", 20)}
	players := append([]sim.PlayerSpec{small, big}, tracked...)
	inFlowWith(t, flowRiot("30:60", players...), map[string]string{"SCHEDULE_ENABLE": "true"}, func(f *flow) {
		f.sync(small) // the limits are learnt
		f.until("the small sync", 10*time.Minute, func() bool { return f.account(small).Status == engine.SyncCompleted })
		for _, p := range tracked {
			f.do(engine.Command{Op: engine.OpTrack, Account: p.RiotID, Sync: engine.SyncAsk{Platform: string(p.Platform)}})
		}
		start := flowNoon.Add(50 * time.Minute)
		time.Sleep(time.Until(start))
		c := engine.Command{
			Op: engine.OpTrigger, Account: big.RiotID, DryRun: true,
			Sync: engine.SyncAsk{Platform: string(big.Platform), Timelines: "none", Count: big.Matches},
		}
		foretold = *f.do(c).Cost
		if c.DryRun = false; withSync {
			f.do(c)
		}
		one := flowNoon.Add(time.Hour)
		time.Sleep(time.Until(one))
		f.until("the run of one o'clock", 2*time.Hour, func() bool {
			for _, p := range tracked {
				if f.account(p).LastSync.IsZero() {
					return false
				}
			}
			return true
		})
		took = time.Since(one)
		f.until("the long sync", 3*time.Hour, func() bool { return !withSync || f.account(big).Status == engine.SyncCompleted })
	})
	return took, foretold
}

// account is the row of a player.
func (f *flow) account(p sim.PlayerSpec) engine.AccountRow {
	f.t.Helper()
	return ask[engine.AccountDetail](f.t, f.task.front, engine.AccountQuery{ID: p.RiotID}).Row
}

// TestI2_TheForetoldDelayComesTrue: what a dry run says of the scheduled run is what
// happens on the real engine, with and without the sync that it was asked about.
func TestI2_TheForetoldDelayComesTrue(t *testing.T) {
	longest(t)
	t.Parallel()
	alone, foretold := hourly(t, false)
	beside, again := hourly(t, true)
	if len(foretold.Delays) != 1 || foretold.Unknown != "" || len(again.Delays) != 1 || foretold.Delays[0] != again.Delays[0] {
		t.Fatalf("foretold %+v, %q, then %+v", foretold.Delays, foretold.Unknown, again.Delays)
	}
	d, came := foretold.Delays[0], beside-alone
	t.Logf("the run took %s alone and %s beside the sync: %s more, foretold %s", alone, beside, came, d.By)
	if d.Schedule != "latest" || !d.At.Equal(flowNoon.Add(time.Hour)) || d.Calls < 100 {
		t.Errorf("foretold %+v", d)
	}
	if d.By < came*3/4 || d.By > came*5/4 {
		t.Errorf("foretold %s, it was %s", d.By, came)
	}
}
