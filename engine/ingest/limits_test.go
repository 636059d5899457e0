package ingest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/forecast"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/engine/traffic"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

func TestS4_5_GlobalAndMethodLimitsBothHold(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{
			Limits: sim.Limits{
				App:     []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 12 * time.Second}},
				Methods: map[route.Method][]sim.Limit{route.Match: {{N: 15, Per: 10 * time.Second}}},
			},
			Players: []sim.PlayerSpec{player("Ana#EUW", 60)},
		}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		row := r.settle("Ana#EUW", time.Hour)
		if took := row.Finished.Sub(row.Started); took < 30*time.Second || took > 45*time.Second {
			t.Errorf("60 matches at 15 per 10 s took %v", took)
		}
		if st := r.sim.Stats(); st.Violations != 0 || row.Throttled != 0 {
			t.Errorf("%d violations, %d 429s", st.Violations, row.Throttled)
		}
	})
}

func TestP09_TwoHundred429sCostNoAttempt(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 1)}})
		id := s.MatchIDs("Ana#EUW")[0]
		f := fails(sim.LimitMethod, id, 200)
		f.RetryAfter = "2"
		must(t, s.Inject(f))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Throttled > 3 })
		d := r.detail("match:" + id)
		if d.Job.Attempts > 1 || len(d.Attempts) > 1 || d.Job.State == engine.Retryable {
			t.Errorf("%d attempts, %s", d.Job.Attempts, d.Job.State)
		}
		row := r.settle("Ana#EUW", 12*time.Hour)
		d = r.detail("match:" + id)
		if row.Result != "completed" || len(d.Attempts) != 1 || len(d.Holds) != 200 || r.sim.Stats().Early != 0 {
			t.Errorf("%s: %d attempts, %d holds, %d calls before their time", row.Result, len(d.Attempts), len(d.Holds), r.sim.Stats().Early)
		}
	})
}

// What Riot has asked to wait for is in the store before the second in which the counts are saved
// anyway is over, so that a kill right behind the 429 does not lose it.
func TestP09_ARetryAfterIsSavedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 3)}})
		f := fails(sim.LimitMethod, s.MatchIDs("Ana#EUW")[0], 1)
		f.RetryAfter = "10"
		must(t, s.Inject(f))
		r := start(t, s)
		time.Sleep(100 * time.Millisecond) // not when the second turns
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		for s.Stats().Injected["method"] == 0 {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		blob, err := r.db.LoadState(context.Background(), traffic.LimiterState)
		must(t, err)
		if !strings.Contains(string(blob), `"block":{"kind":"method"`) {
			t.Errorf("the store does not know of it: %s", blob)
		}
		r.settle("Ana#EUW", time.Hour)
	})
}

// flaky is a network that may be away.
type flaky struct {
	down atomic.Bool
	next http.RoundTripper
}

func (f *flaky) RoundTrip(req *http.Request) (*http.Response, error) {
	if f.down.Load() {
		return nil, syscall.ENETUNREACH
	}
	return f.next.RoundTrip(req)
}

func TestWithoutNetworkNothingIsCharged(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 20)}})
		net := &flaky{next: s.RoundTripper()}
		net.down.Store(true)
		r := start(t, s, func(set *setup) { set.transport = net })
		r.trigger("Ana#EUW", engine.SyncAsk{})
		time.Sleep(2 * time.Hour)
		row := r.row("Ana#EUW")
		if state, why := r.limits.Health(); state != engine.EngineDegraded || row.Status != engine.Syncing {
			t.Errorf("%s (%s), account %s", state, why, row.Status)
		}
		d := r.detail("full:" + row.ID)
		if d.Job.Hold != engine.HoldLocalNetwork && !strings.Contains(d.Job.Why, engine.CutOff) && d.Job.State != engine.Available {
			t.Errorf("%+v", d.Job)
		}
		if n := len(d.Holds); len(d.Attempts) != 0 || n < 100 || n > 130 {
			t.Errorf("%d attempts, %d probes in two hours", len(d.Attempts), n)
		}
		net.down.Store(false)
		if row := r.settle("Ana#EUW", 2*time.Minute); row.Result != "completed" || row.Timelines.Stored != 20 {
			t.Errorf("%+v", row)
		}
	})
}

func TestI5_AFrozenBucketStopsAndFailsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 30)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored > 3 })
		until := time.Now().Add(10 * time.Minute)
		must(t, r.limits.Freeze(engine.Bucket{Host: "europe", Until: until}, "maintenance"))
		time.Sleep(time.Second)
		before, head := r.sim.Stats().Calls, r.available()[0]
		why, ends, _ := r.backend.Why(head)
		if h := r.backend.Held(head); h.Stand != engine.StandHeld || why != "europe is frozen by an operator (maintenance)" || !h.Ends || ends.Sub(until).Abs() > time.Second {
			t.Errorf("a job that the freeze holds is told as %+v: %q until %v", h, why, ends)
		}
		time.Sleep(5 * time.Minute)
		if calls := r.sim.Stats().Calls; calls != before {
			t.Errorf("%d calls while frozen", calls-before)
		}
		frozen := 0
		for _, b := range r.limits.Rows().Buckets {
			if b.Host == "europe" && b.Method == "" && b.BlockedBy == "frozen" && b.Blocked.Sub(until).Abs() < time.Second {
				frozen++
			}
		}
		if frozen == 0 {
			t.Errorf("no bucket says that it is frozen: %+v", r.limits.Rows().Buckets)
		}
		if row := r.row("Ana#EUW"); row.Matches.Failed != 0 || row.Matches.Retrying != 0 {
			t.Errorf("the freeze cost matches an attempt: %+v", row.Matches)
		}
		if was, err := r.limits.Thaw(engine.Bucket{Host: "europe"}); was == "" || err != nil {
			t.Errorf("thaw: %q, %v", was, err)
		}
		if h := r.backend.Held(head); h.Reason != "" {
			t.Errorf("held after the thaw: %+v", h)
		}
		if row := r.settle("Ana#EUW", 10*time.Minute); row.Result != "completed" {
			t.Errorf("%+v", row)
		}
	})
}

// TestI3_TheBandHoldsTheTrueEnd: what is left of a sync ends within the band that is told
// of it, which names the tightest bucket.
func TestI3_TheBandHoldsTheTrueEnd(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 300)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		var left int
		r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool {
			left = row.Matches.Open
			return row.Matches.Stored > 30
		})
		eta, from := forecast.ETA(r.limits.Outlook("europe"), string(route.Match), left), time.Now()
		if !eta.Known || !strings.HasPrefix(eta.Bucket, "app:europe") || eta.Low > eta.High || eta.Calls != left {
			t.Errorf("told: %+v of %d calls", eta, left)
		}
		r.settle("Ana#EUW", 2*time.Hour)
		const slack = 10 * time.Second // a window of the limit: its calls are paced
		if took := time.Since(from); took < eta.Low-slack || took > eta.High+slack {
			t.Errorf("%d calls took %s, told were %s to %s", left, took, eta.Low, eta.High)
		}
	})
}

func TestFreezeRefusesWhatMakesNoSense(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{}))
		for name, b := range map[string]engine.Bucket{
			"unknown host":   {Host: "moon"},
			"no host":        {},
			"unknown method": {Host: "europe", Method: "match-v6.match"},
			"in the past":    {Host: "europe", Until: time.Now().Add(-time.Minute)},
			"cap too high":   {Host: "europe", Cap: 100},
			"cap below zero": {Host: "europe", Cap: -1},
		} {
			if err := r.limits.Freeze(b, ""); !errors.Is(err, engine.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if was, err := r.limits.Thaw(engine.Bucket{Host: "europe"}); was != "" || err != nil {
			t.Errorf("thaw of nothing: %q, %v", was, err)
		}
	})
}

func TestP10_ARestartDoesNotBurst(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		tight := sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 50, Per: 60 * time.Second}}}
		r := start(t, newSim(sim.Options{Limits: tight, Players: []sim.PlayerSpec{player("Ana#EUW", 100)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		for i := range 6 { // kills at odd moments, among them within a second of a save
			time.Sleep(time.Duration(3000+700*i) * time.Millisecond)
			r = r.crash()
		}
		row := r.settle("Ana#EUW", time.Hour)
		if st := r.sim.Stats(); st.Violations != 0 || row.Matches.Stored != 100 {
			t.Errorf("%d violations, %+v", st.Violations, row.Matches)
		}
	})
}

func TestALostStateCountsAsFullWindows(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 20)}})
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.until("Ana#EUW", time.Minute, func(row engine.AccountRow) bool { return row.Matches.Stored > 3 })
		r.stop()
		db := reopenStore(t, r.dir)
		must(t, db.SaveState(context.Background(), "limiter", []byte("no JSON")))
		db.close()
		r = open(t, s, r.dir)
		if row := r.settle("Ana#EUW", time.Hour); row.Matches.Stored != 20 || s.Stats().Violations != 0 {
			t.Errorf("%+v, %d violations", row.Matches, s.Stats().Violations)
		}
	})
}

func TestATrackedAccountDoesNotSlowTheFirstSync(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 3)}})
		r := start(t, s)
		_, err := r.in.Track(context.Background(), "Ana#EUW", engine.SyncAsk{Platform: "euw1"})
		must(t, err)
		r.stop()
		r = open(t, s, r.dir) // not a new directory, but no call was ever made
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.settle("Ana#EUW", 3*time.Second)
	})
}

func TestS1_2_FiftyTriggersMakeOneRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 12)}}))
		var applied, joined, refused atomic.Int64
		for range 50 {
			go func() {
				out, err := r.in.Trigger(context.Background(), "Ana#EUW", engine.SyncAsk{Platform: "euw1"}, operator)
				switch {
				case errors.Is(err, engine.ErrConflict):
					refused.Add(1)
				case out.Joined:
					joined.Add(1)
				case err == nil && out.Applied == 1:
					applied.Add(1)
				default:
					t.Errorf("%+v, %v", out, err)
				}
			}()
		}
		synctest.Wait()
		if applied.Load() != 1 || joined.Load()+refused.Load() != 49 {
			t.Errorf("%d started, %d joined, %d refused", applied.Load(), joined.Load(), refused.Load())
		}
		r.settle("Ana#EUW", time.Hour)
		if n := r.calls(route.AccountByRiotID); n != 1 {
			t.Errorf("%d runs resolved the account", n)
		}
	})
}

func TestBadAsksAreRefusedWithASentence(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{}))
		for name, c := range map[string]struct {
			account string
			ask     engine.SyncAsk
			code    error
			says    string
		}{
			"no tag":           {"Ana", engine.SyncAsk{Platform: "euw1"}, engine.ErrInvalid, "Name#"},
			"two tags":         {"Ana#EUW#1", engine.SyncAsk{Platform: "euw1"}, engine.ErrInvalid, "more than one #"},
			"empty":            {"", engine.SyncAsk{Platform: "euw1"}, engine.ErrInvalid, ""},
			"no platform":      {"Ana#EUW", engine.SyncAsk{}, engine.ErrInvalid, "name its platform"},
			"a region":         {"Ana#EUW", engine.SyncAsk{Platform: "europe"}, engine.ErrInvalid, "is a region"},
			"unknown platform": {"Ana#EUW", engine.SyncAsk{Platform: "mars1"}, engine.ErrInvalid, "unknown platform"},
			"unknown id":       {"01JD0000000000000000000000", engine.SyncAsk{}, engine.ErrNotFound, "no account"},
			"unknown mode":     {"Ana#EUW", engine.SyncAsk{Platform: "euw1", Mode: "some"}, engine.ErrInvalid, "full or latest"},
			"negative count":   {"Ana#EUW", engine.SyncAsk{Platform: "euw1", Count: -1}, engine.ErrInvalid, "above 0"},
			"from the future":  {"Ana#EUW", engine.SyncAsk{Platform: "euw1", Since: time.Now().Add(time.Hour)}, engine.ErrInvalid, "future"},
			"timelines":        {"Ana#EUW", engine.SyncAsk{Platform: "euw1", Timelines: "some"}, engine.ErrInvalid, "all, ranked or none"},
		} {
			_, err := r.in.Trigger(context.Background(), c.account, c.ask, operator)
			if p := wantProblem(t, err, c.code); !strings.Contains(p.Error(), c.says) || strings.Contains(p.Error(), "\n") {
				t.Errorf("%s: %q", name, p.Error())
			}
		}
		page, err := r.db.Accounts(context.Background(), engine.AccountsQuery{})
		must(t, err)
		if page.Total != 0 {
			t.Errorf("bad asks made %d accounts", page.Total)
		}
	})
}

func TestS3_12_TheCostIsKnownBefore(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: slow, Players: []sim.PlayerSpec{player("Ana#EUW", 40)}}))
		cost := func(ask engine.SyncAsk) engine.Cost {
			t.Helper()
			ask.Platform = "euw1"
			c, err := r.in.Cost(context.Background(), engine.CostQuery{Account: "Ana#EUW", Sync: ask})
			must(t, err)
			return c
		}
		if c := cost(engine.SyncAsk{Count: 20}); c.Calls != ingest.CallsOf(20, 20, 20) {
			t.Errorf("the newest 20: %+v", c)
		}
		if c := cost(engine.SyncAsk{Timelines: "none"}); c.Calls != ingest.CallsOf(1000, 1000, 0)+3 || !c.AtMost || c.CallsText() != "at most 1,014 calls" {
			t.Errorf("an unknown account: %s, %+v", c.CallsText(), c)
		}
		page, err := r.db.Accounts(context.Background(), engine.AccountsQuery{})
		must(t, err)
		if page.Total != 0 {
			t.Error("asking for the cost made an account")
		}
		r.trigger("Ana#EUW", engine.SyncAsk{Count: 20, Timelines: "none"})
		r.settle("Ana#EUW", time.Hour)
		c := cost(engine.SyncAsk{Count: 30})
		if c.Calls != ingest.CallsOf(20, 0, 0)+2 || c.AtMost || !strings.HasPrefix(c.Bucket, "app:europe") {
			t.Errorf("what is stored costs nothing: %+v", c)
		}
		if c := cost(engine.SyncAsk{Count: 20, Timelines: "none"}); c.Calls != 2 {
			t.Errorf("all stored: %+v", c)
		}
	})
}
