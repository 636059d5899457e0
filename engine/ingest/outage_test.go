package ingest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// matchTable is the sum of the delays between the five attempts of a match.
const matchTable = 510 * time.Second

// oldest are the last n matches of a player: those that are fetched last.
func oldest(s *sim.Sim, riotID string, n int) []string {
	ids := s.MatchIDs(riotID)
	return ids[len(ids)-n:]
}

// breakFor makes matches answer 500 for ever.
func breakFor(t *testing.T, s *sim.Sim, ids []string) {
	t.Helper()
	for _, id := range ids {
		must(t, s.Inject(fails(sim.ServerError, id, 0)))
	}
}

// wantBuried proves that broken matches have used their attempts by the table, and no more.
func wantBuried(t *testing.T, r *rig, ids []string) {
	t.Helper()
	for _, id := range ids {
		calls := r.callsFor(route.Match, id)
		if m := r.match(id); m.Match.Status != league.PermanentlyUnfetchable || len(calls) != 5 {
			t.Errorf("%s is %s after %d calls", id, m.Match.Status, len(calls))
		}
		if took := calls[len(calls)-1].At.Sub(calls[0].At); took > matchTable+30*time.Second {
			t.Errorf("%s used its attempts within %v", id, took)
		}
	}
}

// proofs are the calls that were made to find out what works.
func (r *rig) proofs() (calls []engine.CallRow) {
	for _, c := range r.limits.CallsAfter(0) {
		if c.Proof {
			calls = append(calls, c)
		}
	}
	return calls
}

// An outage of a host is told as soon as five of its calls in a row have failed, whatever they asked for: with a slow
// key that makes a call a second. Until then it is told that they did.
func TestI7d_AnOutageOfAHostIsToldAtItsFifthFailure(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		o := sim.Options{Limits: sim.Limits{App: []sim.Limit{{N: 1, Per: time.Second}}}}
		for i := range 30 {
			o.Players = append(o.Players, short(fmt.Sprintf("P%d#EUW", i), 20))
		}
		s := newSim(o)
		r := start(t, s)
		for _, p := range o.Players {
			r.trigger(p.RiotID, engine.SyncAsk{})
		}
		time.Sleep(time.Minute)
		must(t, s.Inject(sim.Fault{Kind: sim.Unavailable, Match: sim.Match{Host: "europe"}}))
		before := r.limits.CallsAfter(0)
		var first time.Time
		for range 120 {
			time.Sleep(time.Second)
			failed := r.limits.CallsAfter(before[len(before)-1].Seq)
			state, why := r.limits.Health()
			if len(failed) == 0 {
				continue
			}
			first = failed[0].At.Add(failed[0].Took)
			h := r.limits.Rows().Hosts[0]
			switch down := r.limits.Down(); {
			case state == engine.EngineLive && (len(failed) > 5 || h.Failing != len(failed) || h.FailedBy != "503"):
				t.Fatalf("%d calls failed, and %d are told, by %s", len(failed), h.Failing, h.FailedBy)
			case state == engine.EngineAPIDown && !down[0].Since.Equal(first):
				t.Fatalf("%s since %v, not %v", why, down[0].Since, first)
			case state == engine.EngineAPIDown:
				return
			}
		}
		t.Fatal("no outage was told")
	})
}

// Some matches answer 500 for ever and are the last that are left: what was stored before
// answers, so they use their attempts by the table, nothing says outage, and what else wants
// the lane is not held.
func TestI7_BrokenMatchesAreNoOutage(t *testing.T) {
	long(t)
	for _, tc := range []struct {
		broken, of int
		limits     sim.Limits
	}{
		{3, 40, generous}, {8, 200, slow}, {3, 100, generous}, {8, 200, generous}, {50, 200, generous},
	}[:scratch.Sized(2, 5)] {
		t.Run(fmt.Sprintf("%d of %d, %v", tc.broken, tc.of, tc.limits.App[0]), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Limits: tc.limits, Players: []sim.PlayerSpec{short("Ana#EUW", tc.of), player("Ben#EUW", 10)}})
				broken := oldest(s, "Ana#EUW", tc.broken)
				breakFor(t, s, broken)
				r := start(t, s)
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				r.until("Ana#EUW", 30*time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored == tc.of-tc.broken })
				left, gone := time.Now(), oldest(s, "Ana#EUW", tc.broken+1)[:1]
				breakFor(t, s, gone) // it was the last to be stored: one that fails by itself proves no outage
				time.Sleep(4 * time.Minute)
				r.trigger("Ben#EUW", engine.SyncAsk{Timelines: "none"})
				for r.row("Ana#EUW").Status == engine.Syncing && time.Since(left) < time.Hour {
					if state, why := r.limits.Health(); state != engine.EngineLive {
						t.Fatalf("%s: %s", state, why)
					}
					time.Sleep(time.Second)
				}
				if took := time.Since(left); took > matchTable+30*time.Second {
					t.Errorf("the sync ended %v after the last good match", took)
				}
				if row := r.row("Ana#EUW"); row.Result != "incomplete" || row.Matches.Failed != tc.broken {
					t.Errorf("%s: %+v", row.Result, row.Matches)
				}
				wantBuried(t, r, broken)
				if ben := r.settle("Ben#EUW", time.Minute); ben.Result != "completed" || ben.Finished.Sub(ben.Started) > time.Minute {
					t.Errorf("another account: %s after %v", ben.Result, ben.Finished.Sub(ben.Started))
				}
				proofs := r.proofs()
				if len(proofs) == 0 || len(proofs) > 2*tc.broken {
					t.Errorf("%d calls to find out", len(proofs))
				}
				for _, c := range proofs {
					if c.Status != 200 && c.Target != gone[0] || c.Job == "" || slices.Contains(broken, c.Target) {
						t.Errorf("%+v", c)
					}
				}
				if st := s.Stats(); st.Violations != 0 || st.Calls != len(r.limits.CallsAfter(0)) {
					t.Errorf("%d violations, %d calls of which %d are recorded", st.Violations, st.Calls, len(r.limits.CallsAfter(0)))
				}
			})
		})
	}
}

