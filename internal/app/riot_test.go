package app

import (
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
)

// simulator is a simulated Riot on a loopback port, as strict as `farsight sim`:
// the same handler, but its statistics are at hand.
type simulator struct {
	*sim.Sim
	addr  string
	calls atomic.Int64 // that have arrived, read more cheaply than Stats
	pages atomic.Int64 // of those, pages of match ids
	// before, if set, sees each call before it is answered. It is set before the first.
	before func(r *http.Request)
	active atomic.Int64 // calls that are being answered
	held   atomic.Int64 // calls that hold has kept back
	most   atomic.Int64 // see upTo
}

// holdFrom lets the calls for matches wait, from the nth on, until they are let go.
func (s *simulator) holdFrom(t testing.TB, n int64) (letGo func()) {
	var seen atomic.Int64
	return s.hold(t, func(string) bool { return seen.Add(1) >= n })
}

// hold lets the calls for some matches wait until they are let go, so that a test which does
// something meanwhile does not race with the end of a sync. It is asked for before the first
// call. An engine makes few calls at once: when as many are held, it makes no other.
func (s *simulator) hold(t testing.TB, which func(id string) bool) (letGo func()) {
	gate := make(chan struct{})
	letGo = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(letGo)
	s.before = func(r *http.Request) {
		if m, _ := filepath.Match("/*/lol/match/v5/matches/*", r.URL.Path); !m || !which(path.Base(r.URL.Path)) {
			return
		}
		s.held.Add(1)
		select {
		case <-gate:
		case <-r.Context().Done():
		}
	}
	return letGo
}

// upTo answers no more than n calls, counted from the first, until it is told otherwise; 0 =
// as many as come.
func (s *simulator) upTo(n int64) { s.most.Store(n) }

// waits keeps the nth call back for as long as upTo wants it.
func (s *simulator) waits(r *http.Request, n int64) {
	for most := s.most.Load(); most > 0 && n > most && r.Context().Err() == nil; most = s.most.Load() {
		time.Sleep(time.Millisecond)
	}
}

// rests waits until every call has been answered or given up, and is counted as what it was.
func (s *simulator) rests(t testing.TB) {
	t.Helper()
	eventually(t, "the end of the calls under way", func() bool { return s.active.Load() == 0 })
}

// usualShapes are the kinds of games of players for whom a test names none: the smallest. To
// make, compress and store those of the simulator's natural mix was most of what tests cost.
var usualShapes = []sim.Shape{"swarm", "remake"}

// small gives players the usual shapes where a test names none.
func small(players []sim.PlayerSpec) {
	for i := range players {
		if p := &players[i]; p.Shapes == nil && p.ShareWith == "" {
			p.Shapes = usualShapes
		}
	}
}

// startSim serves a simulated Riot until the test ends.
func startSim(t testing.TB, o sim.Options) *simulator {
	t.Helper()
	if o.Players == nil {
		o.Players = sim.DefaultPlayers(o.Seed)
	}
	small(o.Players)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &simulator{Sim: sim.New(o), addr: l.Addr().String()}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = sim.Serve(ctx, l, s)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return s
}

// ServeHTTP counts a call when it arrives.
func (s *simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.calls.Add(1)
	s.active.Add(1)
	defer s.active.Add(-1)
	if strings.HasSuffix(r.URL.Path, "/ids") {
		s.pages.Add(1)
	}
	if s.before != nil {
		s.before(r)
	}
	s.waits(r, n)
	s.Sim.ServeHTTP(w, r)
}

