package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/ui/cli"
)

// paceMatters is false where everything is slow. See race_test.go.
var paceMatters = true

// budgetRiot is the second show of the spine, scaled down: a strict Riot with two windows,
// and a sync that must use them to the last call without breaking one (row S3-2).
func budgetRiot() (sim.PlayerSpec, sim.Options) {
	who := player("Sixty Games#PACE", 60)
	who.Shapes = usualShapes
	return who, sim.Options{Seed: 11, Limits: limits("20:1,60:4"), Latency: sim.Latency{Base: 40 * time.Millisecond, Jitter: 20 * time.Millisecond}, Players: []sim.PlayerSpec{who}}
}

// In virtual time, where no machine is too slow for it: what looks at the pace is the
// simulator's own figures.
func TestS3_2_SyncUsesTheWholeBudget(t *testing.T) {
	t.Parallel()
	who, o := budgetRiot()
	dir := filepath.Join(scratch.Memory(t), "data")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(flowNoon))
		s := sim.New(o)
		sum, err := syncInside(t, s, who, dir)
		if want := (summaryCounts{Total: 60, Success: 60}); err != nil || sum.Matches != want || sum.Timelines != want || sum.RateLimited != 0 {
			t.Errorf("summary %+v: %v", sum, err)
		}
		st := s.Stats()
		b := st.Budget[0]
		t.Logf("%d calls took %v of at least %v, %.1f %% of the budget, longest stillness %v", b.Calls, b.Took, b.Ideal, 100*b.Used(), st.Stillness)
		if b.Used() < 0.95 || st.Stillness > 2*time.Second || st.Violations != 0 { // of a window of 4 s
			t.Errorf("%d violations; of at least %v %v were taken, and nothing was called for %v", st.Violations, b.Ideal, b.Took, st.Stillness)
		}
	})
}

// syncInside is `farsight sync` in this process, with a simulated Riot in memory.
func syncInside(t *testing.T, s *sim.Sim, who sim.PlayerSpec, dir string) (summaryLine, error) {
	t.Helper()
	cfg, err := config.Load(config.Inputs{Getenv: func(name string) (string, bool) { return dir, name == "FARSIGHT_DATA_DIR" }})
	key, keyErr := riot.ParseKey(canary)
	if err := errors.Join(err, keyErr, os.MkdirAll(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	cfg.Platform = string(who.Platform)
	keys := keyring.Of(key, keyring.Env, filepath.Join(dir, "riot.key"))
	ask, err := syncOptions{account: who.RiotID}.ask(given{cfg: cfg})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = newSyncRun(cfg, cli.SyncOptions{Account: who.RiotID, Ask: ask}, cli.Out{W: &out, JSON: true}).own(t.Context(), role{keys: keys, onlyOwn: true, transport: s.RoundTripper()})
	return result{stdout: out.String()}.summary(t), err
}

// The same through the real binary and over loopback: each call once, and none too many.
func TestS3_2_NoCallIsMadeTwice(t *testing.T) {
	t.Parallel()
	who, o := budgetRiot()
	s, dir := startSim(t, o), freshDir(t)
	res := s.sync(who.RiotID, dir).run(t).wants(t, exitDone)

	sum := res.summary(t)
	want := summaryCounts{Total: 60, Success: 60}
	if sum.Result != "completed" || sum.Matches != want || sum.Timelines != want || sum.Calls != 125 || sum.RateLimited != 0 {
		t.Errorf("summary %+v", sum)
	}
	var told story
	told.goesOn(t, res.progress(t))
	if last := told.done; last["matches"] != 60 || last["timelines"] != 60 {
		t.Errorf("the last progress told was %v", last)
	}
	st := s.Stats()
	if st.Calls != 125 || st.Violations != 0 || st.Repeated != 0 || st.Early != 0 {
		t.Errorf("%d calls, %d violations, %d repeated, %d early", st.Calls, st.Violations, st.Repeated, st.Early)
	}
	// One PUUID call, one page and one for what is too old (row S3-2), and two that prove the list's end.
	if st.ByMethod[string(route.AccountByRiotID)][200] != 1 || st.ByMethod[string(route.MatchIDs)][200] != 4 {
		t.Errorf("calls by method: %v", st.ByMethod)
	}
	onceEach(t, s)
	wholeHistory(t, s, who.RiotID, dir)
	sound(t, dir)
	t.Logf("%.1f %% of the budget, longest stillness %v", 100*st.Budget[0].Used(), st.Stillness)
}

// Every recorded payload comes through the wire, the store and the export
// unchanged, and counts in the report of its account.
func TestRecordedPayloadsComeThroughUnchanged(t *testing.T) {
	t.Parallel()
	o := quick(player("Nobody#FIX", 0))
	o.FixturesDir, o.Retention = fixtures(t), sim.KeepForever
	s := startSim(t, o)
	dir := freshDir(t)
	served := 0
	for _, p := range s.Players()[1:] {
		cmd := s.sync(p.RiotID, dir)
		cmd.env["RETENTION_MATCHES"], cmd.env["RETENTION_TIMELINES"] = "0", "0"
		// Not every recorded match has a recorded timeline: those answer 404.
		if res := cmd.run(t); res.code != exitDone && res.code != exitIncomplete {
			t.Fatalf("%s: exit %d: %s%s", p.RiotID, res.code, res.stderr, tail(res.stdout, 500))
		}
		served += p.Matches
	}
	files, err := filepath.Glob(filepath.Join(o.FixturesDir, "matches", "*.json"))
	if err != nil || len(files) == 0 || len(files) != served {
		t.Fatalf("%d recorded matches, %d served (%v)", len(files), served, err)
	}
	got := exported(t, dir, "--payload")
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".json")
		e, ok := got[id]
		if !ok || e.Status != "success" {
			t.Errorf("%s: exported %t, status %q, error %v", id, ok, e.Status, e.LastError)
			continue
		}
		samePayload(t, s, id, file, e.Payload)
	}
	c, db := look(t, dir)
	defer db.Close()
	for _, p := range s.Players()[1:] {
		r := ask[engine.AccountDetail](t, c, engine.AccountQuery{ID: p.RiotID}).Report
		if r == nil || r.Matches+r.LeftOut != p.Matches || r.Missing != 0 {
			t.Errorf("%s: the report is not of all %d matches: %+v", p.RiotID, p.Matches, r)
		}
	}
	sound(t, dir)
}

