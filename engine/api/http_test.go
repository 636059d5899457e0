package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/farsight-console/farsight/engine"
)

// office is a console that answers by the query's type.
type office struct {
	desk
	find func(q engine.Query) (engine.Answer, error)
	does func(c engine.Command) (engine.Receipt, error)
}

func (o *office) Find(_ context.Context, q engine.Query) (engine.Answer, error) { return o.find(q) }

func (o *office) Do(ctx context.Context, c engine.Command) (engine.Receipt, error) {
	if o.does == nil {
		return o.desk.Do(ctx, c)
	}
	return o.does(c)
}

// quiet is an office of an engine with nothing in it.
func quiet() *office {
	return &office{find: func(q engine.Query) (engine.Answer, error) {
		switch q := q.(type) {
		case engine.StatusQuery:
			return engine.StatusAnswer{Engine: engine.EngineRow{State: engine.EngineLive}}, nil
		case engine.AlertsQuery:
			return engine.AlertsAnswer{}, nil
		case engine.LimitsQuery:
			return engine.LimitsRow{}, nil
		case engine.MetricsQuery:
			return engine.Metrics{}, nil
		case engine.FeedQuery:
			if q.After == "bad" {
				return nil, engine.Problemf(engine.ErrInvalid, "", "the cursor %q is none", q.After)
			}
			return engine.FeedPage{}, nil
		case engine.MatchesQuery:
			return engine.MatchesPage{}, nil
		}
		return nil, engine.Problemf(engine.ErrNotFound, "", "there is none")
	}}
}

// web is the listener for programs.
type web struct {
	base, token string
	addr        string
	http        *http.Client
	mu          sync.Mutex
	refused     []engine.Command
}

func listen(t testing.TB, con engine.Console, change func(*ProgramsOptions, *Options)) *web {
	t.Helper()
	dir := t.TempDir()
	token, err := LoadToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ListenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, TokenName))
	if err != nil {
		t.Fatal(err)
	}
	w := &web{addr: l.Addr().String(), base: "http://" + l.Addr().String(), token: strings.TrimSpace(string(raw))}
	w.http = &http.Client{Transport: &http.Transport{}}
	popt := ProgramsOptions{Console: con, Platform: "euw1", Cooldown: time.Minute}
	opt := Options{
		Console: con, Who: token.Who, Conns: HTTPConns,
		Refused: func(_ context.Context, c engine.Command, _ string) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.refused = append(w.refused, c)
			return nil
		},
	}
	opt.Hosts, opt.Origins = HTTPHosts(l)
	if change != nil {
		change(&popt, &opt)
	}
	opt.Routes = NewPrograms(popt).Routes()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- NewServer(opt).Serve(ctx, l) }()
	t.Cleanup(func() {
		w.http.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w
}

// ask sends a request with the token and checks the answer against the document.
func (w *web) ask(t testing.TB, method, path, body string, want int, header ...string) (string, http.Header) {
	t.Helper()
	req, err := http.NewRequest(method, w.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		} else if req.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	resp, err := w.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != want {
		t.Errorf("%s %s answered %d %s, want %d", method, path, resp.StatusCode, raw, want)
	}
	if err := Fits(method, path, resp.StatusCode, raw); err != nil {
		t.Error(err)
	}
	if resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%s %s speaks CORS", method, path)
	}
	return string(raw), resp.Header
}

func TestHTTPRefusesWhoeverShowsNoToken(t *testing.T) {
	w := listen(t, quiet(), nil)
	for name, shown := range map[string]string{
		"nothing": "", "another": "Bearer " + strings.Repeat("x", 52), "a part": "Bearer " + w.token[:40], "one more": "Bearer " + w.token + "x",
		"another kind": "Basic " + w.token, "bare": w.token, "empty": "Bearer ",
	} {
		body, head := w.ask(t, "GET", "/v1/summary", "", http.StatusUnauthorized, "Authorization", shown)
		if asks := head.Get("WWW-Authenticate"); !strings.HasPrefix(asks, `Bearer realm="farsight"`) || strings.Contains(asks, "invalid_token") != (shown != "") || strings.Contains(body, w.token) {
			t.Errorf("%s: %s %v", name, body, head)
		}
	}
	w.ask(t, "GET", "/v1/summary", "", http.StatusOK)
	w.ask(t, "GET", "/v1/summary", "", http.StatusOK, "Authorization", "bearer  "+w.token)

	// A command that was refused leaves an audit entry, one a second.
	began := time.Now()
	for range 5 {
		w.ask(t, "POST", "/v1/jobs/c1/retry", "{}", http.StatusUnauthorized, "Authorization", "Bearer wrong")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.refused); n == 0 || n > 1+int(time.Since(began)/time.Second) || w.refused[0].Op != "POST /v1/jobs/{id}/retry" || w.refused[0].By.Via != "http" {
		t.Errorf("the audit has %+v", w.refused)
	}
}

