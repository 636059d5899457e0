package ingest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// fails makes the fetch of a match fail on its first n attempts; 0 = always.
func fails(kind sim.Kind, id string, n int) sim.Fault {
	return sim.Fault{Kind: kind, Match: sim.Match{Method: route.Match, ID: id, Attempts: n}}
}

func TestS0_1_EveryStatusOfAMatchIsReached(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Retention: sim.KeepForever, Players: []sim.PlayerSpec{
			{RiotID: "Ana#EUW", Platform: route.EUW1, Matches: 8, Span: 4 * 365 * 24 * time.Hour, Shapes: []sim.Shape{"normal"}},
		}})
		ids := s.MatchIDs("Ana#EUW")
		must(t, s.Inject(fails(sim.Unavailable, ids[0], 1)))
		must(t, s.Inject(fails(sim.Unavailable, ids[1], 0)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Retrying == 2 })
		for _, id := range ids[:2] {
			if got := r.match(id).Match.Status; got != league.TemporaryFailure {
				t.Errorf("%s is %v after its first failure", id, got)
			}
		}
		row := r.settle("Ana#EUW", time.Hour)
		want := map[string]league.Status{ids[0]: league.Success, ids[1]: league.PermanentlyUnfetchable, ids[7]: league.OutsideRetentionWindow}
		for id, status := range want {
			if got := r.match(id).Match.Status; got != status {
				t.Errorf("%s ended as %v, want %v", id, got, status)
			}
		}
		if row.Result != "incomplete" || row.Status != engine.SyncCompleted {
			t.Errorf("result %s, status %s", row.Result, row.Status)
		}
	})
}

// always503 runs a sync of 6 matches of which the newest always answers 503.
func always503(t *testing.T) (r *rig, id string) {
	s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 6)}})
	id = s.MatchIDs("Ana#EUW")[0]
	must(t, s.Inject(fails(sim.Unavailable, id, 0)))
	r = start(t, s)
	r.trigger("Ana#EUW", engine.SyncAsk{})
	return r, id
}

func TestS0_2_DelaysAre30_60_120_300Seconds(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, id := always503(t)
		r.settle("Ana#EUW", time.Hour)
		calls := r.callsFor(route.Match, id)
		want := []time.Duration{30, 60, 120, 300}
		if len(calls) != len(want)+1 {
			t.Fatalf("%d calls, want 5", len(calls))
		}
		for i, d := range want {
			waited := calls[i+1].At.Sub(calls[i].At.Add(calls[i].Took))
			if waited < d*time.Second || waited > d*time.Second+200*time.Millisecond {
				t.Errorf("%v after failed attempt %d, want %v", waited, i+1, d*time.Second)
			}
		}
	})
}

func TestS0_3_FifthFailureEndsIt(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r, id := always503(t)
		row := r.settle("Ana#EUW", time.Hour)
		if row.Matches.Failed != 1 || row.Matches.Stored != 5 || row.Result != "incomplete" {
			t.Errorf("%+v", row)
		}
		d := r.detail("match:" + id)
		if d.Job.State != engine.Discarded || len(d.Attempts) != 5 || d.Job.Attempts != 5 {
			t.Errorf("job %s after %d attempts", d.Job.State, len(d.Attempts))
		}
		r = r.crash() // neither a restart nor time makes a sixth call
		time.Sleep(3 * time.Hour)
		if got := len(r.callsFor(route.Match, id)); got != 5 {
			t.Errorf("%d calls, want 5", got)
		}
		r.trigger("Ana#EUW", engine.SyncAsk{}) // nor does the next sync
		r.settle("Ana#EUW", time.Hour)
		if got := len(r.callsFor(route.Match, id)); got != 5 {
			t.Errorf("%d calls after another sync, want 5", got)
		}
		r.trigger("Ana#EUW", engine.SyncAsk{Force: true}) // a forced one opens a new round
		r.settle("Ana#EUW", time.Hour)
		m := r.match(id)
		if got := len(r.callsFor(route.Match, id)); got != 10 || m.Match.Attempts != 10 {
			t.Errorf("%d calls and %d attempts after a forced sync, want 10", got, m.Match.Attempts)
		}
	})
}