// samePayload compares an exported payload with its file. The simulator writes
// its account over the first participant's PUUID, and the export escapes what a
// terminal must not see; nothing else may differ.
func samePayload(t *testing.T, s *simulator, id, file string, got json.RawMessage) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var meta struct {
		Metadata struct{ Participants []string }
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		t.Fatal(err)
	}
	want := raw
	if ps := meta.Metadata.Participants; len(ps) > 0 {
		for _, p := range s.Players()[1:] {
			if slices.Contains(s.MatchIDs(p.RiotID), id) {
				want = bytes.ReplaceAll(raw, []byte(ps[0]), []byte(s.PUUID(p.RiotID, "")))
			}
		}
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, want); err != nil {
		t.Fatal(err)
	}
	if !sameJSON(t, compact.Bytes(), got) {
		t.Errorf("%s: %d bytes exported, %d recorded, and they differ", id, len(got), compact.Len())
	}
}

// sameJSON compares tokens, so that only the spelling of strings may differ.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	if bytes.Equal(a, b) {
		return true
	}
	x, y := json.NewDecoder(bytes.NewReader(a)), json.NewDecoder(bytes.NewReader(b))
	x.UseNumber()
	y.UseNumber()
	for {
		p, err1 := x.Token()
		q, err2 := y.Token()
		if p != q || (err1 == nil) != (err2 == nil) {
			t.Logf("%v (%v) is not %v (%v)", p, err1, q, err2)
			return false
		}
		if err1 != nil {
			return true
		}
	}
}

