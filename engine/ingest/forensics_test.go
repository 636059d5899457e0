package ingest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/ingest"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// tight are limits that sixty matches meet.
var tight = sim.Limits{App: []sim.Limit{{N: 20, Per: time.Second}, {N: 100, Per: 12 * time.Second}}}

// latest gives what is known of the newest 429.
func latest(t *testing.T, r *rig) engine.Forensics {
	t.Helper()
	return caseOf(t, r.in, engine.ForensicsQuery{})
}

func caseOf(t *testing.T, from interface {
	Find(context.Context, engine.Query) (engine.Answer, bool, error)
}, q engine.ForensicsQuery) engine.Forensics {
	t.Helper()
	a, known, err := from.Find(t.Context(), q)
	if err != nil || !known {
		t.Fatalf("%v, %v", err, known)
	}
	return a.(engine.Forensics)
}

func spentOn(f engine.Forensics, what string) int {
	for _, s := range f.Spent {
		if s.What == what {
			return s.Calls
		}
	}
	return 0
}

func wants(t *testing.T, f engine.Forensics, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(f.Text, w) {
			t.Errorf("%q does not say %q", f.Text, w)
		}
	}
}

// Row I-9 (a): somebody else uses the key. The server's counts prove it, answer by
// answer, and the 429 that he causes in the end is laid at his door.
func TestI9_ForeignUseOfTheKeyIsSaid(t *testing.T) {
	long(t)
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: tight, Players: []sim.PlayerSpec{player("Ana#EUW", 300)}}))
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		for range 3 {
			time.Sleep(5 * time.Second)
			r.sim.Foreign(testKey, "europe", 7)
		}
		time.Sleep(4 * time.Second)
		r.sim.Foreign(testKey, "europe", 100)
		r.settle("Ana#EUW", time.Hour)
		st := r.sim.Stats()
		if st.Violations != 0 || st.Foreign == 0 {
			t.Fatalf("%d violations, %d 429s by others: the test needs one of those only", st.Violations, st.Foreign)
		}
		f := latest(t, r)
		if f.Kind != "application" || !f.Foreign || f.Call.Status != 429 || !f.Call.Unforeseen {
			t.Errorf("%+v", f)
		}
		wants(t, f, "another process uses this key", "application europe", "are not ours")
		if spentOn(f, "others") < 50 || f.Spent[0].What != "others" {
			t.Errorf("spent: %+v", f.Spent)
		}
		if len(f.Windows) != 3 || len(f.Call.Counts) != 3 || f.Windows[2].Scope != "match-v5.match" {
			t.Fatalf("windows %+v", f.Windows)
		}
		for _, w := range f.Windows[:2] {
			if w.Scope != "app" || w.Ours > w.Limit || w.Server < 0 {
				t.Errorf("%+v: we never go above a limit", w)
			}
		}
	})
}

// One burst of another program is told as what it is: no steady use.
func TestI9_OneForeignBurstIsNoSteadyUse(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Limits: tight, Players: []sim.PlayerSpec{player("Ana#EUW", 60)}}), func(s *setup) { s.workers = 1 })
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		time.Sleep(2 * time.Second)
		r.sim.Foreign(testKey, "europe", 200)
		r.until("Ana#EUW", time.Hour, func(row engine.AccountRow) bool { return row.Throttled > 0 })
		f := latest(t, r)
		if f.Foreign || f.Kind != "application" {
			t.Errorf("%+v", f)
		}
		wants(t, f, "not ours", "has just begun to")
		r.settle("Ana#EUW", time.Hour)
	})
}

// Row I-9 (b): a 429 of the method although no count is near its limit is Riot's
// own; so is one of type service, and one without a type is not a limit at all.
func TestI9_RiotsOwnRefusalsAreToldApart(t *testing.T) {
	for kind, want := range map[sim.Kind]struct {
		kind  string
		words []string
	}{
		sim.LimitMethod:  {"method", []string{"service/method", "method match-v5.match of europe", "although"}},
		sim.LimitService: {"service", []string{"type service", "match-v5.match", "no limit of the key"}},
		sim.LimitPlain:   {"unknown", []string{"no type", "proxy or shard"}},
	} {
		t.Run(string(kind), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 12)}, Limits: sim.Limits{
					App: generous.App, Methods: map[route.Method][]sim.Limit{route.Match: {{N: 200, Per: 10 * time.Second}}},
				}})
				f := fails(kind, s.MatchIDs("Ana#EUW")[8], 1)
				f.RetryAfter = "2"
				must(t, s.Inject(f))
				r := start(t, s)
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				r.settle("Ana#EUW", time.Hour)
				got := latest(t, r)
				if got.Kind != want.kind || got.Foreign || spentOn(got, "others") != 0 {
					t.Errorf("%+v", got)
				}
				wants(t, got, want.words...)
				if strings.Contains(got.Text, "our own calls") || strings.Contains(got.Text, "another process") {
					t.Errorf("%q", got.Text)
				}
			})
		})
	}
}

