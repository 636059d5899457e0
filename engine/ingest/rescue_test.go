package ingest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// retry is an operator's retry of the job with a key.
func (r *rig) retry(key string) {
	r.t.Helper()
	_, err := r.backend.Act(context.Background(), engine.Command{Op: engine.OpRetry, Job: r.detail(key).Job.ID, By: operator, Reason: "it is there now"})
	must(r.t, err)
}

// cancel is an operator's cancel of the job with a key.
func (r *rig) cancel(key string) {
	r.t.Helper()
	_, err := r.backend.Act(context.Background(), engine.Command{Op: engine.OpCancel, Job: r.detail(key).Job.ID, By: operator, Reason: "not this one"})
	must(r.t, err)
}

// account is the account as it is stored.
func (r *rig) account(riotID string) (a league.Account) {
	r.t.Helper()
	id := r.row(riotID).ID
	r.read(func(tx engine.Tx) (err error) { a, err = r.db.Account(tx, id); return err })
	return a
}

// rescues are the ways in which a match comes after its run has ended.
var rescues = map[string]func(r *rig, id string){
	"retry": func(r *rig, id string) { r.retry("match:" + id) },
	"reclass": func(r *rig, id string) {
		sel := engine.Selection{IDs: []engine.JobID{r.detail("match:" + id).Job.ID}}
		_, err := r.backend.Bulk(context.Background(), engine.Command{Op: engine.OpReclass, By: operator, Select: &sel})
		must(r.t, err)
	},
	"sweep": func(r *rig, id string) {
		at := time.Now().Add(-time.Hour)
		for _, to := range []league.Status{league.Unfetched, league.TemporaryFailure} {
			must(r.t, r.db.Write(context.Background(), func(tx engine.Tx) error {
				m, err := r.db.Match(tx, id)
				if err != nil {
					return err
				}
				m.Match.Status, m.Match.LastAttemptAt = to, at
				return r.db.SaveMatch(tx, m, true)
			}))
		}
		r.fire("sweep")
	},
	"another account's forced sync": func(r *rig, _ string) {
		r.trigger("Ben#EUW", engine.SyncAsk{Force: true, Timelines: "none"})
	},
}

func TestRescue_AMatchThatComesAfterItsRunIsWhole(t *testing.T) {
	for name, rescue := range rescues {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				players := []sim.PlayerSpec{remade("Ana#EUW", 40), remade("Ben#EUW", 4)}
				players[1].ShareWith, players[1].Shared = "Ana#EUW", 3
				s := newSim(sim.Options{Players: players})
				id := s.MatchIDs("Ben#EUW")[0]
				must(t, s.Inject(fails(sim.NotFound, id, 1)))
				r := start(t, s)
				r.trigger("Ana#EUW", engine.SyncAsk{})
				before := r.settle("Ana#EUW", time.Hour)
				if rep := report(t, r, before.ID); before.Result != "incomplete" || !before.Closed.IsZero() || rep.Matches != 39 || rep.Missing != 1 {
					t.Fatalf("before: %+v, a report over %d, %d missing", before, rep.Matches, rep.Missing)
				}
				calls := r.calls(route.MatchIDs)
				time.Sleep(10 * time.Second)
				rescue(r, id)
				row := r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool { return row.Result == "completed" })
				if row.Matches != (engine.Progress{Total: 40, Stored: row.Matches.Stored, Had: 40 - row.Matches.Stored}) || row.Timelines.Stored != 40 || row.Timelines.Total != 40 {
					t.Errorf("%+v %+v", row.Matches, row.Timelines)
				}
				if !row.Closed.After(before.Finished) || !row.Finished.Equal(before.Finished) || row.Run != before.Run || row.Calls < before.Calls {
					t.Errorf("%+v, was %+v", row, before)
				}
				if rep := report(t, r, row.ID); rep.Matches != 40 || rep.Missing != 0 || !rep.Built.After(before.Finished) {
					t.Errorf("a report over %d of %v, %d missing", rep.Matches, rep.Built, rep.Missing)
				}
				if m := r.match(id); m.Timeline.Status != league.Success || len(r.callsFor(route.Timeline, id)) != 1 {
					t.Errorf("its timeline is %s after %d calls", m.Timeline.Status, len(r.callsFor(route.Timeline, id)))
				}
				if name != "another account's forced sync" && r.calls(route.MatchIDs) != calls {
					t.Error("another sync was made")
				}
				r.reconcile(row)
			})
		})
	}
}

