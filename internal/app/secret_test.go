package app

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/farsight-console/farsight/riot/route"
	"github.com/farsight-console/farsight/riot/sim"
)

// P-40: a server that echoes the key in every way it
// can, a refusal of the key in mid-run, a log at its most talkative; afterwards
// the key is in no file, no output and no argument list.
func TestP40_TheKeyIsNowhere(t *testing.T) {
	t.Parallel()
	who := player("Secret Keeper#KEY", 24)
	o := quick(who)
	o.Limits, o.Latency = limits("60:1"), sim.Latency{Base: 10 * time.Millisecond}
	ids := sim.New(o).MatchIDs(who.RiotID)
	echo := fmt.Sprintf(`{"status":{"message":"the token %s is tired","status_code":500}}`, canary)
	page := fmt.Sprintf("<html>X-Riot-Token: %s</html>", canary)
	fault := func(i, status int, body string) sim.Fault {
		return sim.Fault{Name: fmt.Sprint(i), Kind: sim.Status, Status: status, Body: body, Match: sim.Match{Method: route.Match, ID: ids[i], Attempts: 1}}
	}
	o.Faults = []sim.Fault{
		fault(0, 500, echo), fault(3, 503, page), fault(6, 400, echo), fault(9, 404, echo), fault(12, 403, echo), fault(15, 200, page),
		fault(18, 302, page), fault(21, 401, echo),
	}
	s := startSim(t, o)
	dir := freshDir(t)
	cmd := s.sync(who.RiotID, dir, "--log-level", "debug")
	cmd.env["FARSIGHT_RETRY_MATCH"] = "20ms,20ms,20ms,20ms"
	refused := s.refuseKeyAt(6, fault(6, 0, "").Name)
	p := cmd.start(t)
	p.until("the key being refused", refused.Load)
	p.says("NO KEY")
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.cmd.Process.Pid))
	if err == nil && strings.Contains(string(cmdline), canaryTail) {
		t.Error("the argument list holds the key")
	}
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	p.wait().wants(t, exitInterrupted)

	// Each command looks at its own output for the key, see process.wait.
	for _, args := range [][]string{
		{"config"}, {"config", "--json"}, {"status", "--json"}, {"jobs", "--all", "--json"}, {"jobs", "--all"}, {"accounts", "--json"},
		{"matches", "--all", "--json"}, {"limits", "--json"}, {"retries", "--json"}, {"logs", "--last", "0"}, {"logs", "--json"}, {"audit", "--json"}, {"forensics"}, {"export", "matches", "--payload"}, {"check", "--json"}, {"version"},
	} {
		res := command{args: append(args, "--data-dir", dir), env: s.env()}.asked(t).wants(t, exitDone)
		if res.stderr != "" {
			t.Errorf("%v: stderr %q", args, res.stderr)
		}
	}
	res := command{args: []string{"config", "--data-dir", dir}, env: s.env()}.asked(t)
	if !strings.Contains(res.stdout, "RGAPI-****") {
		t.Errorf("config does not show that there is a key:\n%s", res.stdout)
	}
	// The other direction: what failed is told, so nothing was hidden by silence.
	if e := exported(t, dir)[ids[6]]; e.LastError == nil || !strings.Contains(*e.LastError, "is tired") || !strings.Contains(*e.LastError, "RGAPI-****") {
		t.Errorf("the error of %s does not tell what Riot said: %+v", e.ID, e)
	}
	noKeyIn(t, filepath.Dir(dir))
	noKeyIn(t, home(t))
	sound(t, dir)
}

// refuseKeyAt makes the key unknown with the nth call for a timeline, or the first one
// after it by which the fault has struck. A sync needs every timeline, so from its
// start on it cannot end before, however slow or fast the machine is.
func (s *simulator) refuseKeyAt(n int64, fault string) *atomic.Bool {
	var timelines atomic.Int64
	var refused atomic.Bool
	s.before = func(r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/timeline") || timelines.Add(1) < n || !s.struck(fault) {
			return
		}
		s.SetKey(canary, sim.Key{State: sim.KeyUnknown})
		refused.Store(true)
	}
	return &refused
}

