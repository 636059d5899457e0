package ingest_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// slow are limits at which a sync takes long enough to look at.
var slow = sim.Limits{App: []sim.Limit{{N: 10, Per: 10 * time.Second}}}

func TestS1_4_ATriggerWhileSyncingIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 30)}}))
		first := r.trigger("Ana#EUW", engine.SyncAsk{})
		before := r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored >= 5 })
		_, err := r.in.Trigger(context.Background(), "ana#euw", engine.SyncAsk{Force: true, Track: true}, operator)
		p := wantProblem(t, err, engine.ErrConflict)
		want := fmt.Sprintf("Ana#EUW is being synced by job %s (matches %d/30)", first.Job, before.Matches.Done())
		if p.Job != first.Job || p.Sentence != want {
			t.Errorf("refusal of job %s: %q, want %q", p.Job, p.Sentence, want)
		}
		after := r.row("Ana#EUW")
		if after.Run != before.Run || after.Status != engine.Syncing || after.Tracked {
			t.Errorf("the refusal changed the account: %+v", after)
		}
		r.settle("Ana#EUW", time.Hour)
	})
}

func TestS1_5_ATriggerWhilePendingGivesTheSameJob(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 3)}}))
		_, err := r.backend.Pause(context.Background(), ingest.QueueFull, operator, "test")
		must(t, err)
		first := r.trigger("Ana#EUW", engine.SyncAsk{})
		second := r.trigger("Ana#EUW", engine.SyncAsk{})
		if second.Job != first.Job || !second.Joined || first.Joined || second.Applied != 0 {
			t.Errorf("first %+v, second %+v", first, second)
		}
		_, _, total, err := r.db.Jobs(context.Background(), engine.JobsQuery{})
		must(t, err)
		if total != 1 {
			t.Errorf("%d jobs, want 1", total)
		}
	})
}

func TestS1_8_ProgressSurvivesAKill(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 40)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		before := r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored >= 13 })
		r = r.crash()
		after := r.row("Ana#EUW")
		if after.Matches.Done() < before.Matches.Done() || after.Status != engine.Syncing {
			t.Errorf("%+v before the kill, %+v after", before.Matches, after.Matches)
		}
		if after.Resumed != 1 || after.ResumedAt != after.Matches.Done() {
			t.Errorf("resumed %d times, at %d", after.Resumed, after.ResumedAt)
		}
		row := r.settle("Ana#EUW", time.Hour)
		if row.Matches.Stored != 40 || row.Resumed != 1 || r.sim.Stats().Violations != 0 {
			t.Errorf("%+v, %d violations", row, r.sim.Stats().Violations)
		}
	})
}

func TestS1_9_AFailedRunKeepsWhatItStoredAndTheNextSkipsIt(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 30)}}))
		job := r.trigger("Ana#EUW", engine.SyncAsk{}).Job
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored >= 10 })
		_, err := r.backend.Act(context.Background(), engine.Command{Op: engine.OpCancel, Job: job, By: operator, Reason: "enough"})
		must(t, err)
		r.settle("Ana#EUW", time.Minute)
		time.Sleep(time.Minute)
		row := r.row("Ana#EUW")
		if row.Status != engine.SyncCancelled || row.Result != "cancelled" || row.Matches.Open != 0 {
			t.Fatalf("%+v", row)
		}
		had := row.Matches.Stored
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row = r.settle("Ana#EUW", time.Hour)
		if row.Matches.Had != had || row.Matches.Stored != 30-had || row.Timelines.Done() != 30 || row.Result != "completed" {
			t.Errorf("had %d; then %+v, %+v", had, row.Matches, row.Timelines)
		}
		for _, id := range r.sim.MatchIDs("Ana#EUW") {
			if f := r.sim.Fetched(route.Match, id); f.OK != 1 {
				t.Errorf("%s was delivered %d times", id, f.OK)
			}
		}
	})
}

func TestS1_9_AFailedListingEndsTheSyncAsFailed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 5)}})
		must(t, s.Inject(sim.Fault{Kind: sim.Unavailable, Match: sim.Match{Method: route.MatchIDs}}))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Hour)
		if row.Status != engine.SyncFailed || row.Result != "failed" || row.LastError == "" || r.calls(route.MatchIDs) != 5 {
			t.Fatalf("%d calls: %+v", r.calls(route.MatchIDs), row)
		}
		s.Clear()
		_, err := r.backend.Act(context.Background(), engine.Command{Op: engine.OpRetry, Job: row.Job, By: operator, Reason: "again"})
		must(t, err)
		if row := r.settle("Ana#EUW", time.Hour); row.Status != engine.SyncCompleted || row.Matches.Stored != 5 {
			t.Errorf("after a retry by hand: %+v", row)
		}
	})
}

