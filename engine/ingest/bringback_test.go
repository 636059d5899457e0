package ingest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// forgetJobs deletes the jobs of a match, as the history of jobs is deleted: of the last sync nothing goes, so
// that another one comes first.
func (r *rig) forgetJobs(riotID, match string) {
	r.t.Helper()
	time.Sleep(time.Hour)
	r.trigger(riotID, engine.SyncAsk{})
	r.settle(riotID, time.Hour)
	_, err := r.db.Prune(context.Background(), engine.PruneAsk{Completed: 1, Failed: 1}, time.Now().Add(time.Hour), false)
	must(r.t, err)
	for _, key := range []string{"match:" + match, "timeline:" + match} {
		if d, err := r.db.Detail(context.Background(), engine.JobQuery{Key: key}); !errors.Is(err, engine.ErrNotFound) {
			r.t.Fatalf("%s still has job %s", key, d.Job.ID)
		}
	}
}

// do is a command of the domain.
func (r *rig) do(op engine.Op, key string, dry bool) (engine.Receipt, error) {
	r.t.Helper()
	out, known, err := r.in.Do(context.Background(), engine.Command{Op: op, Job: engine.JobID(key), DryRun: dry, By: operator, Reason: "it is there now"})
	if !known {
		r.t.Fatalf("%s %s is no command of the domain", op, key)
	}
	return out, err
}

// B-2f: an operator brings a part back from every final state, though its job was deleted.
func TestB2f_EveryFinalStateIsReachableWithoutAJob(t *testing.T) {
	for name, end := range map[string]func(*league.Match){
		"not found": func(m *league.Match) { m.Match.Status, m.Match.LastClass = league.PermanentlyUnfetchable, "404" },
		"gave up":   func(m *league.Match) { m.Match.Status, m.Match.LastClass = league.PermanentlyUnfetchable, "503" },
		"outside retention": func(m *league.Match) {
			m.Match.Status, m.Timeline.Status = league.OutsideRetentionWindow, league.OutsideRetentionWindow
		},
		"cancelled": func(m *league.Match) { m.Match.Cancelled = league.CancelledAlone },
		"failed":    func(m *league.Match) { m.Match.Status, m.Match.LastClass = league.TemporaryFailure, "503" },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 4)}})
				id := s.MatchIDs("Ana#EUW")[1]
				must(t, s.Inject(fails(sim.NotFound, id, 1)))
				r := start(t, s)
				r.trigger("Ana#EUW", engine.SyncAsk{})
				r.settle("Ana#EUW", time.Hour)
				r.forgetJobs("Ana#EUW", id)
				for _, change := range []func(*league.Match){func(m *league.Match) { m.Match.Status = league.Unfetched }, end} {
					must(t, r.db.Write(context.Background(), func(tx engine.Tx) error {
						m, err := r.db.Match(tx, id)
						if err != nil {
							return err
						}
						change(&m)
						return r.db.SaveMatch(tx, m, true)
					}))
				}
				before, calls := r.match(id), len(r.callsFor(route.Match, id))
				if out, err := r.do(engine.OpRetry, "match:"+id, true); err != nil || out.Would != 1 || out.Applied != 0 || out.Cost == nil || out.Cost.Calls != 1 || out.Cost.Bucket == "" {
					t.Errorf("dry run: %+v, %v", out, err)
				}
				if got := r.match(id); got.Match != before.Match {
					t.Errorf("the dry run made %+v of %+v", got.Match, before.Match)
				}
				out, err := r.do(engine.OpRetry, "match:"+id, false)
				must(t, err)
				row := r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool {
					return r.match(id).Timeline.Status == league.Success
				})
				m, d := r.match(id), r.detail("match:"+id)
				if m.Match.Status != league.Success || len(r.callsFor(route.Match, id)) != calls+1 || row.Result != "completed" {
					t.Errorf("%+v after %d calls, the sync is %s", m.Match, len(r.callsFor(route.Match, id))-calls, row.Result)
				}
				if d.Job.ID != out.Job || out.Applied != 1 || d.Job.By != operator.User || !slices.ContainsFunc(d.History, func(h engine.Transition) bool { return h.Reason == "it is there now" }) {
					t.Errorf("%+v, %+v", out, d)
				}
			})
		})
	}
}

// B-2f: what is stored is fetched again by force alone, a timeline as well as a match.
func TestB2f_ForceFetchesWhatIsStoredAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 4)}})
		id := s.MatchIDs("Ana#EUW")[1]
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", time.Hour)
		r.forgetJobs("Ana#EUW", id)
		for key, method := range map[string]route.Method{"match:" + id: route.Match, "timeline:" + id: route.Timeline} {
			_, err := r.do(engine.OpRetry, key, false)
			wantProblem(t, err, engine.ErrRefused)
			_, err = r.do(engine.OpForce, key, false)
			must(t, err)
			r.until("Ana#EUW", time.Hour, func(engine.AccountRow) bool { return len(r.callsFor(method, id)) == 2 })
		}
		time.Sleep(time.Minute)
		if m := r.match(id); m.Match.Status != league.Success || m.Timeline.Status != league.Success {
			t.Errorf("%+v", m)
		}
	})
}

// B-2f: what nothing can bring is refused, and stays as it is.
func TestB2f_WhatCannotBeAskedForIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 2)}})
		r := start(t, s)
		must(t, r.db.Write(context.Background(), func(tx engine.Tx) error {
			odd := league.Match{ID: "ESPORTSTMNT01_1"}
			odd.Match.Status = league.PermanentlyUnfetchable
			old := league.Match{ID: "EUW1_1", Played: time.Now().AddDate(-3, 0, 0)}
			old.Match.Status = league.OutsideRetentionWindow
			return errors.Join(r.db.SaveMatch(tx, odd, true), r.db.SaveMatch(tx, old, true), r.db.SaveMatch(tx, league.Match{ID: "EUW1_2"}, true))
		}))
		for key, want := range map[string]error{
			"match:ESPORTSTMNT01_1": engine.ErrRefused, "match:EUW1_1": engine.ErrRefused, "timeline:EUW1_2": engine.ErrRefused,
			"match:EUW1_404": engine.ErrNotFound, "timeline:EUW1_404": engine.ErrNotFound,
		} {
			before := r.match("ESPORTSTMNT01_1")
			_, err := r.do(engine.OpForce, key, false)
			wantProblem(t, err, want)
			if after := r.match("ESPORTSTMNT01_1"); after.Match != before.Match {
				t.Errorf("%s: %+v", key, after.Match)
			}
		}
	})
}