// waits runs a sync of so many matches, of which one fails and waits for its retry.
func waits(t *testing.T, r *rig, id string) {
	t.Helper()
	must(t, r.sim.Inject(fails(sim.Unavailable, id, 1)))
	r.trigger("Ana#EUW", engine.SyncAsk{})
	r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Retrying == 1 && row.Matches.Open == 1 })
}

func TestRescue_WhatAnOperatorCancelledIsLeftAlone(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 12)}})
		id := s.MatchIDs("Ana#EUW")[3]
		r := start(t, s)
		waits(t, r, id)
		r.cancel("match:" + id)
		first := r.settle("Ana#EUW", time.Minute)
		if first.Result != "incomplete" || first.Matches.Cancelled != 1 || r.match(id).Match.Cancelled != league.CancelledAlone {
			t.Fatalf("%s %+v, the match is %+v", first.Result, first.Matches, r.match(id).Match)
		}
		calls := len(r.callsFor(route.Match, id))
		time.Sleep(time.Hour)
		r.fire("sweep")
		r.ends("sweep", time.Minute)
		time.Sleep(time.Minute)
		for _, ask := range []engine.SyncAsk{{}, {Mode: "latest"}} {
			time.Sleep(time.Hour)
			r.trigger("Ana#EUW", ask)
			row := r.settle("Ana#EUW", time.Minute)
			if row.Result != "incomplete" || row.Matches != (engine.Progress{Total: 12, Had: 11, Cancelled: 1}) || report(t, r, row.ID).Missing != 1 {
				t.Errorf("%+v: %s %+v", ask, row.Result, row.Matches)
			}
		}
		if got := len(r.callsFor(route.Match, id)); got != calls {
			t.Fatalf("%d calls for it after the cancel", got-calls)
		}
		r.retry("match:" + id)
		row := r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Result == "completed" })
		if row.Matches != (engine.Progress{Total: 12, Had: 12}) || row.Timelines != (engine.Progress{Total: 12, Had: 11, Stored: 1}) || report(t, r, row.ID).Matches != 12 {
			t.Errorf("%+v %+v", row.Matches, row.Timelines)
		}
		r.reconcile(row)
	})
}

func TestRescue_AForcedSyncTakesUpWhatWasCancelled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 6)}})
		id := s.MatchIDs("Ana#EUW")[3]
		r := start(t, s)
		waits(t, r, id)
		r.cancel("match:" + id)
		r.settle("Ana#EUW", time.Minute)
		r.trigger("Ana#EUW", engine.SyncAsk{Force: true})
		row := r.settle("Ana#EUW", time.Minute)
		if row.Result != "completed" || row.Matches != (engine.Progress{Total: 6, Had: 5, Stored: 1}) || r.match(id).Match.Cancelled != league.NotCancelled {
			t.Errorf("%s %+v %+v", row.Result, row.Matches, r.match(id).Match)
		}
	})
}

func TestRescue_ATimelineThatWasCancelledIsLeftAlone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 6)}})
		id := s.MatchIDs("Ana#EUW")[3]
		must(t, s.Inject(sim.Fault{Kind: sim.Unavailable, Match: sim.Match{Method: route.Timeline, ID: id, Attempts: 1}}))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Timelines.Retrying == 1 && row.Timelines.Open == 1 })
		r.cancel("timeline:" + id)
		r.settle("Ana#EUW", time.Minute)
		time.Sleep(time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Minute)
		if row.Result != "incomplete" || row.Timelines != (engine.Progress{Total: 6, Had: 5, Cancelled: 1}) || len(r.callsFor(route.Timeline, id)) != 1 {
			t.Errorf("%s %+v", row.Result, row.Timelines)
		}
		r.retry("timeline:" + id)
		row = r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Result == "completed" })
		if row.Timelines != (engine.Progress{Total: 6, Had: 6}) {
			t.Errorf("%+v", row.Timelines)
		}
	})
}