func TestHTTPBadRequests(t *testing.T) {
	t.Parallel()
	w := listen(t, quiet(), nil)
	for name, c := range map[string]struct {
		method, path, body string
		want               int
		header             []string
	}{
		"another host":           {"GET", "/healthz", "", 421, []string{"Host", "evil.example"}},
		"another host, our port": {"GET", "/healthz", "", 421, []string{"Host", "evil.example:" + w.addr[strings.LastIndex(w.addr, ":")+1:]}},
		"the kernel's name":      {"GET", "/healthz", "", 200, []string{"Host", "localhost"}},
		"the same, in capitals":  {"GET", "/healthz", "", 200, []string{"Host", "LocalHost"}},
		"another origin":         {"POST", "/v1/jobs/c1/retry", "{}", 403, []string{"Origin", "http://evil.example"}},
		"another port's origin":  {"GET", "/healthz", "", 403, []string{"Origin", "http://127.0.0.1:1"}},
		"no origin at all":       {"GET", "/healthz", "", 403, []string{"Origin", "null"}},
		"our origin":             {"GET", "/healthz", "", 200, []string{"Origin", w.base}},
		"a web page's socket":    {"GET", "/v1/events", "", 403, []string{"Origin", "http://evil.example", "Upgrade", "websocket", "Connection", "Upgrade"}},
		"a form":                 {"POST", "/v1/jobs/c1/retry", "if_rev=1", 415, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		"no type":                {"POST", "/v1/jobs/c1/retry", "", 415, []string{"Content-Type", ""}},
		"no json":                {"POST", "/v1/jobs/c1/retry", "{", 400, nil},
		"two values":             {"POST", "/v1/jobs/c1/retry", "{}{}", 400, nil},
		"unknown field":          {"POST", "/v1/jobs/c1/retry", `{"ifrev":1}`, 400, nil},
		"too large":              {"POST", "/v1/jobs/c1/retry", `{"reason":"` + strings.Repeat("x", 1<<20) + `"}`, 413, nil},
		"body with GET":          {"GET", "/v1/summary", "{}", 400, nil},
		"unknown parameter":      {"GET", "/v1/matches?limt=1", "", 400, nil},
		"parameter twice":        {"GET", "/v1/matches?limit=1&limit=2", "", 400, nil},
		"broken parameters":      {"GET", "/v1/matches?limit=%zz", "", 400, nil},
		"no number":              {"GET", "/v1/matches?limit=many", "", 400, nil},
		"too many":               {"GET", "/v1/matches/participants?limit=501", "", 400, nil},
		"no cursor":              {"GET", "/v1/matches?after=bad", "", 400, nil},
		"not a truth":            {"GET", "/v1/matches/A/B?all=maybe", "", 400, nil},
		"no revision":            {"DELETE", "/v1/jobs/c1/retry?if_rev=-1", "", 400, nil},
		"unknown job":            {"GET", "/v1/jobs/c404", "", 404, nil},
		"unknown call":           {"GET", "/calls/CA404/debug", "", 404, nil},
		"unknown call's retry":   {"POST", "/calls/CA404/retry", "{}", 404, nil},
		"unknown account":        {"GET", "/v1/accounts/No/Body", "", 404, nil},
		"unknown trigger":        {"POST", "/v1/trigger/monthly", "{}", 404, nil},
		"full of nobody":         {"POST", "/v1/trigger/full", "{}", 400, nil},
		"rank of one":            {"POST", "/v1/trigger/rank", `{"account":"A#B"}`, 400, nil},
		"unknown events":         {"GET", "/v1/events?types=everything", "", 404, nil},
		"no metrics here":        {"GET", "/metrics", "", 404, nil},
		"no settings here":       {"GET", "/v1/config", "", 404, nil},
		"wrong method":           {"GET", "/v1/jobs/c1/retry", "", 405, nil},
		"wrong path":             {"GET", "/v2/summary", "", 404, nil},
		"pprof":                  {"GET", "/debug/pprof/", "", 404, nil},
		"healthy":                {"GET", "/healthz", "", 200, nil},
		"ready":                  {"GET", "/readyz", "", 200, nil},
		"matches":                {"GET", "/v1/matches?limit=500", "", 200, nil},
		"the rest of them":       {"GET", "/v1/matches/A%20B/C", "", 200, nil},
		"document":               {"GET", "/openapi.json", "", 200, nil},
	} {
		t.Run(name, func(t *testing.T) { w.ask(t, c.method, c.path, c.body, c.want, c.header...) })
	}
}

// A slow client is cut off, too many are turned away, and neither harms the others.
func TestHTTPSlowAndManyConnections(t *testing.T) {
	t.Parallel()
	hasty := listen(t, quiet(), func(_ *ProgramsOptions, o *Options) { o.HeadTime = 100 * time.Millisecond })
	slow, err := net.Dial("tcp", hasty.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	_, _ = fmt.Fprint(slow, "GET /healthz HTTP/1.1\r\nHo")
	_ = slow.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadAll(slow); err != nil && !errors.Is(err, net.ErrClosed) && strings.Contains(err.Error(), "timeout") {
		t.Errorf("a head that never ends: %v", err)
	}

	w := listen(t, quiet(), nil)
	var all []net.Conn
	for range HTTPConns {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// Kept open by a request that was answered.
		_, _ = fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", w.token)
		if n, err := c.Read(make([]byte, 2000)); n == 0 {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", w.token)
	if got, _ := io.ReadAll(c); !strings.Contains(string(got), "503") || !strings.Contains(string(got), "64 connections") {
		t.Errorf("one too many was told %q", got)
	}
	all[0].Close()
	for end := time.Now().Add(patience); time.Now().Before(end); { // its place is free in a moment
		req, err := http.NewRequest("GET", w.base+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+w.token)
		if resp, err := w.http.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("no place became free")
}

// TestStrangersKeepNoPlace: whoever is refused for who they are has their connection
// closed. Else as many of them as there are places would keep every program out, each
// for as long as a connection may be idle.
func TestStrangersKeepNoPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ send, want string }{
		"no token":                {"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "401"},
		"another token":           {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n\r\n", "401"},
		"no token, a slow body":   {"POST /v1/do HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{", "401"},
		"no token, leads nowhere": {"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"},
		"no token, wrong method":  {"PUT /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"},
		"another host":            {"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421"},
		"a web page":              {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n", "403"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := listen(t, quiet(), nil)
			var all []net.Conn
			for range HTTPConns {
				conn, err := net.Dial("tcp", w.addr)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				_, _ = io.WriteString(conn, c.send)
				all = append(all, conn)
			}
			for _, one := range all {
				_ = one.SetReadDeadline(time.Now().Add(patience))
				if got, err := io.ReadAll(one); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 "+c.want) {
					t.Fatalf("answered with %.80q, and then %v", got, err)
				}
			}
			w.ask(t, "GET", "/healthz", "", http.StatusOK)
		})
	}
}

func TestOnlyLoopbackIsListenedOn(t *testing.T) {
	for _, good := range []string{"127.0.0.1:0", "localhost:7171", "[::1]:7171", "127.9.9.9:1", "[::ffff:127.0.0.1]:1"} {
		if _, err := ParseLoopback(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", ":7171", "0.0.0.0:7171", "192.168.1.2:7171", "[::]:7171", "example.com:7171", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:99999", "[fe80::1%eth0]:1", "7171"} {
		_, err := ParseLoopback(bad)
		if err == nil || !strings.Contains(err.Error(), "127.0.0.1:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	l, err := ListenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := ListenHTTP(l.Addr().String()); err == nil || !strings.Contains(err.Error(), "choose another port") {
		t.Errorf("a port that is taken: %v", err)
	}
}

func TestTheTokenIsItsOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, TokenName)
	first, err := LoadToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	again, err := LoadToken(dir)
	if err != nil || again != first {
		t.Error("it is not the same the second time: ", err)
	}
	raw, _ := os.ReadFile(path)
	if text := fmt.Sprintf("%v %+v %#v %s", first, first, first, first); strings.Contains(text, strings.TrimSpace(string(raw))) || !strings.Contains(text, "****") {
		t.Errorf("it prints as %s", text)
	}
	wrong := map[string]func() error{
		"readable by others": func() error { return os.Chmod(path, 0o644) },
		"short":              func() error { return os.WriteFile(path, []byte("secret\n"), 0o600) },
		"empty":              func() error { return os.WriteFile(path, nil, 0o600) },
		"two lines": func() error {
			return os.WriteFile(path, []byte(strings.Repeat("x", 40)+"\n"+strings.Repeat("y", 40)), 0o600)
		},
		"endless":  func() error { return os.WriteFile(path, []byte(strings.Repeat("x", 1<<20)), 0o600) },
		"a link":   func() error { return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path)) },
		"a folder": func() error { return os.Mkdir(path, 0o700) },
	}
	for name, spoil := range wrong {
		if err := errors.Join(os.RemoveAll(path), os.RemoveAll(path+".real"), os.WriteFile(path, raw, 0o600)); err != nil {
			t.Fatal(err)
		}
		if name == "a folder" {
			_ = os.Remove(path)
		}
		if err := spoil(); err != nil {
			t.Fatal(name, err)
		}
		if _, err := LoadToken(dir); err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), string(raw[:20])) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestS3_1_StatsAnswersFromTheStoreElseStartsASync walks through what a look at an
// account's stats may find.
func TestS3_1_StatsAnswersFromTheStoreElseStartsASync(t *testing.T) {
	var row *engine.AccountRow
	var report *engine.PlayReport
	var did []engine.Command
	o := quiet()
	rest := o.find
	o.find = func(q engine.Query) (engine.Answer, error) {
		if _, ok := q.(engine.AccountQuery); ok && row != nil {
			return engine.AccountDetail{Row: *row, Report: report}, nil
		}
		return rest(q)
	}
	receipt, fails := engine.Receipt{Job: "a1", Account: "01A", Matched: 1, Applied: 1, Text: "under way"}, error(nil)
	o.does = func(c engine.Command) (engine.Receipt, error) {
		did = append(did, c)
		return receipt, fails
	}
	w := listen(t, o, nil)
	const path = "/v1/stats/Quiet%20River/SIM"
	look := func(want, commands int, says ...string) http.Header {
		t.Helper()
		did = nil
		body, head := w.ask(t, "GET", path, "", want)
		for _, text := range says {
			if !strings.Contains(body, text) {
				t.Errorf("%s is not in %s", text, body)
			}
		}
		if len(did) != commands {
			t.Errorf("%d commands: %+v", len(did), did)
		}
		return head
	}

	head := look(202, 1, `"job":"a1"`)
	if c := did[0]; c.Op != engine.OpTrigger || c.Account != "Quiet River#SIM" || c.Sync.Platform != "euw1" || c.By.Via != "http" || head.Get("Location") != "/v1/jobs/a1" {
		t.Errorf("%+v %v", c, head)
	}
	row = &engine.AccountRow{ID: "01A", RiotID: "Quiet River#SIM", Platform: "euw1", Status: engine.SyncPending, Job: "a1"}
	look(202, 0, `"job":"a1"`, `"joined":true`)
	row.Status = engine.Syncing
	look(202, 0, `"job":"a1"`)

	// Somebody else starts it between the look and the command.
	row.Status = engine.SyncNever
	busy := engine.Problemf(engine.ErrConflict, "", "it is being synced")
	busy.Job = "a7"
	fails = busy
	look(202, 1, `"job":"a7"`, `"joined":true`)
	fails = nil

	// The cooldown of a sync that went well is the engine's, of a failed one ours.
	receipt = engine.Receipt{Nothing: true, Due: time.Now().Add(90 * time.Second), Text: "was synced just now"}
	if head := look(404, 1, "was synced just now"); head.Get("Retry-After") == "" {
		t.Errorf("%v", head)
	}
	row.Status, row.Finished, row.LastError = engine.SyncFailed, time.Now().Add(-20*time.Second), "no such player"
	asked := row.Finished.Add(20 * time.Second)
	head = look(404, 0, "no such player")
	if wait, err := strconv.Atoi(head.Get("Retry-After")); err != nil || wait > 40 || wait < 40-int(time.Since(asked)/time.Second)-1 {
		t.Errorf("%v", head)
	}
	row.Finished = time.Now().Add(-2 * time.Minute)
	receipt = engine.Receipt{Job: "a9", Account: "01A"}
	look(202, 1, `"job":"a9"`)

	row.Status, report = engine.SyncCompleted, &engine.PlayReport{Account: "01A", Zone: "UTC", Matches: 12}
	look(200, 0, `"matches":12`)
	row.Status = engine.Syncing
	look(200, 0, `"matches":12`, `"job":"a1"`)
	did = nil
	w.ask(t, "GET", path+"?platform=na1", "", 202) // a namesake
	if len(did) != 1 || did[0].Account != "Quiet River#SIM" || did[0].Sync.Platform != "na1" {
		t.Errorf("%+v", did)
	}
}

// A program that names no revision means the job as it is: one that moves on meanwhile is
// looked at again. One that names a revision is told.
func TestWhoNamesNoRevisionIsNotToldOfOne(t *testing.T) {
	o := quiet()
	var rev engine.Revision = 7
	var asked []engine.Revision
	rest := o.find
	o.find = func(q engine.Query) (engine.Answer, error) {
		if _, ok := q.(engine.JobQuery); ok {
			return engine.JobDetail{Job: engine.JobRow{Job: engine.Job{ID: "c1", Rev: rev, State: engine.Retryable, Attempts: int(rev)}}}, nil
		}
		return rest(q)
	}
	o.does = func(c engine.Command) (engine.Receipt, error) {
		asked = append(asked, c.IfRev)
		if rev++; rev < 10 { // it runs and fails again
			p := engine.Problemf(engine.ErrConflict, "look at it again", "job c1: changed since shown: now retryable (rev %d)", rev)
			p.Job, p.Why = "c1", engine.WhyChanged
			return engine.Receipt{}, p
		}
		return engine.Receipt{Job: "c1", Matched: 1, Applied: 1, Text: "job c1 is cancelled"}, nil
	}
	w := listen(t, o, nil)
	body, _ := w.ask(t, "DELETE", "/v1/jobs/c1/retry", "", http.StatusOK)
	if !slices.Equal(asked, []engine.Revision{7, 8, 9}) || strings.Contains(body, "since shown") {
		t.Errorf("asked with the revisions %v, told %s", asked, body)
	}
	rev, asked = 7, nil
	if body, _ := w.ask(t, "DELETE", "/v1/jobs/c1/retry?if_rev=7", "", http.StatusConflict); len(asked) != 1 || !strings.Contains(body, "changed since shown") {
		t.Errorf("who was shown revision 7 is told %s after %v", body, asked)
	}
}

// A viewer's look starts nothing.
func TestStatsOfAViewerStartNothing(t *testing.T) {
	o := quiet()
	o.does = func(c engine.Command) (engine.Receipt, error) {
		t.Errorf("%+v was done", c)
		return engine.Receipt{}, nil
	}
	w := listen(t, o, func(_ *ProgramsOptions, opt *Options) {
		opt.Who = func(*http.Request) (Caller, error) { return Caller{Role: Viewer, Where: "uid 7"}, nil }
	})
	w.ask(t, "GET", "/v1/stats/Quiet/SIM", "", 404)
	w.ask(t, "POST", "/v1/accounts/Quiet/SIM/sync", "{}", 403)
	w.ask(t, "DELETE", "/v1/jobs/c1/retry", "", 403)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.refused) != 2 {
		t.Errorf("the audit has %+v", w.refused)
	}
}

