package app

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
)

// canary is the API key of every process test. It may reach the simulator and
// nothing else: each test ends by looking for it (P-40).
const canary = "RGAPI-c0ffee00-dead-4bad-8bad-00ca9a51b12d"

// canaryTail is the secret part of it: all but what is shown on purpose.
const canaryTail = "c0ffee00-dead-4bad"

// top is the folder of go.mod, from that of a test.
var top = filepath.Join("..", "..")

// patience is the ceiling for whatever a process is waited for. It is no
// measurement: only a hang is that slow.
const patience = 5 * time.Minute

func TestMain(whole *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(roles[role]())
	}
	// What is carried out within this process has copies and pages checked by a child, which is this binary.
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(Main("test", os.Args[1:]))
	}
	scratch.AtOnce(12)
	m := all{whole}
	if scratch.Whole { // hundreds of copies of stores at once
		leak.Main(scratch.OnDisk(m))
	}
	leak.Main(scratch.InMemory(m))
}

// all are the tests of this package. Where none is chosen, the binary is built beside the first
// of them, which do without it.
type all struct{ *testing.M }

func (a all) Run() int {
	if unseen == "" && flag.Lookup("test.run").Value.String()+flag.Lookup("test.list").Value.String() == "" {
		go built.once.Do(makeBinary)
	}
	defer idle.end()
	return a.M.Run()
}

// roleEnv makes the test binary another program: what it does then is one of the
// roles, with the arguments of the process.
const roleEnv = "FARSIGHT_TEST_ROLE"

var roles = map[string]func() int{}

// built is the real binary, made once for all tests.
var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// unseen says why tests that start programs are left out; empty = they are not.
// See race_test.go.
var unseen string

// farsight is the path of the real binary.
func farsight(t testing.TB) string {
	t.Helper()
	if unseen != "" {
		t.Skip(unseen)
	}
	if built.once.Do(makeBinary); built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// here is the folder of these tests: the process may stand elsewhere when the binary is built beside them.
var here, _ = os.Getwd()

// makeBinary links as a release does, which takes two thirds of the time. go run keeps what it has linked; where
// nothing has changed it only copies that.
func makeBinary() {
	if built.dir, built.err = os.MkdirTemp("", "farsight-test-"); built.err != nil {
		return
	}
	built.path = filepath.Join(built.dir, "farsight")
	build := exec.Command("go", "run", "-buildvcs=false", "-ldflags=-s -w", "-exec=cp", top, built.path)
	build.Dir = here
	out, err := build.CombinedOutput()
	if err != nil {
		built.err = fmt.Errorf("go run: %w\n%s", err, out)
	}
}

// command is one run of the binary, before it is started.
type command struct {
	args []string
	env  map[string]string
	dir  string // working directory; "" = the test's own
	as   func(*exec.Cmd)
}

// result is how a run ended.
type result struct {
	code           int // -1 = by a signal
	stdout, stderr string
}

// process is a run under way.
type child struct {
	t      testing.TB
	cmd    *exec.Cmd
	out    lockedBuffer
	err    lockedBuffer
	exited chan struct{}
	code   int
}

// lockedBuffer takes what a process writes and lets a test read it meanwhile.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs the binary with a clean environment, so that nothing of whoever
// runs the tests gets in.
func (c command) start(t testing.TB) *child {
	t.Helper()
	p := &child{t: t, cmd: exec.Command(farsight(t), c.args...), exited: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = c.environ(t), c.dir
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	if c.as != nil {
		c.as(p.cmd)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.exited)
		err := p.cmd.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			p.code = exit.ExitCode()
		} else if err != nil {
			p.code = -2
		}
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
	})
	return p
}

// environ is the whole environment of the process.
func (c command) environ(t testing.TB) []string {
	t.Helper()
	env := []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "USER=tester", "HOME=" + home(t), "TZ=UTC", scratch.Mark()}
	for name, value := range c.env {
		env = append(env, name+"="+value)
	}
	return env
}

// home is a home directory in which nothing of the developer's can be touched.
func home(t testing.TB) string {
	t.Helper()
	farsight(t)
	dir := filepath.Join(built.dir, "home")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs the binary to its end.
func (c command) run(t testing.TB) result {
	t.Helper()
	return c.start(t).wait()
}

// wait waits for the end and looks at what was said.
func (p *child) wait() result {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.hangs("has not ended")
	}
	return result{p.code, p.out.String(), p.err.String()}.withoutKey(p.t, p.cmd.Args[1:])
}

// withoutKey checks that the key was not printed.
func (r result) withoutKey(t testing.TB, args []string) result {
	t.Helper()
	if strings.Contains(r.stdout+r.stderr, canaryTail) {
		t.Errorf("farsight %s printed the API key", strings.Join(args, " "))
	}
	return r
}

// hangs ends the test with what every goroutine of the process waits for.
func (p *child) hangs(what string) {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.exited:
	case <-time.After(5 * time.Second):
	}
	p.t.Fatalf("%s: %s after %v\nstdout ends: %s\nstderr: %s", p.name(), what, patience, tail(p.out.String(), 600), tail(p.err.String(), 60_000))
}

func (p *child) name() string { return "farsight " + strings.Join(p.cmd.Args[1:], " ") }

// kill ends the process as kill -9 and the kernel's memory killer do.
func (p *child) kill() result {
	p.t.Helper()
	_ = p.cmd.Process.Kill()
	return p.wait()
}

// until waits for something to become true while the process runs; it reports
// false when the process ended first.
func (p *child) until(what string, ok func() bool) bool {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for looked := time.Now(); !ok(); looked = time.Now() {
		// A look that starts programs takes no more than a tenth of a core.
		select {
		case <-p.exited:
			return ok()
		case <-time.After(max(time.Millisecond, 9*time.Since(looked))):
		}
		if time.Now().After(deadline) {
			p.hangs(what + " has not happened")
		}
	}
	return true
}

// says waits until standard output holds text.
func (p *child) says(text string) bool {
	p.t.Helper()
	return p.until("saying "+text, func() bool { return strings.Contains(p.out.String(), text) })
}

// running reports whether there is still a process of this id. One that has ended and that
// nobody has asked about, as happens to orphans in a container, is none.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, ok := strings.Cut(string(stat), ") ")
	return err != nil || !ok || !strings.HasPrefix(state, "Z")
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// wants checks how a run ended.
func (r result) wants(t testing.TB, code int) result {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit %d, want %d\nstderr: %s\nstdout ends: %s", r.code, code, r.stderr, tail(r.stdout, 1500))
	}
	return r
}

// freshDir is a new data directory. When the test ends, every file in it is
// searched for the API key.
func freshDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	t.Cleanup(func() { noKeyIn(t, dir) })
	return dir
}

// cleared removes directories of a test that has many, once they were searched for the key.
func cleared(t testing.TB, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		noKeyIn(t, dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
}

// noKeyIn searches every file below dir for the canary.
func noKeyIn(t testing.TB, dir string) {
	t.Helper()
	paths, err := scratch.Holding(dir, canaryTail)
	for _, path := range paths {
		if filepath.Base(path) != "riot.key" {
			t.Errorf("%s holds the API key", path)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("search for the key: %v", err)
	}
}

// long leaves a test out of the run under the race detector, which is many times
// slower: the shorter tests go the same ways. The usual run has all of them.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: left out by -short")
	}
}
