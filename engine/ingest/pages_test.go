package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// five are accounts beyond the second page of a narrow store.
func five(matches int) (players []sim.PlayerSpec, names []string) {
	for i := range 5 {
		name := fmt.Sprintf("Player %d#EUW", i)
		players, names = append(players, player(name, matches)), append(names, name)
	}
	return players, names
}

// Every open sync is told that it was resumed, not those of the first page alone.
func TestS1_7_EveryOpenSyncIsResumed(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		players, names := five(20)
		r := start(t, newSim(sim.Options{Limits: slow, Players: players}))
		for _, name := range names {
			r.trigger(name, engine.SyncAsk{Timelines: "none"})
		}
		for _, name := range names {
			r.until(name, time.Hour, func(row engine.AccountRow) bool { return row.Status == engine.Syncing })
		}
		r = r.crash()
		for _, name := range names {
			if row := r.row(name); row.Resumed != 1 {
				t.Errorf("%s was resumed %d times", name, row.Resumed)
			}
		}
	})
}

// After a kill the limiter counts the calls of every account since its last save: none of
// them is forgotten because its account is on a later page.
func TestP10_ARestartCountsTheCallsOfEveryAccount(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		players, names := five(100)
		s := newSim(sim.Options{
			Limits:  sim.Limits{App: []sim.Limit{{N: 4000, Per: 2 * time.Minute}}},
			Latency: sim.Latency{Base: 50 * time.Millisecond}, Players: players,
		})
		r := start(t, s)
		for _, name := range names {
			r.trigger(name, engine.SyncAsk{Timelines: "none"})
		}
		time.Sleep(2800 * time.Millisecond) // the limits are known, and the last save is most of a second ago
		r = r.crash()
		used := 0
		for _, b := range r.limits.Rows().Buckets {
			if b.Host == "europe" && b.Method == "" {
				used = max(used, b.Used)
			}
		}
		if calls := s.Stats().Calls; used < calls {
			t.Errorf("the server has counted %d calls, the limiter %d after the restart", calls, used)
		}
	})
}

// The raw view shows what Riot said in all its headers; the lists of calls, which go to
// every console at every update, do not carry them.
func TestLastCallHasAllHeaders(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 3)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.settle("Ana#EUW", time.Hour)
		calls := r.limits.Calls(engine.CallsQuery{}).Calls
		for _, c := range calls {
			if c.Headers != nil {
				t.Fatalf("a list carries the headers of call %d", c.Seq)
			}
		}
		last := r.limits.LastCall(calls[0].Job)
		if last == nil || last.Seq != calls[0].Seq {
			t.Fatalf("the last call is %+v", last)
		}
		text := strings.Join(last.Headers, "\n")
		for _, name := range []string{"Date: ", "X-App-Rate-Limit: ", "X-App-Rate-Limit-Count: ", "X-Method-Rate-Limit: ", "X-Method-Rate-Limit-Count: "} {
			if !strings.Contains(text, name) {
				t.Errorf("no %s among:\n%s", name, text)
			}
		}
	})
}
