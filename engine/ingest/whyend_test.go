package ingest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/riot/sim"
)

// TestI1_TheEndOfWhatHasNoKnownEnd: what stands in line behind an outage or a refused key
// is told when that is looked at again, never an instant that the limits alone would give;
// behind a freeze without an end none at all.
func TestI1_TheEndOfWhatHasNoKnownEnd(t *testing.T) {
	const slowest = time.Minute // between two probes
	for name, tc := range map[string]struct {
		breaks func(r *rig)
		why    string
		probed bool
	}{
		"outage":   {func(r *rig) { must(r.t, r.sim.Inject(sim.Fault{Name: "down", Kind: sim.Unavailable})) }, "outage of europe/match-v5.match", true},
		"key":      {func(r *rig) { r.sim.ExpireKeys() }, "key invalid", true},
		"freeze":   {func(r *rig) { must(r.t, r.limits.Freeze(engine.Bucket{Host: "europe"}, "")) }, "app:europe frozen by an operator", false},
		"freeze 2": {func(r *rig) { must(r.t, r.limits.Freeze(engine.Bucket{Host: "europe", Method: "match-v5.match"}, "")) }, "match-v5.match:europe frozen by an operator", false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				dev := sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}}}
				r := start(t, newSim(sim.Options{Limits: dev, Players: []sim.PlayerSpec{player("Ana#EUW", 250)}}))
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored > 0 })
				tc.breaks(r)
				for range 100 { // until every line has met it, whatever the pace
					if time.Sleep(3 * time.Second); r.allWait(tc.why) {
						break
					}
				}
				if !r.allWait(tc.why) {
					t.Fatalf("jobs do not wait for %q", tc.why)
				}
				for _, j := range r.available() {
					_, until, place := r.backend.Why(j)
					if tc.probed && !until.IsZero() && time.Until(until) > slowest || !tc.probed && !until.IsZero() {
						t.Errorf("job %d in line is told %s from now", place, time.Until(until))
					}
				}
			})
		})
	}
}

// allWait reports whether every available job has a reason.
func (r *rig) allWait(why string) bool {
	r.t.Helper()
	for _, j := range r.available() {
		if got, _, _ := r.backend.Why(j); !strings.HasPrefix(got, why) {
			return false
		}
	}
	return true
}

// TestI1_TimelinesAreToldTheirEndBehindMatches: a method that was not called yet goes by
// the limits of its host.
func TestI1_TimelinesAreToldTheirEndBehindMatches(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		dev := sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}}}
		r := start(t, newSim(sim.Options{Limits: dev, Players: []sim.PlayerSpec{player("Ana#EUW", 250)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.until("Ana#EUW", 2*time.Minute, func(row engine.AccountRow) bool { return row.Timelines.Open > 5 })
		timelines := 0
		for _, j := range r.available() {
			why, until, place := r.backend.Why(j)
			if !strings.HasPrefix(j.Key, "timeline:") {
				continue
			}
			if timelines++; until.Before(time.Now().Add(2 * time.Minute)) {
				t.Errorf("%s, %q: job %d in line behind 150 matches is told %s", j.Key, why, place, until)
			}
		}
		if timelines == 0 {
			t.Error("no timeline waits")
		}
	})
}