// env makes the environment of a process that talks to this Riot. A call may take far longer
// than usual: one that is given up only since this machine is busy is made again.
func (s *simulator) env(more ...string) map[string]string {
	env := map[string]string{"RIOT_API_KEY": canary, "RIOT_BASE_URL": "http://" + s.addr + "/{routing}", "RIOT_HTTP_TIMEOUT_MS": "120000"}
	for _, pair := range more {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return env
}

// sync is `farsight sync … --json` against this Riot.
func (s *simulator) sync(player, dir string, flags ...string) command {
	args := []string{"sync", player, "--platform", s.platform(player), "--data-dir", dir, "--json"}
	return command{args: append(args, flags...), env: s.env()}
}

func (s *simulator) platform(player string) string {
	for _, p := range s.Players() {
		if p.RiotID == player {
			return string(p.Platform)
		}
	}
	return "euw1"
}

// limits reads limits as Riot's headers write them.
func limits(text string) sim.Limits {
	l, err := sim.ParseLimits(text)
	if err != nil {
		panic(err)
	}
	return sim.Limits{App: l}
}

// quick is a Riot that answers at once and limits little: for tests that are not
// about speed.
func quick(players ...sim.PlayerSpec) sim.Options {
	return sim.Options{Seed: 7, Limits: limits("500:1,20000:10"), Latency: sim.Instant, Players: players}
}

func player(name string, matches int) sim.PlayerSpec {
	return sim.PlayerSpec{RiotID: name, Platform: route.EUW1, Matches: matches}
}

// progressLine is what `sync --json` prints.
type progressLine struct {
	Event    string `json:"event"`
	Account  string `json:"account"`
	Phase    string `json:"phase"`
	Done     int    `json:"done"`
	Total    int    `json:"total"`
	Retrying int    `json:"retrying"`
	Failed   int    `json:"failed"`
	ETA      *int   `json:"eta_s"`
}

type summaryCounts struct {
	Total     int `json:"total"`
	Success   int `json:"success"`
	Temporary int `json:"temporary_failure"`
	Permanent int `json:"permanently_unfetchable"`
	TooOld    int `json:"outside_retention_window"`
}

type summaryLine struct {
	Event       string        `json:"event"`
	Result      string        `json:"result"`
	Matches     summaryCounts `json:"matches"`
	Timelines   summaryCounts `json:"timelines"`
	Calls       int           `json:"calls"`
	RateLimited int           `json:"rate_limited"`
	Nothing     string        `json:"nothing_to_do"`
	Error       string        `json:"error"`
}

// lastLine reads the summary.
func (r result) summary(t testing.TB) summaryLine {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	var s summaryLine
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil || s.Event != "summary" {
		t.Fatalf("the last line is no summary: %q; stderr: %s", lines[len(lines)-1], r.stderr)
	}
	return s
}

// progress reads the progress lines. A process that was killed may leave half a
// line at the end.
func (r result) progress(t testing.TB) []progressLine {
	t.Helper()
	var out []progressLine
	for line := range strings.Lines(r.stdout) {
		if !strings.HasSuffix(line, "\n") {
			continue
		}
		var p progressLine
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if p.Event == "progress" {
			out = append(out, p)
		}
	}
	return out
}

// exportLine is one line of `export matches`.
type exportLine struct {
	ID            string          `json:"match_id"`
	Status        string          `json:"status"`
	Timeline      string          `json:"timeline_status"`
	Attempts      int             `json:"attempts"`
	FetchedAt     *time.Time      `json:"fetched_at"`
	LastAttemptAt *time.Time      `json:"last_attempt_at"`
	LastError     *string         `json:"last_error"`
	Payload       json.RawMessage `json:"payload"`
}

// exported reads the export of a directory; an id that stands in it twice ends
// the test.
func exported(t testing.TB, dir string, flags ...string) map[string]exportLine {
	t.Helper()
	r := command{args: append([]string{"export", "matches", "--format", "ndjson", "--data-dir", dir}, flags...)}.asked(t).wants(t, exitDone)
	out := map[string]exportLine{}
	for line := range strings.Lines(r.stdout) {
		var e exportLine
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("export line %q: %v", tail(line, 300), err)
		}
		if _, twice := out[e.ID]; twice {
			t.Fatalf("%s is exported twice", e.ID)
		}
		out[e.ID] = e
	}
	return out
}

// sound runs `farsight check`, which recounts everything.
func sound(t testing.TB, dir string) {
	t.Helper()
	r := command{args: []string{"check", "--data-dir", dir}}.asked(t).wants(t, exitDone)
	if !strings.Contains(r.stdout, "is sound") {
		t.Errorf("check said %q", r.stdout)
	}
}

// wholeHistory checks that a directory holds exactly the player's matches, each
// once and each with its timeline.
func wholeHistory(t testing.TB, s *simulator, player, dir string) {
	t.Helper()
	got, want := exported(t, dir), s.MatchIDs(player)
	if len(got) != len(want) {
		t.Errorf("%d matches exported, the history has %d", len(got), len(want))
	}
	for _, id := range want {
		e, ok := got[id]
		if !ok || e.Status != "success" || e.Timeline != "success" || e.FetchedAt == nil || e.LastError != nil && e.Attempts == 1 {
			t.Errorf("%s: exported %t, status %q, timeline %q, fetched %v", id, ok, e.Status, e.Timeline, e.FetchedAt)
		}
	}
}

// noViolations checks that no call broke a limit.
func noViolations(t testing.TB, s *simulator) {
	t.Helper()
	if st := s.Stats(); st.Violations != 0 {
		t.Errorf("%d violations of the limits in %d calls", st.Violations, st.Calls)
	}
}

// onceEach checks that no match and no timeline was asked for twice.
func onceEach(t testing.TB, s *simulator) {
	t.Helper()
	for _, id := range slices.Sorted(maps.Keys(s.Fetches())) {
		if f := s.Fetches()[id]; f.Calls != 1 {
			t.Errorf("%s was fetched %d times", id, f.Calls)
		}
	}
}

// look opens a directory that nobody holds, in this process.
func look(t testing.TB, dir string) (engine.Console, *storage.DB) {
	t.Helper()
	cfg, err := config.Load(config.Inputs{Getenv: func(name string) (string, bool) { return dir, name == "FARSIGHT_DATA_DIR" }})
	if err != nil {
		t.Fatal(err)
	}
	db, err := storage.OpenReadOnly(storage.Options{Dir: dir, Region: region})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return browser(context.Background(), &store{DB: db}, cfg), db
}

// ask asks a console and types its answer.
func ask[T any](t testing.TB, c engine.Console, q engine.Query) T {
	t.Helper()
	a, err := c.Find(context.Background(), q)
	if err != nil {
		t.Fatalf("%T: %v", q, err)
	}
	return a.(T)
}

// allJobs lists the jobs of a kind, ended ones too.
func allJobs(t testing.TB, c engine.Console, kind engine.Kind) []engine.JobRow {
	t.Helper()
	var rows []engine.JobRow
	q := engine.JobsQuery{Kind: kind, Ended: true, Page: engine.Page{Limit: 500}}
	for {
		page := ask[engine.JobsPage](t, c, q)
		rows = append(rows, page.Jobs...)
		if page.Next == "" {
			return rows
		}
		q.After = page.Next
	}
}

// fixtures is the folder with recorded payloads; the test is skipped without.
func fixtures(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("FARSIGHT_FIXTURES")
	if dir == "" {
		dir = filepath.Join(top, "..", "shared", "fixtures", "riot")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "matches")); err != nil {
		t.Skipf("no recorded payloads in %s", dir)
	}
	return dir
}

func unmarshal(t testing.TB, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%q: %v", tail(text, 300), err)
	}
}