// What is cancelled along with its sync the sweep leaves alone, too; the next sync of the
// account is an order to fetch it.
func TestRescue_ACancelledSyncIsNotSweptUp(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 6)}})
		id := s.MatchIDs("Ana#EUW")[3]
		r := start(t, s)
		waits(t, r, id)
		r.cancel("full:" + r.row("Ana#EUW").ID)
		r.settle("Ana#EUW", time.Minute)
		if m := r.match(id); m.Match.Status != league.TemporaryFailure || m.Match.Cancelled != league.CancelledAlong {
			t.Fatalf("%+v", m.Match)
		}
		time.Sleep(time.Hour)
		r.fire("sweep")
		r.ends("sweep", time.Minute)
		time.Sleep(time.Minute)
		if n := len(r.callsFor(route.Match, id)); n != 1 {
			t.Fatalf("%d calls", n)
		}
		r.trigger("Ana#EUW", engine.SyncAsk{})
		if row := r.settle("Ana#EUW", time.Minute); row.Result != "completed" || row.Matches.Stored != 1 {
			t.Errorf("%s %+v", row.Result, row.Matches)
		}
	})
}

// ranges gives the account's known range, and that of one of its lists.
func (r *rig) ranges(riotID, list string) (own, of league.Coverage) {
	r.t.Helper()
	a := r.account(riotID)
	r.read(func(tx engine.Tx) (err error) { of, err = r.db.Coverage(tx, a.ID, list); return err })
	return a.Coverage, of
}

func TestCoverage_EndsWithoutAllThatItPromisesAndComesBackWithIt(t *testing.T) {
	const filter = "queue=420"
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{remade("Ana#EUW", 6)}})
		id := s.MatchIDs("Ana#EUW")[3]
		r := start(t, s)
		r.track("Ana#EUW", engine.SyncAsk{Policy: "queues=420"})
		waits(t, r, id)
		r.cancel("match:" + id)
		r.settle("Ana#EUW", time.Minute)
		if own, of := r.ranges("Ana#EUW", filter); own != (league.Coverage{}) || of != (league.Coverage{}) {
			t.Fatalf("a match was cancelled: %+v %+v", own, of)
		}
		r.retry("match:" + id)
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Result == "completed" })
		if _, of := r.ranges("Ana#EUW", filter); !of.ReachedEnd || of.Head == "" {
			t.Errorf("its last gap is closed: %+v", of)
		}
	})
}

func TestCoverage_OfAllGamesComesBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 6)}})
		id := s.MatchIDs("Ana#EUW")[3]
		r := start(t, s)
		waits(t, r, id)
		r.cancel("match:" + id)
		r.settle("Ana#EUW", time.Minute)
		if own, _ := r.ranges("Ana#EUW", ""); own != (league.Coverage{}) {
			t.Fatalf("a match was cancelled: %+v", own)
		}
		r.retry("match:" + id)
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Result == "completed" })
		own, of := r.ranges("Ana#EUW", "")
		if own.Head == "" || !own.ReachedEnd || of != (league.Coverage{}) {
			t.Errorf("its last gap is closed: %+v %+v", own, of)
		}
	})
}

func TestCoverage_ACancelledOrFailedSyncKeepsNone(t *testing.T) {
	const filter = "queue=420"
	for name, end := range map[string]func(r *rig){
		"cancelled": func(r *rig) { r.cancel("full:" + r.row("Ana#EUW").ID) },
		"failed": func(r *rig) {
			must(r.t, r.db.Write(context.Background(), func(tx engine.Tx) error { // it fails when its matches are settled
				run, err := r.db.Run(tx, r.row("Ana#EUW").Run)
				if err != nil {
					return err
				}
				run.Phase = "nowhere"
				return r.db.SaveRun(tx, run)
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{remade("Ana#EUW", 6)}})
				r := start(t, s)
				r.track("Ana#EUW", engine.SyncAsk{Policy: "queues=420"})
				waits(t, r, s.MatchIDs("Ana#EUW")[3])
				end(r)
				r.settle("Ana#EUW", time.Hour)
				if own, of := r.ranges("Ana#EUW", filter); own != (league.Coverage{}) || of != (league.Coverage{}) {
					t.Errorf("%+v %+v", own, of)
				}
			})
		})
	}
}

// The weekly report leans on what came late, too.
func TestRescue_TheReportOfThatWeekIsBuiltAnew(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 40)}}) // a game every 8 hours
		id := s.MatchIDs("Ana#EUW")[20]
		must(t, s.Inject(fails(sim.NotFound, id, 1)))
		r := start(t, s)
		r.track("Ana#EUW", engine.SyncAsk{})
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.settle("Ana#EUW", time.Minute)
		r.fire("report.weekly")
		r.ends("weekly:2026-11-09", time.Minute)
		week := func() engine.WeeklyReport {
			w, err := r.db.Weekly(context.Background(), "2026-11-09")
			must(t, err)
			return *w
		}
		before := week()
		r.retry("match:" + id)
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Result == "completed" })
		time.Sleep(2 * time.Minute)
		if after := week(); after.Played != before.Played+1 || !after.Built.After(before.Built) {
			t.Errorf("%d games of %v, then %d of %v", before.Played, before.Built, after.Played, after.Built)
		}
	})
}

