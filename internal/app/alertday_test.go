package app

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/wall"
	"github.com/farsight-console/farsight/riot/sim"
)

// quietSoFar wants no alert to have fired since it was asked last, but for those named, which have, and have ended.
func (r *alertRig) quietSoFar(after string, but ...string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range but {
		if s := strings.Join(r.states[id], " "); !strings.Contains(s, "firing@") || !strings.HasPrefix(r.states[id][len(r.states[id])-1], "ok@") {
			r.t.Errorf("after %s: %s went through %s", after, id, s)
		}
		delete(r.states, id)
	}
	for id, states := range r.states {
		for _, s := range states {
			if strings.HasPrefix(s, string(engine.AlertFiring)) {
				r.t.Errorf("after %s: %s went through %v", after, id, states)
				break
			}
		}
	}
	clear(r.states)
}

// TestS2_10_AHealthyDayFiresNothing: a day of an operator with a key of 20 calls a second
// and 100 in two minutes. Two players with long histories are synced at once, a queue is
// paused for an hour and a limit frozen for two, the engine is restarted in the middle,
// the disk runs full and is freed, and the machine sleeps for a night. Nobody is needed
// but for the disk.
func TestS2_10_AHealthyDayFiresNothing(t *testing.T) {
	longest(t)
	blue, kain := player("Blue Heron#EUW", 879), player("Kain#EUW", 120)
	blue.Shapes, kain.Shapes = []sim.Shape{"swarm"}, []sim.Shape{"swarm"} // small ones: no rule looks into a game
	riotOf := sim.Options{Seed: 7, Limits: limits("20:1,100:120"), Players: []sim.PlayerSpec{blue, kain}}
	inAlertRig(t, riotOf, func(t *testing.T, r *alertRig) {
		sync := func(p sim.PlayerSpec) {
			r.do(engine.Command{Op: engine.OpTrigger, Account: p.RiotID, Sync: engine.SyncAsk{Platform: "euw1", Mode: "full"}})
		}
		sync(blue)
		sync(kain)
		time.Sleep(25 * time.Minute)
		r.quietSoFar("25 minutes of two syncs")

		r.do(engine.Command{Op: engine.OpPause, Queue: "ingest.summoner.full", Reason: "lunch"})
		time.Sleep(70 * time.Minute)
		r.quietSoFar("a pause of more than an hour")
		r.do(engine.Command{Op: engine.OpResume, Queue: "ingest.summoner.full"})
		time.Sleep(3 * time.Minute)
		r.quietSoFar("its end")

		r.restart(time.Minute)
		time.Sleep(5 * time.Minute)
		r.restart(30 * time.Minute)
		time.Sleep(3 * time.Minute)
		r.quietSoFar("two restarts")

		r.do(engine.Command{Op: engine.OpFreeze, Bucket: engine.Bucket{Host: "europe", Until: time.Now().Add(2 * time.Hour)}, Reason: "the others need it"})
		time.Sleep(2*time.Hour + 3*time.Minute)
		r.quietSoFar("a freeze of two hours")

		back := crash.ArmFaults(func(string) error { return syscall.ENOSPC })
		time.Sleep(20 * time.Minute)
		back()
		time.Sleep(15 * time.Minute)
		r.quietSoFar("a full disk", "disk-full")

		defer wall.Step(8 * time.Hour)() // Riot's clock goes on, too
		if err := r.sim.Inject(sim.Fault{Kind: sim.SkewDate, Delay: 8 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		r.quietSoFar("a night's sleep")
		time.Sleep(3 * time.Hour)
		r.quietSoFar("the rest of the day")
		for _, p := range []sim.PlayerSpec{blue, kain} {
			row := ask[engine.AccountDetail](t, r.front, engine.AccountQuery{ID: p.RiotID}).Row
			if row.Status != engine.SyncCompleted || row.Matches.Stored != p.Matches {
				t.Errorf("%s is %s with %d of %d matches", p.RiotID, row.Status, row.Matches.Stored, p.Matches)
			}
		}
	})
}

// TestS2_10_AFreezeIsRead: of a limit that an operator has frozen the alerts read why work stands still, as the title bar
// tells it.
func TestS2_10_AFreezeIsRead(t *testing.T) {
	inAlertRig(t, sim.Options{Seed: 7, Limits: limits("20:1,100:120"), Players: []sim.PlayerSpec{player("Ana#EUW", 150)}}, func(t *testing.T, r *alertRig) {
		r.do(engine.Command{Op: engine.OpTrigger, Account: "Ana#EUW", Sync: engine.SyncAsk{Platform: "euw1"}})
		time.Sleep(5 * time.Second)
		p := r.engine.Load()
		if state, why := p.stand(p.limits.LongHolds()); state != engine.EngineLive {
			t.Errorf("at work: %s, %s", state, why)
		}
		r.do(engine.Command{Op: engine.OpFreeze, Bucket: engine.Bucket{Host: "europe", Until: time.Now().Add(time.Hour)}, Reason: "the others need it"})
		time.Sleep(5 * time.Second)
		if state, why := p.stand(p.limits.LongHolds()); state != engine.EngineHeld || why == "" {
			t.Errorf("frozen: %s, %q", state, why)
		}
	})
}
