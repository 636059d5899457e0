package control

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/hub"
	"github.com/farsight-console/farsight/engine/human"
)

// metered is a limiter whose windows and meter are asked.
type metered struct{ hosted }

func (metered) Meter() engine.Meter        { return engine.Meter{CallsPerMin: 12} }
func (metered) Held(string) engine.Held    { return engine.Held{} }
func (knownKey) Since() time.Time          { return time.Time{} }
func (idle) Load() (running, capacity int) { return 0, 5 }

// The engine's row says itself whether what is counted is a minute's.
func TestTheEngineSaysWhenItsCountIsNoRateYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Store: jobbed{}, Limiter: metered{}, Backend: idle{}, Keys: knownKey{}})
		for age, want := range map[time.Duration]bool{0: true, 59 * time.Second: true, time.Minute: false, time.Hour: false} {
			c.started = time.Now().Add(-age)
			if got, _ := c.engineRow(); got.SinceStart != want || got.Calls() != 12 {
				t.Errorf("after %s: %+v", age, got)
			}
		}
	})
}

// A host that an operator has stopped is in the title once work waits for it: nobody
// would see else why nothing moves.
func TestI1_AFrozenHostIsInTheTitle(t *testing.T) {
	host := engine.BucketRow{Host: "europe", Kind: "app", BlockedBy: "frozen", Waiting: 3}
	method, spare, capped := host, host, host
	method.Method, spare.Waiting, capped.BlockedBy, capped.Cap = "match-v5.match", 0, "", 50
	dated := host
	dated.Thaws = time.Now().Add(time.Hour)
	for _, c := range []struct {
		row   engine.BucketRow
		state engine.EngineState
		why   string
	}{
		{host, engine.EngineHeld, "europe is frozen until somebody resumes it"},
		{dated, engine.EngineHeld, "europe is frozen until " + human.UTC(dated.Thaws, time.Time{})},
		{method, engine.EngineLive, ""}, {spare, engine.EngineLive, ""}, {capped, engine.EngineLive, ""},
	} {
		limits := metered{hosted{rows: []engine.BucketRow{c.row}}}
		ctl := New(Options{Store: jobbed{}, Limiter: limits, Backend: idle{}, Keys: knownKey{}})
		if got, _ := ctl.engineRow(); got.State != c.state || got.Why != c.why {
			t.Errorf("%+v: %s, %q", c.row, got.State, got.Why)
		}
		if why := ctl.standstill(nil); c.state == engine.EngineHeld && why == c.why {
			t.Errorf("other hosts stand still too: %q", why)
		}
	}
}

// A wait above ten minutes that Riot asked for is in the title, whoever waits for it.
func TestB11_ALongHoldIsInTheTitle(t *testing.T) {
	limits := metered{hosted{holds: []engine.LimitHold{{Host: "europe", Why: "europe is held by a 429 application until tomorrow"}}}}
	ctl := New(Options{Store: jobbed{}, Limiter: limits, Backend: idle{}, Keys: knownKey{}})
	if got, _ := ctl.engineRow(); got.State != engine.EngineHeld || got.Why != limits.holds[0].Why {
		t.Errorf("%s, %q", got.State, got.Why)
	}
}

// jobbed is a store with one job and one page of accounts.
type jobbed struct {
	Store
	job      engine.Job
	accounts []engine.AccountRow
}

func (s jobbed) Detail(context.Context, engine.JobQuery) (d engine.JobDetail, err error) {
	d.Job.Job = s.job
	return d, nil
}

func (s jobbed) Accounts(context.Context, engine.AccountsQuery) (engine.AccountsPage, error) {
	return engine.AccountsPage{Accounts: s.accounts}, nil
}

