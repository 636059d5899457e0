package ingest_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
)

// A timeline that was young enough when it was wanted may be too old when its turn
// comes: it is asked for no more, and nobody misses it.
func TestS0_4_ATimelineThatExpiresWhileItWaitsIsNotFetched(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 6)}}) // a game every 8 hours
		r := start(t, s, func(set *setup) { set.ingest.Timelines = league.Span{Days: 1}; set.workers = 1 })
		must(t, r.limits.Freeze(engine.Bucket{Host: "europe", Method: "match-v5.timeline", Until: time.Now().Add(12 * time.Hour)}, ""))
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Phase == engine.PhaseTimelines })
		if row.Timelines.Open < 2 || row.Timelines.TooOld == 0 {
			t.Fatalf("%+v", row.Timelines)
		}
		row = r.settle("Ana#EUW", 24*time.Hour)
		expired := 0
		for _, id := range s.MatchIDs("Ana#EUW") {
			m := r.match(id)
			old := time.Since(m.Played) > 24*time.Hour
			if old {
				expired++
			}
			if delivered := s.Fetched(route.Timeline, id).OK; old != (delivered == 0) || old != (m.Timeline.Status == league.OutsideRetentionWindow) {
				t.Errorf("%s, played %v ago: delivered %d times, %s", id, time.Since(m.Played), delivered, m.Timeline.Status)
			}
		}
		if row.Result != "completed" || expired <= row.Timelines.TooOld || expired == 6 {
			t.Errorf("%s, %d expired, %+v", row.Result, expired, row.Timelines)
		}
	})
}

// countingStore counts the reports that are saved.
type countingStore struct {
	*storage.DB
	reports *atomic.Int32
}

func (s countingStore) SaveReport(tx engine.Tx, r engine.PlayReport) error {
	s.reports.Add(1)
	return s.DB.SaveReport(tx, r)
}

// S3-2, S3-6: the report is built once, when the last match is there and before the
// timelines, and each phase of the sync runs once.
func TestS3_6_TheAggregatorRunsOnce(t *testing.T) {
	for name, asks := range map[string]struct {
		matches int
		ask     engine.SyncAsk
		steps   string
	}{
		// resolve, the list, what lies behind it, the list beyond retention, report, end, what lies behind the list
		"with timelines": {24, engine.SyncAsk{}, "[0 1 2 3 4 5 6]"}, "without": {24, engine.SyncAsk{Timelines: "none"}, "[0 1 2 3 4 5 6]"},
		"no match": {0, engine.SyncAsk{}, "[0 1 2 3 4 5]"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var reports atomic.Int32
				s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", asks.matches)}})
				r := start(t, s, func(set *setup) {
					set.store = func(db *storage.DB) ingest.Store { return countingStore{db, &reports} }
				})
				job := r.trigger("Ana#EUW", asks.ask).Job
				row := r.settle("Ana#EUW", time.Hour)
				time.Sleep(time.Hour)
				d := r.detail("full:" + row.ID)
				if reports.Load() != 1 || r.completions(job) != 1 {
					t.Errorf("%d reports were built, the sync completed %d times", reports.Load(), r.completions(job))
				}
				var phases []int
				for _, a := range d.Attempts {
					phases = append(phases, a.Phase)
				}
				if fmt.Sprint(phases) != asks.steps {
					t.Errorf("its attempts were in the phases %v", phases)
				}
			})
		})
	}
}

// S4-8: a Riot ID is resolved once a day.
func TestS4_8_ARiotIDIsResolvedOnceADay(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{short("Ana#EUW", 1)}}))
		asked := func() int { return r.calls(route.AccountByRiotID) + r.calls(route.AccountByPUUID) }
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{0, 1}, {time.Hour, 1}, {22*time.Hour + 50*time.Minute, 1}, {20 * time.Minute, 2}, {23 * time.Hour, 2}, {2 * time.Hour, 3}} {
			time.Sleep(step.after)
			r.trigger("Ana#EUW", engine.SyncAsk{})
			r.settle("Ana#EUW", time.Minute)
			if asked() != step.want {
				t.Errorf("%v later: resolved %d times, want %d", step.after, asked(), step.want)
			}
		}
	})
}

