package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/api/apitest"
	"github.com/farsight-console/farsight/engine/pager/voice"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/sim"
)

// switchboard is a simulated voice service on loopback, and the settings that let a
// daemon call through it.
func switchboard(t testing.TB, stage time.Duration, numbers map[string][]string, to string) (*voice.Service, map[string]string) {
	t.Helper()
	v := voice.New(voice.Options{Account: pagerAccount, Token: pagerSecret, Numbers: numbers, Stage: stage})
	server := httptest.NewServer(v)
	t.Cleanup(server.Close)
	return v, map[string]string{
		"TWILIO_ACCOUNT_SID": pagerAccount, "TWILIO_AUTH_TOKEN": pagerSecret, "TWILIO_BASE_URL": server.URL,
		"FARSIGHT_PAGER_FROM": ownNumber, "FARSIGHT_PAGER_TO": to,
	}
}

// curlWrapper stands before curl on the tour: it keeps what was asked and answered.
const curlWrapper = `#!/bin/sh
f=%[2]s/$(ls %[2]s | wc -l)
%[1]s -o "$f.body" -w '{"method":"%%{method}","url":"%%{url_effective}","status":%%{http_code}}' "$@" >"$f.call"
code=$?
cat "$f.body"
exit $code
`

// tour is a walk by curl.
type tour struct {
	t    *testing.T
	dir  string // data directory
	base string
	bin  string // where the wrapper is
	seen string // where it keeps what it saw
	env  []string
}

// step is one call of a tour.
type step struct {
	Method, URL string
	Status      int
	body        []byte
}

func newTour(t *testing.T, dir, base string, env ...string) *tour {
	t.Helper()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not here")
	}
	w := &tour{t: t, dir: dir, base: base, bin: t.TempDir(), seen: t.TempDir()}
	if err := os.WriteFile(filepath.Join(w.bin, "curl"), fmt.Appendf(nil, curlWrapper, curl, w.seen), 0o700); err != nil {
		t.Fatal(err)
	}
	// Nothing of whoever runs the tests gets in: no proxy, and no settings of curl.
	w.env = append(env, "PATH="+w.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+home(t), "TMPDIR="+os.TempDir(), "LANG=C", scratch.Mark())
	return w
}

// walk runs a script as docs/http.md says.
func (w *tour) walk(script string) {
	w.t.Helper()
	path := filepath.Join(w.bin, "tour.sh")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command("sh", path, w.dir, w.base)
	cmd.Env = w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("the tour ended with %v: %s", err, tail(string(out), 2000))
	}
}

// steps are all calls so far.
func (w *tour) steps() (out []step) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.seen, "*.call"))
	if err != nil {
		w.t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b string) int { return numberOf(a) - numberOf(b) })
	for _, f := range files {
		raw, err := os.ReadFile(f)
		var s step
		if err == nil {
			err = json.Unmarshal(raw, &s)
		}
		if err != nil {
			w.t.Fatalf("%s: %v: %s", f, err, raw)
		}
		s.body, _ = os.ReadFile(strings.TrimSuffix(f, ".call") + ".body")
		out = append(out, s)
	}
	return out
}

func numberOf(path string) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".call"))
	return n
}

