package ingest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// asksAgain is RETRY_404_AGAIN as it ships.
func asksAgain(set *setup) {
	set.ingest.AskAgain = []time.Duration{time.Hour, 24 * time.Hour, 168 * time.Hour}
}

// sweeps lets the sweep run so many times, one in each span.
func (r *rig) sweeps(n int, every time.Duration) {
	for range n {
		time.Sleep(every)
		r.fire("sweep")
		r.ends("sweep", time.Minute)
	}
}

// TestB3b_AMissingMatchIsAskedForAgain at each age of the setting, with one call each whatever RETRY_404 says; the
// sync that misses it is complete when it comes.
func TestB3b_AMissingMatchIsAskedForAgain(t *testing.T) {
	ages := []time.Duration{0, 10 * time.Minute, time.Hour, 3 * time.Hour}
	for name, c := range map[string]struct {
		missing int // answers; 0 = all
		table   bool
		first   int // calls of the sync
	}{"first": {1, false, 1}, "second": {2, false, 1}, "third": {3, false, 1}, "never": {0, false, 1}, "by table": {0, true, 5}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 5)}})
				id := s.MatchIDs("Ana#EUW")[2]
				must(t, s.Inject(fails(sim.NotFound, id, c.missing)))
				r := start(t, s, func(set *setup) { set.ingest.RetryMissing, set.ingest.AskAgain = c.table, ages[1:] })
				r.trigger("Ana#EUW", engine.SyncAsk{})
				if row := r.settle("Ana#EUW", time.Hour); row.Result != "incomplete" || row.Matches.Failed != 1 {
					t.Fatalf("%s %+v", row.Result, row.Matches)
				}
				r.sweeps(20, 15*time.Minute)
				calls := r.callsFor(route.Match, id)[c.first-1:]
				row := r.settle("Ana#EUW", time.Minute)
				if c.missing == 0 {
					if len(calls) != len(ages) || row.Result != "incomplete" || row.Matches.Failed != 1 {
						t.Errorf("%d calls, %s %+v", len(calls), row.Result, row.Matches)
					}
				} else if len(calls) != c.missing+1 || row.Result != "completed" || row.Matches.Stored+row.Matches.Had != 5 || row.Timelines.Stored != 5 {
					t.Errorf("%d calls, %s %+v %+v", len(calls), row.Result, row.Matches, row.Timelines)
				}
				for i, call := range calls {
					if late := call.At.Sub(r.match(id).Listed) - ages[i]; late < 0 || late > 20*time.Minute {
						t.Errorf("call %d came %v after it was due", i, late)
					}
				}
			})
		})
	}
}

// TestB3b_TheFirstOfAWaveComeBack: those that were believed before the wave was recognised.
func TestB3b_TheFirstOfAWaveComeBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, began := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 30)}, Limits: tight}), time.Now()
		r := start(t, s, asksAgain, func(set *setup) {
			set.workers = 1
			set.transport = answering{s.RoundTripper(), func(req *http.Request) (int, string) {
				if time.Since(began) < 20*time.Minute && strings.Contains(req.URL.Path, "/matches/EUW1_") {
					return 404, `{"status":{"message":"Data not found","status_code":404}}`
				}
				return 0, ""
			}}
		})
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		if row := r.settle("Ana#EUW", 3*time.Hour); row.Result != "incomplete" || row.Matches.Failed != 4 {
			t.Fatalf("%s %+v", row.Result, row.Matches)
		}
		r.sweeps(1, time.Hour)
		if want := "4 matches are tried again; 4 of the 4 were not found before"; !hasReason(r.detail("sweep").History, want) {
			t.Errorf("%+v, want %q", r.detail("sweep").History, want)
		}
		if row := r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool { return row.Matches.Stored+row.Matches.Had == 30 }); row.Result != "completed" {
			t.Errorf("%s %+v", row.Result, row.Matches)
		}
	})
}

