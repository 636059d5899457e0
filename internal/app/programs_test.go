package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/api/apitest"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/sim"
)

// client is a program that talks to an engine. Each answer must fit the document.
type client struct {
	doc   *apitest.Document
	do    func(*http.Request) (status int, head http.Header, body []byte, err error)
	base  string
	token string
}

func document(t testing.TB) *apitest.Document {
	t.Helper()
	doc, err := apitest.New(api.Document)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// ask sends a request and reads the answer into a value, unless that is nil.
func (c *client) ask(t testing.TB, method, path, body string, want int, into any) http.Header {
	t.Helper()
	req, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if req.Header.Set("Authorization", "Bearer "+c.token); method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	status, head, raw, err := c.do(req)
	if err != nil {
		t.Fatal(err)
	}
	if status != want {
		t.Fatalf("%s %s answered %d %s, want %d", method, path, status, raw, want)
	}
	if c.doc != nil { // a benchmark has none
		if err := c.doc.Fits(method, path, status, raw); err != nil {
			t.Error(err)
		}
	}
	if bytes.Contains(raw, []byte(canaryTail)) {
		t.Errorf("%s %s tells the API key", method, path)
	}
	if into != nil {
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, raw)
		}
	}
	return head
}

var programsAddress = regexp.MustCompile(`programs on (http://127\.0\.0\.1:\d+)`)

// program is a program that talks to a daemon with a listener for programs.
func program(t testing.TB, p *child, dir string) *client {
	t.Helper()
	at := programsAddress.FindStringSubmatch(p.out.String())
	if at == nil {
		t.Fatalf("no address: %s%s", p.out.String(), p.err.String())
	}
	return programAt(t, at[1], dir)
}

// programAt is a program that shows the token of a data directory.
func programAt(t testing.TB, base, dir string) *client {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, api.TokenName))
	if err != nil {
		t.Fatal(err)
	}
	hc := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(hc.CloseIdleConnections)
	return &client{doc: document(t), base: base, token: strings.TrimSpace(string(raw)), do: func(r *http.Request) (int, http.Header, []byte, error) {
		resp, err := hc.Do(r)
		if err != nil {
			return 0, nil, nil, err
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		return resp.StatusCode, resp.Header, raw, err
	}}
}