// Of a match that no run is known to miss, the accounts that list it say by their policies
// whether they want its timeline.
func TestRescue_AStrayGetsItsTimelineByPolicy(t *testing.T) {
	for policy, want := range map[string]league.Status{"timelines=all": league.Success, "timelines=none": league.Unfetched} {
		t.Run(policy, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 3)}})
				r := start(t, s)
				id := s.MatchIDs("Ana#EUW")[1]
				r.strays(r.track("Ana#EUW", engine.SyncAsk{Policy: policy}).Account, id)
				r.fire("sweep")
				r.ends("sweep", time.Minute)
				time.Sleep(time.Minute)
				if m := r.match(id); m.Match.Status != league.Success || m.Timeline.Status != want {
					t.Errorf("the match is %s, its timeline %s", m.Match.Status, m.Timeline.Status)
				}
			})
		})
	}
}

// What comes when the matches of a live run are settled already belongs to it all the same.
func TestRescue_BetweenTheReportAndTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 20)}})
		id := s.MatchIDs("Ana#EUW")[2]
		must(t, s.Inject(fails(sim.NotFound, id, 1)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Phase == engine.PhaseTimelines })
		r.retry("match:" + id)
		row := r.settle("Ana#EUW", time.Hour)
		if rep := report(t, r, row.ID); rep.Matches != 20 || rep.Missing != 0 || row.Result != "completed" || !row.Closed.IsZero() {
			t.Errorf("%s, closed at %v, a report over %d, %d missing", row.Result, row.Closed, rep.Matches, rep.Missing)
		}
	})
}

// A run that is history takes no timeline from the run of another account that still wants it,
// whichever of the two is found first.
func TestRescue_AnOldRunKeepsNoTimelineFromAnother(t *testing.T) {
	for _, again := range []string{"Ana#EUW", "Ben#EUW"} {
		t.Run(again, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				players := []sim.PlayerSpec{remade("Ana#EUW", 8), remade("Ben#EUW", 8)}
				players[1].ShareWith, players[1].Shared = "Ana#EUW", 8
				s := newSim(sim.Options{Players: players})
				id := s.MatchIDs("Ben#EUW")[7]
				must(t, s.Inject(fails(sim.NotFound, id, 1)))
				r := start(t, s)
				other := map[string]string{"Ana#EUW": "Ben#EUW", "Ben#EUW": "Ana#EUW"}[again]
				for _, name := range []string{again, other} {
					r.trigger(name, engine.SyncAsk{})
					if row := r.settle(name, time.Hour); row.Result != "incomplete" {
						t.Fatalf("%s: %+v", name, row)
					}
				}
				time.Sleep(time.Hour)
				r.trigger(again, engine.SyncAsk{Count: 2}) // does not list it
				r.settle(again, time.Hour)
				r.retry("match:" + id)
				row := r.until(other, time.Hour, func(row engine.AccountRow) bool { return row.Result == "completed" })
				if tl := row.Timelines; tl.Total != 8 || tl.Stored+tl.Had != 8 || r.match(id).Timeline.Status != league.Success {
					t.Errorf("%+v", row.Timelines)
				}
			})
		})
	}
}

// A run whose last part is only tried again is not complete yet.
func TestB19c_ARunIsIncompleteWhileAPartIsTriedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{remade("Ana#EUW", 3)}})
		id := s.MatchIDs("Ana#EUW")[0]
		must(t, s.Inject(fails(sim.Unavailable, id, 5)))
		must(t, s.Inject(sim.Fault{Kind: sim.Unavailable, Match: sim.Match{Method: route.Timeline, ID: id, Attempts: 1}}))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", time.Hour)
		r.retry("match:" + id)
		row := r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Timelines.Retrying == 1 })
		if row.Result != "incomplete" || !row.Closed.IsZero() {
			t.Errorf("while its timeline is tried again the run is %s: %+v", row.Result, row.Timelines)
		}
		r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool { return row.Result == "completed" })
	})
}

