package ingest_test

import (
	"context"
	"path/filepath"
	"strings"
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

func TestATimelineIsFetchedForWhoeverWantsIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		players := []sim.PlayerSpec{remade("Ana#EUW", 10), remade("Ben#EUW", 10)}
		players[1].ShareWith, players[1].Shared = "Ana#EUW", 6
		r := start(t, newSim(sim.Options{Limits: slow, Players: players}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.trigger("Ben#EUW", engine.SyncAsk{})
		ana, ben := r.settle("Ana#EUW", time.Hour), r.settle("Ben#EUW", time.Hour)
		if ana.Timelines.Total != 0 || ben.Timelines.Stored != 10 || r.calls(route.Timeline) != 10 || r.calls(route.Match) != 14 {
			t.Errorf("Ana %+v, Ben %+v, %d calls", ana.Timelines, ben.Timelines, r.calls(route.Timeline))
		}
	})
}

func TestCancellingARunLeavesWhatAnotherWaitsFor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		players := []sim.PlayerSpec{player("Ana#EUW", 12), player("Ben#EUW", 12)}
		players[1].ShareWith, players[1].Shared = "Ana#EUW", 8
		r := start(t, newSim(sim.Options{Limits: slow, Players: players}))
		job := r.trigger("Ana#EUW", engine.SyncAsk{}).Job
		r.trigger("Ben#EUW", engine.SyncAsk{})
		for _, p := range players {
			r.until(p.RiotID, time.Minute, func(row engine.AccountRow) bool { return row.Phase == engine.PhaseMatches })
		}
		_, err := r.backend.Act(context.Background(), engine.Command{Op: engine.OpCancel, Job: job, By: operator, Reason: "not now"})
		must(t, err)
		ben := r.settle("Ben#EUW", time.Hour)
		if ben.Result != "completed" || ben.Matches.Stored+ben.Matches.Had != 12 || ben.Timelines.Stored != 12 {
			t.Errorf("Ben: %+v %+v", ben.Matches, ben.Timelines)
		}
		if ana := r.row("Ana#EUW"); ana.Result != "cancelled" || ana.Matches.Open != 0 {
			t.Errorf("Ana: %+v", ana)
		}
	})
}

func TestALateChildIsStoredAndReopensNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 6)}})
		id := s.MatchIDs("Ana#EUW")[2]
		must(t, s.Inject(fails(sim.NotFound, id, 1)))
		r := start(t, s)
		sync := r.trigger("Ana#EUW", engine.SyncAsk{}).Job
		r.settle("Ana#EUW", time.Hour)
		_, err := r.backend.Act(context.Background(), engine.Command{Op: engine.OpRetry, Job: r.detail("match:" + id).Job.ID, By: operator, Reason: "it is there now"})
		must(t, err)
		time.Sleep(time.Minute)
		if m := r.match(id); m.Match.Status != league.Success || m.Match.Attempts != 2 {
			t.Errorf("%+v", m.Match)
		}
		if row := r.row("Ana#EUW"); row.Status != engine.SyncCompleted || r.completions(sync) != 1 {
			t.Errorf("%+v, the sync completed %d times", row, r.completions(sync))
		}
	})
}

func TestADeadChildRetriedWhileTheRunGoesOnBringsItsTimeline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 20)}})
		id := s.MatchIDs("Ana#EUW")[2]
		must(t, s.Inject(fails(sim.NotFound, id, 1)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Phase == engine.PhaseTimelines })
		_, err := r.backend.Act(context.Background(), engine.Command{Op: engine.OpRetry, Job: r.detail("match:" + id).Job.ID, By: operator, Reason: "it is there now"})
		must(t, err)
		row := r.settle("Ana#EUW", time.Hour)
		if row.Timelines.Stored != 20 || r.match(id).Timeline.Status != league.Success {
			t.Errorf("%+v %+v", row.Matches, row.Timelines)
		}
	})
}

func TestTimelinesAreFetchedForWhatWasStoredWithoutThem(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 10)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.settle("Ana#EUW", time.Minute)
		time.Sleep(time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Minute)
		if row.Matches.Had != 10 || row.Timelines.Stored != 10 || r.calls(route.Match) != 10 {
			t.Errorf("%+v %+v", row.Matches, row.Timelines)
		}
	})
}

