package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// TestI3_OneBucketSetsThePace: the readings, the estimate and the reason of the queue's
// head name the same bucket while a long sync is paced: the slowest one on its way, and
// not the one that is full for an instant.
func TestI3_OneBucketSetsThePace(t *testing.T) {
	for _, c := range []struct {
		name   string
		method sim.Limit
		want   string // of the limiter
		limit  int
	}{
		{"application", sim.Limit{N: 2000, Per: 10 * time.Second}, "app:europe 120s", 100},
		{"method", sim.Limit{N: 30, Per: time.Minute}, "match-v5.match:europe 60s", 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := start(t, newSim(sim.Options{
					Limits: sim.Limits{
						App:     []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}},
						Methods: map[route.Method][]sim.Limit{route.Match: {c.method}},
					},
					Players: []sim.PlayerSpec{player("Ana#EUW", 260)},
				}))
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				r.until("Ana#EUW", 10*time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored > 60 })
				seen := 0
				for range 50 {
					time.Sleep(1700 * time.Millisecond)
					rows := r.limits.Rows()
					b, ok := rows.Pacing("")
					if !ok || b.Name != c.want || b.Limit != c.limit || b.Waiting == 0 {
						t.Fatalf("the readings name %+v", b)
					}
					if e := forecast.ETA(r.limits.Outlook("europe"), string(route.Match), b.Waiting); e.Bucket != c.want {
						t.Fatalf("the estimate names %q", e.Bucket)
					}
					for _, q := range r.backend.Queues() {
						if q.Why == "" {
							continue
						}
						seen++
						if scope, _, _ := strings.Cut(c.want, " "); !strings.HasPrefix(q.Why, scope+" ") || !strings.Contains(q.Why, fmt.Sprintf("/%d", c.limit)) {
							t.Errorf("the head of %s waits for %q", q.Name, q.Why)
						}
					}
				}
				if seen < 10 {
					t.Errorf("a reason was seen %d times", seen)
				}
			})
		})
	}
}

// TestLimitsBeginWithTheBusiestHost: what has the most in line comes first, whatever it is called, and when nothing
// waits what was called last; each host has one bucket that sets the pace.
func TestLimitsBeginWithTheBusiestHost(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		bo := player("Bo#KR1", 20)
		bo.Platform = "kr"
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 200), bo}}))
		r.trigger("Bo#KR1", engine.SyncAsk{Platform: "kr", Timelines: "none"})
		r.settle("Bo#KR1", time.Hour)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", 10*time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored > 10 })
		rows, paces := r.limits.Rows(), map[string]int{}
		if rows.Hosts[0].Host != "europe" || rows.Buckets[0].Host != "europe" || len(rows.Hosts) < 2 {
			t.Errorf("the hosts are %+v", rows.Hosts)
		}
		for _, b := range rows.Buckets {
			if b.Paces {
				paces[b.Host]++
			}
		}
		for _, h := range rows.Hosts {
			if paces[h.Host] != 1 {
				t.Errorf("%s has %d buckets that set the pace", h.Host, paces[h.Host])
			}
		}
		r.settle("Ana#EUW", time.Hour)
		if rows := r.limits.Rows(); rows.Buckets[0].Host != "europe" || rows.Buckets[0].Waiting > 0 {
			t.Errorf("nothing waits, and first stands %+v", rows.Buckets[0])
		}
	})
}
