package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/doctor"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
)

// diagnose runs `farsight doctor --json` and reads what it says.
func diagnose(t *testing.T, code int, env map[string]string, args ...string) doctor.Diagnosis {
	t.Helper()
	res := command{args: append([]string{"doctor", "--json"}, args...), env: env}.run(t).wants(t, code)
	var d doctor.Diagnosis
	unmarshal(t, res.stdout, &d)
	if d.Healthy != (code == exitDone) || d.Damaged != (code == exitIncomplete) {
		t.Errorf("healthy %v, damaged %v at exit %d", d.Healthy, d.Damaged, code)
	}
	clean(t, "doctor", res.stdout)
	return d
}

// about is what a diagnosis says of a check.
func about(t *testing.T, d doctor.Diagnosis, name string, level doctor.Gravity, words ...string) {
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
	about(t, d, "data directory", doctor.Fine, "not there yet")
	about(t, d, "store", doctor.Fine, "nothing is stored")
	if _, err := os.Stat(dir); err == nil {
		t.Error("a doctor made the data directory")
	}
	s.sync("Ana#EUW", dir).run(t).wants(t, exitDone)
	before := tree(t, dir)
	d = diagnose(t, exitDone, s.env(), "--data-dir", dir, "--full", "--network")
	about(t, d, "configuration", doctor.Fine, "settings")
	about(t, d, "API key", doctor.Fine, keyring.Env)
	about(t, d, "data directory", doctor.Fine, "mode 0700")
	about(t, d, "lock", doctor.Fine, "nobody")
	about(t, d, "store", doctor.Fine, "1 accounts, 8 matches stored", "in order")
	about(t, d, "full check", doctor.Fine, "sound: 16 payloads")
	about(t, d, "disk", doctor.Fine, "free")
	about(t, d, "backup", doctor.Warning, "farsight backup")
	about(t, d, "clock", doctor.Fine, "zone UTC")
	about(t, d, "rate limits", doctor.Fine, "hosts and methods")
	about(t, d, "schedules", doctor.Fine, "next is")
	about(t, d, "terminal", doctor.Fine, "none")
	about(t, d, "network", doctor.Fine, s.addr)
	about(t, d, "test call", doctor.Fine, "let in", "500:1")
	delete(before, "farsight.lock") // who looked last
	after := tree(t, dir)
	delete(after, "farsight.lock")
	if fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("the doctor changed something: %v, was %v", after, before)
	}
	in(dir, "backup").asked(t).wants(t, exitDone)
	about(t, diagnose(t, exitDone, s.env(), "--data-dir", dir), "backup", doctor.Fine, "the newest is")
	res := command{args: []string{"doctor", "--data-dir", dir}, env: s.env()}.asked(t).wants(t, exitDone)
	if !strings.Contains(res.stdout, "nothing wrong was found, 1 check not made") || strings.Count(res.stdout, "\n") < 13 {
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
	about(t, d, "configuration", doctor.Fault, "RIOT_HTTP_TIMEOUT_MS", "farsight config")
	about(t, d, "configuration", doctor.Fault, "SYNC_COOLDOWN")
	about(t, d, "API key", doctor.Fault, "chmod 600")
	about(t, d, "data directory", doctor.Fault, "chmod 700")
	if d.Faults != 4 {
		t.Errorf("%d faults", d.Faults)
	}
	// The environment's key is fine, and the file is named all the same.
	d = diagnose(t, exitFailed, map[string]string{"RIOT_API_KEY": canary}, "--data-dir", dir)
	about(t, d, "API key", doctor.Warning, "chmod 600", keyring.Env)
	d = diagnose(t, exitFailed, map[string]string{"RIOT_API_KEY": "not-riots-form-at-all"}, "--data-dir", dir)
	about(t, d, "API key", doctor.Warning, "another form")
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
	about(t, diagnose(t, exitDone, nil, "--data-dir", dir), "API key", doctor.Warning, "riot.key", keyring.Env)
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
		about(t, diagnose(t, exitIncomplete, nil, "--data-dir", dir), "store", doctor.Fault, path, "farsight restore")
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
	about(t, diagnose(t, exitIncomplete, nil, "--data-dir", dir, "--full"), "full check", doctor.Fault, "damaged", "farsight restore")
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
	about(t, d, "lock", doctor.Fine, fmt.Sprint(os.Getpid()), "alive")
	about(t, d, "store", doctor.Unseen, "an engine works on it")
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
	about(t, diagnose(t, exitFailed, s.env(), "--data-dir", dir, "--network"), "test call", doctor.Fault, "refuses the key", "developer.riotgames.com")
	if n := s.calls.Load(); n != 1 {
		t.Errorf("%d calls, want one", n)
	}
	env := s.env("RIOT_BASE_URL=http://127.0.0.1:1/{routing}")
	about(t, diagnose(t, exitFailed, env, "--data-dir", dir, "--network"), "network", doctor.Fault, "127.0.0.1:1", "firewall")
}

