package app

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/storage"
	"github.com/farsight-console/farsight/storage/keep"
)

// crashEnv names the crash point, and at which hit, at which a farsight made of
// the test binary kills itself.
const crashEnv = "FARSIGHT_TEST_CRASH"

func init() { roles["crash"] = crashing }

// crashing is farsight until the named instant.
func crashing() int {
	var name string
	var hit int
	_, _ = fmt.Sscan(os.Getenv(crashEnv), &name, &hit)
	var mu sync.Mutex
	crash.Arm(func(at string) {
		mu.Lock()
		defer mu.Unlock()
		if at != name {
			return
		}
		if hit--; hit == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // nothing more happens here, nor in whoever waits for the lock
		}
	})
	return Main("", os.Args[1:])
}

// at makes the command end itself at a crash point, as kill -9 would.
func (c command) at(t testing.TB, point string, hit int) command {
	t.Helper()
	return c.played(t, "crash", crashEnv+"="+fmt.Sprint(point, " ", hit))
}

// played lets the test binary do the command, in one of its roles.
func (c command) played(t testing.TB, role string, env ...string) command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.env = with(c.env, append(env, roleEnv+"="+role)...)
	c.as = func(cmd *exec.Cmd) { cmd.Path = self }
	return c
}

// with adds to an environment.
func with(env map[string]string, more ...string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, env)
	for _, pair := range more {
		name, value, _ := strings.Cut(pair, "=")
		out[name] = value
	}
	return out
}

// crashHits are the hits of a point at which a process ends: a thing that is done
// for the first time, again, and in the thick of it.
var crashHits = []int{1, 2, 10}

// crashesOf is the share of the cases in a run: one in so many, others each time.
var crashesOf = scratch.Sized(50, 1)

// someScenes are two of those that fit, others each time; all of them in a long run.
func someScenes(r *rand.Rand, fit func(crashScene) bool) []crashScene {
	scenes := slices.DeleteFunc(slices.Clone(crashScenes), func(c crashScene) bool { return !fit(c) })
	r.Shuffle(len(scenes), func(i, j int) { scenes[i], scenes[j] = scenes[j], scenes[i] })
	return scenes[:scratch.Sized(2, len(scenes))]
}

const crashWorkers = 4

// crashPlayer has games in two months, so that payload files are made more than
// once.
var crashPlayer = player("Nine Lives#CRASH", 12)

// crashScene is a command in whose middle a process ends.
type crashScene struct {
	name  string
	once  string // points that it comes by, at least once
	often string // points that it comes by as often as crashHits asks
	dir   func(t *testing.T) string
	do    func(s *simulator, dir string) command
	// disturb does something while the command runs; nil = nothing.
	disturb func(p *child, s *simulator)
	// unread: until it has been done again, no reader may open the directory.
	unread bool
	// gone is what it says when it is done again after its end; "" = it can be.
	gone   string
	proves func(t *testing.T, s *simulator, o outcome)
}

// outcome is where a command was ended and then done again.
type outcome struct {
	dir    string
	before string // a copy of the directory as it was at first
	ended  int    // how often it was ended
}

// over reports whether a command found that it had got to its end before.
func (c crashScene) over(res result) bool {
	return c.gone != "" && res.code == exitFailed && strings.Contains(res.stderr, c.gone)
}

// again does the command once more, which may have got to its end before.
func (c crashScene) again(t *testing.T, s *simulator, dir string) {
	t.Helper()
	if res := c.do(s, dir).run(t); !c.over(res) {
		res.wants(t, exitDone)
	}
}

// repeats checks that no more calls were made again than were under way.
func (o outcome) repeats(t *testing.T, s *simulator) {
	t.Helper()
	if n := repeats(s); n > o.ended*crashWorkers {
		t.Errorf("%d calls were made again; the process was ended %d times with %d workers", n, o.ended, crashWorkers)
	}
}

