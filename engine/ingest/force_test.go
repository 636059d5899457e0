package ingest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// S0-1: Success is final except by force: a retry is refused, a force fetches the
// stored payload again, in a new round.
func TestS0_1_OnlyForceReopensSuccess(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Force Me#EUW", 3)}})
		r := start(t, s)
		r.trigger("Force Me#EUW", engine.SyncAsk{})
		r.settle("Force Me#EUW", time.Hour)
		id := s.MatchIDs("Force Me#EUW")[1]
		before := r.match(id)
		for key, method := range map[string]route.Method{"match:" + id: route.Match, "timeline:" + id: route.Timeline} {
			job := r.detail(key).Job.ID
			_, err := r.backend.Act(context.Background(), engine.Command{Op: engine.OpRetry, Job: job, By: engine.Actor{User: "ana"}})
			wantProblem(t, err, engine.ErrRefused)
			_, err = r.backend.Act(context.Background(), engine.Command{Op: engine.OpForce, Job: job, By: engine.Actor{User: "ana"}, Reason: "looks odd"})
			must(t, err)
			time.Sleep(time.Minute)
			synctest.Wait()
			if calls := r.callsFor(method, id); len(calls) != 2 {
				t.Errorf("%s was fetched %d times, want 2", key, len(calls))
			}
			if d := r.detail(key); d.Job.State != engine.Completed || d.Job.Round != 2 || len(d.Attempts) != 2 {
				t.Errorf("%s: %s in round %d with %d attempts", key, d.Job.State, d.Job.Round, len(d.Attempts))
			}
		}
		after := r.match(id)
		if after.Match.Status != league.Success || after.Match.Attempts != 2 || !after.Match.FetchedAt.Equal(before.Match.FetchedAt) || after.Timeline.Status != league.Success {
			t.Errorf("after force %+v, before %+v", after.Match, before.Match)
		}
	})
}

// reclass brings a given-up match back as unfetched, and its undo gives it up
// again without a charge; what it counts stays right (I-11).
func TestReclassAndItsUndo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		o := sim.Options{Players: []sim.PlayerSpec{player("Lost One#EUW", 3)}}
		id := newSim(o).MatchIDs("Lost One#EUW")[1]
		o.Faults = []sim.Fault{{Name: "gone", Kind: sim.NotFound, Match: sim.Match{Method: route.Match, ID: id}}}
		r := start(t, newSim(o))
		r.trigger("Lost One#EUW", engine.SyncAsk{})
		r.settle("Lost One#EUW", time.Hour)
		lost := r.match(id)
		if lost.Match.Status != league.PermanentlyUnfetchable {
			t.Fatalf("the match is %s", lost.Match.Status)
		}
		ctx, ana := context.Background(), engine.Actor{User: "ana"}
		_, err := r.backend.Pause(ctx, "ingest.summoner.full", ana, "")
		must(t, err)
		job := r.detail("match:" + id).Job.ID
		done, err := r.backend.Bulk(ctx, engine.Command{Op: engine.OpReclass, By: ana, Select: &engine.Selection{IDs: []engine.JobID{job}}})
		must(t, err)
		if m := r.match(id); done.Applied != 1 || m.Match.Status != league.Unfetched {
			t.Errorf("reclass: %+v, the match is %s", done, m.Match.Status)
		}
		undone, err := r.backend.Undo(ctx, done.Moves, ana, "oops", false)
		must(t, err)
		if m := r.match(id); undone.Applied != 1 || m.Match != lost.Match {
			t.Errorf("undo: %+v, the match is %+v, was %+v", undone, m.Match, lost.Match)
		}
	})
}