func TestS3_9_CooldownCountSinceAndForce(t *testing.T) {
	t.Parallel()
	who := sim.PlayerSpec{RiotID: "Part By Part#SYNC", Platform: route.EUW1, Matches: 30, Span: 60 * 24 * time.Hour}
	s := startSim(t, quick(who))
	dir := freshDir(t)
	now := "SYNC_COOLDOWN=0s"

	// The newest five, then nothing within the cooldown of them.
	sum := s.sync(who.RiotID, dir, "--count", "5").run(t).wants(t, exitDone).summary(t)
	if sum.Matches.Total != 5 || sum.Matches.Success != 5 || sum.Result != "completed" {
		t.Errorf("--count 5: %+v", sum)
	}
	for _, id := range s.MatchIDs(who.RiotID)[:5] {
		if e := exported(t, dir)[id]; e.Status != "success" {
			t.Errorf("%s is one of the newest five, and is %q", id, e.Status)
		}
	}
	calls := s.calls.Load()
	sum = s.sync(who.RiotID, dir, "--count", "4").run(t).wants(t, exitDone).summary(t)
	if !strings.Contains(sum.Nothing, "nothing to do") || s.calls.Load() != calls {
		t.Errorf("inside the cooldown: %+v after %d calls", sum, s.calls.Load()-calls)
	}
	plain := command{args: []string{"sync", who.RiotID, "--platform", "euw1", "--data-dir", dir, "--count", "5"}, env: s.env()}
	if res := plain.run(t).wants(t, exitDone); !strings.Contains(res.stdout, "nothing to do") || strings.Count(res.stdout, "\n") != 1 {
		t.Errorf("inside the cooldown it said %q", res.stdout)
	}

	// What was played in the last 30 days; then, by force, all of it.
	since := s.sync(who.RiotID, dir, "--since", "30d")
	since.env = s.env(now)
	sum = since.run(t).wants(t, exitDone).summary(t)
	if n := len(exported(t, dir)); n < 10 || n > 20 {
		t.Errorf("--since 30d: %d of 30 matches over 60 days are stored: %+v", n, sum)
	}
	sum = s.sync(who.RiotID, dir, "--force").run(t).wants(t, exitDone).summary(t)
	if sum.Result != "completed" || sum.Matches.Success != 30 {
		t.Errorf("--force: %+v", sum)
	}
	onceEach(t, s)
	wholeHistory(t, s, who.RiotID, dir)
	sound(t, dir)
}

func TestTimelinesFlag(t *testing.T) {
	t.Parallel()
	who := player("No Timelines#SYNC", 12)
	s := startSim(t, quick(who))
	dir := freshDir(t)
	sum := s.sync(who.RiotID, dir, "--timelines", "none").run(t).wants(t, exitDone).summary(t)
	if sum.Matches.Success != 12 || sum.Timelines.Total != 0 || s.Stats().Timelines != 0 {
		t.Errorf("--timelines none: %+v, %d fetched", sum, s.Stats().Timelines)
	}
	sound(t, dir)
}

// Interrupted, a sync keeps everything, says how to go on, and the next one goes
// on without asking for anything twice.
func TestSync_InterruptedGoesOn(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]os.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP} {
		if name != "SIGTERM" && !scratch.Whole { // the others go the same way: SIGINT in what stops a summary
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			who := player("Stop And Go#SYNC", 60)
			s := startSim(t, sim.Options{Seed: 2, Limits: limits("60:1"), Players: []sim.PlayerSpec{who}})
			letGo, dir := s.holdFrom(t, 25), freshDir(t)
			const workers = 4 // so many may have an answer that is not stored yet
			p := command{args: []string{"sync", who.RiotID, "--platform", "euw1", "--data-dir", dir}, env: s.env("WORKER_CONCURRENCY=" + strconv.Itoa(workers))}.start(t)
			p.until("20 matches", func() bool { return s.Stats().Matches >= 20 })
			_ = p.cmd.Process.Signal(sig)
			letGo()
			res := p.wait().wants(t, exitInterrupted)
			if !strings.Contains(res.stdout, "the same command goes on where it stopped") {
				t.Errorf("it does not say how to go on: %q", res.stdout)
			}
			if strings.TrimSpace(res.stderr) != "" {
				t.Errorf("stderr %q", res.stderr)
			}
			sound(t, dir)
			had := len(stored(t, dir))
			sum := s.sync(who.RiotID, dir).run(t).wants(t, exitDone).summary(t)
			if sum.Result != "completed" || sum.Matches.Success != 60 || sum.Timelines.Success != 60 {
				t.Errorf("after %s at %d: %+v", name, had, sum)
			}
			if n := repeats(s); n > workers || had < 20-workers {
				t.Errorf("%d were stored when it stopped, %d calls were repeated", had, n)
			}
			t.Logf("%d stored when it stopped, %d calls repeated", had, repeats(s))
			noViolations(t, s)
			wholeHistory(t, s, who.RiotID, dir)
		})
	}
}

