package ingest_test

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

func TestS3_9_ACooldownCoversWhatWasSyncedAndNoMore(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 120)}}))
		sync := func(ask engine.SyncAsk, nothing bool) {
			t.Helper()
			ask.Timelines = "none"
			if out := r.trigger("Ana#EUW", ask); out.Nothing != nothing {
				t.Errorf("%+v: %+v", ask, out)
			}
			r.settle("Ana#EUW", time.Minute)
		}
		sync(engine.SyncAsk{Count: 40}, false)
		sync(engine.SyncAsk{Count: 40}, true)
		sync(engine.SyncAsk{Count: 20}, true)
		sync(engine.SyncAsk{}, false) // 40 of 120 are no full sync
		if row := r.row("Ana#EUW"); row.Listed != 120 || row.Matches.Stored != 80 {
			t.Errorf("the full sync: %d listed, %+v", row.Listed, row.Matches)
		}
		sync(engine.SyncAsk{}, true)
		sync(engine.SyncAsk{Mode: "latest"}, true)
		sync(engine.SyncAsk{Count: 1, Force: true}, false)
		sync(engine.SyncAsk{}, true) // what came between changes nothing
		time.Sleep(5 * time.Minute)
		sync(engine.SyncAsk{}, false)
	})
}

// A login asks for the account's usual sync: a look at one match does not make that fresh.
func TestS1_1_ANarrowSyncIsNoFreshAccount(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 12)}}))
		stale := engine.SyncAsk{Cause: engine.CauseStale}
		r.trigger("Ana#EUW", engine.SyncAsk{Count: 1})
		r.settle("Ana#EUW", time.Minute)
		time.Sleep(time.Hour)
		if out := r.trigger("Ana#EUW", stale); out.Nothing {
			t.Errorf("after one match: %+v", out)
		}
		r.settle("Ana#EUW", time.Minute)
		time.Sleep(time.Hour)
		if out := r.trigger("Ana#EUW", stale); !out.Nothing {
			t.Errorf("after all: %+v", out)
		}
	})
}
