package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/config"
)

// Every setting is shown with where it came from, and the key by its tail.
func TestConfig_Command(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	write(t, filepath.Join(dir, "config.toml"), "platform = \"kr\"\nworker_concurrency = 4\n")
	env := map[string]string{"FARSIGHT_DATA_DIR": dir, "WORKER_CONCURRENCY": "6", "RIOT_API_KEY": canary}
	res := command{args: []string{"config", "--json", "--log-level", "warn"}, env: env}.asked(t).wants(t, exitDone)
	got := map[string]engine.Setting{}
	for line := range strings.Lines(res.stdout) {
		var s engine.Setting
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		got[s.Name] = s
	}
	for name, want := range map[string][2]string{
		"api_key": {"RGAPI-****b12d", "RIOT_API_KEY"}, "data_dir": {dir, "FARSIGHT_DATA_DIR"}, "platform": {"kr", "config.toml"},
		"worker_concurrency": {"6", "WORKER_CONCURRENCY"}, "log_level": {"warn", "flag --log-level"}, "sync_cooldown": {"5m", "default"},
	} {
		if s := got[name]; s.Value != want[0] || s.Source != want[1] {
			t.Errorf("%s is %q from %q, want %q from %q", name, s.Value, s.Source, want[0], want[1])
		}
	}
	c, err := config.Load(config.Inputs{Getenv: func(name string) (string, bool) { return dir, name == "HOME" }})
	if all := len(c.Sources) + 1; err != nil || len(got) != all { // the key is no setting
		t.Errorf("%d settings shown, there are %d: %v", len(got), all, err)
	}
}

// A file to begin with goes into the user's folder, once, and its settings are found there.
func TestConfig_Init(t *testing.T) {
	t.Parallel()
	xdg := t.TempDir()
	path := filepath.Join(xdg, "farsight", "config.toml")
	env := map[string]string{"FARSIGHT_DATA_DIR": freshDir(t), "XDG_CONFIG_HOME": xdg}
	res := command{args: []string{"config", "init"}, env: env}.asked(t).wants(t, exitDone)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || !strings.Contains(res.stdout, path) {
		t.Errorf("%v, %v, said %q", info, err, res.stdout)
	}
	write(t, path, "glyphs = \"ascii\"\n")
	res = command{args: []string{"config", "init"}, env: env}.asked(t).wants(t, exitFailed)
	oneSentence(t, res.stderr, path+" exists already")
	if out := (command{args: []string{"config", "--json"}, env: env}).asked(t).wants(t, exitDone).stdout; !strings.Contains(out, `"ascii","source":"`+path+`"`) {
		t.Errorf("config shows %s", out)
	}
}

// What starts an engine names REDIS_URL once, what only looks does not, and nobody
// shows its password.
func TestS4_12_RedisIsNamedOnce(t *testing.T) {
	t.Parallel()
	env := map[string]string{"FARSIGHT_DATA_DIR": freshDir(t), "REDIS_URL": "redis://:" + canary + "@queue.example:6379"}
	res := command{args: []string{"sync", "Ana#EUW", "--platform", "euw1"}, env: env}.run(t).wants(t, exitFailed) // there is no key
	if n := strings.Count(res.stderr, "REDIS_URL is set and not needed"); n != 1 {
		t.Errorf("named %d times in %q", n, res.stderr)
	}
	shown := command{args: []string{"config"}, env: env}.asked(t).wants(t, exitDone)
	if shown.stderr != "" || strings.Count(shown.stdout, "(not needed)") != 1 {
		t.Errorf("config says %q and %q", shown.stdout, shown.stderr)
	}
	clean(t, "REDIS_URL", res.stdout+res.stderr+shown.stdout+shown.stderr)
}

// The exit codes are kept stable: scripts depend on them.
func TestExitCodes(t *testing.T) {
	if exitDone != 0 || exitFailed != 1 || exitUsage != 2 || exitIncomplete != 3 || exitHeld != 4 || exitInterrupted != 130 {
		t.Error("an exit code has changed")
	}
	if code := exitCode(config.Faults{"one", "another"}); code != exitUsage {
		t.Errorf("wrong settings exit with %d", code)
	}
}