func TestHealthAndReadiness(t *testing.T) {
	state := engine.EngineLive
	o := quiet()
	o.find = func(engine.Query) (engine.Answer, error) {
		return engine.StatusAnswer{Engine: engine.EngineRow{State: state, Why: "so"}}, nil
	}
	var warned atomic.Int64
	log := zerolog.New(io.Discard).Hook(zerolog.HookFunc(func(*zerolog.Event, zerolog.Level, string) { warned.Add(1) }))
	w := listen(t, o, func(_ *ProgramsOptions, opt *Options) { opt.Log = log })
	for s, want := range map[engine.EngineState][2]int{
		engine.EngineLive: {200, 200}, engine.EnginePaused: {200, 200}, engine.EngineAPIDown: {200, 200}, engine.EngineNoKey: {200, 503},
		engine.EngineStopping: {200, 503}, engine.EngineBroken: {503, 503},
	} {
		state = s
		w.ask(t, "GET", "/healthz", "", want[0])
		w.ask(t, "GET", "/readyz", "", want[1])
	}
	o.find = func(engine.Query) (engine.Answer, error) { return nil, errors.New("bolt: page 7") }
	if body, _ := w.ask(t, "GET", "/healthz", "", 500); strings.Contains(body, "page 7") {
		t.Error(body)
	}
	if n := warned.Load(); n != 1 {
		t.Errorf("%d lines in the log: a probe that asks each second fills it, and the fault of ours needs one", n)
	}
}

