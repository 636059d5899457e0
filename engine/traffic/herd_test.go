package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/backendtest/memstore"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// state is a Store that notes when something was saved, and what was last.
type state struct {
	mu    sync.Mutex
	fails bool // it takes nothing
	takes time.Duration
	saves []time.Time
	last  []byte
}

func (s *state) SaveState(_ context.Context, name string, blob []byte) error {
	time.Sleep(s.takes)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.fails:
		return errors.New("the disk is full")
	case name == LimiterState:
		s.saves, s.last = append(s.saves, time.Now()), blob
	}
	return nil
}

// saved gives the instants of the saves since an instant, and what was saved last.
func (s *state) saved(since time.Time) (n int, last limit.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.saves {
		if at.After(since) {
			n++
		}
	}
	_ = json.Unmarshal(s.last, &last)
	return n, last
}

func (*state) LoadState(context.Context, string) ([]byte, error)             { return nil, nil }
func (*state) Recent(context.Context, string, int) ([]engine.Attempt, error) { return nil, nil }
func (*state) Accounts(context.Context, engine.AccountsQuery) (engine.AccountsPage, error) {
	return engine.AccountsPage{}, nil
}

// The jobs of a herd fetch one match each.
const kindMatch engine.Kind = "match.fetch"

func matchKey(id string) string { return "match:" + id }

// laneOfMatch is where a job of a herd calls.
func laneOfMatch(j engine.Job) (at Lane, more bool) { return matches, false }

// noHistory is of jobs whose attempts nobody asks for.
type noHistory struct{}

func (noHistory) Detail(context.Context, engine.JobQuery) (engine.JobDetail, error) {
	return engine.JobDetail{}, engine.ErrNotFound
}

// herd is the engine with nothing but fetches, on a store in memory: retries by
// the thousand would otherwise wait for the disk.
type herd struct {
	t     *testing.T
	sim   *sim.Sim
	store *memstore.Store
	state *state
	stop  func()
}

func newHerd(t *testing.T, s *sim.Sim, pacing limit.Pacing, fetched ...string) *herd {
	key, err := riot.ParseKey("RGAPI-00000000-cafe-4bad-8bad-c0ffee000000")
	if err != nil {
		t.Fatal(err)
	}
	limiter := limit.New(limit.Options{Pacing: pacing, Keeps: true})
	kept := &state{}
	limits := New(Options{Store: kept, Limiter: limiter, Lanes: laneOfMatch})
	client, err := riot.New(riot.Options{Keys: riot.NewKeys(key), Limiter: riot.LimitedBy(limiter), Transport: s.RoundTripper(), OnCall: limits.OnCall})
	if err != nil {
		t.Fatal(err)
	}
	fetch := func(id string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := client.Match(ctx, route.Europe, id)
			return err
		}
	}
	var known []func(context.Context) error
	for _, id := range fetched {
		known = append(known, fetch(id))
	}
	caller := NewCaller(CallerOptions{
		Limits: limits, Prober: client, History: noHistory{}, Attempts: 5,
		Known: func(context.Context, Lane, engine.Job, func(string) bool) []func(context.Context) error { return known },
	})
	handler := func(ctx context.Context, r engine.Run) engine.Outcome {
		o, ok := caller.Call(ctx, Trip{Run: r, At: matches, Region: route.Europe}, fetch(strings.TrimPrefix(r.Job.Key, matchKey(""))))
		if !ok {
			return o
		}
		return engine.Done(nil).With(o.Call)
	}
	h := &herd{t: t, sim: s, store: memstore.New(), state: kept}
	backend, err := local.New(local.Options{
		Store: h.store, Admitter: limits, Policies: engine.DefaultPolicies(), Boot: "boot",
		Kinds:   []engine.KindSpec{{Kind: kindMatch, Policy: engine.PolicyMatch, Handler: handler}},
		Workers: func() int { return 64 },
	})
	if err != nil {
		t.Fatal(err)
	}
	h.store.OnCommit(backend.Apply)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- limits.Run(ctx) }()
	go func() { ended <- backend.Run(ctx) }()
	h.stop = func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	synctest.Wait()
	return h
}