// TestB3b_WhatIsStillMissingIsNoWave: each costs one call although all are missing, and the next match that is new and
// missing is believed at once.
func TestB3b_WhatIsStillMissingIsNoWave(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 10), short("Ben#EUW", 1)}})
		must(t, s.Inject(sim.Fault{Kind: sim.NotFound, Match: sim.Match{Method: route.Match}}))
		r := start(t, s, asksAgain, func(set *setup) { set.workers = 1 })
		r.strays(r.track("Ana#EUW", engine.SyncAsk{}).Account, s.MatchIDs("Ana#EUW")...)
		for _, id := range s.MatchIDs("Ana#EUW") {
			r.givenUp(id, league.Fetch{Attempts: 1, LastClass: "404"}, 0, 0)
		}
		r.sweeps(3, time.Hour)
		if n := r.calls(route.Match); n != 10 {
			t.Errorf("%d calls", n)
		}
		r.trigger("Ben#EUW", engine.SyncAsk{Timelines: "none"})
		if row := r.settle("Ben#EUW", time.Minute); row.Matches.Failed != 1 {
			t.Errorf("%+v", row.Matches)
		}
	})
}

// givenUp makes a match one that was given up, so long ago, after so long in the list.
func (r *rig) givenUp(id string, f league.Fetch, listed, tried time.Duration) {
	r.t.Helper()
	must(r.t, r.db.Write(context.Background(), func(tx engine.Tx) error {
		m, err := r.db.Match(tx, id)
		must(r.t, err)
		f.Status, f.LastAttemptAt = league.PermanentlyUnfetchable, time.Now().Add(-tried)
		m.Listed, m.Match = time.Now().Add(-listed), f
		return r.db.SaveMatch(tx, m, false)
	}))
}

// TestB3b_OnlyWhatWasNotFound is asked for again, unless an operator has cancelled it, and not for ever. A match whose
// first attempt came after all of the ages has its turn, too.
func TestB3b_OnlyWhatWasNotFound(t *testing.T) {
	missing := league.Fetch{Attempts: 1, LastClass: "404"}
	again := league.Fetch{Attempts: 2, LastClass: "404"}
	for name, c := range map[string]struct {
		fetch         league.Fetch
		listed, tried time.Duration
		calls         int
	}{
		"within the hour":    {missing, 50 * time.Minute, 49 * time.Minute, 0},
		"after an hour":      {missing, 61 * time.Minute, 60 * time.Minute, 1},
		"again that day":     {again, 23 * time.Hour, 2 * time.Hour, 0},
		"again after a day":  {again, 25 * time.Hour, 2 * time.Hour, 1},
		"again that week":    {again, 160 * time.Hour, 100 * time.Hour, 0},
		"again after a week": {again, 170 * time.Hour, 100 * time.Hour, 1},
		"a week ago":         {again, 1000 * time.Hour, 800 * time.Hour, 0},
		"a month's queue":    {missing, 1000 * time.Hour, 2 * time.Hour, 1},
		"unavailable":        {league.Fetch{Attempts: 1, LastClass: "503"}, 25 * time.Hour, 24 * time.Hour, 0},
		"cancelled":          {league.Fetch{Attempts: 1, LastClass: "404", Cancelled: league.CancelledAlone}, 25 * time.Hour, 24 * time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 1)}})
				must(t, s.Inject(sim.Fault{Kind: sim.NotFound, Match: sim.Match{Method: route.Match}}))
				r := start(t, s, asksAgain)
				id := s.MatchIDs("Ana#EUW")[0]
				r.strays(r.track("Ana#EUW", engine.SyncAsk{}).Account, id)
				r.givenUp(id, c.fetch, c.listed, c.tried)
				r.sweeps(2, time.Second)
				if n := r.calls(route.Match); n != c.calls {
					t.Errorf("asked for %d times, want %d", n, c.calls)
				}
			})
		})
	}
}