// TestHTTP_EveryRouteOfARealEngine: S1-4, S1-5 and S3-1 as a program meets them, and
// every other route, on a real engine, store and simulated Riot.
func TestHTTP_EveryRouteOfARealEngine(t *testing.T) {
	t.Parallel()
	who := player("Quiet River#HTTP", 12)
	s := startSim(t, sim.Options{Seed: 1, Limits: limits("20:3"), Players: []sim.PlayerSpec{who}})
	letGo, dir := s.holdFrom(t, 6), freshDir(t)
	d := s.serving(t, dir, map[string]string{"FARSIGHT_PLATFORM": "euw1"}, "--http", "127.0.0.1:0")
	c := program(t, d, dir)
	const account, stats = "/v1/accounts/Quiet%20River/HTTP", "/v1/stats/Quiet%20River/HTTP"

	// While it waits, every trigger gets the same job (S1-5), a look at the stats too.
	c.ask(t, "POST", "/v1/do", `{"op":"pause","queue":"ingest.summoner.full","reason":"a test"}`, 200, nil)
	var first, second, third api.Started
	head := c.ask(t, "POST", account+"/sync", "{}", 202, &first)
	c.ask(t, "POST", account+"/sync", "", 202, &second)
	c.ask(t, "GET", stats, "", 202, &third)
	if first.Job == "" || first.Joined || second.Job != first.Job || !second.Joined || third.Job != first.Job || head.Get("Location") != "/v1/jobs/"+string(first.Job) {
		t.Errorf("%+v\n%+v\n%+v\n%v", first, second, third, head)
	}
	var job engine.JobDetail
	c.ask(t, "GET", "/v1/jobs/"+string(first.Job), "", 200, &job)
	if !strings.Contains(job.Job.Why, "paused") || job.Account != who.RiotID {
		t.Errorf("%+v", job.Job)
	}

	// While it runs, a trigger is refused and told which job it is (S1-4).
	c.ask(t, "POST", "/v1/do", `{"op":"resume","queue":"ingest.summoner.full"}`, 200, nil)
	var progress api.JobProgress
	d.until("matches", func() bool {
		c.ask(t, "GET", "/v1/jobs/"+string(first.Job)+"/progress", "", 200, &progress)
		return progress.Account != nil && progress.Account.Done > 0
	})
	var busy api.Problem
	c.ask(t, "POST", account+"/sync", "{}", 409, &busy)
	if busy.Job != string(first.Job) || !strings.Contains(busy.Detail, "/12") {
		t.Errorf("%+v", busy)
	}
	c.ask(t, "GET", stats, "", 202, &third)
	if third.Job != first.Job {
		t.Errorf("a look joins %s, not %s", third.Job, first.Job)
	}

	letGo()

	// When it is done the stats are there, the same each time, and the cooldown holds.
	var one, two api.PlayStats
	d.until("the end", func() bool {
		c.ask(t, "GET", "/v1/jobs/"+string(first.Job), "", 200, &job)
		return job.Job.State == engine.Completed
	})
	c.ask(t, "GET", stats, "", 200, &one)
	c.ask(t, "GET", "/v1/stats/quiet%20river/http?platform=euw1", "", 200, &two)
	if one.Report.Matches != 12 || !reflect.DeepEqual(one, two) {
		t.Errorf("%+v\n%+v", one, two)
	}
	head = c.ask(t, "POST", account+"/sync", `{"mode":"full"}`, 200, &second)
	if !second.Nothing || second.Next.IsZero() || head.Get("Retry-After") == "" {
		t.Errorf("%+v %v", second, head)
	}
	var dry api.Started
	c.ask(t, "POST", account+"/sync", `{"force":true,"dry_run":true}`, 200, &dry)
	if dry.Cost == nil || dry.Cost.AtMost || dry.Job != "" || !strings.HasPrefix(dry.Text, "would make about ") {
		t.Errorf("%+v", dry)
	}
	c.ask(t, "POST", "/v1/accounts/nobody%20knows/http/sync", `{"platform":"euw1","dry_run":true}`, 200, &dry)
	if !dry.Cost.AtMost || !strings.HasPrefix(dry.Text, "would make at most ") {
		t.Errorf("the games of an unknown account: %+v", dry)
	}
	s.feeds(t, c)

	// Triggers, and the rest. What is triggered waits, so that it is there for the next.
	c.ask(t, "POST", "/v1/do", `{"op":"pause","queue":"ingest.summoner.latest"}`, 200, nil)
	c.ask(t, "POST", "/v1/trigger/latest", `{"account":"Quiet River#HTTP","force":true}`, 202, &second)
	c.ask(t, "POST", "/v1/do", `{"op":"track","account":"Quiet River#HTTP"}`, 200, nil)
	for _, what := range []string{"latest", "rank", "weekly"} {
		var got api.Started
		status := 202
		if what == "latest" {
			status = 200 // its sync is there already: nothing is inserted
		}
		c.ask(t, "POST", "/v1/trigger/"+what, "{}", status, &got)
	}
	c.ask(t, "POST", "/v1/do", `{"op":"resume","queue":"ingest.summoner.latest"}`, 200, nil)
	c.ask(t, "GET", account, "", 200, nil)
	var sum api.Summary
	c.ask(t, "GET", "/v1/summary", "", 200, &sum)
	if sum.Engine.Stored != 12 || sum.Metrics.Completed == 0 {
		t.Errorf("%+v", sum)
	}
	var settings api.Settings
	c.ask(t, "GET", "/v1/config", "", 200, &settings)
	if !slices.ContainsFunc(settings.Settings, func(s engine.Setting) bool { return s.Name == "http_listen" && s.Value == "127.0.0.1:0" }) || settings.Settings[0].Value == "none" || settings.Settings[0].Source != keyring.Env {
		t.Errorf("%+v", settings)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/hello"} {
		c.ask(t, "GET", path, "", 200, nil)
	}
	c.ask(t, "POST", "/v1/jobs/"+string(first.Job)+"/retry", `{"if_rev":1}`, 409, nil) // a stale revision
	c.ask(t, "POST", "/v1/jobs/"+string(first.Job)+"/retry", `{}`, 403, nil)           // it is completed
	c.ask(t, "DELETE", "/v1/jobs/"+string(first.Job)+"/retry?if_rev=1", "", 409, nil)
	c.ask(t, "DELETE", "/v1/jobs/"+string(first.Job)+"/retry", "", 200, nil)
	c.ask(t, "GET", "/v1/jobs/zz99", "", 404, nil)
	var audit engine.AuditPage
	asked := ask[engine.AuditPage](t, mustLook(t, dir), engine.AuditQuery{})
	if audit = asked; len(audit.Entries) == 0 || !slices.ContainsFunc(audit.Entries, func(e engine.AuditEntry) bool { return e.By.Via == "http" && e.Op == engine.OpTrigger }) {
		t.Errorf("the audit says nothing of HTTP: %+v", audit.Entries)
	}
}

