package ingest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/riot/route"
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
		"outage":   {func(r *rig) { must(r.t, r.sim.Inject(sim.Fault{Name: "down", Kind: sim.Unavailable})) }, "match calls to europe fail", true},
		"key":      {func(r *rig) { r.sim.ExpireKeys() }, engine.KeyRefused, true},
		"freeze":   {func(r *rig) { must(r.t, r.limits.Freeze(engine.Bucket{Host: "europe"}, "")) }, "europe is frozen by an operator", false},
		"freeze 2": {func(r *rig) { must(r.t, r.limits.Freeze(engine.Bucket{Host: "europe", Method: "match-v5.match"}, "")) }, "match calls to europe are frozen by an operator", false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				dev := sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}}}
				r := start(t, newSim(sim.Options{Limits: dev, Players: []sim.PlayerSpec{short("Ana#EUW", 250)}}))
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
		r := start(t, newSim(sim.Options{Limits: dev, Players: []sim.PlayerSpec{short("Ana#EUW", 250)}}))
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

// TestI7c_WhatIsDownGoesBeforeNobody: while matches are down timelines go as the limits let them, and the first in line is
// told so, though a thousand matches have a better rank; behind those that an operator has frozen likewise.
func TestI7c_WhatIsDownGoesBeforeNobody(t *testing.T) {
	for name, stops := range map[string]func(r *rig){
		"outage": func(r *rig) {
			must(r.t, r.sim.Inject(sim.Fault{Kind: sim.Unavailable, Match: sim.Match{Method: route.Match}}))
		},
		"freeze": func(r *rig) { must(r.t, r.limits.Freeze(engine.Bucket{Host: "europe", Method: "match-v5.match"}, "")) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				dev := sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}}}
				r := start(t, newSim(sim.Options{Limits: dev, Players: []sim.PlayerSpec{short("Ana#EUW", 1000)}}))
				r.trigger("Ana#EUW", engine.SyncAsk{})
				r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool { return row.Timelines.Open == 150 })
				stops(r)
				told := 0
				for range 60 {
					time.Sleep(time.Second)
					if r.limits.Held("europe/match-v5.match+").Reason == "" {
						continue
					}
					for _, j := range r.available() {
						if j.Kind != ingest.KindTimeline {
							continue
						}
						if why, until, place := r.backend.Why(j); place == 1 {
							if told++; time.Until(until) > time.Minute {
								t.Fatalf("%q: the first in line goes in %v", why, time.Until(until))
							}
						}
					}
				}
				if told == 0 {
					t.Error("no timeline was first in line")
				}
			})
		})
	}
}

// What stands before any limit is the reason of every job that has not begun, as soon as it
// does, whatever the job was told before: in line, sent back, or to be tried again. Where it is
// over, no row says so any more.
func TestI1_WhatStandsBeforeTheLimitsIsTheReason(t *testing.T) {
	dev := sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 2 * time.Minute}}}
	for name, tc := range map[string]struct {
		breaks, mends func(r *rig)
		why           string
		stand         engine.Stand
	}{
		"outage": {
			func(r *rig) {
				must(r.t, r.sim.Inject(sim.Fault{Kind: sim.Unavailable, Match: sim.Match{Method: route.Match}}))
			},
			func(r *rig) { r.sim.Clear() }, "match calls to europe fail", engine.StandDown,
		},
		"key": {func(r *rig) { r.sim.ExpireKeys() }, nil, engine.KeyRefused, engine.StandHeld},
		"pause": {
			func(r *rig) { r.pause(ingest.QueueFull) },
			func(r *rig) {
				_, err := r.backend.Resume(context.Background(), ingest.QueueFull, operator, "")
				must(r.t, err)
			}, "queue paused by ana", engine.StandPaused,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Limits: dev, Players: []sim.PlayerSpec{short("Ana#EUW", 250)}})
				breakFor(t, s, s.MatchIDs("Ana#EUW")[:3]) // some are to be tried again
				r := start(t, s)
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored > 5 })
				tc.breaks(r)
				for range 600 {
					if time.Sleep(time.Second); r.backend.Held(r.waiting()[0]).Stand != "" {
						break
					}
				}
				later := 0
				for _, j := range r.waiting() {
					why, until, _ := r.backend.Why(j)
					if held := r.backend.Held(j); why != tc.why || held.Stand != tc.stand {
						t.Errorf("%s, %s: %q %s", j.Key, j.State, why, held.Stand)
					}
					if j.State != engine.Available {
						if later++; !until.IsZero() && until.Before(j.Due) {
							t.Errorf("%s ends %s, before it is due at %s", j.Key, until, j.Due)
						}
					}
				}
				if later == 0 {
					t.Error("no job waits for an instant")
				}
				if tc.mends == nil {
					return
				}
				tc.mends(r)
				time.Sleep(3 * time.Minute)
				for _, j := range r.waiting() {
					if why, _, _ := r.backend.Why(j); why == tc.why || r.backend.Held(j).Stand != "" {
						t.Errorf("when it is over %s, %s: %q", j.Key, j.State, why)
					}
				}
			})
		})
	}
}

func (r *rig) pause(q engine.Queue) {
	r.t.Helper()
	_, err := r.backend.Pause(context.Background(), q, operator, "")
	must(r.t, err)
}

// waiting are the matches that have not begun.
func (r *rig) waiting() (jobs []engine.Job) {
	r.t.Helper()
	for j, err := range r.db.Live(context.Background()) {
		must(r.t, err)
		if j.Kind == ingest.KindMatch && j.State != engine.Running {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// An endpoint that is down is a row of the limits for as long as it is, with when it is tried
// next and how much stands behind it.
func TestI7_AnOpenBreakerIsARowOfLimits(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 40)}})
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored > 5 })
		if rows := r.limits.Rows().Breakers; len(rows) != 0 {
			t.Errorf("before: %+v", rows)
		}
		began := time.Now()
		over := down(t, s, 10*time.Minute)
		time.Sleep(2 * time.Minute)
		rows := r.limits.Rows().Breakers
		if len(rows) != 1 || rows[0].Host != "europe" || rows[0].Method != "match-v5.match" || !rows[0].Proven {
			t.Fatalf("%+v", rows)
		}
		if b := rows[0]; b.Since.Sub(began) > time.Minute || !b.Next.IsZero() && time.Until(b.Next) > time.Minute || b.Waiting < 20 {
			t.Errorf("%+v", b)
		}
		time.Sleep(time.Until(over) + 2*time.Minute)
		if rows := r.limits.Rows().Breakers; len(rows) != 0 {
			t.Errorf("after: %+v", rows)
		}
	})
}
