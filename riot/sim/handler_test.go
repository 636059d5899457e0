package sim

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

// listen serves s on a loopback socket and gives its address.
func listen(t *testing.T, s *Sim) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

func fetch(t *testing.T, method, url, body string) (int, string, error) {
	t.Helper()
	return fetchWithin(t, time.Minute, method, url, body) // only a hang is that slow
}

func fetchWithin(t *testing.T, limit time.Duration, method, url, body string) (int, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Riot-Token", testKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), err
}

func TestSocketsServeManyClients(t *testing.T) {
	s := New(quick(onePlayer()))
	base := listen(t, s)
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			for _, suffix := range []string{"", "/timeline"} {
				status, body, err := fetch(t, "GET", base+matchPath(s, n)+suffix, "")
				if err != nil || status != 200 || !json.Valid([]byte(body)) {
					t.Errorf("%d %v", status, err)
				}
			}
		})
	}
	wg.Wait()
	if st := settled(t, s); st.Matches != 16 || st.Timelines != 16 || st.Violations != 0 || st.InFlight != 0 {
		t.Errorf("%+v", st)
	}
}

// settled is what was counted once no call is in flight: a client has the whole answer a moment before
// the server counts it.
func settled(t *testing.T, s *Sim) Stats {
	t.Helper()
	for s.Stats().InFlight > 0 { // for ever only if the server lost one: then the run's own limit ends it
		time.Sleep(time.Millisecond)
	}
	return s.Stats()
}

// hangUp is a client that closes its connection when it has the whole body, or before the first byte.
type hangUp struct {
	*httptest.ResponseRecorder
	close func()
}

func (h hangUp) Write(p []byte) (int, error) {
	defer h.close()
	return h.ResponseRecorder.Write(p)
}

func TestWhoHangsUpWithTheWholeAnswerWasServed(t *testing.T) {
	for early, want := range map[bool]Fetch{false: {Calls: 1, OK: 1}, true: {Calls: 1}} {
		s := New(quick(onePlayer()))
		ctx, cancel := context.WithCancel(t.Context())
		if early {
			cancel()
		}
		req := httptest.NewRequestWithContext(ctx, http.MethodGet, matchPath(s, 0), nil)
		req.Header.Set("X-Riot-Token", testKey)
		s.ServeHTTP(hangUp{httptest.NewRecorder(), cancel}, req)
		if got := s.Fetched(route.Match, s.MatchIDs("A#A")[0]); got != want {
			t.Errorf("early %v: %+v, want %+v", early, got, want)
		}
	}
}

func TestHostHeaderNamesTheRouting(t *testing.T) {
	s := New(quick(onePlayer()))
	req, _ := http.NewRequest("GET", listen(t, s)+"/riot/account/v1/accounts/by-riot-id/A/A", nil)
	req.Host = "europe.api.riotgames.com"
	req.Header.Set("X-Riot-Token", testKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("%d", resp.StatusCode)
	}
}

func TestBrokenTransfersOverSockets(t *testing.T) {
	s := New(quick(onePlayer()))
	base := listen(t, s)
	for kind, want := range map[Kind]error{Reset: syscall.ECONNRESET, Truncate: io.ErrUnexpectedEOF, Hang: context.DeadlineExceeded} {
		s.Clear()
		if err := s.Inject(Fault{Kind: kind}); err != nil {
			t.Fatal(err)
		}
		limit := time.Minute
		if kind == Hang {
			limit = 50 * time.Millisecond
		}
		_, body, err := fetchWithin(t, limit, "GET", base+matchPath(s, 0), "")
		// A reset may reach the client before what was sent ahead of it.
		if err == nil || (!errors.Is(err, want) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF)) {
			t.Errorf("%s: %d bytes, %v", kind, len(body), err)
		}
	}
	s.Clear()
	if err := s.Inject(Fault{Kind: Trickle, Delay: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if _, body, err := fetch(t, "GET", base+matchPath(s, 0), ""); err != nil || !json.Valid([]byte(body)) {
		t.Errorf("trickle: %v", err)
	}
}

func TestAdminEndpoints(t *testing.T) {
	s := New(quick(onePlayer()))
	base := listen(t, s)
	if _, _, err := fetch(t, "GET", base+matchPath(s, 0), ""); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body, want string
		status                   int
	}{
		{"GET", "/sim/stats", "", `"matches":1`, 200},
		{"GET", "/sim/calls?after=0&limit=5", "", `"method":"match-v5.match"`, 200},
		{"GET", "/sim/calls?after=x", "", "not a number", 400},
		{"GET", "/sim/fetches", "", s.MatchIDs("A#A")[0], 200},
		{"GET", "/sim/players", "", `"A#A"`, 200},
		{"POST", "/sim/faults", `{"kind":"503","match":{"rate":0.1},"until":"2m"}`, `"until":"2m0s"`, 200},
		{"POST", "/sim/faults", `[{"kind":"500"},{"kind":"hang"}]`, `"hits":0`, 200},
		{"POST", "/sim/faults", `{"preset":"outage"}`, `"outage"`, 200},
		{"POST", "/sim/faults", `{"preset":"party"}`, "unknown scene", 400},
		{"POST", "/sim/faults", `{"kind":"odd"}`, "unknown kind", 400},
		{"POST", "/sim/faults", `nonsense`, "not JSON", 400},
		{"POST", "/sim/clear", "", "[]", 200},
		{"POST", "/sim/keys", `{"key":"` + testKey + `","state":"asleep"}`, "unknown state", 400},
		{"POST", "/sim/keys", `{"key":"` + testKey + `","project":"p2"}`, `"p2"`, 200},
		{"POST", "/sim/foreign", `{"key":"` + testKey + `","host":"euw1","n":3}`, `"calls":1`, 200},
		{"POST", "/sim/reset", "", `"calls":0`, 200},
		{"GET", "/sim/other", "", "no such endpoint", 404},
	} {
		status, body, err := fetch(t, c.method, base+c.path, c.body)
		if err != nil || status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %.200q %v", c.method, c.path, status, body, err)
		}
		if strings.Contains(body, testKey) {
			t.Errorf("%s gives the key away", c.path)
		}
	}
}

// The plans of the demo show what they promise, whatever the seed. At one hour of one day: the ids, by which faults choose,
// follow from it, and of four that are to be expected none may be there.
func TestDemoPlansStrikeEnough(t *testing.T) {
	for seed := range uint64(5) {
		o := Demo(seed)
		o.Epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		s := New(o)
		hits := map[string]int{}
		for _, p := range s.Players() {
			for _, id := range s.MatchIDs(p.RiotID) {
				for _, f := range s.faults {
					c := &call{Call: Call{Method: route.Match, Host: "europe", ID: id, Attempt: 1}, thing: string(route.Match) + " " + id}
					if f.After == 0 && f.strikes(c, seed, f.since, 1) {
						hits[f.Name]++
					}
				}
			}
		}
		if hits["backend restarts"] < 15 || hits["backend fails twice"] < 4 || hits["stubborn"] < 1 {
			t.Errorf("seed %d: %v", seed, hits)
		}
		if h := New(Headless(seed)); len(h.world.Games) < 60 || len(h.world.Games) > 100 {
			t.Errorf("headless demo of %d matches", len(h.world.Games))
		}
	}
}