// struck reports whether a fault has hit a call.
func (s *simulator) struck(fault string) bool {
	return slices.ContainsFunc(s.Faults(), func(f sim.ActiveFault) bool { return f.Fault.Name == fault && f.Hits > 0 })
}

// Hostile names reach no terminal and no log as they are. The
// simulator's built-in players have every kind.
func TestP40_HostileNamesAreCleanedAtEveryExit(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick())
	dir := freshDir(t)
	synced := 0
	for _, p := range hostile(s) {
		res := s.sync(p.RiotID, dir).run(t)
		clean(t, "sync --json", res.stdout+res.stderr)
		switch res.code {
		case exitDone:
			synced++
		case exitUsage, exitFailed: // not a Riot ID, or none once what cannot be seen is cut from its ends
			oneSentence(t, res.stderr)
		default:
			t.Errorf("%q: exit %d: %s", p.RiotID, res.code, res.stderr)
		}
		plain := command{args: []string{"sync", p.RiotID, "--platform", string(p.Platform), "--data-dir", dir, "--force"}, env: s.env("SYNC_COOLDOWN=0s")}.run(t)
		clean(t, "sync", plain.stdout+plain.stderr)
		tracked := command{args: []string{"track", p.RiotID, "--platform", string(p.Platform), "--data-dir", dir}, env: s.env()}.asked(t)
		clean(t, "track", tracked.stdout+tracked.stderr)
		seen := command{args: []string{"matches", p.RiotID, "--data-dir", dir}}.asked(t)
		clean(t, "matches", seen.stdout+seen.stderr)
	}
	if synced < 7 {
		t.Errorf("only %d hostile names could be synced", synced)
	}
	for _, args := range [][]string{
		{"accounts"}, {"jobs", "--all"}, {"status"}, {"matches", "--all"}, {"limits"}, {"logs", "--last", "0"}, {"audit"}, {"export", "matches", "--payload"}, {"check"},
	} {
		for _, more := range [][]string{nil, {"--json"}} {
			if args[0] == "export" && more != nil {
				continue
			}
			res := command{args: slices.Concat(args, more, []string{"--data-dir", dir})}.asked(t).wants(t, exitDone)
			clean(t, strings.Join(args, " "), res.stdout+res.stderr)
		}
	}
	log, err := os.ReadFile(filepath.Join(dir, "farsight.log"))
	if err != nil {
		t.Fatal(err)
	}
	clean(t, "farsight.log", string(log))
	// An ASCII terminal gets ASCII.
	res := command{args: []string{"accounts", "--data-dir", dir}, env: map[string]string{"TERM": "linux", "LC_ALL": "C"}}.asked(t).wants(t, exitDone)
	clean(t, "accounts in ASCII", res.stdout)
}

// hostile are the built-in players whose names do harm, and some that are only
// hard to print.
func hostile(s *simulator) (out []sim.Player) {
	for _, p := range s.Players() {
		switch p.RiotID[strings.LastIndexByte(p.RiotID, '#')+1:] {
		case "RLO", "ESC", "COMB", "ZW", "C1", "CSV", "PATH", "JSON", "LONG", "EMOJI", "VN2":
			out = append(out, p)
		}
	}
	return out
}

// clean checks that text can do no harm to a terminal: no control characters but
// line feeds, nothing that turns or hides text, nothing that is no UTF-8.
func clean(t *testing.T, from, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s printed what is no UTF-8", from)
	}
	for i, r := range text {
		turns := r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0x200E || r == 0x200F || r == 0x061C
		hides := r == 0x200B || r == 0x2060 || r == 0xFEFF || r >= 0xE0000 && r <= 0xE007F
		if r != '\n' && unicode.IsControl(r) || turns || hides {
			t.Errorf("%s printed %U after %q", from, r, tail(text[:i], 60))
			return
		}
	}
}

// The simulator prints the same names.
func TestSim_ListsItsPlayersCleanly(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--json"}} {
		p := command{args: append([]string{"sim", "--listen", "127.0.0.1:0", "--limits", "20:1"}, flags...)}.start(t)
		p.says("EMOJI")
		if flags == nil {
			p.says("figures at http://127.0.0.1:")
		}
		_ = p.cmd.Process.Signal(os.Interrupt)
		res := p.wait().wants(t, exitDone)
		clean(t, "sim", res.stdout+res.stderr)
	}
}
