package ingest_test

import (
	"context"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// TestI1_TheEndThatIsToldIsWhenItStarts: what a job in line is told of its start
// is what the tightest limit lets happen, from the first seconds on: it begins
// within a window of the limit.
func TestI1_TheEndThatIsToldIsWhenItStarts(t *testing.T) {
	for name, app := range map[string][]sim.Limit{
		"20:10":        {{N: 20, Per: 10 * time.Second}},
		"20:1,100:120": {{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := start(t, newSim(sim.Options{Limits: sim.Limits{App: app}, Players: []sim.PlayerSpec{short("Ana#EUW", 250)}}))
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored > 0 })
				told := r.told()
				if len(told) < 150 {
					t.Fatalf("only %d jobs wait", len(told))
				}
				r.settle("Ana#EUW", 20*time.Minute)
				for id, until := range told {
					if off := r.began(id).Sub(until); off.Abs() > app[len(app)-1].Per {
						t.Errorf("job %s began %v after what was told", id, off)
					}
				}
			})
		})
	}
}

// told is when the jobs in line begin, as the engine tells it now.
func (r *rig) told() map[engine.JobID]time.Time {
	r.t.Helper()
	told := map[engine.JobID]time.Time{}
	for _, j := range r.available() {
		why, until, place := r.backend.Why(j)
		if place > 0 && until.IsZero() {
			r.t.Errorf("%s, %q: place %d has no end", j.Key, why, place)
		}
		told[j.ID] = until
	}
	return told
}

// available are the jobs that could run now but for their limits.
func (r *rig) available() []engine.Job {
	r.t.Helper()
	q := engine.JobsQuery{States: []engine.State{engine.Available}, Page: engine.Page{Limit: 500}}
	jobs, _, _, err := r.db.Jobs(context.Background(), q)
	must(r.t, err)
	return jobs
}

func (r *rig) began(id engine.JobID) time.Time {
	r.t.Helper()
	d, err := r.db.Detail(context.Background(), engine.JobQuery{ID: id})
	must(r.t, err)
	return d.Attempts[0].Start
}

// TestPoliciesOfKindsAreWhatScreensSay: a job without a policy of its own has its
// kind's, and engine.PolicyName tells the same without an engine.
func TestPoliciesOfKindsAreWhatScreensSay(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{}))
		for _, k := range r.in.Kinds() {
			if got := engine.PolicyName(&engine.Job{Kind: k.Kind}); got != k.Policy {
				t.Errorf("%s: %s, want %s", k.Kind, got, k.Policy)
			}
		}
		if got := engine.PolicyName(&engine.Job{Kind: engine.KindCall}); got != engine.PolicyCall {
			t.Errorf("a call has the policy %s", got)
		}
	})
}