func TestS1_13_AKnownRangeEndsTheListing(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		spec := short("Ana#EUW", 250)
		spec.Grow = 30 * time.Minute
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{spec}}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none", Count: 20})
		r.settle("Ana#EUW", time.Hour)
		time.Sleep(time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"}) // a short run leaves no hole behind
		row := r.settle("Ana#EUW", time.Hour)
		// Three pages, what lies behind them, the list beyond retention, and at the end what lies behind them again.
		if row.Pages != 6 || row.Listed < 250 || row.Matches.Had != 20 {
			t.Fatalf("%d pages, %+v", row.Pages, row.Matches)
		}
		time.Sleep(3 * time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		row = r.settle("Ana#EUW", time.Hour)
		if row.Pages != 1 || row.Matches.Stored < 6 {
			t.Errorf("%d pages, %+v", row.Pages, row.Matches)
		}
		stored := map[league.Status]int{}
		for _, id := range r.sim.MatchIDs("Ana#EUW") {
			stored[r.match(id).Match.Status]++
		}
		if len(stored) != 1 || stored[league.Success] < 250 {
			t.Errorf("%v", stored)
		}
	})
}

func TestListsThatShiftAndRepeatLoseAndDoubleNothing(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 230)}})
		ids := s.MatchIDs("Ana#EUW")
		must(t, s.Inject(sim.Fault{Kind: sim.DuplicateIDs, Match: sim.Match{Method: route.MatchIDs}, Count: 2}))
		must(t, s.Inject(sim.Fault{Kind: sim.ShiftIDs, Match: sim.Match{Method: route.MatchIDs}, Count: 1}))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		row := r.settle("Ana#EUW", time.Hour)
		for _, id := range ids {
			if got := r.match(id).Match.Status; got != league.Success {
				t.Errorf("%s is %v", id, got)
			}
		}
		if row.Result != "completed" || r.sim.Stats().Repeated != 0 {
			t.Errorf("%+v, %d fetched twice", row, r.sim.Stats().Repeated)
		}
	})
}

func TestAnUnknownRiotIDFailsWithASentence(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 1)}}))
		r.trigger("Nobody#EUW", engine.SyncAsk{})
		row := r.settle("Nobody#EUW", time.Minute)
		if row.Status != engine.SyncFailed || row.LastError != "riot knows no account Nobody#EUW: check the spelling and the tag after the #" {
			t.Errorf("%s: %q", row.Status, row.LastError)
		}
	})
}

func TestAKeyOfAnotherProjectResolvesAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 6)}})
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Count: 3})
		r.settle("Ana#EUW", time.Minute)
		s.SetKey(testKey, sim.Key{Project: "other"}) // one alias for both: only Riot can tell
		time.Sleep(time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Minute)
		if row.Result != "completed" || row.Matches.Stored != 3 || row.PUUID != s.PUUID("Ana#EUW", "other") {
			t.Errorf("%+v", row)
		}
		if p := report(t, r, row.ID); p.Matches != 6 || p.LeftOut != 0 {
			t.Errorf("report of %d matches, %d left out", p.Matches, p.LeftOut)
		}
	})
}

// save puts an account into the store as an earlier run may have left it.
func (r *rig) save(a league.Account) {
	r.t.Helper()
	must(r.t, r.db.Write(context.Background(), func(tx engine.Tx) error { return r.db.SaveAccount(tx, a) }))
}

func TestARenamedPlayerIsFoundByPUUID(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 3)}})
		r := start(t, s)
		r.save(league.Account{
			ID: "01JD0000000000000000000001", GameName: "Old", TagLine: "Name", Platform: "euw1",
			PUUIDs: map[string]string{"": s.PUUID("Ana#EUW", "")},
		})
		account := r.trigger("Old#Name", engine.SyncAsk{}).Account
		row := r.settle(account, time.Minute)
		if row.RiotID != "Ana#EUW" || row.Matches.Stored != 3 || r.calls(route.AccountByPUUID) != 1 || r.calls(route.AccountByRiotID) != 0 {
			t.Errorf("%+v", row)
		}
		// Who asks for the new name gets the same account.
		if again := r.trigger("ana#euw", engine.SyncAsk{}); again.Account != account {
			t.Errorf("%+v", again)
		}
	})
}

func TestTwoAccountsOfOnePlayerAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 3)}})
		r := start(t, s)
		r.save(league.Account{
			ID: "01JD0000000000000000000001", GameName: "Old", TagLine: "Name", Platform: "euw1",
			PUUIDs: map[string]string{"": s.PUUID("Ana#EUW", "")},
		})
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Minute)
		if row.Status != engine.SyncFailed || row.LastError != "Ana#EUW is the same player as Old#Name: sync that one" {
			t.Errorf("%s: %s", row.Status, row.LastError)
		}
	})
}

func TestAnAdoptedPayloadIsNotFetchedAgain(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 12)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Phase == engine.PhaseMatches })
		dir, before := r.leftBehind(ingest.KindMatch)
		calls := map[string]int{}
		for _, id := range before {
			calls[id] = r.sim.Fetched(route.Match, id).OK
		}
		r = open(t, r.sim, dir)
		row := r.settle("Ana#EUW", time.Hour)
		if row.Result != "completed" || row.Matches.Stored != 12 {
			t.Errorf("%+v", row)
		}
		if len(before) == 0 {
			t.Fatal("no match was in flight at the kill")
		}
		for _, id := range before {
			if got := r.sim.Fetched(route.Match, id).OK; got != calls[id] || got != 1 {
				t.Errorf("%s was delivered %d times", id, got)
			}
		}
	})
}

func TestS1_1_LinkedStaleAndManual(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 1)}}))
		stale := engine.SyncAsk{Cause: engine.CauseStale}
		if out := r.trigger("Ana#EUW", engine.SyncAsk{Cause: engine.CauseLinked}); out.Applied != 1 || r.row("Ana#EUW").Status != engine.SyncPending {
			t.Errorf("linked: %+v", out)
		}
		if row := r.settle("Ana#EUW", time.Minute); !row.Tracked || row.Kind != ingest.ModeFull {
			t.Errorf("a linked account: %+v", row)
		}
		time.Sleep(time.Hour)
		if out := r.trigger("Ana#EUW", stale); !out.Nothing || out.Due.IsZero() || out.Job != "" {
			t.Errorf("a login an hour later: %+v", out)
		}
		if out := r.trigger("Ana#EUW", engine.SyncAsk{}); out.Applied != 1 {
			t.Errorf("by hand an hour later: %+v", out)
		}
		r.settle("Ana#EUW", time.Minute)
		time.Sleep(24 * time.Hour)
		if out := r.trigger("Ana#EUW", stale); out.Applied != 1 {
			t.Errorf("a login a day later: %+v", out)
		}
		r.settle("Ana#EUW", time.Minute)
		_, err := r.in.Trigger(context.Background(), "Ana#EUW", engine.SyncAsk{Cause: "whim"}, operator)
		wantProblem(t, err, engine.ErrInvalid)
		out, err := r.in.Untrack(context.Background(), "Ana#EUW", "")
		must(t, err)
		if out.Applied != 1 || r.row("Ana#EUW").Tracked {
			t.Errorf("%+v", out)
		}
	})
}

// leftBehind stops the engine and gives a directory as a kill leaves it between the
// payload's commit and the state's: payloads of a run that went on, states of one that
// did not. inFlight are the matches whose jobs of the kind were at work.
func (r *rig) leftBehind(kind engine.Kind) (dir string, inFlight []string) {
	r.t.Helper()
	synctest.Wait()
	dir = filepath.Join(r.t.(*testing.T).TempDir(), "data")
	must(r.t, scratch.Copy(r.dir, dir))
	jobs, _, _, err := r.db.Jobs(context.Background(), engine.JobsQuery{})
	must(r.t, err)
	for _, j := range jobs {
		if _, id, _ := strings.Cut(j.Key, ":"); j.State == engine.Running && j.Kind == kind {
			inFlight = append(inFlight, id)
		}
	}
	time.Sleep(2 * time.Second)
	synctest.Wait()
	must(r.t, scratch.Copy(r.dir+"/payload", dir+"/payload"))
	r.stop()
	return dir, inFlight
}
