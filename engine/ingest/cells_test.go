package ingest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// While matches come, each is one cell, the draft of the report is made of those that are
// stored, and the run is the first of the account's list.
func TestAMatchIsACellFromTheListingOn(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 250)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		id := r.row("Ana#EUW").ID
		find := func(q engine.Query) engine.Answer {
			t.Helper()
			a, _, err := r.in.Find(context.Background(), q)
			must(t, err)
			return a
		}
		partly := false
		for range 600 {
			time.Sleep(time.Second)
			cells, draft := find(engine.MatchCellsQuery{Account: id}).(engine.MatchCells), find(engine.PlayQuery{Account: id, Draft: true}).(engine.Play).Draft
			stored, toCome := strings.Count(cells.Cells, "s"), strings.Count(cells.Cells, ".")
			if stored+toCome != len(cells.Cells) || draft.Matches+draft.LeftOut != stored || draft.Missing != toCome || cells.Undated != toCome {
				t.Fatalf("%d stored, %d to come, %d undated of %s; the draft has %d and misses %d", stored, toCome, cells.Undated, cells.Cells, draft.Matches, draft.Missing)
			}
			if m := cells.Row.Matches; m.Total > 0 && (m.Stored != stored || m.Open != toCome) {
				t.Fatalf("%+v by the account's row of the same reading, %d stored and %d to come by cell", m, stored, toCome)
			}
			if partly = partly || stored > 0 && toCome > 0; stored > 0 && toCome == 0 {
				break
			}
		}
		r.settle("Ana#EUW", time.Hour)
		cells := find(engine.MatchCellsQuery{Account: id}).(engine.MatchCells)
		if !partly || cells.Cells != strings.Repeat("s", 250) || len(cells.Months) == 0 || len(cells.Newest) != 60 {
			t.Errorf("%v %+v", partly, cells)
		}
		time.Sleep(time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none", Force: true})
		if cells = find(engine.MatchCellsQuery{Account: id}).(engine.MatchCells); cells.Cells != strings.Repeat("h", 250) {
			t.Errorf("what was here before a run is %s", cells.Cells)
		}
		runs, err := r.db.Runs(context.Background(), id, 8)
		must(t, err)
		if len(runs) != 2 || runs[0].Result != "" || runs[1].Result != "completed" || runs[1].Matches.Stored != 250 || runs[1].Calls < 250 {
			t.Errorf("%+v", runs)
		}
		_, _, err = r.in.Find(context.Background(), engine.MatchCellsQuery{Account: "nobody"})
		wantProblem(t, err, engine.ErrNotFound)
	})
}