func TestS0_4_BeyondRetentionNoCallIsMade(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Retention: sim.KeepForever, Players: []sim.PlayerSpec{
			{RiotID: "Ana#EUW", Platform: route.EUW1, Matches: 40, Span: 4 * 365 * 24 * time.Hour, Shapes: []sim.Shape{"normal"}},
		}})
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Hour)
		if row.Matches.TooOld == 0 || row.Matches.Stored == 0 || row.Matches.Total != 40 {
			t.Fatalf("%+v", row.Matches)
		}
		cutoff, year := time.Now().UTC().AddDate(-2, 0, 0), time.Now().UTC().AddDate(-1, 0, 0)
		tooOld, late := 0, 0
		for _, id := range s.MatchIDs("Ana#EUW") {
			m := r.match(id)
			if m.Match.Status == league.OutsideRetentionWindow {
				tooOld++
				if n := len(r.callsFor(route.Match, id)) + len(r.callsFor(route.Timeline, id)); n != 0 {
					t.Errorf("%d calls for %s, which is too old", n, id)
				}
				continue
			}
			if m.Played.Before(cutoff) {
				t.Errorf("%s, played %v, was fetched", id, m.Played)
			}
			if n := len(r.callsFor(route.Timeline, id)); m.Played.Before(year) {
				late++
				if n != 0 || m.Timeline.Status != league.OutsideRetentionWindow {
					t.Errorf("%d calls for the timeline of %s, played %v", n, id, m.Played)
				}
			}
		}
		if row.Timelines.TooOld != tooOld+late || row.Timelines.Stored != 40-tooOld-late { // those too old are no jobs
			t.Errorf("%+v, want %d + %d too old", row.Timelines, tooOld, late)
		}
		if tooOld != row.Matches.TooOld || late == 0 || row.Result != "completed" {
			t.Errorf("%d too old, row says %d; %d without timeline; %s", tooOld, row.Matches.TooOld, late, row.Result)
		}
	})
}

func TestS0_7_FieldsOfAMatchAreKept(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 3)}})
		id := s.MatchIDs("Ana#EUW")[0]
		must(t, s.Inject(fails(sim.Unavailable, id, 2)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.settle("Ana#EUW", time.Hour)
		m := r.match(id)
		calls := r.callsFor(route.Match, id)
		last := calls[len(calls)-1].At
		if m.Match.Attempts != 3 || m.Match.LastError == "" || m.Match.LastClass != "5xx" {
			t.Errorf("%+v", m.Match)
		}
		if d := m.Match.FetchedAt.Sub(last); d < 0 || d > time.Second || m.Match.LastAttemptAt != m.Match.FetchedAt {
			t.Errorf("fetched at %v, last attempt %v, last call %v", m.Match.FetchedAt, m.Match.LastAttemptAt, last)
		}
		if m.Timeline.Status != league.Success || m.Timeline.Attempts != 1 || m.Timeline.FetchedAt.IsZero() {
			t.Errorf("timeline %+v", m.Timeline)
		}
	})
}

func TestS0_9_ARetryDueWhileTheEngineWasDownRunsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 3)}})
		id := s.MatchIDs("Ana#EUW")[0]
		must(t, s.Inject(fails(sim.Unavailable, id, 1)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Retrying == 1 && row.Matches.Open == 1 })
		r.stop()
		time.Sleep(6 * time.Hour)
		began := time.Now()
		r = open(t, s, r.dir)
		r.settle("Ana#EUW", time.Minute)
		calls := r.callsFor(route.Match, id)
		if len(calls) != 2 || calls[1].At.Sub(began) > 10*time.Second {
			t.Errorf("%d calls, the last %v after the start", len(calls), calls[len(calls)-1].At.Sub(began))
		}
	})
}

func TestS3_10_A429CostsNoAttempt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 4)}})
		id := s.MatchIDs("Ana#EUW")[1]
		f := fails(sim.LimitService, id, 2)
		f.RetryAfter = "7"
		must(t, s.Inject(f))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Hour)
		d := r.detail("match:" + id)
		if len(d.Attempts) != 1 || len(d.Holds) != 2 || d.Job.State != engine.Completed {
			t.Errorf("%d attempts, %d holds, %s", len(d.Attempts), len(d.Holds), d.Job.State)
		}
		if h := d.Holds[0]; h.Hold != engine.HoldThrottled || h.Status != 429 || h.Class != "429.service" {
			t.Errorf("hold %+v", h)
		}
		calls := r.callsFor(route.Match, id)
		for i := 1; i < len(calls); i++ {
			if waited := calls[i].At.Sub(calls[i-1].At); waited < 7*time.Second {
				t.Errorf("call %d came after %v, Retry-After was 7 s", i, waited)
			}
		}
		if row.Throttled != 2 || r.sim.Stats().Early != 0 || row.Result != "completed" {
			t.Errorf("row counts %d 429s, %d early calls, %s", row.Throttled, r.sim.Stats().Early, row.Result)
		}
	})
}