// down makes every match answer 503 for a while.
func down(t *testing.T, s *sim.Sim, span time.Duration) (until time.Time) {
	t.Helper()
	must(t, s.Inject(sim.Fault{Name: "down", Kind: sim.Unavailable, Match: sim.Match{Method: route.Match}, Until: span}))
	return time.Now().Add(span)
}

// An outage of hours buries nothing, however often it was looked whether it is over, also over
// a restart, and when it is, calls return by steps. Broken matches that are there too use their
// attempts when it is.
func TestI7_AnOutageBuriesNothing(t *testing.T) {
	for _, broken := range []int{0, 3} {
		t.Run(fmt.Sprintf("%d broken", broken), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 60)}})
				bad := s.MatchIDs("Ana#EUW")[:broken] // they have failed before it begins
				breakFor(t, s, bad)
				r := start(t, s)
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored >= 30 })
				before := s.Stats().Calls
				over := down(t, s, 3*time.Hour)
				time.Sleep(90 * time.Second)
				if state, why := r.limits.Health(); state != engine.EngineAPIDown || why != "match calls to europe fail" {
					t.Errorf("%s: %s", state, why)
				}
				r = r.crash() // what is known to be good outlives it
				time.Sleep(time.Until(over) - time.Minute)
				if state, _ := r.limits.Health(); state != engine.EngineAPIDown {
					t.Errorf("%s", state)
				}
				if n := s.Stats().Calls - before; n > 250 {
					t.Errorf("%d calls in an outage of three hours", n)
				}
				row := r.row("Ana#EUW")
				if row.Matches.Failed != 0 || row.Status != engine.Syncing {
					t.Errorf("in the outage: %+v", row)
				}
				row = r.settle("Ana#EUW", time.Hour)
				if row.Matches.Failed != broken || row.Matches.Stored != 60-broken {
					t.Errorf("after it: %+v", row.Matches)
				}
				for _, id := range bad {
					if m := r.match(id); m.Match.Status != league.PermanentlyUnfetchable || m.Match.Attempts != 5 {
						t.Errorf("%s: %+v", id, m.Match)
					}
				}
				if st := s.Stats(); st.Violations != 0 {
					t.Errorf("%d violations", st.Violations)
				}
			})
		})
	}
}

// afterTwoOutages are two syncs under a development key at the end of an outage of matches and timelines, with hundreds of
// matches before the timelines; Cy#EUW has five and is not synced.
func afterTwoOutages(t *testing.T) (s *sim.Sim, r *rig, over time.Time) {
	t.Helper()
	s = newSim(sim.Options{
		Limits:  sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}}},
		Players: []sim.PlayerSpec{short("Ana#EUW", 500), short("Ben#EUW", 500), short("Cy#EUW", 5)},
	})
	r = start(t, s)
	r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "all"})
	r.trigger("Ben#EUW", engine.SyncAsk{Timelines: "all"})
	r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool { return row.Timelines.Open > 100 })
	over = down(t, s, 4*time.Minute)
	must(t, s.Inject(sim.Fault{Kind: sim.Unavailable, Match: sim.Match{Method: route.Timeline}, Until: 4 * time.Minute}))
	time.Sleep(time.Until(over))
	return s, r, over
}