// skewed is a way to a server whose clock is off.
type skewed struct {
	next http.RoundTripper
	by   time.Duration
}

func (s skewed) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(req)
	if err == nil {
		resp.Header.Set("Date", time.Now().Add(s.by).UTC().Format(http.TimeFormat))
	}
	return resp, err
}

// Row I-9 (c): the server's clock is told from its Date headers, to well within
// their grain, once several answers bound it.
func TestI9_ClockOffsetOfTheServer(t *testing.T) {
	for _, skew := range []time.Duration{3500 * time.Millisecond, -90 * time.Second, 0} {
		t.Run(skew.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 40)}, Limits: tight})
				f := fails(sim.LimitService, s.MatchIDs("Ana#EUW")[39], 1)
				f.RetryAfter = "1"
				must(t, s.Inject(f))
				r := start(t, s, func(set *setup) { set.transport = skewed{s.RoundTripper(), skew} })
				r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
				r.settle("Ana#EUW", time.Hour)
				got := latest(t, r)
				if off := (got.ClockOffset - skew).Abs(); off > 500*time.Millisecond {
					t.Errorf("offset %v, want about %v", got.ClockOffset, skew)
				}
				if said := strings.Contains(got.Text, "clock"); said != (skew != 0) {
					t.Errorf("%q", got.Text)
				}
			})
		})
	}
}

// What was found out outlives the engine: the next one and whoever only looks at
// the directory answer the same, and numbers of calls are not given twice.
func TestI9_FoundCausesOutliveARestart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 6)}})
		must(t, s.Inject(fails(sim.LimitService, s.MatchIDs("Ana#EUW")[2], 2)))
		r := start(t, s)
		r.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none"})
		r.settle("Ana#EUW", time.Hour)
		time.Sleep(15 * time.Second)
		was := latest(t, r)
		if len(was.Others) != 1 || was.Others[0] >= was.Call.Seq {
			t.Fatalf("the other 429: %v", was.Others)
		}
		if got := caseOf(t, ingest.Stored{Store: r.db}, engine.ForensicsQuery{Seq: was.Call.Seq}); got.Text != was.Text || got.Call.Seq != was.Call.Seq {
			t.Errorf("stored: %+v", got)
		}
		r2 := r.crash()
		if got := latest(t, r2); got.Call.Seq != was.Call.Seq || got.Text != was.Text || len(got.Others) != 1 {
			t.Errorf("after a restart: %+v", got)
		}
		r2.trigger("Ana#EUW", engine.SyncAsk{Timelines: "none", Force: true})
		r2.settle("Ana#EUW", time.Hour)
		for _, c := range r2.limits.CallsAfter(0) {
			if c.Seq <= was.Call.Seq {
				t.Errorf("call %d was numbered twice", c.Seq)
			}
		}
		for seq, code := range map[uint64]error{1 << 40: engine.ErrNotFound, was.Call.Seq + 1: engine.ErrInvalid} {
			_, _, err := r2.in.Find(t.Context(), engine.ForensicsQuery{Seq: seq})
			if p := new(engine.Problem); !errors.As(err, &p) || !errors.Is(err, code) {
				t.Errorf("call %d: %v", seq, err)
			}
		}
	})
}

func TestI9_NothingRefusedIsNothingFound(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := start(t, newSim(sim.Options{Players: []sim.PlayerSpec{player("Ana#EUW", 3)}}))
		_, known, err := r.in.Find(t.Context(), engine.ForensicsQuery{})
		if !known || !errors.Is(err, engine.ErrNotFound) || !strings.Contains(err.Error(), "no 429 is known") {
			t.Errorf("%v, %v", known, err)
		}
	})
}
