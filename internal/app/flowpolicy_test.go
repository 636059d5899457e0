package app

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/ui/cli"
)

// TestFlow_TriesAndDelaysAreThoseInForce: with FARSIGHT_RETRY_MATCH=10s,10s every surface
// says three tries and ten seconds: the console's screens, the lists, the queries, and what is told where no engine runs.
func TestFlow_TriesAndDelaysAreThoseInForce(t *testing.T) {
	t.Parallel()
	who := flowPlayer("Blue Heron#FLOW", 6)
	inFlowWith(t, quick(who), map[string]string{"FARSIGHT_RETRY_MATCH": "10s,10s"}, func(f *flow) {
		id := f.sim.MatchIDs(who.RiotID)[0]
		if err := f.sim.Inject(sim.Fault{Kind: sim.EmptyObject, Match: sim.Match{Method: route.Match, ID: id}}); err != nil {
			t.Fatal(err)
		}
		screen := f.sit("ana", 120, 40)
		defer screen.leave()
		f.sync(who)
		f.until("the first failure", time.Minute, f.state(id, engine.Retryable))
		screen.press("4")
		screen.sees("2nd, after 10 s", "3rd, after 10 s")
		screen.misses("4th, after")
		screen.press("3", "b")
		screen.sees("1/3")
		screen.press("enter")
		screen.sees("1 of 3 tries used", "if it fails, +10 s")
		f.until("the second failure", time.Minute, func() bool { j := f.job("match:" + id).Job; return j.Tries == 2 && j.State == engine.Retryable })
		wants := func(from engine.Console, where string) {
			t.Helper()
			j := ask[engine.JobDetail](t, from, engine.JobQuery{Key: "match:" + id})
			list := ask[engine.JobsPage](t, from, engine.JobsQuery{Text: id}).Jobs
			if j.MaxAttempts != 3 || j.Job.Delay != 10*time.Second || len(list) != 1 || list[0].MaxAttempts != 3 || list[0].Delay != 10*time.Second {
				t.Errorf("%s: %d attempts after %s, of the list %+v", where, j.MaxAttempts, j.Job.Delay, list)
			}
		}
		wants(f.task.front, "the engine")
		var out bytes.Buffer
		if err := cli.Retries("").Show(t.Context(), f.task.front, cli.Out{W: &out, JSON: true}); err != nil {
			t.Fatal(err)
		}
		var line struct {
			MaxAttempts int   `json:"max_attempts"`
			Delay       int64 `json:"delay_ns"`
		}
		if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.MaxAttempts != 3 || line.Delay != int64(10*time.Second) {
			t.Errorf("retries --json: %s, %v", out.String(), err)
		}
		wants(browser(t.Context(), f.task.store, f.config()), "without an engine")
		f.until("the end", time.Minute, f.state(id, engine.Discarded))
		if j := f.job("match:" + id); len(j.Attempts) != 3 {
			t.Errorf("%d attempts were made", len(j.Attempts))
		}
		if m := ask[engine.Metrics](t, f.task.front, engine.MetricsQuery{}); m.AtMax != 1 {
			t.Errorf("%d jobs are at their maximum: %+v", m.AtMax, m)
		}
	})
}
