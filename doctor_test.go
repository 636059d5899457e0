package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
)

// diagnose runs `farsight doctor --json` and reads what it says.
func diagnose(t *testing.T, code int, env map[string]string, args ...string) diagnosis {
	t.Helper()
	res := command{args: append([]string{"doctor", "--json"}, args...), env: env}.run(t).wants(t, code)
	var d diagnosis
	unmarshal(t, res.stdout, &d)
	if d.Healthy != (code == exitDone) || d.Damaged != (code == exitIncomplete) {
		t.Errorf("healthy %v, damaged %v at exit %d", d.Healthy, d.Damaged, code)
	}
	clean(t, "doctor", res.stdout)
	return d
}

// about is what a diagnosis says of a check.
func (d diagnosis) about(t *testing.T, name string, level gravity, words ...string) {
	t.Helper()
	for _, f := range d.Findings {
		if f.Name != name || f.Level != level {
			continue
		}
		all := true
		for _, w := range words {
			all = all && strings.Contains(f.Text+" -> "+f.Do, w)
		}
		if all {
			return
		}
	}
	t.Errorf("no %s of %s with %q in %+v", level, name, words, d.Findings)
}

func TestDoctorOfASoundInstallation(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick(player("Ana#EUW", 8)))
	dir := freshDir(t)
	d := diagnose(t, exitDone, s.env(), "--data-dir", dir)
	d.about(t, "data directory", fine, "not there yet")
	d.about(t, "store", fine, "nothing is stored")
	if _, err := os.Stat(dir); err == nil {
		t.Error("a doctor made the data directory")
	}
	s.sync("Ana#EUW", dir).run(t).wants(t, exitDone)
	before := tree(t, dir)
	d = diagnose(t, exitDone, s.env(), "--data-dir", dir, "--full", "--network")
	d.about(t, "configuration", fine, "settings")
	d.about(t, "API key", fine, keyEnv)
	d.about(t, "data directory", fine, "mode 0700")
	d.about(t, "lock", fine, "nobody")
	d.about(t, "store", fine, "1 accounts, 8 matches stored", "in order")
	d.about(t, "full check", fine, "sound: 16 payloads")
	d.about(t, "disk", fine, "free")
	d.about(t, "backup", warning, "farsight backup")
	d.about(t, "clock", fine, "zone UTC")
	d.about(t, "rate limits", fine, "hosts and methods")
	d.about(t, "schedules", fine, "next is")
	d.about(t, "terminal", fine, "none")
	d.about(t, "network", fine, s.addr)
	d.about(t, "test call", fine, "let in", "500:1")
	delete(before, "farsight.lock") // who looked last
	after := tree(t, dir)
	delete(after, "farsight.lock")
	if fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("the doctor changed something: %v, was %v", after, before)
	}
	in(dir, "backup").run(t).wants(t, exitDone)
	diagnose(t, exitDone, s.env(), "--data-dir", dir).about(t, "backup", fine, "the newest is")
	res := command{args: []string{"doctor", "--data-dir", dir}, env: s.env()}.run(t).wants(t, exitDone)
	if !strings.Contains(res.stdout, "all is well") || strings.Count(res.stdout, "\n") < 13 {
		t.Errorf("%s", res.stdout)
	}
}

// tree are the sizes of the files of a directory.
func tree(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	files := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		st, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files[rel] = st.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Every fault is named at once, with what to do.
func TestDoctorNamesEveryFault(t *testing.T) {
	t.Parallel()
	dir := filledDir(t, 2)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "riot.key"), []byte(canary+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "riot.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"RIOT_HTTP_TIMEOUT_MS": "0", "SYNC_COOLDOWN": "5"}
	d := diagnose(t, exitFailed, env, "--data-dir", dir)
	d.about(t, "configuration", fault, "RIOT_HTTP_TIMEOUT_MS", "farsight config")
	d.about(t, "configuration", fault, "SYNC_COOLDOWN")
	d.about(t, "API key", fault, "chmod 600")
	d.about(t, "data directory", fault, "chmod 700")
	if d.Faults != 4 {
		t.Errorf("%d faults", d.Faults)
	}
	// The environment's key is fine, and the file is named all the same.
	d = diagnose(t, exitFailed, map[string]string{"RIOT_API_KEY": canary}, "--data-dir", dir)
	d.about(t, "API key", warning, "chmod 600", keyEnv)
	d = diagnose(t, exitFailed, map[string]string{"RIOT_API_KEY": "not-riots-form-at-all"}, "--data-dir", dir)
	d.about(t, "API key", warning, "another form")
	for _, f := range d.Findings {
		if strings.Contains(f.Text+f.Do, "not-riots") {
			t.Errorf("P-40: %+v", f)
		}
	}
	if err := os.Remove(filepath.Join(dir, "riot.key")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	diagnose(t, exitDone, nil, "--data-dir", dir).about(t, "API key", warning, "riot.key", keyEnv)
}

func TestDoctorOfADamagedStore(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"text":      func([]byte) []byte { return []byte("dear operator") },
		"truncated": func(b []byte) []byte { return b[:9000] },
	} {
		dir := filledDir(t, 3)
		path := filepath.Join(dir, "state.db")
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		raw = damage(raw)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		diagnose(t, exitIncomplete, nil, "--data-dir", dir).about(t, "store", fault, path, "farsight restore")
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, raw) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	// What only a full look finds.
	dir := filledDir(t, 12)
	path := filepath.Join(dir, "payload", storedMonth+".db")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[bytes.LastIndex(raw, []byte{0x1f, 0x8b, 8})+40] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	diagnose(t, exitDone, nil, "--data-dir", dir)
	diagnose(t, exitIncomplete, nil, "--data-dir", dir, "--full").about(t, "full check", fault, "damaged", "farsight restore")
}

func TestDoctorOfAHeldDirectory(t *testing.T) {
	t.Parallel()
	dir := filledDir(t, 1)
	db, err := storage.Open(storage.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d := diagnose(t, exitDone, nil, "--data-dir", dir)
	d.about(t, "lock", fine, fmt.Sprint(os.Getpid()), "alive")
	d.about(t, "store", fine, "an engine works on it")
}

// Without --network nothing is called; with it, a refused key and a host that does
// not answer are faults.
func TestDoctorOfTheNetwork(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick(player("Ana#EUW", 2)))
	dir := freshDir(t)
	diagnose(t, exitDone, s.env(), "--data-dir", dir)
	if n := s.calls.Load(); n != 0 {
		t.Errorf("%d calls that nobody asked for", n)
	}
	s.SetKey(canary, sim.Key{State: sim.KeyUnknown})
	diagnose(t, exitFailed, s.env(), "--data-dir", dir, "--network").about(t, "test call", fault, "refuses the key", "developer.riotgames.com")
	if n := s.calls.Load(); n != 1 {
		t.Errorf("%d calls, want one", n)
	}
	env := s.env("RIOT_BASE_URL=http://127.0.0.1:1/{routing}")
	diagnose(t, exitFailed, env, "--data-dir", dir, "--network").about(t, "network", fault, "127.0.0.1:1", "firewall")
}

// The JSON form has every line of the other.
func TestDoctorSaysTheSameInBothForms(t *testing.T) {
	var said diagnosis
	said.Findings = []finding{{"disk", fault, "12 MiB free", "free some space"}, {"clock", fine, "noon", ""}}
	raw, err := json.Marshal(said)
	if err != nil || !strings.Contains(string(raw), `"do":"free some space"`) || strings.Count(string(raw), `"do"`) != 1 {
		t.Errorf("%s %v", raw, err)
	}
}