// refusingStore refuses once to store a part: its payload, or its state when the payload is on disk and nothing
// names it.
type refusingStore struct {
	*storage.DB
	part    league.Part
	payload bool
	refused *atomic.Int32
}

var errNotThisTime = fmt.Errorf("not this time: %w", engine.ErrRefused)

func (s refusingStore) SaveMatch(tx engine.Tx, m league.Match, byOperator bool) error {
	if !s.payload && m.Of(s.part).Status == league.Success && s.refused.CompareAndSwap(0, 1) {
		return errNotThisTime
	}
	return s.DB.SaveMatch(tx, m, byOperator)
}

func (s refusingStore) PutPayload(ctx context.Context, match string, p league.Part, ref league.PayloadRef, body []byte) error {
	if s.payload && p == s.part && s.refused.CompareAndSwap(0, 1) {
		return errNotThisTime
	}
	return s.DB.PutPayload(ctx, match, p, ref, body)
}

// eachRefused syncs an account whose store refuses once to store a part, as payload says, and gives the rig and the
// ids of its matches, all of which are stored in the end.
func eachRefused(t *testing.T, payload bool, look func(t *testing.T, r *rig, part league.Part, ids []string)) {
	for _, part := range []league.Part{league.PartMatch, league.PartTimeline} {
		t.Run(string(part), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var refused atomic.Int32
				s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 4)}})
				r := start(t, s, func(set *setup) {
					set.store = func(db *storage.DB) ingest.Store { return refusingStore{db, part, payload, &refused} }
				})
				r.trigger("Ana#EUW", engine.SyncAsk{})
				row := r.settle("Ana#EUW", time.Hour)
				if refused.Load() != 1 || row.Result != "completed" || row.Matches.Stored != 4 || row.Timelines.Stored != 4 {
					t.Errorf("%+v %+v", row.Matches, row.Timelines)
				}
				look(t, r, part, s.MatchIDs("Ana#EUW"))
			})
		})
	}
}

// P3: whatever kept the state from being written, a payload that is on disk is adopted
// by the next attempt.
func TestP3_APayloadIsDeliveredOnceThoughItsStateIsRefused(t *testing.T) {
	methods := map[league.Part]route.Method{league.PartMatch: route.Match, league.PartTimeline: route.Timeline}
	eachRefused(t, false, func(t *testing.T, r *rig, part league.Part, ids []string) {
		for _, id := range ids {
			if n := len(r.callsFor(methods[part], id)); n != 1 {
				t.Errorf("%s of %s was asked for %d times", part, id, n)
			}
		}
	})
}

// B-19e: what could not be stored is no match that is stored: the next attempt asks for it again.
func TestB19e_APayloadComesBeforeItsState(t *testing.T) {
	eachRefused(t, true, func(t *testing.T, r *rig, part league.Part, ids []string) {
		for _, id := range ids {
			if _, err := r.db.Raw(context.Background(), id, part); err != nil {
				t.Error(err)
			}
		}
	})
}

// P3: a timeline that a kill left without a state is adopted, as a match is.
func TestP3_ATimelineWithoutAStateIsAdoptedAfterAKill(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 12)}})
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool {
			running, _, _, err := r.db.Jobs(context.Background(), engine.JobsQuery{States: []engine.State{engine.Running}})
			must(t, err)
			return slices.ContainsFunc(running, func(j engine.Job) bool { return j.Kind == ingest.KindTimeline })
		})
		dir, before := r.leftBehind(ingest.KindTimeline)
		r = open(t, s, dir)
		if row := r.settle("Ana#EUW", time.Hour); row.Result != "completed" || row.Timelines.Stored != 12 || len(before) == 0 {
			t.Errorf("%d in flight, %+v", len(before), row.Timelines)
		}
		for _, id := range before {
			if n := s.Fetched(route.Timeline, id).OK; n != 1 {
				t.Errorf("the timeline of %s was delivered %d times", id, n)
			}
		}
	})
}
