package ingest_test

import (
	"context"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/keep"
)

// P3: what was fetched between a backup and its return is on disk without a state
// that names it. A sync after the restore makes no call for any of it, whether its
// job was in the backup or is made anew.
func TestP3_PayloadsNewerThanARestoredBackupAreAdopted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 12), player("Ben#EUW", 6)}})
		noWait := func(set *setup) { set.ingest.Cooldown = -1 }
		r := start(t, s, noWait)
		r.trigger("Ana#EUW", engine.SyncAsk{Count: 4})
		r.settle("Ana#EUW", time.Hour)
		// Ben's jobs stand in the backup: made, but not yet run.
		must(t, s.Inject(sim.Fault{Kind: sim.Status, Status: 503, Match: sim.Match{Method: route.Match}}))
		r.trigger("Ben#EUW", engine.SyncAsk{})
		r.until("Ben#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Total == 6 })
		if _, err := r.db.Backup(ctx, keep.BackupOptions{}); err != nil {
			t.Fatal(err)
		}
		s.Clear()
		r.settle("Ben#EUW", time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", time.Hour)
		r.stop()
		if _, err := storage.Restore(ctx, storage.Options{Dir: r.dir}, keep.RestoreOptions{Forget: []string{"limiter"}}); err != nil {
			t.Fatal(err)
		}

		matches, timelines := r.calls(route.Match), r.calls(route.Timeline)
		r = open(t, s, r.dir, noWait)
		if row := r.row("Ana#EUW"); row.Matches.Stored+row.Matches.Had != 4 {
			t.Fatalf("the backup is not back: %+v", row)
		}
		r.settle("Ben#EUW", time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", time.Hour)
		if n := r.calls(route.Match) - matches; n != 0 {
			t.Errorf("%d matches were fetched again", n)
		}
		if n := r.calls(route.Timeline) - timelines; n != 0 {
			t.Errorf("%d timelines were fetched again", n)
		}
		for name, n := range map[string]int{"Ana#EUW": 12, "Ben#EUW": 6} {
			if row := r.row(name); row.Result != "completed" || row.Matches.Done() != n || row.Timelines.Done() != n || row.Matches.Failed != 0 {
				t.Errorf("%+v", row)
			}
		}
	})
}