// The worker count is what limits and answer time ask for, from 5 to 64; a
// configured number is a ceiling.
func TestWorkers(t *testing.T) {
	for _, c := range []struct{ set, needed, want int }{
		{0, 0, 5}, {0, 5, 5}, {0, 11, 11}, {0, 2000, 64}, {3, 11, 3}, {64, 0, 5}, {64, 11, 11},
	} {
		if got := workers(c.set, c.needed); got != c.want {
			t.Errorf("set %d, needed %d: %d workers, want %d", c.set, c.needed, got, c.want)
		}
	}
}

func TestCeilingAndCooldown(t *testing.T) {
	if ceiling(config.Rate{}) != nil || len(ceiling(config.Rate{N: 18, Per: time.Second})) != 1 || ceiling(config.Rate{N: 18, Per: time.Second})[0].N != 18 {
		t.Error("ceiling")
	}
	if cooldown(0) >= 0 || cooldown(time.Minute) != time.Minute {
		t.Error("cooldown 0 must mean none, not unset")
	}
}

// Player specifications of `farsight sim`; the name may hold commas.
func TestSim_Flags(t *testing.T) {
	p, err := parsePlayer("Blue, Heron#EUW,euw1,400")
	if err != nil || p.RiotID != "Blue, Heron#EUW" || p.Platform != "euw1" || p.Matches != 400 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"", "a", "a#b", "a#b,euw1", "a#b,euw1,x", "a#b,euw1,-4", "a#b,mars,4"} {
		if p, err := parsePlayer(bad); err == nil {
			t.Errorf("%q gives %+v", bad, p)
		}
	}
	for text, want := range map[string]time.Duration{"60ms": 60 * time.Millisecond, "60ms,30ms": 60 * time.Millisecond, "0": -1, "0s,5ms": -1} {
		if l, err := parseLatency(text); err != nil || l.Base != want {
			t.Errorf("%q gives %v, %v", text, l, err)
		}
	}
	for _, bad := range []string{"", "60", "-5ms", "60ms,x", "60ms,-30ms"} {
		if l, err := parseLatency(bad); err == nil {
			t.Errorf("%q gives %v", bad, l)
		}
	}
}

// A demo that was killed leaves nothing that the next does not remove; what one that
// runs uses stays.
func TestDemo_TheNextRemovesWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	known := map[string]bool{}
	begin := func() (p *child, dir string) {
		t.Helper()
		p = command{args: []string{"demo", "--headless"}, env: map[string]string{"TMPDIR": tmp}}.start(t)
		if !p.until("a data directory", func() bool {
			stores, _ := filepath.Glob(filepath.Join(tmp, demoPrefix+"*", "data-1", "state.db"))
			for _, path := range stores {
				if made := filepath.Dir(filepath.Dir(path)); !known[made] {
					dir = made
				}
			}
			return dir != ""
		}) {
			t.Fatalf("the demo ended: %s", p.err.String())
		}
		known[dir] = true
		return p, dir
	}
	_, live := begin()
	first, dead := begin()
	first.kill()
	_, next := begin()
	for dir, stays := range map[string]bool{live: true, dead: false, next: true} {
		if _, err := os.Stat(filepath.Join(dir, "data-1", "state.db")); (err == nil) != stays {
			t.Errorf("%s: %v, to stay: %v", dir, err, stays)
		}
	}
}

func TestDemo_HeadlessEndsWell(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	res := command{args: []string{"demo", "--headless", "--speed", "3"}, env: map[string]string{"TMPDIR": tmp}}.run(t).wants(t, exitDone)
	if !strings.Contains(res.stdout, "80 of 80 matches stored") || !strings.Contains(res.stdout, " 0 violations") {
		t.Errorf("it ended with %q", tail(res.stdout, 300))
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) != 0 {
		t.Errorf("the demo left %v behind", left)
	}
	clean(t, "demo", res.stdout+res.stderr)
}