// TestI1_AnAccountThatIsLookedForSaysWhatItWaitsFor: the host of accounts need not be
// that of matches; and every list of accounts tells the word.
func TestI1_AnAccountThatIsLookedForSaysWhatItWaitsFor(t *testing.T) {
	lane := "asia/account-v1.by-riot-id"
	for name, c := range map[string]struct {
		state engine.State
		held  map[string]engine.Held
		want  engine.Stand
	}{
		"its endpoint is down":          {engine.Scheduled, map[string]engine.Held{lane: {Reason: "outage", Stand: engine.StandDown}}, engine.StandDown},
		"its host is frozen":            {engine.Available, map[string]engine.Held{lane: {Reason: "asia is frozen", Stand: engine.StandHeld}}, engine.StandHeld},
		"the host of matches is frozen": {engine.Available, map[string]engine.Held{"sea/match-v5.match": {Reason: "sea is frozen", Stand: engine.StandHeld}}, ""},
		"it is asked for":               {engine.Running, map[string]engine.Held{lane: {Reason: "outage", Stand: engine.StandDown}}, ""},
		"nothing":                       {engine.Available, nil, ""},
	} {
		a := open("one", "sea", -1, true)
		a.Phase, a.Job = engine.PhaseResolve, "7"
		store := jobbed{job: engine.Job{ID: "7", State: c.state}, accounts: []engine.AccountRow{a, {ID: "two", Status: engine.SyncCompleted}}}
		h := hub.New(hub.Options{})
		publish(h, []engine.AccountRow{a})
		ctl := New(Options{Store: store, Limiter: downing{metered{hosted{}}, c.held}, Backend: idle{}, Keys: knownKey{}, Lane: func(engine.Job) string { return lane }})
		ctl.hub = h
		answer, err := ctl.listAccounts(t.Context(), engine.AccountsQuery{})
		if err != nil {
			t.Fatal(err)
		}
		got := answer.Accounts
		if got[0].Stand != c.want || got[1].Stand != "" || ctl.eta(a).Stand != c.want {
			t.Errorf("%s: %q, %q, %q", name, got[0].Stand, got[1].Stand, ctl.eta(a).Stand)
		}
	}
}

// downing is a limiter with lanes that are held.
type downing struct {
	metered
	held map[string]engine.Held
}

func (l downing) Held(lane string) engine.Held { return l.held[lane] }

// A filter leaves out of a page what does not fit, and what goes on is found behind it all the same.
func TestH10_AFilterLeavesRowsOut(t *testing.T) {
	store := listed{
		jobbed: jobbed{accounts: []engine.AccountRow{{ID: "one", Status: engine.SyncFailed}, {ID: "two", Status: engine.SyncCompleted}}},
		feed: engine.FeedPage{Next: "n", More: true, Rows: []engine.FeedRow{
			{ID: "EUW1_1", Match: &engine.MatchRow{ID: "EUW1_1", Mode: "ARAM"}}, {ID: "EUW1_2", Match: &engine.MatchRow{ID: "EUW1_2", Mode: "CLASSIC"}}, {ID: "EUW1_3", Corrupt: true},
		}},
	}
	ctl := New(Options{Store: store, Limiter: metered{hosted{}}, Backend: idle{}, Keys: knownKey{}})
	ctl.hub = hub.New(hub.Options{})
	accounts, err := ctl.listAccounts(t.Context(), engine.AccountsQuery{Filter: "status:failed"})
	if err != nil || len(accounts.Accounts) != 1 || accounts.Accounts[0].ID != "one" {
		t.Errorf("%+v, %v", accounts, err)
	}
	matches, err := ctl.answer(t.Context(), engine.FeedQuery{Kind: engine.FeedMatches, Filter: "mode:aram"})
	if page, _ := matches.(engine.FeedPage); err != nil || len(page.Rows) != 1 || page.Rows[0].ID != "EUW1_1" || page.Next != "n" || !page.More {
		t.Errorf("%+v, %v", matches, err)
	}
	for _, q := range []engine.Query{engine.AccountsQuery{Filter: "statu:failed"}, engine.FeedQuery{Kind: engine.FeedParticipants, Filter: "mode:aram"}} {
		if _, err := ctl.answer(t.Context(), q); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// listed is a store with a feed.
type listed struct {
	jobbed
	feed engine.FeedPage
}

func (s listed) Feed(context.Context, engine.FeedQuery) (engine.FeedPage, error) { return s.feed, nil }
