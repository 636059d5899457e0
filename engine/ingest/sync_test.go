package ingest_test

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

func TestS1_1_ASyncGoesFromPendingOverSyncingToCompleted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 12)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Minute)
		if row.Status != engine.SyncCompleted || row.Result != "completed" || row.Matches.Stored != 12 || row.Timelines.Stored != 12 {
			t.Fatalf("%+v", row)
		}
		var seen []engine.SyncStatus
		for _, past := range r.past(row.ID) {
			if n := len(seen); n == 0 || seen[n-1] != past.Status {
				seen = append(seen, past.Status)
			}
		}
		want := []engine.SyncStatus{engine.SyncPending, engine.Syncing, engine.SyncCompleted}
		if len(seen) != len(want) || seen[0] != want[0] || seen[1] != want[1] || seen[2] != want[2] {
			t.Errorf("statuses %v, want %v", seen, want)
		}
		st := r.sim.Stats()
		if st.Violations != 0 || st.Repeated != 0 {
			t.Errorf("violations %d, repeated %d", st.Violations, st.Repeated)
		}
		if got := r.calls(route.AccountByRiotID); got != 1 {
			t.Errorf("%d calls to resolve, want 1", got)
		}
		if row.Calls != st.Calls {
			t.Errorf("row says %d calls, Riot saw %d", row.Calls, st.Calls)
		}
	})
}