var crashScenes = []crashScene{
	{
		name: "sync",
		once: "recovery-before-mark recovery-after-mark recovery-found drain-begun drain-grace-over drain-done shutdown-begin shutdown-marked",
		often: "creation-before-tables creation-before-sync creation-before-rename creation-after-rename " +
			"before-claim after-claim before-call after-call before-payload-commit after-payload-commit before-outcome " +
			"before-state-commit after-state-commit after-publish after-outcome",
		dir:    freshForCrash,
		do:     syncForCrash,
		proves: provesSync,
	},
	{
		name:    "interrupted sync",
		once:    "drain-begun drain-grace-over drain-done shutdown-begin shutdown-marked",
		dir:     freshForCrash,
		do:      syncForCrash,
		disturb: interruptSoon,
		proves:  provesSync,
	},
	{
		name:   "recovery",
		once:   "recovery-before-mark recovery-after-mark recovery-found recovery-given-back",
		often:  "before-claim after-claim before-call before-state-commit after-state-commit",
		dir:    orphanedDir,
		do:     syncForCrash,
		proves: provesSync,
	},
	{
		name:   "migration",
		once:   "backup-copied backup-before-rename backup-after-rename migration-backed-up migration-before-commit migration-after-commit recovery-before-mark",
		dir:    oldSchemaDir,
		do:     syncForCrash,
		unread: true,
		proves: provesMigration,
	},
	{
		name:   "backup",
		once:   "backup-copied backup-month-copied backup-month-renamed backup-before-rename backup-after-rename",
		often:  "backup-pruned",
		dir:    backedUpDir,
		do:     func(_ *simulator, dir string) command { return in(dir, "backup", "--keep", "1") },
		proves: provesBackup,
	},
	{
		name: "compact",
		once: "creation-before-tables creation-before-sync creation-before-rename creation-after-rename archive-begun archive-sealed " +
			"archive-before-rename archive-after-rename compact-begun compact-filled compact-before-rename compact-after-rename",
		often:  "archive-page",
		dir:    func(t *testing.T) string { return filledDir(t, 70) },
		do:     func(_ *simulator, dir string) command { return in(dir, "compact") },
		proves: provesPayloads,
	},
	{
		name:   "restore",
		once:   "restore-copied restore-kept restore-renamed",
		dir:    spoiltDir,
		do:     func(_ *simulator, dir string) command { return in(dir, "restore", "--yes") },
		unread: true,
		proves: provesRestore,
	},
	{
		name:   "forget",
		once:   "forget-begun forget-before-end",
		often:  "forget-batch forget-erased",
		dir:    syncedDir,
		do:     func(_ *simulator, dir string) command { return in(dir, "forget", crashPlayer.RiotID, "--yes") },
		gone:   "no such account is stored",
		proves: provesForgotten,
	},
	{
		name:   "reset",
		once:   "reset-kept reset-renamed reset-cleared",
		dir:    syncedDir,
		do:     func(_ *simulator, dir string) command { return in(dir, "reset", "--yes") },
		proves: provesReset,
	},
}

// provenInStorage are points that no command of a short life comes by; the tests
// of package storage end a process there.
var provenInStorage = []string{"retention-marked"}

// TestP01_CrashAtEveryPoint ends a process at each named instant of the engine and
// the store, at its first, second and tenth hit, in the commands that come by it.
// What is left is sound, the same command done again comes to its end, nothing is
// lost, and at most as many calls are made again as workers were at work.
func TestP01_CrashAtEveryPoint(t *testing.T) {
	t.Parallel()
	farsight(t)
	r, n := dice(t), 0
	for _, scene := range crashScenes {
		template := sync.OnceValue(func() string { return scene.dir(t) })
		for _, c := range scene.cases() {
			if r.IntN(crashesOf) != 0 {
				continue
			}
			n++
			dir := template()
			t.Run(fmt.Sprintf("%s at %s %d", scene.name, c.point, c.hit), func(t *testing.T) {
				t.Parallel()
				scene.crash(t, copied(t, dir), c.point, c.hit)
			})
		}
	}
	t.Logf("%d crashes", n)
}

type crashCase struct {
	point string
	hit   int
}

func (c crashScene) cases() (list []crashCase) {
	for _, point := range strings.Fields(c.once) {
		list = append(list, crashCase{point, 1})
	}
	for _, point := range strings.Fields(c.often) {
		for _, hit := range crashHits {
			list = append(list, crashCase{point, hit})
		}
	}
	return list
}

func (c crashScene) crash(t *testing.T, dir, point string, hit int) {
	before := copied(t, dir)
	s := startSim(t, quick(crashPlayer))
	p := c.do(s, dir).at(t, point, hit).start(t)
	if c.disturb != nil {
		c.disturb(p, s)
	}
	switch res := p.wait(); {
	case res.code == -1:
	case hit == 1:
		t.Fatalf("it never came by: exit %d\nstderr: %s\nstdout ends: %s", res.code, res.stderr, tail(res.stdout, 600))
	default:
		t.Skipf("it does not come by %d times", hit)
	}
	if !c.unread {
		soundInside(t, dir)
	}
	c.do(s, dir).run(t).wants(t, exitDone)
	sound(t, dir)
	nothingHalfMade(t, dir)
	c.proves(t, s, outcome{dir, before, 1})
}

func freshForCrash(t *testing.T) string { return freshDir(t) }

