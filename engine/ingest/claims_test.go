package ingest_test

import (
	"context"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// firstCall is when the simulator first heard of an account.
func (r *rig) firstCall(riotID string) time.Time {
	r.t.Helper()
	calls := r.callsFor(route.AccountByRiotID, riotID)
	if len(calls) == 0 {
		r.t.Fatalf("%s was never asked for", riotID)
	}
	return calls[0].At
}

// Syncs that wait begin in the order in which they were triggered, one per claim.
func TestS1_3_TheOldestTriggerIsClaimedFirst(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		order := []string{"Cy#EUW", "Ana#EUW", "Eve#EUW", "Ben#EUW", "Dan#EUW"}
		var players []sim.PlayerSpec
		for _, name := range order {
			players = append(players, player(name, 3))
		}
		r := start(t, newSim(sim.Options{Players: players}), func(s *setup) { s.workers = 1 })
		_, err := r.backend.Pause(context.Background(), ingest.QueueFull, operator, "all wait")
		must(t, err)
		for _, name := range order {
			r.trigger(name, engine.SyncAsk{})
			time.Sleep(time.Second)
		}
		_, err = r.backend.Resume(context.Background(), ingest.QueueFull, operator, "")
		must(t, err)
		var at []time.Time
		for _, name := range order {
			r.settle(name, time.Hour)
			at = append(at, r.firstCall(name))
		}
		for i := range at[1:] {
			if !at[i+1].After(at[i]) {
				t.Errorf("triggered as %v, begun at %v", order, at)
			}
		}
	})
}

// An engine that has had nothing to do for hours begins a sync at once: nothing is
// polled for.
func TestS1_6_ATriggerWakesAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 2)}}))
		time.Sleep(7*time.Hour + 3*time.Second)
		before := time.Now()
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", time.Minute)
		if took := r.firstCall("Ana#EUW").Sub(before); took > 50*time.Millisecond {
			t.Errorf("the first call came %v after the trigger", took)
		}
	})
}

// A sync whose process was killed goes on as soon as the next engine runs, not when
// some time has passed.
func TestS1_7_AnOrphanedSyncGoesOnAtOnce(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 60)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored >= 10 })
		r = r.crash()
		r.until("Ana#EUW", 5*time.Second, func(row engine.AccountRow) bool { return row.Matches.Stored > 30 })
		if row := r.settle("Ana#EUW", time.Hour); row.Matches.Stored != 60 || row.Resumed != 1 {
			t.Errorf("%+v", row)
		}
	})
}
