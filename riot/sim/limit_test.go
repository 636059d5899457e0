package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

const testKey = "RGAPI-00000000-0000-4000-8000-000000000000"

// reply is an answer that was read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// get calls the simulator in memory: path begins with the routing value.
func get(t testing.TB, s *Sim, path string) reply {
	t.Helper()
	r, err := try(s, testKey, path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}

func try(s *Sim, key, path string) (reply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://sim"+path, nil)
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("X-Riot-Token", key)
	resp, err := s.RoundTripper().RoundTrip(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(body)}, err
}

// inBubble runs f in a synctest bubble whose clock shows November 2026.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(epoch))
		f(t)
	})
}

const statusPath = "/euw1/lol/status/v4/platform-data"

func smallLimits() Limits {
	return Limits{App: []Limit{{3, time.Second}, {5, 10 * time.Second}}}
}

func counts(r reply) string { return sortEntries(r.header.Get("X-App-Rate-Limit-Count")) }

func sortEntries(h string) string {
	e := strings.Split(h, ",")
	slices.SortFunc(e, func(a, b string) int { return len(a) - len(b) })
	return strings.Join(e, ",")
}

func TestParseLimits(t *testing.T) {
	good, err := ParseLimits("20:1, 100:120")
	if err != nil || len(good) != 2 || good[1] != (Limit{100, 120 * time.Second}) || good[0].String() != "20:1" {
		t.Errorf("got %v, %v", good, err)
	}
	for _, bad := range []string{"", "20", "x:1", "20:0", "0:1", "-1:1", "20:1,30:1", "20:1,", "1:999999"} {
		if _, err := ParseLimits(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestSpeedKeepsTheRate(t *testing.T) {
	for _, speed := range []float64{1, 2, 10, 33, 120, 1000} {
		for _, l := range developmentKey {
			got := l.scaled(speed)
			want := float64(l.N) / l.Per.Seconds() * speed
			if rate := float64(got.N) / got.Per.Seconds(); math.Abs(rate-want)/want > .02 {
				t.Errorf("%v at %g is %v: %g/s, want %g/s", l, speed, got, rate, want)
			}
		}
	}
	if got := scaledAll(developmentKey, 240); len(got) != 1 || got[0] != (Limit{200, time.Second}) {
		t.Errorf("windows that fall together keep the stricter: %v", got)
	}
}

// The same calls under the three window rules: counts include the call they answer, refused ones too.
func TestLimitsUnderEveryWindowRule(t *testing.T) {
	type step struct {
		at     time.Duration // since the start
		status int
		counts string // app: 1 s window, then 10 s
	}
	cases := map[WindowRule][]step{
		// The bubble's epoch is aligned to both windows; calls begin 0.7 s later.
		FixedLazy: {
			{700, 200, "1:1,1:10"}, {1000, 200, "2:1,2:10"}, {1600, 200, "3:1,3:10"}, {1650, 429, "4:1,4:10"},
			{1700, 200, "1:1,5:10"}, {1750, 429, "2:1,6:10"}, {10_650, 429, "1:1,7:10"}, {10_700, 200, "2:1,1:10"},
		},
		WallAligned: {
			{700, 200, "1:1,1:10"}, {1000, 200, "1:1,2:10"}, {1600, 200, "2:1,3:10"}, {1650, 200, "3:1,4:10"},
			{1700, 429, "4:1,5:10"}, {1750, 429, "5:1,6:10"}, {9_999, 429, "1:1,7:10"}, {10_000, 200, "1:1,1:10"},
		},
		Sliding: {
			{700, 200, "1:1,1:10"}, {1000, 200, "2:1,2:10"}, {1600, 200, "3:1,3:10"}, {1650, 429, "4:1,4:10"},
			{1700, 429, "4:1,5:10"}, {10_700, 200, "1:1,5:10"}, {11_000, 200, "2:1,5:10"}, {11_100, 429, "3:1,6:10"},
		},
	}
	for rule, steps := range cases {
		inBubble(t, func(t *testing.T) {
			s := New(Options{Limits: smallLimits(), WindowRule: rule, Latency: Instant, Players: []PlayerSpec{}})
			began, refused := time.Now(), 0
			for i, st := range steps {
				time.Sleep(st.at*time.Millisecond - time.Since(began))
				r := get(t, s, statusPath)
				if r.status != st.status || counts(r) != st.counts {
					t.Errorf("%s, call %d: %d %s, want %d %s", rule, i+1, r.status, counts(r), st.status, st.counts)
				}
				if r.status == 429 {
					refused++
				}
			}
			if st := s.Stats(); st.Violations != refused || st.Calls != len(steps) {
				t.Errorf("%s: %d violations of %d refusals", rule, st.Violations, refused)
			}
		})
	}
}

func TestRefusalNamesItsTypeAndWhenToComeBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := New(Options{Latency: Instant, Players: []PlayerSpec{}, Limits: Limits{
			App: []Limit{{20, time.Second}}, Methods: map[route.Method][]Limit{route.Status: {{2, 5 * time.Second}}},
		}})
		for range 2 {
			get(t, s, statusPath)
		}
		r := get(t, s, statusPath)
		if r.status != 429 || r.header.Get("X-Rate-Limit-Type") != "method" || r.header.Get("X-Method-Rate-Limit-Count") != "3:5" {
			t.Errorf("%d %v", r.status, r.header)
		}
		if after := r.header.Get("Retry-After"); after != "5" && after != "6" {
			t.Errorf("Retry-After %q for a window of 5 s", after)
		}
		if !strings.Contains(r.body, `"status_code":429`) {
			t.Error(r.body)
		}
		// Another host has buckets of its own, and so has another method.
		if r := get(t, s, "/na1/lol/status/v4/platform-data"); r.status != 200 {
			t.Errorf("another host: %d", r.status)
		}
	})
}