// fail stores jobs that have failed once and may be tried again from due on.
func (h *herd) fail(ids []string, due time.Time) {
	h.t.Helper()
	err := h.store.Write(context.Background(), func(tx engine.Tx) error {
		for _, id := range ids {
			out, err := tx.Enqueue(engine.Spec{
				Kind: kindMatch, Queue: "ingest", Key: matchKey(id), Policy: engine.PolicyMatch, RunAt: due,
			})
			if err != nil {
				return err
			}
			j, err := h.store.Job(tx, out[0].ID)
			if err != nil {
				return err
			}
			j.Rev++
			j.State, j.Tries, j.Attempts, j.Due = engine.Retryable, 1, 1, due
			if err := h.store.SaveJob(tx, j); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// live is how many jobs have not ended.
func (h *herd) live() (n int) {
	for _, err := range h.store.Live(context.Background()) {
		if err != nil {
			h.t.Error(err)
		}
		n++
	}
	return n
}

// warm makes one call, so that the limits are known.
func (h *herd) warm(id string) {
	h.fail([]string{id}, time.Now())
	time.Sleep(10 * time.Second)
	if n := h.live(); n != 0 {
		h.t.Fatalf("%d jobs are left of the first", n)
	}
}

// crowded is how many retries are due at once in P-19; fewer under the race detector.
var crowded = 5000

// mostGames is how many games a player of the simulator has at most.
const mostGames = 1000

// crowd are players with at least one game more than n, all tiny.
func crowd(n int) (players []sim.PlayerSpec) {
	for i := range n/mostGames + 1 {
		players = append(players, sim.PlayerSpec{
			RiotID: fmt.Sprintf("Ana %d#EUW", i), Platform: route.EUW1, Matches: mostGames, Span: 300 * 24 * time.Hour, Shapes: []sim.Shape{"aborted"},
		})
	}
	return players
}

// games are n+1 of their matches.
func games(s *sim.Sim, n int) (ids []string) {
	for _, p := range s.Players() {
		ids = append(ids, s.MatchIDs(p.RiotID)...)
	}
	return ids[:n+1]
}

// TestP19_FiveThousandRetriesDueAtOnce: none goes before its instant, no window of
// the limits is exceeded, and each ends with one call.
func TestP19_FiveThousandRetriesDueAtOnce(t *testing.T) {
	jobs := crowded
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))
		o := sim.Options{
			Limits:  sim.Limits{App: []sim.Limit{{N: 100, Per: time.Second}, {N: 600, Per: 20 * time.Second}}, Methods: map[route.Method][]sim.Limit{route.Match: {{N: 250, Per: 10 * time.Second}}}},
			Latency: sim.Latency{Base: 50 * time.Millisecond},
			Players: crowd(jobs),
		}
		s := sim.New(o)
		ids := games(s, jobs)
		h := newHerd(t, s, limit.FrontLoaded)
		h.warm(ids[0])
		due := time.Now().Add(time.Minute)
		h.fail(ids[1:], due)
		for waited := 0; h.live() > 0 && waited < 3600; waited += 10 {
			time.Sleep(10 * time.Second)
		}
		h.stop()
		if n := h.live(); n != 0 {
			t.Fatalf("%d jobs are left", n)
		}
		st := s.Stats()
		if st.Violations != 0 || st.Calls != jobs+1 || st.Matches != jobs+1 {
			t.Errorf("%d violations, %d calls for %d matches", st.Violations, st.Calls, st.Matches)
		}
		var at []time.Time
		for _, c := range s.Calls(0, jobs+1)[1:] {
			at = append(at, c.At)
		}
		slices.SortFunc(at, time.Time.Compare)
		if at[0].Before(due) {
			t.Errorf("a call %v before its instant", due.Sub(at[0]))
		}
		// The server has counted its own windows; here every span of a window's length
		// may hold at most two fillings of it, and the whole takes what the budget says.
		for i := range at {
			if j := i + 2*250; j < len(at) && at[j].Sub(at[i]) < 10*time.Second {
				t.Fatalf("%d calls within %v", 2*250+1, at[j].Sub(at[i]))
			}
		}
		pace := time.Second / 25
		if took := at[len(at)-1].Sub(due); took < time.Duration(jobs-375)*pace || took > time.Duration(jobs)*pace*6/5 {
			t.Errorf("%d calls at 25 per second took %v", jobs, took)
		}
	})
}

// TestP19_RecoveryFromAnOutageRamps: thousands of retries become due while the
// endpoint is down. While it is, one call at a time tries it; when it is back, 2
// calls go together, then 4, 8 …; nothing is lost.
func TestP19_RecoveryFromAnOutageRamps(t *testing.T) { recovers(t, false) }

// TestP19_RecoveryRampsBehindAProof: the same where each try asks for what was fetched before.
func TestP19_RecoveryRampsBehindAProof(t *testing.T) { recovers(t, true) }

func recovers(t *testing.T, known bool) {
	const jobs = 1000
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))
		s := sim.New(sim.Options{
			Limits:  sim.Limits{App: []sim.Limit{{N: 2000, Per: 10 * time.Second}}, Methods: map[route.Method][]sim.Limit{route.Match: {{N: 2000, Per: 10 * time.Second}}}},
			Latency: sim.Latency{Base: 50 * time.Millisecond},
			Players: crowd(jobs),
		})
		ids := games(s, jobs)
		var fetched []string
		if known {
			fetched = ids[:1]
		}
		h := newHerd(t, s, limit.Burst, fetched...)
		h.warm(ids[0])
		const down = 5 * time.Minute
		if err := s.Inject(sim.Fault{Kind: sim.Unavailable, Until: down}); err != nil {
			t.Fatal(err)
		}
		up := time.Now().Add(down)
		h.fail(ids[1:], time.Now().Add(time.Second))
		time.Sleep(down + 30*time.Minute)
		h.stop()
		if n := h.live(); n != 0 {
			t.Fatalf("%d jobs are left", n)
		}
		calls := s.Calls(0, 10_000)[1:]
		slices.SortFunc(calls, func(a, b sim.Call) int { return a.At.Compare(b.At) })
		n := slices.IndexFunc(calls, func(c sim.Call) bool { return !c.At.Before(up) })
		open := slices.IndexFunc(calls, func(c sim.Call) bool { return c.At.Sub(calls[0].At) > time.Second })
		if open > 80 {
			t.Errorf("%d calls before the outage was noticed, by 64 workers", open)
		}
		probes := calls[open:n]
		for i, c := range probes {
			if i > 0 && c.At.Sub(probes[i-1].At) < 4500*time.Millisecond {
				t.Errorf("probes %v apart in the outage", c.At.Sub(probes[i-1].At))
			}
		}
		if len(probes) > 12 {
			t.Errorf("%d calls in an outage of %v", len(probes), down)
		}
		var together []int
		for i, c := range calls[n : n+127] {
			if i == 0 || c.At.Sub(calls[n+i-1].At) > 20*time.Millisecond {
				together = append(together, 0)
			}
			together[len(together)-1]++
		}
		if got := fmt.Sprint(together); got != "[1 2 4 8 16 32 64]" {
			t.Errorf("went together: %v", got)
		}
		if st := s.Stats(); st.Violations != 0 || st.Matches != jobs+1 {
			t.Errorf("%d violations, %d matches of %d", st.Violations, st.Matches, jobs+1)
		}
	})
}
