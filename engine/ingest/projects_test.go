package ingest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

const (
	sameKey    = "RGAPI-00000000-cafe-4bad-8bad-c0ffee000001"
	foreignKey = "RGAPI-00000000-cafe-4bad-8bad-c0ffee000002"
	deadKey    = "RGAPI-00000000-cafe-4bad-8bad-c0ffee000003"
)

// withProjects gives the rig's engine a Projects.
func withProjects(s *setup) { s.projects = true }

func (r *rig) setKey(text string) {
	r.t.Helper()
	k, err := riot.ParseKey(text)
	must(r.t, err)
	r.keys.Set(k)
	r.limits.KeyChanged()
}

// health waits until the engine's state is as wanted.
func (r *rig) health(want engine.EngineState, within time.Duration) string {
	r.t.Helper()
	for range within / (100 * time.Millisecond) {
		if state, why := r.limits.Health(); state == want {
			return why
		}
		time.Sleep(100 * time.Millisecond)
	}
	state, why := r.limits.Health()
	r.t.Fatalf("after %v: %s, %s", within, state, why)
	return ""
}

func TestKeyProject_AnotherKeyOfTheSameProjectKeepsTheWorkGoing(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{short("Ana#EUW", 40)}})
		r := start(t, s, withProjects)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored >= 5 })
		if n := r.calls(route.AccountByPUUID); n != 0 {
			t.Errorf("%d probes of the first key of all", n)
		}
		r.setKey(sameKey)
		row := r.settle("Ana#EUW", time.Hour)
		if row.Result != "completed" || row.Matches.Stored != 40 || r.calls(route.AccountByPUUID) != 1 || r.calls(route.AccountByRiotID) != 1 {
			t.Errorf("%+v, %d probes", row, r.calls(route.AccountByPUUID))
		}
		if r.projects.Current() != "default" || r.sim.Stats().Violations != 0 {
			t.Errorf("project %q, %d violations", r.projects.Current(), r.sim.Stats().Violations)
		}
		r = r.crash(withProjects) // what is known of a key is stored
		time.Sleep(time.Minute)
		if n := r.calls(route.AccountByPUUID); n != 1 {
			t.Errorf("%d probes after a restart", n)
		}
	})
}

func TestKeyProject_AnotherProjectsKeyPausesUntilAccepted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		players := []sim.PlayerSpec{short("Ana#EUW", 3), short("Ben#EUW", 3)}
		s := newSim(sim.Options{Players: players, Keys: map[string]sim.Key{foreignKey: {Project: "other"}}})
		r := start(t, s, withProjects)
		for _, p := range players {
			r.trigger(p.RiotID, engine.SyncAsk{Timelines: "none"})
			r.settle(p.RiotID, time.Minute)
		}
		_, err := r.in.Reresolve(context.Background(), true, operator)
		wantProblem(t, err, engine.ErrRefused)
		r.setKey(foreignKey)
		if why := r.health(engine.EnginePaused, time.Minute); why == "" {
			t.Error("no reason")
		}
		time.Sleep(10 * time.Second)
		calls := len(r.sim.Calls(0, 1000))
		r.trigger("Ana#EUW", engine.SyncAsk{Force: true, Timelines: "none"})
		time.Sleep(10*time.Minute + 300*time.Millisecond)
		if got := len(r.sim.Calls(0, 1000)); got != calls || r.calls(route.AccountByPUUID) != 2 { // both were asked for
			t.Errorf("%d calls with a key that is not accepted", got-calls)
		}
		job := r.detail("full:" + r.row("Ana#EUW").ID).Job.Job
		if why, _, _ := r.backend.Why(job); job.State != engine.Available || job.Attempts != 0 || !strings.Contains(why, "another project") {
			t.Errorf("%s, %d attempts, because %q", job.State, job.Attempts, why)
		}
		r.mu.Lock()
		notes := strings.Join(r.notes, "\n")
		r.mu.Unlock()
		if !strings.Contains(notes, "2 calls") {
			t.Errorf("what an operator is told: %q", notes)
		}
		r.accept()
		ana := r.settle("Ana#EUW", time.Minute)
		time.Sleep(time.Minute)
		ids, err := r.db.Identities(context.Background(), ana.ID)
		must(t, err)
		if ana.Result != "completed" || ana.Matches.Had != 3 || len(ids) != 2 || ids[1].Project != "project-2" {
			t.Errorf("%+v, %+v", ana, ids)
		}
		ids, err = r.db.Identities(context.Background(), r.row("Ben#EUW").ID)
		must(t, err)
		if len(ids) != 2 || ids[1].PUUID != s.PUUID("Ben#EUW", "other") {
			t.Errorf("Ben: %+v", ids)
		}
		if p := report(t, r, ana.ID); p.Matches+p.LeftOut != 3 {
			t.Errorf("%+v", p)
		}
		r.setKey(testKey) // back again: its project is known
		time.Sleep(time.Second)
		if r.projects.Current() != "default" {
			t.Errorf("project %q", r.projects.Current())
		}
		r.health(engine.EngineLive, time.Second)
	})
}

// accept carries out the command, after a dry run that must change nothing.
func (r *rig) accept() {
	r.t.Helper()
	for _, dry := range []bool{true, false} {
		out, known, err := r.in.Do(context.Background(), engine.Command{Op: engine.OpReresolve, DryRun: dry, By: operator})
		must(r.t, err)
		if !known || out.Cost == nil || out.Cost.Calls != 2 || out.Matched != 2 || dry == (out.Applied == 2) {
			r.t.Errorf("dry %v: %+v", dry, out)
		}
	}
}

func TestKeyProject_ADeadKeyIsReplacedAndWorkGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{short("Ana#EUW", 40)}, Keys: map[string]sim.Key{deadKey: {State: sim.KeyUnknown}}})
		r := start(t, s, withProjects)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored >= 5 })
		s.SetKey(testKey, sim.Key{State: sim.KeyExpired})
		r.health(engine.EngineNoKey, time.Minute)
		r.setKey(deadKey)
		time.Sleep(5 * time.Minute)
		r.health(engine.EngineNoKey, time.Minute)
		r.setKey(sameKey)
		row := r.settle("Ana#EUW", time.Hour)
		if row.Result != "completed" || row.Matches.Stored != 40 || row.Matches.Failed != 0 {
			t.Errorf("%+v", row)
		}
		for _, id := range r.sim.MatchIDs("Ana#EUW") {
			if j := r.detail("match:" + id).Job; j.Attempts != 1 {
				t.Errorf("%s was charged %d attempts", id, j.Attempts)
			}
		}
		r.health(engine.EngineLive, time.Second)
		if r.projects.Current() != "default" {
			t.Errorf("project %q", r.projects.Current())
		}
	})
}

func TestKeyProject_RanksWaitForTheIdentity(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{}))
		ana := r.track("Ana#EUW", engine.SyncAsk{}).Account
		_, err := r.backend.Insert(context.Background(), engine.Spec{Kind: ingest.KindRank, Queue: ingest.QueueRank, Key: "rank:" + ana, Args: []byte(`{"account":"` + ana + `","platform":"euw1"}`)})
		must(t, err)
		if j := r.ends("rank:"+ana, time.Minute); j.State != engine.Cancelled || j.Class != "unresolved" {
			t.Errorf("%s, %s", j.State, j.Class)
		}
	})
}