// 400 and 404 count, 401 does not and carries no rate headers; header order varies.
func TestWhatCounts(t *testing.T) {
	s := New(Options{Epoch: epoch, Latency: Instant, Limits: Limits{App: []Limit{{100, time.Minute}, {1000, time.Hour}}}})
	unknown := "/europe/riot/account/v1/accounts/by-riot-id/Nobody/XX1"
	for i, c := range []struct {
		path, key string
		status    int
		count     string
	}{
		{unknown, testKey, 404, "1:60,1:3600"},
		{"/europe/riot/account/v1/accounts/by-puuid/NonExistent", testKey, 400, "2:60,2:3600"},
		{unknown, "", 401, ""}, {unknown, "RGAPI-wrong", 401, ""},
		{"/europe/lol/match/v5/matches/EUW1_1", testKey, 404, "3:60,3:3600"},
		{"/europe/no/such/path", testKey, 403, ""},
		{"/sea/riot/account/v1/accounts/by-riot-id/Nobody/XX1", testKey, 403, ""},
		{"/euw1/lol/match/v5/matches/EUW1_1", testKey, 403, ""},
		{unknown, testKey, 404, "4:60,4:3600"},
	} {
		r, err := try(s, c.key, c.path)
		if err != nil || r.status != c.status || counts(r) != c.count {
			t.Errorf("call %d: %d %q %v, want %d %q", i, r.status, counts(r), err, c.status, c.count)
		}
	}
	orders := map[string]bool{}
	for range 20 {
		orders[get(t, s, unknown).header.Get("X-App-Rate-Limit")] = true
	}
	if len(orders) != 2 {
		t.Errorf("the order of the windows should vary: %v", orders)
	}
	if st := s.Stats(); st.Violations != 0 {
		t.Errorf("%d violations", st.Violations)
	}
}

func TestForeignUseIsNoViolation(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := New(Options{Limits: smallLimits(), Latency: Instant, Players: []PlayerSpec{}})
		s.Foreign(testKey, "euw1", 3)
		if r := get(t, s, statusPath); r.status != 429 || counts(r) != "4:1,4:10" {
			t.Errorf("%d %s", r.status, counts(r))
		}
		if st := s.Stats(); st.Violations != 0 || st.Foreign != 1 {
			t.Errorf("%+v", st)
		}
	})
}

func TestEarlyCallsAreNoticed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := New(Options{Latency: Instant, Players: []PlayerSpec{}, Faults: []Fault{{Kind: LimitService, RetryAfter: "5", Count: 1}}})
		get(t, s, statusPath)
		get(t, s, statusPath) // may have been on its way
		time.Sleep(2 * time.Second)
		get(t, s, statusPath)
		get(t, s, "/euw1/lol/summoner/v4/summoners/by-puuid/x") // a service 429 blocks its method only
		time.Sleep(4 * time.Second)
		get(t, s, statusPath)
		if st := s.Stats(); st.Early != 1 || st.Injected["service"] != 1 || st.Violations != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// A client that keeps exactly to the limits: nothing refused, budget and stillness as computed.
func TestStatsOfAPerfectClient(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := New(Options{Limits: smallLimits(), Latency: Instant, Players: []PlayerSpec{}})
		for range 4 {
			for i := range 5 {
				if i == 3 {
					time.Sleep(time.Second)
				}
				get(t, s, statusPath)
			}
			time.Sleep(9 * time.Second)
		}
		st := s.Stats()
		if st.Violations != 0 || st.Calls != 20 || st.Stillness != 9*time.Second || len(st.Budget) != 1 {
			t.Fatalf("%+v", st)
		}
		if b := st.Budget[0]; b.Ideal != 30*time.Second || b.Took != 31*time.Second || b.Limits != "3:1,5:10" || b.Used() < .96 {
			t.Errorf("%+v", b)
		}
		if _, err := json.Marshal(st); err != nil {
			t.Error(err)
		}
	})
}

func TestLimitsCanChange(t *testing.T) {
	s := New(Options{Limits: smallLimits(), Latency: Instant, Players: []PlayerSpec{}})
	if err := s.SetLimits(Limits{App: []Limit{{500, 10 * time.Second}}}); err != nil {
		t.Fatal(err)
	}
	if r := get(t, s, statusPath); r.header.Get("X-App-Rate-Limit") != "500:10" || counts(r) != "1:10" {
		t.Errorf("%v", r.header)
	}
	if s.SetLimits(Limits{App: []Limit{{0, time.Second}}}) == nil {
		t.Error("a limit of nothing was taken")
	}
}

func TestValidateReportsEveryFault(t *testing.T) {
	err := Options{Speed: -1, WindowRule: "odd", Limits: Limits{App: []Limit{{1, 0}}}, FixturesDir: t.TempDir(),
		Players: []PlayerSpec{{RiotID: "A"}, {RiotID: "B#B", Platform: "xx"}}, Faults: []Fault{{Kind: "odd"}}}.Validate()
	if n := len(strings.Split(fmt.Sprint(err), "\n")); n != 7 {
		t.Errorf("%d faults reported:\n%v", n, err)
	}
	for _, o := range []Options{{}, Demo(1), Headless(1)} {
		if err := o.Validate(); err != nil {
			t.Error(err)
		}
	}
}