func TestS3_11_ATimeoutIsRetried(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 4)}})
		id := s.MatchIDs("Ana#EUW")[1]
		must(t, s.Inject(fails(sim.Hang, id, 1)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Hour)
		d := r.detail("match:" + id)
		if row.Result != "completed" || len(d.Attempts) != 2 || d.Attempts[0].Class != "timeout" {
			t.Errorf("%s, attempts %+v", row.Result, d.Attempts)
		}
	})
}

func TestS4_7_503IsRetriedAndAFatalAnswerIsRecorded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 5)}})
		ids := s.MatchIDs("Ana#EUW")
		must(t, s.Inject(fails(sim.Unavailable, ids[0], 1)))
		must(t, s.Inject(fails(sim.NotFound, ids[1], 0)))
		must(t, s.Inject(fails(sim.HTML200, ids[2], 1)))
		must(t, s.Inject(fails(sim.BadRequest, ids[3], 0)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Hour)
		if row.Matches.Failed != 2 || row.Matches.Stored != 3 || row.Result != "incomplete" {
			t.Errorf("%+v", row)
		}
		for _, c := range []struct {
			id    string
			calls int
			class string
		}{{ids[0], 2, "5xx"}, {ids[1], 1, "404"}, {ids[2], 2, "bad_payload"}, {ids[3], 1, "400"}} {
			m := r.match(c.id)
			if n := len(r.callsFor(route.Match, c.id)); n != c.calls || m.Match.LastClass != c.class || m.Match.LastError == "" {
				t.Errorf("%s: %d calls, %+v", c.id, n, m.Match)
			}
		}
		if m := r.match(ids[2]); !strings.Contains(m.Match.LastError, "Just a moment") {
			t.Errorf("what Riot sent is not kept: %q", m.Match.LastError)
		}
	})
}

func TestP11_OneBrokenMatchCostsExactlyItsAttempts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, id := always503(t)
		r.settle("Ana#EUW", time.Hour)
		if got := len(r.callsFor(route.Match, id)); got != 5 {
			t.Errorf("%d calls, its policy allows 5", got)
		}
		if d := r.detail("match:" + id); len(d.Holds) != 0 {
			t.Errorf("%d attempts were not charged", len(d.Holds))
		}
	})
}

func TestI7_OutageChargesNobodyAndEndsByItself(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 60)}})
		must(t, s.Inject(sim.Fault{Kind: sim.Unavailable, Match: sim.Match{Method: route.Match}, Until: 15 * time.Minute}))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Phase == engine.PhaseMatches })
		time.Sleep(time.Minute)
		if state, why := r.limits.Health(); state != engine.EngineAPIDown || why != "match calls to europe fail" {
			t.Errorf("health: %s, %s", state, why)
		}
		before := r.calls(route.Match)
		time.Sleep(10 * time.Minute)
		if probes := r.calls(route.Match) - before; probes > 12 {
			t.Errorf("%d calls in 10 minutes of outage, want about one a minute", probes)
		}
		row := r.settle("Ana#EUW", time.Hour)
		if row.Matches.Stored != 60 || row.Matches.Failed != 0 {
			t.Errorf("%+v", row.Matches)
		}
		if state, _ := r.limits.Health(); state != engine.EngineLive {
			t.Errorf("health afterwards: %s", state)
		}
	})
}

func TestTwoBrokenMatchesAreNoOutageForEver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 8)}})
		ids := s.MatchIDs("Ana#EUW")
		must(t, s.Inject(fails(sim.Unavailable, ids[0], 0)))
		must(t, s.Inject(fails(sim.Unavailable, ids[1], 0)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", 2*time.Hour)
		if row.Matches.Failed != 2 || row.Result != "incomplete" {
			t.Errorf("%+v", row)
		}
	})
}