func syncForCrash(s *simulator, dir string) command {
	c := s.sync(crashPlayer.RiotID, dir)
	c.env["WORKER_CONCURRENCY"], c.env["FARSIGHT_RETRY_MATCH"] = strconv.Itoa(crashWorkers), "100ms,100ms,100ms,100ms"
	return c
}

func interruptSoon(p *child, s *simulator) {
	p.until("some matches", func() bool { return s.Stats().Matches >= 3 })
	_ = p.cmd.Process.Signal(syscall.SIGINT)
}

func provesSync(t *testing.T, s *simulator, o outcome) {
	t.Helper()
	wholeHistory(t, s, crashPlayer.RiotID, o.dir)
	noViolations(t, s)
	o.repeats(t, s)
	// Each delivered answer is in the store, and the store has none that was not delivered.
	for what, f := range s.Fetches() {
		if f.OK == 0 {
			t.Errorf("%s was never delivered", what)
		}
	}
}

// orphanedDir is what a sync leaves that was killed with calls under way.
func orphanedDir(t *testing.T) string {
	t.Helper()
	dir := freshDir(t)
	o := quick(crashPlayer)
	o.Latency = sim.Latency{Base: 30e6}
	s := startSim(t, o)
	s.holdFrom(t, 4)
	p := syncForCrash(s, dir).start(t)
	p.until("calls under way", func() bool { return s.Stats().Matches >= 3 && s.held.Load() > 0 })
	p.kill()
	return dir
}

// oldSchemaDir holds a store that says of itself, as one from then does, that it is of the oldest schema which is
// brought up to date: all that leads from there is done. Its account is of the simulator's key, unlike that of the
// store from then.
func oldSchemaDir(t *testing.T) string {
	t.Helper()
	then := filepath.Join(t.TempDir(), "state.db")
	if err := gunzip(filepath.Join(top, "storage", "testdata", "schema6", "state.db.gz"), then); err != nil {
		t.Fatal(err)
	}
	var schema []byte
	inMeta(t, then, func(meta *bolt.Bucket) error {
		schema = bytes.Clone(meta.Get([]byte("schema")))
		return nil
	})
	dir := orphanedDir(t)
	inMeta(t, filepath.Join(dir, "state.db"), func(meta *bolt.Bucket) error { return meta.Put([]byte("schema"), schema) })
	return dir
}