// TestTheTourTakesEveryRoute keeps the script of docs/http.md complete.
func TestTheTourTakesEveryRoute(t *testing.T) {
	raw, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	begins := map[string]string{"GET": `get (-N --max-time \d+ )?"\$base`, "POST": `post "?`, "DELETE": `delete "?`}
	for _, r := range allRoutes() {
		path := strings.NewReplacer(`{name}/{tag}`, `$acc`, `.`, `\.`).Replace(r.Path)
		path = regexp.MustCompile(`\{\w+\}`).ReplaceAllString(strings.ReplaceAll(path, "$", `\$`), `[$$\w]+`)
		if !regexp.MustCompile(begins[r.Method] + path + `["? \n]`).Match(raw) {
			t.Errorf("%s %s is not in docs/http.md", r.Method, r.Path)
		}
	}
}

// The summary's metrics can be had of one kind of job, as `metrics --kind` gives them.
func TestHTTPSummaryOfOneKind(t *testing.T) {
	o := quiet()
	rest := o.find
	o.find = func(q engine.Query) (engine.Answer, error) {
		if m, ok := q.(engine.MetricsQuery); ok {
			return engine.Metrics{Kind: m.Kind}, nil
		}
		return rest(q)
	}
	w := listen(t, o, nil)
	for path, want := range map[string]engine.Kind{"/v1/summary": "", "/v1/summary?kind=alert.call": "alert.call"} {
		body, _ := w.ask(t, "GET", path, "", http.StatusOK)
		var got Summary
		if err := json.Unmarshal([]byte(body), &got); err != nil || got.Metrics.Kind != want {
			t.Errorf("%s: %q, %v", path, got.Metrics.Kind, err)
		}
	}
}