func TestARefusedKeyHoldsEverythingUncharged(t *testing.T) {
	for name, state := range map[string]sim.KeyState{"401": sim.KeyUnknown, "403": sim.KeyExpired} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 30)}, Limits: sim.Limits{App: []sim.Limit{{N: 20, Per: 10 * time.Second}}}})
				r := start(t, s)
				r.trigger("Ana#EUW", engine.SyncAsk{})
				r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored >= 10 })
				s.SetKey(testKey, sim.Key{State: state})
				time.Sleep(2 * time.Minute)
				if health, _ := r.limits.Health(); health != engine.EngineNoKey {
					t.Errorf("health %s", health)
				}
				before := r.sim.Stats().Calls
				time.Sleep(10 * time.Minute)
				if calls := r.sim.Stats().Calls - before; calls > 25 {
					t.Errorf("%d calls in 10 minutes with a dead key", calls)
				}
				s.SetKey(testKey, sim.Key{})
				r.limits.KeyChanged()
				row := r.settle("Ana#EUW", time.Hour)
				if row.Matches.Stored != 30 || row.Timelines.Stored != 30 {
					t.Errorf("%s: %+v", name, row)
				}
				jobs, _, _, err := r.db.Jobs(context.Background(), engine.JobsQuery{Ended: true})
				must(t, err)
				for _, j := range jobs {
					if j.Attempts > j.Round {
						t.Errorf("job %s was charged %d attempts in %d rounds", j.ID, j.Attempts, j.Round)
					}
				}
			})
		})
	}
}

func TestA403OfOnePathFailsOnlyThat(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 5)}})
		id := s.MatchIDs("Ana#EUW")[2]
		must(t, s.Inject(fails(sim.ForbiddenHTML, id, 0)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{})
		row := r.settle("Ana#EUW", time.Hour)
		if m := r.match(id); row.Matches.Failed != 1 || row.Matches.Stored != 4 || m.Match.LastClass != "403.path" {
			t.Errorf("%+v, %+v", row.Matches, m.Match)
		}
	})
}

// RETRY_404=table gives a 404 the whole table of delays, in each mode of a run; the
// fifth makes the match unfetchable.
func TestRetry404_ByTheTable(t *testing.T) {
	for _, mode := range []string{ingest.ModeFull, ingest.ModeLatest} {
		t.Run(mode, func(t *testing.T) { tried404ByTheTable(t, mode) })
	}
}

func tried404ByTheTable(t *testing.T, mode string) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 5)}})
		ids := s.MatchIDs("Ana#EUW")
		must(t, s.Inject(fails(sim.NotFound, ids[0], 2)))
		must(t, s.Inject(fails(sim.NotFound, ids[1], 0)))
		r := start(t, s, func(c *setup) { c.ingest.RetryMissing = true })
		r.trigger("Ana#EUW", engine.SyncAsk{Mode: mode})
		row := r.settle("Ana#EUW", time.Hour)
		if row.Matches.Stored != 4 || row.Matches.Failed != 1 {
			t.Errorf("%+v", row.Matches)
		}
		if m := r.match(ids[1]); m.Match.Status != league.PermanentlyUnfetchable || m.Match.LastClass != "404" {
			t.Errorf("%+v", m.Match)
		}
		if n := len(r.callsFor(route.Match, ids[0])); n != 3 {
			t.Errorf("%d calls for the match that was there at the third", n)
		}
		calls := r.callsFor(route.Match, ids[1])
		if len(calls) != 5 {
			t.Fatalf("%d calls, want 5", len(calls))
		}
		for i, want := range engine.DefaultPolicies()[engine.PolicyMatch].Delays {
			if waited := calls[i+1].At.Sub(calls[i].At); waited < want || waited > want+time.Second {
				t.Errorf("call %d came %v after the one before, want %v", i+2, waited, want)
			}
		}
	})
}

func TestALatestRunAsksTwiceBeforeItBelievesA404(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 5)}})
		ids := s.MatchIDs("Ana#EUW")
		must(t, s.Inject(fails(sim.NotFound, ids[0], 1)))
		must(t, s.Inject(fails(sim.NotFound, ids[1], 0)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Mode: ingest.ModeLatest})
		row := r.settle("Ana#EUW", time.Hour)
		if row.Matches.Stored != 4 || row.Matches.Failed != 1 {
			t.Errorf("%+v", row.Matches)
		}
		for _, id := range ids[:2] {
			calls := r.callsFor(route.Match, id)
			if len(calls) != 2 {
				t.Fatalf("%d calls for %s, want 2", len(calls), id)
			}
			if waited := calls[1].At.Sub(calls[0].At); waited < 300*time.Second || waited > 301*time.Second {
				t.Errorf("asked again after %v, want 300 s", waited)
			}
		}
	})
}