// inMeta opens the table that tells of a state file itself.
func inMeta(t *testing.T, path string, do func(*bolt.Bucket) error) {
	t.Helper()
	b, err := bolt.Open(path, 0o600, nil)
	if err == nil {
		err = errors.Join(b.Update(func(tx *bolt.Tx) error { return do(tx.Bucket([]byte("meta"))) }), b.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func gunzip(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(r)
	return errors.Join(err, os.WriteFile(to, body, 0o600))
}

func provesMigration(t *testing.T, s *simulator, o outcome) {
	t.Helper()
	list, err := keep.Backups(keep.BackupsDir(o.dir))
	if err != nil || len(list) != 1 || list[0].Schema != 6 || list[0].Problem != "" {
		t.Errorf("backups of the old state: %+v %v", list, err)
	}
	if got, want := exported(t, o.dir), len(s.MatchIDs(crashPlayer.RiotID)); len(got) != want {
		t.Errorf("%d matches, want %d", len(got), want)
	}
	o.repeats(t, s)
}

// backedUpDir has two backups of the state and none of the payloads.
func backedUpDir(t *testing.T) string {
	t.Helper()
	dir := filledDir(t, 12)
	for range 2 {
		in(dir, "backup", "--no-payloads").asked(t).wants(t, exitDone)
	}
	return dir
}

func provesBackup(t *testing.T, s *simulator, o outcome) {
	t.Helper()
	list, err := keep.Backups(keep.BackupsDir(o.dir))
	if err != nil || len(list) != 1 || len(list[0].Months) != 1 || list[0].Problem != "" {
		t.Errorf("backups: %+v %v", list, err)
	}
	provesPayloads(t, s, o)
	if err := os.Remove(filepath.Join(o.dir, "state.db")); err != nil {
		t.Fatal(err)
	}
	in(o.dir, "restore", "--yes").asked(t).wants(t, exitDone)
	provesPayloads(t, s, o)
}

// provesPayloads compares every stored payload with what it was before.
func provesPayloads(t *testing.T, _ *simulator, o outcome) {
	t.Helper()
	got, want := exported(t, o.dir, "--payload"), exported(t, o.before, "--payload")
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("%d matches, %d before", len(got), len(want))
	}
	for id, w := range want {
		if e := got[id]; e.Status != w.Status || !bytes.Equal(e.Payload, w.Payload) || len(w.Payload) < 100 {
			t.Errorf("%s: %q with a payload of %d bytes, before %q with %d", id, e.Status, len(e.Payload), w.Status, len(w.Payload))
		}
	}
}

const strayNote = "a note that went astray\n"

// spoiltDir has a backup, and something else in the place of state.db.
func spoiltDir(t *testing.T) string {
	t.Helper()
	dir := filledDir(t, 12)
	in(dir, "backup").asked(t).wants(t, exitDone)
	write(t, filepath.Join(dir, "state.db"), strayNote)
	return dir
}

func provesRestore(t *testing.T, _ *simulator, o outcome) {
	t.Helper()
	if got := exported(t, o.dir, "--payload"); len(got) != 12 {
		t.Errorf("%d matches came back", len(got))
	}
	aside, err := filepath.Glob(filepath.Join(o.dir, "state.db.before-restore-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range aside {
		if raw, _ := os.ReadFile(path); string(raw) == strayNote {
			return
		}
	}
	t.Errorf("what was in the way of the restore is in none of %v", aside)
}

// syncedDir has the whole history of the player.
func syncedDir(t *testing.T) string {
	t.Helper()
	dir := freshDir(t)
	syncForCrash(startSim(t, quick(crashPlayer)), dir).run(t).wants(t, exitDone)
	return dir
}

// provesForgotten: nothing of the one account is left, and the audit says once that it
// was deleted.
func provesForgotten(t *testing.T, _ *simulator, o outcome) {
	t.Helper()
	if got := exported(t, o.dir); len(got) != 0 {
		t.Errorf("%d matches are left", len(got))
	}
	if res := in(o.dir, "accounts", "--json").asked(t).wants(t, exitDone); res.stdout != "" {
		t.Errorf("accounts: %s", res.stdout)
	}
	said := 0
	for line := range strings.Lines(in(o.dir, "audit").asked(t).wants(t, exitDone).stdout) {
		if !strings.Contains(line, "were deleted") {
			continue // that the player was synced stays, by name
		}
		if said++; strings.Contains(line, crashPlayer.RiotID) {
			t.Errorf("the audit: %s", line)
		}
	}
	if said != 1 {
		t.Errorf("the audit says %d times that it was done", said)
	}
}

// provesReset: the new store is empty and says why, and the old one is whole in one of
// the folders aside: those of other resets have what there was in between.
func provesReset(t *testing.T, _ *simulator, o outcome) {
	t.Helper()
	if got := exported(t, o.dir); len(got) != 0 {
		t.Errorf("the new store has %d matches", len(got))
	}
	if audit := in(o.dir, "audit").asked(t).wants(t, exitDone).stdout; !strings.Contains(audit, "moved to before-reset-") {
		t.Errorf("the audit: %s", audit)
	}
	aside, err := filepath.Glob(filepath.Join(o.dir, "before-reset-*", "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for _, path := range aside {
		sound(t, filepath.Dir(path))
		if got := exported(t, filepath.Dir(path), "--payload"); len(got) == crashPlayer.Matches {
			whole++
		}
	}
	if whole != 1 {
		t.Errorf("the old store is in %d of %v", whole, aside)
	}
}

// onlyFiles hides what cannot be copied: the socket that a killed process has left.
type onlyFiles struct{ fs.FS }

func (f onlyFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Type()&fs.ModeSocket != 0 }), err
}

// copied is a copy of a closed data directory.
func copied(t testing.TB, from string) string {
	t.Helper()
	to := freshDir(t)
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return to
	}
	err := os.CopyFS(to, onlyFiles{os.DirFS(from)})
	if err == nil {
		err = filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			return os.Chmod(path, 0o700)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// soundInside is `farsight check` without a process, on a directory that may
// hold no store yet.
func soundInside(t testing.TB, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "state.db")); errors.Is(err, fs.ErrNotExist) {
		return
	}
	db, err := storage.OpenReadOnly(storage.Options{Dir: dir})
	if err != nil {
		t.Errorf("what the crash left cannot be opened: %v", err)
		return
	}
	r, err := db.Check(context.Background())
	if err = errors.Join(err, db.Close()); err != nil || !r.Sound() {
		t.Errorf("what the crash left is not sound: %+v %v", r.Findings, err)
	}
}

// nothingHalfMade looks for what only an interrupted command may leave.
func nothingHalfMade(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		for _, ext := range []string{".new", ".partial", ".archiving", ".compacting", ".restoring"} {
			if strings.HasSuffix(path, ext) {
				t.Errorf("%s is left", path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