// Members are told to programs as they are to the console.
func TestHTTPMembers(t *testing.T) {
	o := quiet()
	o.find = func(engine.Query) (engine.Answer, error) {
		return engine.MembersPage{Epoch: 3, Leader: "1-a", Members: []engine.MemberRow{{ID: "1-a", Role: engine.MemberLeads, Works: true}}}, nil
	}
	w := listen(t, o, nil)
	body, _ := w.ask(t, "GET", "/v1/members", "", http.StatusOK)
	var got engine.MembersPage
	if err := json.Unmarshal([]byte(body), &got); err != nil || got.Epoch != 3 || len(got.Members) != 1 || !got.Members[0].Works {
		t.Errorf("%s, %v", body, err)
	}
}

func TestW12a_TriggerTakesTheQueuesPayload(t *testing.T) {
	o := quiet()
	puuid := strings.Repeat("p", 78)
	var c engine.Command
	o.does = func(got engine.Command) (engine.Receipt, error) {
		c = got
		return engine.Receipt{Job: "c1"}, nil
	}
	w := listen(t, o, nil)
	w.ask(t, "POST", "/v1/trigger/latest", `{"puuid":"`+puuid+`","count":20,"lookbackDays":30,"force":true,"requestedBy":"shop","reason":"order 7"}`, 202)
	days := time.Since(c.Sync.Since) / (24 * time.Hour)
	if c.Account != puuid || c.Sync.Count != 20 || days < 29 || days > 31 || !c.Sync.Force || c.Reason != "requested by shop: order 7" || c.Sync.Mode != "latest" {
		t.Errorf("%+v", c)
	}
	w.ask(t, "POST", "/v1/trigger/rank", `{"requestedBy":"shop"}`, 202)
	if c.Reason != "requested by shop" || c.Schedule != "rank.daily" {
		t.Errorf("%+v", c)
	}
	for body, says := range map[string]string{
		`{"puuid":"` + puuid + `","account":"A#B"}`: "both name an account",
		`{"puuid":"A#B"}`:                                    "puuid has 3 characters",
		`{"count":20}`:                                       "are for one account",
		`{"lookbackDays":30}`:                                "are for one account",
		`{"account":"A#B","lookbackDays":-1}`:                "lookbackDays is -1",
		`{"account":"A#B","lookbackDays":4000}`:              "use 1 to 3650",
		`{"account":"A#B","requestedBy":"x","requested":""}`: "requested",
	} {
		if got, _ := w.ask(t, "POST", "/v1/trigger/latest", body, 400); !strings.Contains(got, says) {
			t.Errorf("%s: %s", body, got)
		}
	}
}