// TestI7_ALaneThatRefusesTargetsTakesNoTurns: what answered a probe told nothing of the lane, so that the next one goes by
// its rank: an operator's sync ends as if nothing was down.
func TestI7_ALaneThatRefusesTargetsTakesNoTurns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, r, _ := afterTwoOutages(t)
		must(t, s.Inject(sim.Fault{Kind: sim.Forbidden, Match: sim.Match{Method: route.Timeline}}))
		time.Sleep(6 * time.Minute)
		r.trigger("Cy#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Cy#EUW", 5*time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored == 5 })
	})
}

// TestI7c_WhatIsDownSpreadsNobody: calls for which the window has room go at once while matches are down, and are not
// spread as if a thousand matches had to share it.
func TestI7c_WhatIsDownSpreadsNobody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		dev := sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}}}
		r := start(t, newSim(sim.Options{Limits: dev, Players: []sim.PlayerSpec{short("Ana#EUW", 1000)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool { return row.Timelines.Open == 50 })
		down(t, r.sim, time.Hour)
		r.until("Ana#EUW", 2*time.Minute, func(engine.AccountRow) bool { return len(r.limits.Down()) > 0 })
		for _, b := range r.limits.Rows().Buckets {
			if b.Method == "" && b.Waiting > 50 {
				t.Errorf("%d calls wait for %s, those for what is down among them", b.Waiting, b.Name)
			}
		}
		const pause = 70 * time.Second // until the window has room for all of them
		must(t, r.limits.Freeze(engine.Bucket{Host: "europe", Until: time.Now().Add(pause)}, ""))
		time.Sleep(pause)
		if row := r.row("Ana#EUW"); row.Timelines.Open < 40 {
			t.Fatalf("%d timelines are left", row.Timelines.Open)
		}
		r.until("Ana#EUW", 4*time.Second, func(row engine.AccountRow) bool { return row.Timelines.Open == 0 })
	})
}

// TestI7c_WhatIsFrozenWaitsForNoWindowOfItsHost until somebody resumes it: what waits for that is told without it.
func TestI7c_WhatIsFrozenWaitsForNoWindowOfItsHost(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		dev := sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}}}
		r := start(t, newSim(sim.Options{Limits: dev, Players: []sim.PlayerSpec{short("Ana#EUW", 1000)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool { return row.Timelines.Open == 50 })
		must(t, r.limits.Freeze(engine.Bucket{Host: "europe", Method: forecast.MatchMethod}, ""))
		waits := map[string]int{}
		for _, b := range r.limits.Rows().Buckets {
			waits[b.Method] = max(waits[b.Method], b.Waiting)
		}
		if waits[""] > 50 || waits[""] == 0 || waits[forecast.MatchMethod] < 500 {
			t.Errorf("in line are %v", waits)
		}
	})
}

// An outage of matches and timelines is over for both soon after its end, though thousands of matches stand
// before the timelines: one timeline is asked for before its rank.
func TestI7_WhatIsDownIsTriedBeforeItsRank(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, r, over := afterTwoOutages(t)
		if n := len(r.limits.Down()); n != 2 {
			t.Fatalf("%d lanes are down", n)
		}
		before := r.calls(route.Timeline)
		// A probe that has just failed, and a window that the matches fill.
		for time.Since(over) < time.Minute+2*time.Minute {
			time.Sleep(time.Second)
			rows := r.limits.Down()
			if len(rows) == 0 {
				break
			}
			if next := rows[len(rows)-1].Next; !next.IsZero() && time.Since(next) > time.Second {
				t.Fatalf("%v after the end the next try was to be made %v ago", time.Since(over), time.Since(next))
			}
		}
		if state, why := r.limits.Health(); state != engine.EngineLive {
			t.Errorf("%s: %s", state, why)
		}
		n, ana, ben := r.calls(route.Timeline)-before, r.row("Ana#EUW"), r.row("Ben#EUW")
		if stored := ana.Timelines.Stored + ben.Timelines.Stored; n != 1 || stored != 1 || ana.Matches.Open+ben.Matches.Open < 600 {
			t.Errorf("%d timelines were called and %d stored, with %d and %d matches open", n, stored, ana.Matches.Open, ben.Matches.Open)
		}
	})
}

// An outage whose calls were given up is told no more once nobody is left to find out when it ends; whoever calls
// again tries it.
func TestI7b_AnOutageIsToldWhileSomebodyWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{short("Ana#EUW", 60), short("Ben#EUW", 3)}})
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored > 20 })
		over := down(t, s, 10*time.Minute)
		for range 240 {
			if time.Sleep(time.Second); time.Until(over) < 9*time.Minute {
				if state, _ := r.limits.Health(); state != engine.EngineAPIDown {
					t.Fatalf("%v before the end: %s", time.Until(over), state)
				}
			}
		}
		looks := func(what string, want engine.EngineState) {
			t.Helper()
			time.Sleep(time.Minute + 11*time.Second) // a probe that has just failed
			if state, why := r.limits.Health(); state != want || (want == engine.EngineLive) != (len(r.limits.Down()) == 0) {
				t.Errorf("%s: %s %s, %+v", what, state, why, r.limits.Down())
			}
		}
		r.pause(ingest.QueueFull)
		looks("paused", engine.EngineLive)
		_, err := r.backend.Resume(t.Context(), ingest.QueueFull, operator, "")
		must(t, err)
		looks("resumed", engine.EngineAPIDown)
		_, err = r.backend.Act(t.Context(), engine.Command{Op: engine.OpCancel, Job: r.row("Ana#EUW").Job, By: operator})
		must(t, err)
		looks("cancelled", engine.EngineLive)
		r.trigger("Ben#EUW", engine.SyncAsk{Timelines: "none"})
		looks("wanted again", engine.EngineAPIDown)
		r.settle("Ben#EUW", 10*time.Minute)
	})
}

