package ingest_test

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// One stray 401 that other calls disprove holds its job no longer than they take:
// not for the minute after which a refused key is tried again.
func TestAStrayRefusalIsReleasedAtOnce(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		who := player("Ana#EUW", 20)
		s := newSim(sim.Options{Players: []sim.PlayerSpec{who}})
		stray := s.MatchIDs(who.RiotID)[3]
		must(t, s.Inject(sim.Fault{Kind: sim.Status, Status: 401, Match: sim.Match{Method: route.Match, ID: stray, Attempts: 1}}))
		r := start(t, s)
		began := time.Now()
		r.trigger(who.RiotID, engine.SyncAsk{})
		row := r.settle(who.RiotID, time.Hour)
		if took := time.Since(began); row.Result != "completed" || took > 30*time.Second {
			t.Errorf("%s after %v", row.Result, took)
		}
		d := r.detail("match:" + stray)
		if len(d.Holds) != 1 || len(d.Attempts) != 1 || d.Job.Tries != 1 {
			t.Errorf("%d holds, %d attempts, %d tries: the refusal was charged", len(d.Holds), len(d.Attempts), d.Job.Tries)
		}
		if len(d.Holds) == 1 {
			if idle := d.Attempts[0].Start.Sub(d.Holds[0].End); idle > 10*time.Second {
				t.Errorf("the job was held for %v", idle)
			}
		}
	})
}

// A key that is replaced while it is refused lets the held jobs go at once.
func TestANewKeyReleasesTheHeldJobs(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		who := player("Ana#EUW", 30)
		s := newSim(sim.Options{Players: []sim.PlayerSpec{who}, Limits: sim.Limits{App: []sim.Limit{{N: 10, Per: 10 * time.Second}}}})
		r := start(t, s)
		r.trigger(who.RiotID, engine.SyncAsk{})
		r.until(who.RiotID, time.Hour, func(row engine.AccountRow) bool { return row.Matches.Stored >= 5 })
		s.SetKey(testKey, sim.Key{State: sim.KeyUnknown})
		time.Sleep(15 * time.Second)
		if !r.limits.KeyRefused() {
			t.Fatal("the key is not refused")
		}
		s.SetKey(testKey, sim.Key{})
		r.limits.KeyChanged()
		began := time.Now()
		row := r.until(who.RiotID, time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored > 12 })
		if took := time.Since(began); took > 40*time.Second || r.limits.KeyRefused() {
			t.Errorf("%+v after %v", row, took)
		}
		r.settle(who.RiotID, time.Hour)
	})
}