// Lists are asked for by parameters: each becomes a typed query, and what makes no sense is a 400.
func TestH10_ListsAreAskedForByParameters(t *testing.T) {
	var asked engine.Query
	o := quiet()
	o.find = func(q engine.Query) (engine.Answer, error) {
		switch q := q.(type) {
		case engine.AccountQuery:
			return engine.AccountDetail{Row: engine.AccountRow{ID: "01A"}}, nil
		case engine.JobsQuery:
			asked = q
			return engine.JobsPage{Jobs: []engine.JobRow{}}, nil
		case engine.AccountsQuery:
			asked = q
			return engine.AccountsPage{}, nil
		}
		asked = q
		return engine.FeedPage{}, nil
	}
	w := listen(t, o, nil)
	page := engine.Page{Limit: 20, After: "c"}
	for path, want := range map[string]engine.Query{
		"/v1/jobs": engine.JobsQuery{},
		"/v1/jobs?state=retryable,running&queue=matches&kind=match.fetch&account=A%23B&filter=age%3E1h&limit=20&after=c": engine.JobsQuery{
			Page: page, States: []engine.State{engine.Retryable, engine.Running}, Queue: "matches", Kind: "match.fetch", Owner: "01A", Filter: "age>1h"},
		"/v1/jobs?state=discarded": engine.JobsQuery{States: []engine.State{engine.Discarded}, Ended: true},
		"/v1/jobs?state=all":       engine.JobsQuery{Ended: true},
		"/v1/accounts?text=an&filter=status:failed&limit=20&after=c": engine.AccountsQuery{Page: page, Text: "an", Filter: "status:failed"},
		"/v1/matches?filter=mode:aram&limit=20&after=c":              engine.FeedQuery{Page: page, Kind: engine.FeedMatches, Filter: "mode:aram"},
	} {
		if body, _ := w.ask(t, "GET", path, "", http.StatusOK); !reflect.DeepEqual(asked, want) || strings.Contains(body, "null") {
			t.Errorf("%s asked %+v, want %+v: %s", path, asked, want, body)
		}
	}
	for _, bad := range []string{"/v1/jobs?state=lost", "/v1/jobs?limit=0", "/v1/jobs?owner=01A", "/v1/matches/participants?filter=x"} {
		w.ask(t, "GET", bad, "", http.StatusBadRequest)
	}
	for path, want := range map[string]string{"/v1/accounts?status=failed": `"do":"it takes text, filter, after, limit"`, "/v1/hello?x=1": `"do":"it takes none"`} {
		if body, _ := w.ask(t, "GET", path, "", http.StatusBadRequest); !strings.Contains(body, want) {
			t.Errorf("%s: %s, want %s", path, body, want)
		}
	}
}