// tourScript is the script of docs/http.md, whose streams end sooner here.
func tourScript(t *testing.T) (whole, head string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(top, "docs", "http.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(raw), "```sh\n#!/bin/sh\n")
	script, _, ended := strings.Cut(rest, "\n```\n")
	if !ok || !ended {
		t.Fatal("docs/http.md has no script")
	}
	head, _, _ = strings.Cut(script, "# How it stands.")
	return strings.NewReplacer("--max-time 10", "--max-time 4", "--max-time 2", "--max-time 4").Replace(script), head
}

// TestHTTP_CurlThroughEveryEndpoint is the script of docs/http.md, by curl, on a real
// daemon with a real call: each answer fits the document, and each route of the document
// has done what it is for at least once.
func TestHTTP_CurlThroughEveryEndpoint(t *testing.T) {
	longest(t) // TestHTTP_EveryRouteOfARealEngine asks the same of a program
	t.Parallel()
	_, env := switchboard(t, 0, map[string][]string{firstNumber: {"busy"}}, firstNumber)
	env["FARSIGHT_PLATFORM"], env["FARSIGHT_CALL_NUMBERS"] = "euw1", friendNumber
	who := player("Grand Tour#CURL", 12)
	s := startSim(t, sim.Options{Seed: 1, Limits: limits("20:2"), Players: []sim.PlayerSpec{who}})
	dir := freshDir(t)
	d := s.serving(t, dir, env, "--http", "127.0.0.1:0")
	c := program(t, d, dir)

	// A call that was busy, and whose line is paused, so that nothing moves by itself.
	command{args: []string{"pager", "test", "call", "--data-dir", dir, "--yes"}, env: s.env()}.run(t).wants(t, exitFailed)
	var job engine.JobDetail
	c.ask(t, "GET", "/v1/jobs/alert.call:test", "", 200, &job)
	c.ask(t, "POST", "/v1/do", `{"op":"pause","queue":"pager"}`, 200, nil)
	w := newTour(t, dir, c.base, "PLAYER=Grand Tour", "TAG=CURL", "SID="+job.Attempts[0].External, "FRIEND="+friendNumber)
	script, head := tourScript(t)
	w.walk(script)

	// What the script meets in the middle of a sync is asked again at its end.
	d.until("the end of the sync", func() bool {
		var a engine.AccountDetail
		c.ask(t, "GET", "/v1/accounts/Grand%20Tour/CURL", "", 200, &a)
		if a.Row.Status == engine.SyncCancelled { // the script takes a planned try back: between two of its own, that of the sync
			c.ask(t, "POST", "/v1/accounts/Grand%20Tour/CURL/sync", `{"platform":"euw1","force":true}`, 202, nil)
		}
		return a.Row.Status == engine.SyncCompleted
	})
	w.walk(head + `
get "$base/v1/stats/$acc"
post "/v1/accounts/$acc/sync"
post /v1/trigger/full -d "{\"account\":\"$PLAYER#$TAG\"}"
post /v1/jobs/alert.call:test/retry
delete /v1/jobs/alert.call:test/retry
post /v1/key -d '{"key":"` + canary + `"}'
`)
	walked(t, c.doc, w.steps())
	checkedMetrics(t, w.steps())
	noTextIn(t, dir, pagerSecret)
}

const ofMembers = "GET /v1/members"

// walked checks each answer, and that none of the document's routes is left out.
func walked(t *testing.T, doc *apitest.Document, steps []step) {
	t.Helper()
	good := map[string]bool{}
	var paths struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(api.Document, &paths); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for path, item := range paths.Paths {
		for method := range item {
			mux.HandleFunc(strings.ToUpper(method)+" "+path, func(http.ResponseWriter, *http.Request) {})
			good[strings.ToUpper(method)+" "+path] = false
		}
	}
	for _, s := range steps {
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		if err := doc.Fits(s.Method, u.RequestURI(), s.Status, s.body); err != nil {
			t.Error(err)
		}
		_, pattern := mux.Handler(&http.Request{Method: s.Method, URL: u, Host: u.Host})
		good[pattern] = good[pattern] || s.Status < 300
		if pattern == ofMembers {
			good[pattern] = s.Status == http.StatusNotFound // a data directory has none
			continue
		}
		if s.Status >= 500 || s.Status == http.StatusNotFound {
			t.Errorf("%s %s answered %d: %s", s.Method, s.URL, s.Status, s.body)
		}
	}
	for route, ok := range good {
		if !ok {
			t.Errorf("%s has never been answered well", route)
		}
	}
}

// checkedMetrics hands what the daemon measures to promtool.
func checkedMetrics(t *testing.T, steps []step) {
	t.Helper()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Error("there is no promtool here; .ci/run installs it")
		}
		return
	}
	i := slices.IndexFunc(steps, func(s step) bool { return strings.HasSuffix(s.URL, "/metrics") })
	if i < 0 {
		t.Fatal("the tour does not ask for metrics")
	}
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(string(steps[i].body))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool: %v: %s", err, out)
	}
}