// A doctor beside an engine says what the engine says, whatever key and address it has been started with itself.
func TestW7_DoctorAsksTheEngineThatRuns(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick(player("Ana#EUW", 3)))
	dir := freshDir(t)
	p := s.serving(t, dir, nil)
	s.sync("Ana#EUW", dir).run(t).wants(t, exitDone)
	elsewhere := map[string]string{"RIOT_BASE_URL": "http://127.0.0.1:1/{routing}"}
	d := diagnose(t, exitDone, elsewhere, "--data-dir", dir)
	about(t, d, "engine", doctor.Fine, "LIVE", "…"+canary[len(canary)-4:], keyring.Env, s.addr)
	about(t, d, "store", doctor.Unseen, "an engine works on it")
	about(t, diagnose(t, exitDone, elsewhere, "--data-dir", dir, "--network"), "test call", doctor.Unseen, "farsight key test")

	// The key is refused: the engine finds out by its own calls, and the doctor, by asking the engine.
	s.SetKey(canary, sim.Key{State: sim.KeyUnknown})
	p.until("NO KEY", trying(t, dir, engine.EngineNoKey))
	d = diagnose(t, exitFailed, elsewhere, "--data-dir", dir)
	about(t, d, "engine", doctor.Fault, "NO KEY: Riot refuses the key", "farsight key set")
	if d.Faults != 1 {
		t.Errorf("one cause is %d faults: %+v", d.Faults, d.Findings)
	}

	// One that stands still is named, with what to do.
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	d = diagnose(t, exitFailed, s.env(), "--data-dir", dir)
	about(t, d, "engine", doctor.Fault, fmt.Sprintf("process %d", p.cmd.Process.Pid), fmt.Sprintf("-> it does not answer; if it was stopped, `kill -CONT %d`", p.cmd.Process.Pid))
	about(t, d, "API key", doctor.Unseen)
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
}

// storeless answers everything as an engine does that has lost its database.
type storeless struct{ engine.Console }

func (storeless) Find(context.Context, engine.Query) (engine.Answer, error) {
	return nil, engine.Problemf(engine.ErrGone, "ask again in a moment", "there is no engine now: the database is lost")
}

// An engine that has lost its database answers: nobody is told to kill it.
func TestW5c_DoctorOfAnEngineWithoutAStore(t *testing.T) {
	t.Parallel()
	dir := freshDir(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := api.Listen(controlSocket(dir), -1)
	if err != nil {
		t.Fatal(err)
	}
	server := api.NewServer(api.Options{Console: storeless{}, Who: api.NewDoor(api.Access{Owner: uint32(os.Geteuid())}).Who})
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	at, _ := engineSays(t.Context(), config.Config{DataDir: dir})
	if at == nil || at.Err == nil || !strings.Contains(at.Err.Error(), "the database is lost") {
		t.Errorf("the doctor was told: %+v", at)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// trying asks an engine for a sync and reports whether it is in a state.
func trying(t *testing.T, dir string, state engine.EngineState) func() bool {
	c := attached(t, dir)
	n := 0
	return func() bool {
		n++
		ask := engine.Command{Op: engine.OpTrigger, Account: "Ana#EUW", Sync: engine.SyncAsk{Platform: "euw1", Force: true}}
		if n > 1 && n < 10 { // several failures in a row are an outage
			ask.Account = fmt.Sprintf("Nobody%d#EUW", n)
		}
		_, _ = c.Do(t.Context(), ask) // one that is under way is joined
		s, err := engine.Ask[engine.StatusAnswer](t.Context(), c, engine.StatusQuery{})
		return err == nil && s.Engine.State == state
	}
}

// While Riot answers 503 the doctor beside the engine says so.
func TestW7_DoctorSaysThatRiotIsDown(t *testing.T) {
	t.Parallel()
	s := startSim(t, quick(player("Ana#EUW", 3)))
	dir := freshDir(t)
	p := s.serving(t, dir, nil)
	if err := s.Inject(sim.Fault{Kind: sim.Unavailable}); err != nil {
		t.Fatal(err)
	}
	p.until("API DOWN", trying(t, dir, engine.EngineAPIDown))
	about(t, diagnose(t, exitFailed, s.env(), "--data-dir", dir), "engine", doctor.Fault, "API DOWN", "account calls to europe fail")
}