// The routes of collections are the query and the command of consoles.
func TestL9_CollectionsOverHTTP(t *testing.T) {
	row := engine.CollectionRow{Collection: engine.Collection{ID: "01C", CollectAsk: engine.CollectAsk{Name: "kr-solo-master+"}}}
	var did engine.Command
	o := quiet()
	o.find = func(q engine.Query) (engine.Answer, error) {
		if name := q.(engine.CollectionsQuery).Name; name != "" && name != row.Name {
			return nil, engine.Problemf(engine.ErrNotFound, "", "there is none")
		}
		return engine.CollectionsAnswer{Collections: []engine.CollectionRow{row}}, nil
	}
	o.does = func(c engine.Command) (engine.Receipt, error) {
		did = c
		return engine.Receipt{Job: "c7", Collection: row.Name, Joined: true, Text: "changed"}, nil
	}
	w := listen(t, o, nil)
	for path, want := range map[string]int{"/v1/collections": 200, "/v1/collections/kr-solo-master+": 200, "/v1/collections/other": 404} {
		if body, _ := w.ask(t, "GET", path, "", want); want == 200 && !strings.Contains(body, `"name":"kr-solo-master+"`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	body, h := w.ask(t, "POST", "/v1/collections", `{"tiers":["master+"],"platforms":["kr"],"since":"14d","reason":"a study","dry_run":true}`, 202)
	if !strings.Contains(body, `"collection":"kr-solo-master+","joined":true`) || h.Get("Location") != "/v1/jobs/c7" ||
		did.Op != engine.OpCollect || did.Collect.Since != "14d" || did.Reason != "a study" || !did.DryRun || did.By.Via != "http" {
		t.Errorf("%s %v: %+v", body, h, did)
	}
}

// A page of an origin that is named may ask, and read the answer; each other one is refused as before.
func TestH11_PagesThatAreNamedMayAsk(t *testing.T) {
	const page = "https://dash.example.com"
	w := listen(t, quiet(), func(_ *ProgramsOptions, o *Options) { o.Pages = []string{page} })
	send := func(method, origin string, header ...string) *http.Response {
		t.Helper()
		req, err := http.NewRequest(method, w.base+"/v1/summary", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", origin)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := w.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp
	}
	before := []string{"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization"}
	for name, c := range map[string]struct {
		got     *http.Response
		status  int
		allowed string
	}{
		"asks first":                {send("OPTIONS", page, before...), 204, page},
		"asks":                      {send("GET", page, "Authorization", "Bearer "+w.token), 200, page},
		"shows no token":            {send("GET", page), 401, page},
		"another page":              {send("GET", "https://evil.example", "Authorization", "Bearer "+w.token), 403, ""},
		"another page asks":         {send("OPTIONS", "https://evil.example", before...), 403, ""},
		"options that no page asks": {send("OPTIONS", page), 405, page},
	} {
		h := c.got.Header
		if c.got.StatusCode != c.status || h.Get("Access-Control-Allow-Origin") != c.allowed || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %d %v", name, c.got.StatusCode, h)
		}
		if c.status == 204 && !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization") {
			t.Errorf("%s: %v", name, h)
		}
	}
}

// A pass opens a stream of events in place of the token, for a while, and nothing else.
func TestH12_APassOpensEventsAlone(t *testing.T) {
	dir := t.TempDir()
	token, err := LoadToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	gate := NewGate(token)
	w := listen(t, quiet(), func(p *ProgramsOptions, o *Options) {
		p.Pass, o.Who = gate.Pass, gate.Who
		p.Events = NewEvents(EventsOptions{Console: p.Console, Boot: "b"})
	})
	raw, err := os.ReadFile(filepath.Join(dir, TokenName))
	if err != nil {
		t.Fatal(err)
	}
	w.token = strings.TrimSpace(string(raw))
	body, _ := w.ask(t, "POST", "/v1/events/pass", "", http.StatusOK)
	var pass eventPass
	if err := json.Unmarshal([]byte(body), &pass); err != nil || time.Until(pass.Expires) < passTime-time.Minute {
		t.Fatalf("%s: %v", body, err)
	}
	none := []string{"Authorization", ""}
	w.ask(t, "HEAD", "/v1/events?pass="+pass.Pass, "", http.StatusOK, none...)
	late := strings.Replace(pass.Pass, pass.Pass[:10], strconv.FormatInt(pass.Expires.Unix()+1, 10), 1)
	for name, path := range map[string]string{
		"none": "/v1/events?pass=", "longer": "/v1/events?pass=" + late, "over": "/v1/events?pass=" + gate.Pass(time.Now().Add(-time.Second)),
		"cut": "/v1/events?pass=" + pass.Pass[:40],
	} {
		if body, _ := w.ask(t, "GET", path, "", http.StatusUnauthorized, none...); strings.Contains(body, pass.Pass[:40]) ||
			!strings.Contains(body, "/v1/events/pass") {
			t.Errorf("%s: %s", name, body)
		}
	}
	w.ask(t, "GET", "/v1/summary?pass="+pass.Pass, "", http.StatusUnauthorized, none...)
	other, err := LoadToken(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gate.Set(other)
	w.ask(t, "GET", "/v1/events?pass="+pass.Pass, "", http.StatusUnauthorized, none...)
}