// stored are the matches of an export with status success.
func stored(t *testing.T, dir string) (ids []string) {
	for id, e := range exported(t, dir) {
		if e.Status == "success" {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestSync_InterruptedSummary(t *testing.T) {
	t.Parallel()
	who := player("Stop And Tell#SYNC", 60)
	s := startSim(t, sim.Options{Seed: 2, Limits: limits("30:1"), Players: []sim.PlayerSpec{who}})
	letGo := s.holdFrom(t, 5)
	p := s.sync(who.RiotID, freshDir(t)).start(t)
	p.says(`"phase":"matches"`)
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	letGo()
	if sum := p.wait().wants(t, exitInterrupted).summary(t); sum.Result != "interrupted" || sum.Matches.Total != 60 || sum.Matches.Temporary == 0 {
		t.Errorf("summary %+v", sum)
	}
}

// A match inside retention that is gone makes the result incomplete, and the
// account completed all the same.
func TestSync_IncompleteEndsWith3(t *testing.T) {
	t.Parallel()
	who := sim.PlayerSpec{RiotID: "Lost Pages#SYNC", Platform: route.NA1, Matches: 20, Missing: 3}
	s := startSim(t, quick(who))
	dir := freshDir(t)
	sum := s.sync(who.RiotID, dir).run(t).wants(t, exitIncomplete).summary(t)
	if sum.Result != "incomplete" || sum.Matches != (summaryCounts{Total: 20, Success: 17, Permanent: 3}) || sum.Timelines.Success != 17 {
		t.Errorf("summary %+v", sum)
	}
	gone := 0
	for id, e := range exported(t, dir) {
		if e.Status == "permanently_unfetchable" {
			gone++
			if e.LastError == nil || e.Attempts != 1 || e.LastAttemptAt == nil || e.FetchedAt != nil {
				t.Errorf("%s: %+v", id, e)
			}
		}
	}
	c, db := look(t, dir)
	row := ask[engine.AccountDetail](t, c, engine.AccountQuery{ID: who.RiotID}).Row
	_ = db.Close()
	if gone != 3 || row.Status != engine.SyncCompleted || row.Result != "incomplete" {
		t.Errorf("%d gone, account %v, result %q", gone, row.Status, row.Result)
	}
	// Lists hide them unless asked (S0-8).
	hidden := command{args: []string{"matches", "--data-dir", dir}}.asked(t).wants(t, exitDone).stdout
	shown := command{args: []string{"matches", "--all", "--data-dir", dir}}.asked(t).wants(t, exitDone).stdout
	if strings.Contains(hidden, "permanently_unfetchable ") || !strings.Contains(hidden, "3 permanently unfetchable hidden") || strings.Count(shown, "permanently_unfetchable") != 3 {
		t.Errorf("matches:\n%s\nwith --all:\n%s", hidden, shown)
	}
	sound(t, dir)
}

// What ends a sync at once: one sentence on standard error and exit 1.
func TestSync_FailsWithOneSentence(t *testing.T) {
	t.Parallel()
	who := player("Known#SYNC", 3)
	for name, c := range map[string]struct {
		account string
		key     sim.KeyState
		fault   *sim.Fault
		says    []string
	}{
		"unknown Riot ID":        {account: "Nobody Here#EUW", says: []string{"Nobody Here#EUW"}},
		"key unknown to Riot":    {key: sim.KeyUnknown, says: []string{"key"}},
		"key expired":            {key: sim.KeyExpired, says: []string{"key"}},
		"key refused by a proxy": {fault: &sim.Fault{Kind: sim.ForbiddenHTML}, says: []string{"key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := quick(who)
			o.Keys = map[string]sim.Key{canary: {State: c.key}}
			if c.fault != nil {
				o.Faults = []sim.Fault{*c.fault}
			}
			s := startSim(t, o)
			account := who.RiotID
			if c.account != "" {
				account = c.account
			}
			dir := freshDir(t)
			res := command{args: []string{"sync", account, "--platform", "euw1", "--data-dir", dir}, env: s.env()}.run(t).wants(t, exitFailed)
			oneSentence(t, res.stderr, c.says...)
			sum := s.sync(account, freshDir(t)).run(t).wants(t, exitFailed).summary(t)
			if sum.Result != "failed" || sum.Error == "" {
				t.Errorf("summary %+v", sum)
			}
			sound(t, dir)
		})
	}
}

// oneSentence checks that a failure was told once, clearly, and not as a Go
// error chain or a stack.
func oneSentence(t testing.TB, stderr string, says ...string) {
	t.Helper()
	text := strings.TrimSuffix(stderr, "\n")
	if !strings.HasPrefix(text, "farsight: ") || strings.Contains(text, "\n") {
		t.Errorf("not one line: %q", stderr)
	}
	if len(text) > 400 || len(text) < 25 {
		t.Errorf("not one sentence: %q", stderr)
	}
	for _, bad := range []string{"goroutine ", "panic", "<nil>", "%!", "&{"} {
		if strings.Contains(text, bad) {
			t.Errorf("stderr holds %q: %q", bad, stderr)
		}
	}
	for _, word := range says {
		if !strings.Contains(text, word) {
			t.Errorf("%q is not named: %q", word, stderr)
		}
	}
}

// Row S0-9: a retry that fell due while nobody ran is made once, soon.
func TestS0_9_RetryDueWhileStopped(t *testing.T) {
	t.Parallel()
	for after := 8 * time.Second; !retriedWhenDue(t, after); after *= 4 {
		t.Logf("killed too late for a retry after %v: once more", after)
	}
}

// retriedWhenDue kills a sync that has a retry waiting, lets it fall due, and syncs again;
// false = it fell due before the kill.
func retriedWhenDue(t *testing.T, after time.Duration) bool {
	t.Helper()
	who := player("Try Again#SYNC", 5)
	o := quick(who)
	probe := sim.New(o)
	id := probe.MatchIDs(who.RiotID)[2]
	o.Faults = []sim.Fault{{Name: "once", Kind: sim.Unavailable, Match: sim.Match{Method: route.Match, ID: id, Attempts: 1}}}
	s := startSim(t, o)
	dir := freshDir(t)
	cmd := s.sync(who.RiotID, dir)
	cmd.env["FARSIGHT_RETRY_MATCH"] = after.String() + ",60s,60s,60s"
	p := cmd.start(t)
	p.says(`"retrying":1`)
	p.kill()
	s.rests(t)
	if s.Fetched(route.Match, id).Calls > 1 {
		return false
	}
	time.Sleep(after + 100*time.Millisecond) // the retry falls due meanwhile
	sum := cmd.run(t).wants(t, exitDone).summary(t)
	if f := s.Fetched(route.Match, id); f.Calls != 2 || f.OK != 1 || sum.Matches.Success != 5 {
		t.Errorf("%s was called %d times: %+v", id, f.Calls, sum)
	}
	if e := exported(t, dir)[id]; e.Attempts != 2 || e.Status != "success" {
		t.Errorf("exported %+v", e)
	}
	sound(t, dir)
	return true
}

// What Riot does not know, or not on that platform, fails with a sentence and leaves no
// account behind: neither alone nor beside an engine. The right platform works at once.
func TestSync_AMistypedAccountLeavesNothing(t *testing.T) {
	t.Parallel()
	who := player("Right Here#SYNC", 6)
	s, dir := startSim(t, quick(who)), freshDir(t)
	wrong := func() {
		t.Helper()
		for _, c := range []struct{ account, platform, says string }{
			{"Wrong Here#SYNC", "euw1", "check the spelling"},
			{who.RiotID, "na1", "is unknown on na1: it has no matches and no summoner there"},
			{who.RiotID, "eun1", "plays on euw1: sync it with --platform euw1"},
		} {
			res := command{args: []string{"sync", c.account, "--platform", c.platform, "--data-dir", dir}, env: s.env()}.run(t).wants(t, exitFailed)
			oneSentence(t, res.stderr, c.account, c.says)
		}
	}
	wrong()
	d := s.serving(t, dir, nil)
	wrong()
	if list := in(dir, "accounts", "--json").asked(t).wants(t, exitDone).stdout; list != "" {
		t.Errorf("accounts are left: %s", list)
	}
	if sum := s.sync(who.RiotID, dir).run(t).wants(t, exitDone).summary(t); sum.Matches.Success != 6 {
		t.Errorf("summary %+v", sum)
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.wait().wants(t, exitDone)
	sound(t, dir)
}
