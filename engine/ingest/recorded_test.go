package ingest_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/sim"
)

// fixtures is $FARSIGHT_FIXTURES, else ../shared/fixtures/riot from the folder of
// go.mod. The recordings lie outside of the repository.
func fixtures(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("FARSIGHT_FIXTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "fixtures", "riot")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings: set FARSIGHT_FIXTURES (%v)", err)
	}
	return dir
}

func TestEveryRecordedPayloadIsStoredAndReported(t *testing.T) {
	long(t)
	dir := fixtures(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))
		s := newSim(sim.Options{FixturesDir: dir, Retention: sim.KeepForever, Players: []sim.PlayerSpec{}})
		r := start(t, s, func(set *setup) { set.ingest.Matches, set.ingest.Timelines = league.Span{}, league.Span{} })
		stored := 0
		for _, p := range s.Players() {
			r.trigger(p.RiotID, engine.SyncAsk{Platform: string(p.Platform)})
			row := r.settle(p.RiotID, time.Hour)
			if row.Matches.Stored != p.Matches || row.Status != engine.SyncCompleted {
				t.Errorf("%s: %d recorded, %+v", p.RiotID, p.Matches, row)
			}
			played := 0
			for _, id := range s.MatchIDs(p.RiotID) {
				m := r.match(id)
				if m.Match.Status != league.Success || m.Match.Ref.CRC == 0 {
					t.Errorf("%s: %+v", id, m.Match)
				}
				if m.Participants > 0 {
					played++
				}
			}
			if got := report(t, r, row.ID); got.Matches+got.LeftOut != p.Matches || got.Matches > played {
				t.Errorf("%s: report of %d and %d left out, of %d", p.RiotID, got.Matches, got.LeftOut, p.Matches)
			}
			stored += row.Matches.Stored
		}
		if stored == 0 {
			t.Error("nothing was recorded")
		}
	})
}