// What an earlier run misses is the later one's as soon as that has listed it: it alone is told when it comes.
func TestB19c_ALaterRunTakesOverWhatAnEarlierOneMisses(t *testing.T) {
	for _, force := range []bool{true, false} {
		t.Run(fmt.Sprint("force ", force), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{remade("Ana#EUW", 3)}})
				id := s.MatchIDs("Ana#EUW")[0]
				must(t, s.Inject(fails(sim.Unavailable, id, map[bool]int{true: 15, false: 10}[force])))
				r := start(t, s)
				var runs []string
				for range 2 {
					r.trigger("Ana#EUW", engine.SyncAsk{Force: force, Timelines: "none"})
					runs = append(runs, r.settle("Ana#EUW", time.Hour).Run)
					time.Sleep(5 * time.Minute)
				}
				missed := func() {
					r.read(func(tx engine.Tx) error {
						gaps, err := r.db.Gaps(tx, id)
						if len(gaps) != 1 || gaps[0].Run != runs[1] {
							t.Errorf("the match is missed by %+v, not by %s alone", gaps, runs[1])
						}
						return err
					})
				}
				missed()
				r.retry("match:" + id)
				r.ends("match:"+id, time.Hour)
				missed()
				r.retry("match:" + id)
				r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool { return row.Result == "completed" })
				r.read(func(tx engine.Tx) error {
					first, err := r.db.Run(tx, runs[0])
					if first.Result != "incomplete" || !first.Closed.IsZero() {
						t.Errorf("the earlier run is %s", first.Result)
					}
					return err
				})
			})
		})
	}
}

// Each list of a filter has a known range of its own, and keeps it when a sync brings nothing.
func TestB19c_TheSecondListHasItsOwnRange(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{remade("Ana#EUW", 3)}})
		r := start(t, s)
		r.track("Ana#EUW", engine.SyncAsk{Policy: "queues=420,450 timelines=none"})
		for range 2 {
			r.trigger("Ana#EUW", engine.SyncAsk{})
			r.settle("Ana#EUW", time.Hour)
			_, played := r.ranges("Ana#EUW", "queue=420")
			_, none := r.ranges("Ana#EUW", "queue=450")
			if played.Head != s.MatchIDs("Ana#EUW")[0] || !played.ReachedEnd || none != (league.Coverage{}) {
				t.Errorf("the ranges are %+v and %+v", played, none)
			}
			time.Sleep(time.Hour)
		}
	})
}

// A match that is fetched once more brings back no timeline that is missing: what a run misses of one part, the other
// does not close.
func TestB19c_APartClosesItsOwnGapsAlone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 3)}})
		id := s.MatchIDs("Ana#EUW")[0]
		must(t, s.Inject(sim.Fault{Kind: sim.NotFound, Match: sim.Match{Method: route.Timeline, ID: id}}))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		before := r.settle("Ana#EUW", time.Hour)
		_, err := r.do(engine.OpForce, "match:"+id, false)
		must(t, err)
		r.ends("match:"+id, time.Hour)
		time.Sleep(time.Minute)
		row := r.row("Ana#EUW")
		if before.Result != "incomplete" || row.Result != before.Result || row.Timelines.Failed != 1 || row.Matches != before.Matches || row.Timelines != before.Timelines {
			t.Errorf("%s %+v %+v, was %s %+v %+v", row.Result, row.Matches, row.Timelines, before.Result, before.Matches, before.Timelines)
		}
	})
}

// What one account's run misses is not another one's, though that lists the same match.
func TestB19c_AnotherAccountTakesOverNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		players := []sim.PlayerSpec{remade("Ana#EUW", 3), remade("Ben#EUW", 3)}
		players[1].ShareWith, players[1].Shared = "Ana#EUW", 3
		s := newSim(sim.Options{Players: players})
		id := s.MatchIDs("Ben#EUW")[0]
		must(t, s.Inject(fails(sim.NotFound, id, 1)))
		r := start(t, s)
		for _, name := range []string{"Ana#EUW", "Ben#EUW"} {
			r.trigger(name, engine.SyncAsk{Timelines: "none"})
			r.settle(name, time.Hour)
		}
		r.read(func(tx engine.Tx) error {
			gaps, err := r.db.Gaps(tx, id)
			if len(gaps) != 2 {
				t.Errorf("the match is missed by %+v", gaps)
			}
			return err
		})
		r.retry("match:" + id)
		for _, name := range []string{"Ana#EUW", "Ben#EUW"} {
			r.until(name, time.Hour, func(row engine.AccountRow) bool { return row.Result == "completed" })
		}
	})
}