// The last attempt of a job that is alone fails in an outage: nothing that was known answers,
// so the job is held, for as long as it takes.
func TestI7_TheLastAttemptIsNotSpentOnAnOutage(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 5), player("Ben#EUW", 1)}})
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.settle("Ana#EUW", time.Minute)
		over := down(t, s, 5*time.Hour)
		r.trigger("Ben#EUW", engine.SyncAsk{Timelines: "none"})
		time.Sleep(time.Until(over) - time.Second)
		d := r.detail("match:" + s.MatchIDs("Ben#EUW")[0])
		if d.Job.State.Terminal() || len(d.Attempts) > 4 || r.row("Ben#EUW").Status != engine.Syncing {
			t.Errorf("in the outage: %s after %d attempts", d.Job.State, len(d.Attempts))
		}
		if state, _ := r.limits.Health(); state != engine.EngineAPIDown {
			t.Errorf("an outage that is proven is told as %s", state)
		}
		if row := r.settle("Ben#EUW", 3*time.Minute); row.Result != "completed" {
			t.Errorf("after it: %+v", row)
		}
		for _, c := range r.proofs() {
			if c.Job != d.Job.ID {
				t.Errorf("%+v", c)
			}
		}
	})
}

// Lists, names and ranks that answer 500 for some accounts are those accounts' own affair
// where another account is answered.
func TestI7_BrokenAccountsAreNoOutage(t *testing.T) {
	for method, table := range map[route.Method]string{route.MatchIDs: "list", route.AccountByRiotID: "name"} {
		t.Run(table, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var players []sim.PlayerSpec
				for _, name := range []string{"Ana#EUW", "Ben#EUW", "Cy#EUW", "Dan#EUW"} {
					players = append(players, player(name, 3))
				}
				s := newSim(sim.Options{Players: players})
				r := start(t, s)
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				r.settle("Ana#EUW", time.Minute)
				for _, p := range players[1:] {
					must(t, s.Inject(sim.Fault{Kind: sim.ServerError, Match: sim.Match{Method: method, ID: p.RiotID}}))
					r.trigger(p.RiotID, engine.SyncAsk{Timelines: "none"})
				}
				for range 10 * 60 {
					if state, why := r.limits.Health(); state != engine.EngineLive {
						t.Fatalf("%s: %s", state, why)
					}
					time.Sleep(time.Second)
				}
				for _, p := range players[1:] {
					if row := r.row(p.RiotID); row.Status != engine.SyncFailed || len(r.callsFor(method, p.RiotID)) != 5 {
						t.Errorf("%s: %s after %d calls", p.RiotID, row.Status, len(r.callsFor(method, p.RiotID)))
					}
				}
			})
		})
	}
}

func TestI7_BrokenRanksAreNoOutage(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		names := []string{"Ana#EUW", "Ben#EUW", "Cy#EUW"}
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short(names[0], 1), short(names[1], 1), short(names[2], 1)}})
		r := start(t, s)
		for _, name := range names {
			r.track(name, engine.SyncAsk{Timelines: "none"})
			r.trigger(name, engine.SyncAsk{Timelines: "none"})
			r.settle(name, time.Minute)
		}
		r.fire("rank.daily")
		time.Sleep(time.Hour)
		for _, name := range names[1:] {
			must(t, s.Inject(sim.Fault{Kind: sim.ServerError, Match: sim.Match{Method: route.LeagueEntries, ID: name}}))
		}
		r.fire("rank.daily")
		for range 10 * 60 {
			if state, why := r.limits.Health(); state != engine.EngineLive {
				t.Fatalf("%s: %s", state, why)
			}
			time.Sleep(time.Second)
		}
		for i, name := range names {
			if calls, want := len(r.callsFor(route.LeagueEntries, name)), []int{2, 6, 6}[i]; calls < want || i > 0 && calls > want {
				t.Errorf("%s: %d calls for its rank, want %d", name, calls, want)
			}
		}
		if len(r.proofs()) == 0 {
			t.Error("nothing was proven")
		}
	})
}
