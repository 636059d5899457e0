package ingest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/riot/sim"
)

func TestS3_9_ACooldownCoversWhatWasSyncedAndNoMore(t *testing.T) {
	long(t)
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

// A list that is tracked is looked at at once, not at the next tick of a schedule, and each
// account once.
func TestTrackManyStartsTheFirstLook(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 30), player("Ben#EUW", 30), player("Cy#EUW", 3)}}))
		r.trigger("Cy#EUW", engine.SyncAsk{})
		r.settle("Cy#EUW", time.Minute)
		cmd := engine.Command{Op: engine.OpTrackMany, By: operator}
		for i, name := range []string{"Ana#EUW", "Ben#EUW", "Cy#EUW"} {
			cmd.Lines = append(cmd.Lines, engine.TrackLine{Line: i + 1, Account: name, Platform: "euw1", Tags: []string{"pro"}})
		}
		out, _, err := r.in.Do(context.Background(), cmd)
		must(t, err)
		if out.Applied != 3 || out.Cost.Calls != 2*42 || !strings.HasSuffix(out.Text, "; the first look at 2 is in line") {
			t.Errorf("%+v", out)
		}
		for _, name := range []string{"Ana#EUW", "Ben#EUW"} {
			if row := r.settle(name, time.Minute); row.Kind != ingest.ModeLatest || row.Matches.Stored != 20 || row.Result != "completed" {
				t.Errorf("%s: %+v", name, row)
			}
			if j := r.detail("latest:" + r.row(name).ID).Job; j.Priority == engine.PriorityOperator || j.By != operator.User {
				t.Errorf("%s goes by priority %d, asked for by %q", name, j.Priority, j.By)
			}
		}
		if row := r.row("Cy#EUW"); row.Kind != ingest.ModeFull || !row.Tracked {
			t.Errorf("who was synced before: %+v", row)
		}
	})
}

func TestTrackManySaysThatSyncsAreOff(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{}), func(s *setup) { s.ingest.SyncOff = true })
		out, _, err := r.in.Do(context.Background(), engine.Command{Op: engine.OpTrackMany, Lines: []engine.TrackLine{{Line: 1, Account: "Ana#EUW", Platform: "euw1"}}})
		must(t, err)
		if out.Cost != nil || !strings.Contains(out.Text, "no first look is made: syncs are switched off") || r.row("Ana#EUW").Status != engine.SyncNever {
			t.Errorf("%+v, %+v", out, r.row("Ana#EUW"))
		}
	})
}
