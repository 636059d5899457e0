package app

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// TestW10a_ASyncIsOneAttempt: however often it has waited for its matches; where an attempt fails
// there is another.
func TestW10a_ASyncIsOneAttempt(t *testing.T) {
	who := player("Blue Heron#EUW", 12)
	inAlertRig(t, quick(who), func(t *testing.T, r *alertRig) {
		for _, want := range []int{1, 2} {
			if want == 2 {
				if err := r.sim.Inject(sim.Fault{Kind: sim.EmptyObject, Count: 1, Match: sim.Match{Method: route.MatchIDs}}); err != nil {
					t.Fatal(err)
				}
			}
			job := r.do(engine.Command{Op: engine.OpTrigger, Account: who.RiotID,
				Sync: engine.SyncAsk{Platform: "euw1", Mode: "full", Force: true}}).Job
			for range 600 {
				d := ask[engine.JobDetail](t, r.front, engine.JobQuery{ID: job})
				if got := d.Job.Tried(); d.Job.State.Terminal() {
					if d.Job.State != engine.Completed || got != want || d.Job.Phase == 0 {
						t.Errorf("%s after %d attempts in %d phases, want %d", d.Job.State, got, d.Job.Phase, want)
					}
					break
				} else if got > want {
					t.Errorf("%d attempts, want %d", got, want)
				}
				time.Sleep(100 * time.Millisecond)
			}
			time.Sleep(time.Minute)
		}
		if m := ask[engine.Metrics](t, r.front, engine.MetricsQuery{Kind: "account.sync"}); m.MeanAttempts != 1.5 {
			t.Errorf("a mean of %g attempts, want 1.5", m.MeanAttempts)
		}
	})
}

// TestW10e_RetryingIsOneNumber: what waits for its instant, and what stands in line since, are counted
// by the engine's row as the list of retries has them.
func TestW10e_RetryingIsOneNumber(t *testing.T) {
	who := player("Blue Heron#EUW", 12)
	inAlertRig(t, quick(who), func(t *testing.T, r *alertRig) {
		if err := r.sim.Inject(sim.Fault{Kind: sim.EmptyObject, Match: sim.Match{Method: route.Match}}); err != nil {
			t.Fatal(err)
		}
		r.do(engine.Command{Op: engine.OpTrigger, Account: who.RiotID, Sync: engine.SyncAsk{Platform: "euw1", Mode: "full"}})
		time.Sleep(10 * time.Second)
		for _, state := range []engine.State{engine.Retryable, engine.Available} {
			jobs := ask[engine.JobsPage](t, r.front, engine.JobsQuery{States: []engine.State{state}}).Jobs
			n := 0
			for _, j := range jobs {
				if j.Retrying() {
					n++
				}
			}
			s := ask[engine.StatusAnswer](t, r.front, engine.StatusQuery{})
			if n != 12 || s.Engine.Retrying != n {
				t.Errorf("%s: %d jobs wait for another try, the engine says %d; want 12", state, n, s.Engine.Retrying)
			}
			for _, q := range s.Queues {
				r.do(engine.Command{Op: engine.OpPause, Queue: q.Name, Reason: "a test"})
			}
			time.Sleep(time.Minute)
		}
	})
}
