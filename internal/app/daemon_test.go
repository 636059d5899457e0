package app

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/farsight-console/farsight/engine/api"
)

// counts is how many jobs of each state a list holds.
func counts(t testing.TB, ndjson string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for line := range strings.Lines(ndjson) {
		var row struct {
			State string `json:"state"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		out[row.State]++
		out["all"]++
	}
	return out
}

// farInLine is a job whose turn comes in minutes. Its number alone does not say so: timelines have
// a line of their own, behind the matches'.
var farInLine = regexp.MustCompile(`[1-9]\d\d(st|nd|rd|th) in line|[.:] [Ii]t goes in [2-9] ?m`)

// TestS1_11_Tmux_AServiceInFourShells is the first show of issue 5 as a person sees
// it: a daemon in one shell, a console in two others, lists in a fourth. What one
// console does, the other tells, with its actor; the daemon falls and comes back, the
// consoles find it by themselves, and nothing is lost.
func TestS1_11_Tmux_AServiceInFourShells(t *testing.T) {
	t.Parallel()
	who := player("Four Shells#TMUX", 480)
	s, dir := slowly(t, who), freshDir(t)
	d := s.serving(t, dir, nil)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	cli := func(args ...string) result {
		return command{args: append(args, "--data-dir", dir), env: map[string]string{"USER": "somebody-else"}}.asked(t)
	}
	a := inTmux(t, 120, 40, nil, "attach", "--data-dir", dir)
	b := inTmux(t, 80, 24, nil, "attach", controlSocket(dir))
	cli("trigger", who.RiotID, "--platform", "euw1").wants(t, exitDone)
	for _, x := range []*tmux{a, b} {
		x.shows("LIVE", "SYNCING", laneName(who.RiotID))
	}

	a.keys("3")
	// With their number: at first the sync itself is AVAILABLE, alone.
	a.shows("JOBS ", "AVAILABLE")
	a.keys("b") // each job has a row
	// The last one: its turn comes last. A list that is still being read ends with one that
	// runs, which is done before it is cancelled.
	a.until("the cursor on a job far back in line", func(s string) bool {
		if farInLine.MatchString(s) {
			return true
		}
		a.keys("End", "k")
		return false
	})
	a.keys("x")
	a.toldOf("undo")
	b.toldOf(me.Username, "cancel")
	before := counts(t, cli("jobs", "--all", "--json").wants(t, exitDone).stdout)
	if before["cancelled"] != 1 {
		t.Errorf("the fourth shell sees %v", before)
	}
	audit := cli("audit", "--op", "cancel", "--json").wants(t, exitDone).stdout
	if !strings.Contains(audit, `"user":"`+me.Username+`"`) || !strings.Contains(audit, `"via":"socket"`) {
		t.Errorf("the audit says %s", audit)
	}

	d.kill()
	for _, x := range []*tmux{a, b} {
		x.until("a whole screen without an engine", func(s string) bool {
			return x.whole(s) && containsAll(s, []string{"DISCONNECTED", "next try", "data as of"})
		})
	}
	a.keys("k", "x")
	a.toldOf("not connected")
	s.serving(t, dir, nil)
	for _, x := range []*tmux{a, b} {
		x.until("the engine again", func(s string) bool {
			return strings.Contains(s, "LIVE") && !strings.Contains(s, "DISCONNECTED") && x.whole(s)
		})
	}
	after := counts(t, cli("jobs", "--all", "--json").wants(t, exitDone).stdout)
	if after["cancelled"] != 1 || after["completed"] < before["completed"] || after["all"] < before["all"] {
		t.Errorf("before the fall %v, after it %v", before, after)
	}
	for _, x := range []*tmux{a, b} {
		x.keys("q") // leaves an engine elsewhere without a question
		x.ended(exitDone)
	}
}

// impostor is an engine of another version on a data directory's socket.
func impostor(t testing.TB, path string, protocol int) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	hello := fmt.Sprintf(`{"protocol":%d,"version":"9.0","dir":"/d","pid":1,"you":{"user":"x"},"role":"operator"}`, protocol)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/watch" {
			hello := `{"n":1,"hello":` + hello + "}\n"
			_, _ = w.Write([]byte(hello))
			return
		}
		_, _ = w.Write([]byte(hello))
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
}

// TestAttach_AnotherVersionIsToldSo, at the start and after the engine was replaced
// under a console.
func TestAttach_AnotherVersionIsToldSo(t *testing.T) {
	t.Parallel()
	s, dir := slowly(t, player("Old And New#SOCK", 5)), freshDir(t)
	d := s.serving(t, dir, nil)
	x := inTmux(t, 120, 30, nil, "attach", dir)
	x.shows("LIVE")
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.wait().wants(t, exitDone)
	impostor(t, controlSocket(dir), api.Protocol+1)
	x.shows("DISCONNECTED", fmt.Sprintf("speaks protocol %d, this program %d", api.Protocol+1, api.Protocol))
	for _, args := range []string{"attach", "jobs", "pause ingest.rank.daily", "--plain"} {
		res := command{args: append(words(args), "--data-dir", dir), env: s.env()}.asked(t)
		oneSentence(t, res.stderr, "Farsight 9.0", fmt.Sprintf("protocol %d", api.Protocol+1), "use the farsight of that version")
		if res.code == exitDone {
			t.Errorf("%s ends with 0", args)
		}
	}
	x.keys("q")
	x.ended(exitDone)
}

// TestServe_WhatIsInItsWay: one clear sentence for each, and nothing of somebody
// else's is touched.
func TestServe_WhatIsInItsWay(t *testing.T) {
	t.Parallel()
	open := filepath.Join(t.TempDir(), "open")
	if err := os.MkdirAll(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil { //nolint:gosec // that is what is refused
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		prepare func(dir string) error
		env     map[string]string
		code    int
		says    []string
	}{
		"a key that others can read": {
			func(dir string) error { return os.WriteFile(filepath.Join(dir, "riot.key"), []byte(canary), 0o644) },
			set("RIOT_API_KEY="), exitFailed, []string{"riot.key", "chmod 600"},
		},
		"a file in the socket's place": {
			func(dir string) error { return os.WriteFile(controlSocket(dir), []byte("mine"), 0o600) },
			nil, exitFailed, []string{"is no socket", "move it away"},
		},
		"a group without a folder": {nil, set("FARSIGHT_SOCKET_GROUP=4200"), exitUsage, []string{"socket_path"}},
		"a folder for everybody": {
			nil, map[string]string{"FARSIGHT_SOCKET_GROUP": "4200", "FARSIGHT_SOCKET_PATH": filepath.Join(open, "s")},
			exitFailed, []string{"everybody may write", "/run/farsight"},
		},
		"a group that is not there": {nil, set("FARSIGHT_SOCKET_GROUP=no-such-group"), exitUsage, []string{"no-such-group"}},
		"a user that is not there":  {nil, set("FARSIGHT_OPERATORS=no-such-user"), exitUsage, []string{"no-such-user", "operators"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := freshDir(t)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if c.prepare != nil {
				if err := c.prepare(dir); err != nil {
					t.Fatal(err)
				}
			}
			env := map[string]string{"RIOT_API_KEY": canary, "RIOT_BASE_URL": "http://127.0.0.1:1/{routing}"}
			for k, v := range c.env {
				env[k] = v
			}
			res := command{args: []string{"serve", "--data-dir", dir}, env: env}.run(t).wants(t, c.code)
			oneSentence(t, res.stderr, c.says...)
		})
	}
}
