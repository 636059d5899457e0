package ingest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// lonely runs a sync whose one match always answers 503, with nothing else to do.
func lonely(t *testing.T) (r *rig, id string, began time.Time) {
	s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Alone#EUW", 1), player("Other#EUW", 2)}})
	id = s.MatchIDs("Alone#EUW")[0]
	must(t, s.Inject(fails(sim.Unavailable, id, 0)))
	r = start(t, s)
	began = time.Now()
	r.trigger("Alone#EUW", engine.SyncAsk{Timelines: "none"})
	return r, id, began
}

// The last attempt is held `outage` as long as nothing on the host has
// succeeded since the first failure, at the latest until twice the table's sum.
// Then it is made, once: calls are exactly the policy's attempts (P-11).
func TestP11_LastAttemptIsHeldWhileTheHostIsSilent(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, id, began := lonely(t)
		time.Sleep(11 * time.Minute) // the fifth was due after 8 min 30 s
		synctest.Wait()
		d := r.detail("match:" + id)
		if d.Job.State != engine.Scheduled || d.Job.Hold != engine.HoldOutage || d.Job.Tries != 4 || len(r.callsFor(route.Match, id)) != 4 {
			t.Errorf("after 11 minutes: %s %s, try %d, %d calls", d.Job.State, d.Job.Hold, d.Job.Tries, len(r.callsFor(route.Match, id)))
		}
		r.settle("Alone#EUW", time.Hour)
		calls := r.callsFor(route.Match, id)
		if len(calls) != 5 {
			t.Fatalf("%d calls, want 5", len(calls))
		}
		if last := calls[4].At.Sub(began); last < 17*time.Minute || last > 17*time.Minute+10*time.Second {
			t.Errorf("the last attempt was made after %s, want 17 minutes", last)
		}
		if m := r.match(id); m.Match.Status != league.PermanentlyUnfetchable || m.Match.Attempts != 5 {
			t.Errorf("the match: %+v", m.Match)
		}
	})
}

// As soon as something else on the host succeeds, the last attempt is made.
func TestLastAttemptGoesOnWhenTheHostAnswers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, id, began := lonely(t)
		time.Sleep(10 * time.Minute)
		r.trigger("Other#EUW", engine.SyncAsk{Timelines: "none"})
		r.settle("Other#EUW", time.Minute)
		r.settle("Alone#EUW", time.Hour)
		calls := r.callsFor(route.Match, id)
		if len(calls) != 5 {
			t.Fatalf("%d calls, want 5", len(calls))
		}
		if last := calls[4].At.Sub(began); last < 10*time.Minute || last > 11*time.Minute+time.Second {
			t.Errorf("the last attempt was made after %s, want within a minute of the answer", last)
		}
	})
}