func TestS1_10_SeveralAccountsAtOnceButNeverTwoRunsOfOne(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		players := []sim.PlayerSpec{remade("Ana#EUW", 20), remade("Ben#EUW", 20), remade("Cy#EUW", 12)}
		players[1].ShareWith, players[1].Shared = "Ana#EUW", 8
		r := start(t, newSim(sim.Options{Players: players}))
		for _, p := range players {
			r.trigger(p.RiotID, engine.SyncAsk{})
		}
		r.trigger("Ben#EUW", engine.SyncAsk{Mode: ingest.ModeLatest}) // joins the run that waits
		var most int
		for range 100 {
			open := 0
			for _, p := range players {
				if r.row(p.RiotID).Status == engine.Syncing {
					open++
				}
			}
			most = max(most, open)
			time.Sleep(50 * time.Millisecond)
		}
		for _, p := range players {
			row := r.settle(p.RiotID, time.Hour)
			if row.Matches.Done() != p.Matches || row.Result != "completed" || row.Timelines.Done() != p.Matches {
				t.Errorf("%s: %+v %+v", p.RiotID, row.Matches, row.Timelines)
			}
			runs := map[string]bool{}
			for _, past := range r.past(row.ID) {
				runs[past.Run] = true
			}
			delete(runs, "")
			if len(runs) != 1 {
				t.Errorf("%s had %d runs", p.RiotID, len(runs))
			}
		}
		if most < 2 {
			t.Errorf("at most %d accounts at once", most)
		}
		if st := r.sim.Stats(); st.Matches != 44 || st.Timelines != 44 || st.Repeated != 0 {
			t.Errorf("44 distinct matches: Riot delivered %d and %d timelines, %d twice", st.Matches, st.Timelines, st.Repeated)
		}
	})
}

func TestS3_2_OneResolveNinePagesAndOneJobPerMatch(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{short("Ana#EUW", 879)}}),
			func(s *setup) { s.ingest.Matches = league.Span{} })
		job := r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"}).Job
		row := r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Total >= 0 })
		if r.calls(route.AccountByRiotID) != 1 || r.calls(route.MatchIDs) != 10 || row.Pages != 10 { // the last is empty
			t.Errorf("%d calls to resolve, %d pages", r.calls(route.AccountByRiotID), r.calls(route.MatchIDs))
		}
		if row.Listed != 879 || row.Matches.Total != 879 {
			t.Errorf("listed %d, %+v", row.Listed, row.Matches)
		}
		if got := ingest.CallsOf(879, 879, 0); got != 889 {
			t.Errorf("S3-12: %d calls without timelines, want 889", got)
		}
		if got := ingest.CallsOf(879, 879, 879); got != 1768 {
			t.Errorf("S3-12: %d calls with timelines, want 1768", got)
		}
		_, err := r.backend.Act(context.Background(), engine.Command{Op: engine.OpCancel, Job: job, By: operator, Reason: "seen enough"})
		must(t, err)
		row = r.settle("Ana#EUW", time.Minute)
		time.Sleep(time.Minute)
		if row = r.row("Ana#EUW"); row.Matches.Cancelled+row.Matches.Stored != 879 {
			t.Errorf("%+v", row.Matches)
		}
	})
}

func TestS3_3_AfterAKillThereAreNoChildrenOrAllOfThem(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 230)}})
		const goesOn = 2 // the kill while it lists, after which it doubles nothing
		dir := t.TempDir()
		r := open(t, s, dir+"/a")
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		for i := 0; ; i++ {
			synctest.Wait()
			image := fmt.Sprintf("%s/kill%d", dir, i)
			must(t, scratch.Copy(r.dir, image))
			if r.row("Ana#EUW").Matches.Stored > 0 {
				break
			}
			_, children := census(t, image)
			if children != 0 && children != 230 {
				t.Fatalf("%d children after a kill", children)
			}
			if i != goesOn {
				_ = os.RemoveAll(image) // 16 MB, and twenty of them in memory
			}
			time.Sleep(20 * time.Millisecond)
		}
		r.stop()
		r = open(t, s, fmt.Sprintf("%s/kill%d", dir, goesOn))
		if row := r.settle("Ana#EUW", time.Hour); row.Matches.Total != 230 || row.Matches.Stored != 230 {
			t.Errorf("%+v", row.Matches)
		}
	})
}

