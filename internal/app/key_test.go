package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/riot/sim"
)

// keyed is a run of `farsight key` with something put in.
func keyed(env map[string]string, input string, args ...string) command {
	return command{args: append([]string{"key"}, args...), env: env, as: func(c *exec.Cmd) { c.Stdin = strings.NewReader(input) }}
}

func lastFour(key string) string { return "…" + key[len(key)-4:] }

// Without an engine a key is kept once Riot has let it in; what Riot refuses, or was not asked about, changes nothing.
func TestW8_KeyWithoutAnEngine(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick(player("Ana#EUW", 2)))
	s.SetKey(keyOfEnv, sim.Key{State: sim.KeyUnknown})
	dir := freshDir(t)
	file := filepath.Join(dir, "riot.key")
	env := s.env("FARSIGHT_DATA_DIR=" + dir)
	delete(env, keyring.Env)
	away := map[string]string{"FARSIGHT_DATA_DIR": dir, "RIOT_BASE_URL": "http://127.0.0.1:1/{routing}"}

	oneSentence(t, keyed(env, "").asked(t).wants(t, exitFailed).stderr, "there is no API key", "farsight key set")
	oneSentence(t, keyed(env, "hunter2", "set").asked(t).wants(t, exitUsage).stderr, "does not look like")
	// One that is given as an argument is refused, and not shown: run looks for it.
	keyed(env, "", "set", canary).asked(t).wants(t, exitUsage)
	keyed(env, "", canary).asked(t).wants(t, exitUsage)
	oneSentence(t, keyed(env, keyOfEnv, "set").asked(t).wants(t, exitFailed).stderr, "tried: Riot refuses the key", "nothing was changed")
	oneSentence(t, keyed(away, keyOfFile, "set").asked(t).wants(t, exitFailed).stderr, "not tried", "--untested")
	if _, err := os.Stat(file); err == nil {
		t.Error("a key was kept that Riot has not let in")
	}
	if said := keyed(env, keyOfFile+"\n", "set", "--dry-run").asked(t).wants(t, exitDone).stdout; !strings.Contains(said, "would replace the API key: Riot lets it in") {
		t.Errorf("a dry run says %q", said)
	}
	if said := keyed(env, keyOfFile+"\n", "set").asked(t).wants(t, exitDone).stdout; !strings.Contains(said, "now "+lastFour(keyOfFile)+": Riot lets it in") {
		t.Errorf("set says %q", said)
	}
	var k shownKey
	unmarshal(t, keyed(env, "", "show", "--json").asked(t).wants(t, exitDone).stdout, &k)
	if k.Key != lastFour(keyOfFile) || k.Source != file || k.Since.IsZero() || k.Engine {
		t.Errorf("shown is %+v", k)
	}
	keyed(env, "", "test").asked(t).wants(t, exitDone)
	s.SetKey(keyOfFile, sim.Key{State: sim.KeyUnknown})
	oneSentence(t, keyed(env, "", "test").asked(t).wants(t, exitFailed).stderr, "tried: Riot refuses the key")
	oneSentence(t, keyed(away, "", "test").asked(t).wants(t, exitFailed).stderr, "not tried")

	// The environment's goes first at the next start: that is said, not found out then.
	env[keyring.Env] = keyOfEnv
	if said := keyed(env, keyLater, "set").asked(t).wants(t, exitDone).stdout; !strings.Contains(said, keyring.Env+" is set, too") {
		t.Errorf("set beside %s says %q", keyring.Env, said)
	}
	if said := keyed(away, keyOfFile, "set", "--untested").asked(t).wants(t, exitDone).stdout; !strings.Contains(said, "not tried") {
		t.Errorf("--untested says %q", said)
	}
}

// With an engine the key is the engine's, and Riot's verdict comes first for consoles, too.
func TestW8_KeyOfTheEngineThatRuns(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick(player("Ana#EUW", 2)))
	s.SetKey(keyOfFile, sim.Key{State: sim.KeyUnknown})
	dir := freshDir(t)
	s.serving(t, dir, nil)
	away := map[string]string{"FARSIGHT_DATA_DIR": dir, "RIOT_BASE_URL": "http://127.0.0.1:1/{routing}"}
	if said := keyed(away, "", "test").asked(t).wants(t, exitDone).stdout; !strings.Contains(said, lastFour(canary)+": Riot lets it in") {
		t.Errorf("test says %q", said)
	}
	_, err := attached(t, dir).Do(t.Context(), engine.Command{Op: engine.OpKey, Key: keyOfFile})
	if err == nil || !strings.HasPrefix(err.Error(), "tried: Riot refuses the key") || strings.Contains(err.Error(), keyOfFile) {
		t.Errorf("the console is told %v", err)
	}
	var k shownKey
	show := func() shownKey {
		unmarshal(t, keyed(away, "", "show", "--json").asked(t).wants(t, exitDone).stdout, &k)
		return k
	}
	if k := show(); k.Key != lastFour(canary) || k.Source != keyring.Env || !k.Engine {
		t.Errorf("after a refused one it is %+v", k)
	}
	if said := keyed(away, keyLater, "set").asked(t).wants(t, exitDone).stdout; !strings.Contains(said, "Riot lets it in; "+keyring.Env+" is set, too") {
		t.Errorf("set says %q", said)
	}
	if k := show(); k.Key != lastFour(keyLater) {
		t.Errorf("now it is %+v", k)
	}
}