// mustLook asks the running engine through its socket.
func mustLook(t testing.TB, dir string) engine.Console {
	c := api.NewClient(controlSocket(dir))
	t.Cleanup(c.Close)
	return c
}

// feeds reads both feeds to their ends, in small pages: each item once.
func (s *simulator) feeds(t *testing.T, c *client) {
	t.Helper()
	seats := map[string]int{}
	for path, most := range map[string]int{"/v1/matches": 5, "/v1/matches/participants": 50} {
		seen, after := map[string]bool{}, ""
		for {
			var page engine.FeedPage
			c.ask(t, "GET", fmt.Sprintf("%s?limit=%d&after=%s", path, most, after), "", 200, &page)
			for _, r := range page.Rows {
				if seen[r.Cursor] {
					t.Errorf("%s: %s comes twice", path, r.Cursor)
				}
				if seen[r.Cursor] = true; r.Seat != nil {
					seats[r.Seat.Match]++
				}
			}
			after = page.Next
			if !page.More {
				break
			}
		}
		if path == "/v1/matches" && len(seen) != 12 {
			t.Errorf("%d matches", len(seen))
		}
	}
	if len(seats) != 12 {
		t.Errorf("participants of %d matches", len(seats))
	}
	var page engine.MatchesPage
	c.ask(t, "GET", "/v1/matches/Quiet%20River/HTTP?limit=5&all=true", "", 200, &page)
	if len(page.Matches) != 5 || page.Next == "" {
		t.Errorf("%+v", page)
	}
}

// TestHTTP_RefusedAtStart: what may not be listened on, and a token that others can
// read.
func TestHTTP_RefusedAtStart(t *testing.T) {
	t.Parallel()
	s, dir := slowly(t, player("Nobody#HTTP", 5)), freshDir(t)
	start := func(addr string) result {
		return command{args: []string{"serve", "--data-dir", dir, "--http", addr}, env: s.env()}.run(t)
	}
	oneSentence(t, start("0.0.0.0:7171").wants(t, exitUsage).stderr, "0.0.0.0", "127.0.0.1:7171")
	oneSentence(t, start("nonsense").wants(t, exitUsage).stderr, "nonsense", "127.0.0.1:7171")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, api.TokenName), []byte(strings.Repeat("x", 40)), 0o644)); err != nil {
		t.Fatal(err)
	}
	oneSentence(t, start("127.0.0.1:0").wants(t, exitFailed).stderr, "others can read", api.TokenName, "delete it")
}

// A sync of its own opens no listener, whatever is configured: nobody could show a pass for it.
func TestAPassIsRefusedWhereNobodyListens(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	env := map[string]string{"FARSIGHT_DATA_DIR": dir, "FARSIGHT_HTTP_LISTEN": "127.0.0.1:0"}
	cfg, err := config.Load(config.Inputs{Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	if err != nil {
		t.Fatal(err)
	}
	p, err := open(cfg, role{keys: keyring.Of(riot.Key{}, "nowhere", filepath.Join(dir, "riot.key")), onlyOwn: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
	if err := p.listen(); err != nil || p.http != nil {
		t.Fatalf("listens on %v: %v", p.http, err)
	}
	opt := p.serverOptions()
	opt.Who = func(*http.Request) (api.Caller, error) { return api.Caller{Role: api.Viewer}, nil }
	w := httptest.NewRecorder()
	api.NewServer(opt).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://localhost/v1/events/pass", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}