func TestS3_4_AKillRepeatsOnlyWhatWasInFlight(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const workers = 4
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 60)}}), func(s *setup) { s.workers = workers })
		job := r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"}).Job
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored >= 23 })
		r = r.crash(func(s *setup) { s.workers = workers })
		stored := r.row("Ana#EUW").Matches.Stored
		row := r.settle("Ana#EUW", time.Hour)
		if row.Matches.Stored != 60 || row.Result != "completed" {
			t.Fatalf("%+v", row)
		}
		repeated := 0
		for _, id := range r.sim.MatchIDs("Ana#EUW") {
			if n := len(r.callsFor(route.Match, id)); n > 1 {
				repeated += n - 1
			}
		}
		if repeated > workers {
			t.Errorf("%d calls were repeated, at most %d were in flight", repeated, workers)
		}
		again := 0
		r.mu.Lock()
		done := maps.Clone(r.done)
		r.mu.Unlock()
		for id, n := range done {
			if n > 1 {
				t.Errorf("job %s completed %d times", id, n)
			}
			again += n
		}
		if want := 60 - stored + 1; again != want {
			t.Errorf("%d jobs completed after the restart, want %d", again, want)
		}
		if report(t, r, row.ID).Matches != 60 || r.completions(job) != 1 {
			t.Errorf("the sync completed %d times, its report counts %d", r.completions(job), report(t, r, row.ID).Matches)
		}
		if v := r.sim.Stats().Violations; v != 0 {
			t.Errorf("%d violations", v)
		}
	})
}

func TestS3_5_ARetriedChildCountsOnceAndADeadOneIsMissing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 10)}})
		ids := s.MatchIDs("Ana#EUW")
		must(t, s.Inject(fails(sim.Unavailable, ids[3], 3)))
		must(t, s.Inject(fails(sim.NotFound, ids[5], 0)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Hour)
		p := report(t, r, row.ID)
		if row.Matches.Stored != 9 || row.Matches.Failed != 1 || p.Matches != 9 || p.Missing != 1 || row.Timelines.Total != 9 {
			t.Errorf("%+v, timelines %+v, report of %d with %d missing", row.Matches, row.Timelines, p.Matches, p.Missing)
		}
	})
}

func TestS3_6_ManyChildrenEndingTogetherTriggerOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Latency: sim.Latency{Base: 50 * time.Millisecond}, Players: []sim.PlayerSpec{player("Ana#EUW", 100)}}),
			func(s *setup) { s.workers = 64 })
		job := r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"}).Job
		row := r.settle("Ana#EUW", time.Hour)
		if row.Matches.Stored != 100 || r.completions(job) != 1 {
			t.Errorf("%+v, the sync completed %d times", row.Matches, r.completions(job))
		}
		// resolve, a list of one page, what lies behind it, the list beyond retention, report, end, behind it again
		if d := r.detail("full:" + row.ID); len(d.Attempts) != 7 {
			t.Errorf("%d attempts of the sync job: %+v", len(d.Attempts), d.Attempts)
		}
	})
}

func TestS3_7_AnAccountWithoutMatchesCompletesAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 0)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", 10*time.Second)
		if row.Status != engine.SyncCompleted || row.Result != "completed" || row.Matches.Total != 0 {
			t.Errorf("%+v", row)
		}
	})
}

func TestS3_8_ASecondRequestJoinsTheFirst(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 12)}}))
		first := r.trigger("Ana#EUW", engine.SyncAsk{})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Status == engine.Syncing })
		for range 3 {
			_, err := r.in.Trigger(context.Background(), "Ana#EUW", engine.SyncAsk{}, operator)
			if p := wantProblem(t, err, engine.ErrConflict); p.Job != first.Job {
				t.Errorf("the refusal names job %s, want %s", p.Job, first.Job)
			}
		}
		r.settle("Ana#EUW", time.Hour)
		if got := r.calls(route.AccountByRiotID); got != 1 {
			t.Errorf("%d calls to resolve: more than one sync ran", got)
		}
	})
}

func TestS3_9_InsideTheCooldownThereIsNothingToDo(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 4)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", time.Minute)
		if out := r.trigger("Ana#EUW", engine.SyncAsk{}); !out.Nothing || out.Job != "" || out.Applied != 0 {
			t.Errorf("inside the cooldown: %+v", out)
		}
		if out := r.trigger("Ana#EUW", engine.SyncAsk{Force: true}); out.Nothing || out.Applied != 1 {
			t.Errorf("forced: %+v", out)
		}
		r.settle("Ana#EUW", time.Minute)
		time.Sleep(5 * time.Minute)
		if out := r.trigger("Ana#EUW", engine.SyncAsk{}); out.Nothing {
			t.Errorf("after the cooldown: %+v", out)
		}
		r.settle("Ana#EUW", time.Minute)
	})
}

func TestS3_13_TheReportDoesNotDependOnTheOrder(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		var reports []engine.PlayReport
		for _, workers := range []int{1, 16} {
			s := newSim(sim.Options{Seed: 7, Epoch: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), Players: []sim.PlayerSpec{player("Ana#EUW", 25)}})
			if workers > 1 { // what came first comes last
				for _, id := range s.MatchIDs("Ana#EUW")[:10] {
					must(t, s.Inject(fails(sim.Unavailable, id, 1)))
				}
			}
			r := start(t, s, func(set *setup) { set.workers = workers })
			r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
			row := r.settle("Ana#EUW", time.Hour)
			p := report(t, r, row.ID)
			p.Account, p.Built = "", time.Time{}
			reports = append(reports, p)
			r.stop()
		}
		if a, b := fmt.Sprintf("%+v", reports[0]), fmt.Sprintf("%+v", reports[1]); a != b || reports[0].Matches != 25 {
			t.Errorf("one worker:\n%s\nsixteen:\n%s", a, b)
		}
	})
}

func TestS4_3_JobsHaveIdempotentKeys(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 12)}})
		r := start(t, s)
		account := r.trigger("Ana#EUW", engine.SyncAsk{Mode: ingest.ModeLatest, Count: 3}).Account
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Total == 3 })
		for _, key := range []string{"latest:" + account, "match:" + s.MatchIDs("Ana#EUW")[0]} {
			if d := r.detail(key); d.Job.Key != key {
				t.Errorf("no job with key %s", key)
			}
		}
		row := r.settle("Ana#EUW", time.Hour)
		if row.Queue != ingest.QueueLatest || row.Matches.Total != 3 {
			t.Errorf("%+v", row)
		}
	})
}

func TestS4_6_OneRunningJobPerAccount(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 12)}}))
		for range 20 {
			ask := engine.SyncAsk{Platform: "euw1", Force: true}
			_, _ = r.in.Trigger(context.Background(), "Ana#EUW", ask, operator)
			ask.Mode = ingest.ModeLatest
			_, _ = r.in.Trigger(context.Background(), "Ana#EUW", ask, operator)
			jobs, _, _, err := r.db.Jobs(context.Background(), engine.JobsQuery{})
			must(t, err)
			syncs := 0
			for _, j := range jobs {
				if j.Kind == ingest.KindSync {
					syncs++
				}
			}
			if syncs > 1 {
				t.Fatalf("%d live syncs of one account", syncs)
			}
			time.Sleep(time.Second)
		}
		r.settle("Ana#EUW", time.Hour)
	})
}

func TestP17_WhatIsThereAlreadyTriggersOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		players := []sim.PlayerSpec{remade("Ana#EUW", 10), remade("Ben#EUW", 10)}
		players[1].ShareWith, players[1].Shared = "Ana#EUW", 10
		r := start(t, newSim(sim.Options{Players: players}))
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", time.Minute)
		job := r.trigger("Ben#EUW", engine.SyncAsk{}).Job
		row := r.settle("Ben#EUW", time.Minute)
		if row.Matches.Had != 10 || row.Timelines.Had != 10 || row.Result != "completed" || r.completions(job) != 1 {
			t.Errorf("%+v %+v, ended %d times", row.Matches, row.Timelines, r.completions(job))
		}
		if p := report(t, r, row.ID); p.Matches != 10 || p.LeftOut != 0 {
			t.Errorf("report of %d matches, %d left out", p.Matches, p.LeftOut)
		}
		if r.sim.Stats().Repeated != 0 {
			t.Errorf("%d payloads were fetched twice", r.sim.Stats().Repeated)
		}
	})
}
