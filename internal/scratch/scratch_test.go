//go:build unix

package scratch

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/internal/tempdir"
)

// roleEnv makes the test binary tests of another kind, which a test here looks at.
const roleEnv = "SCRATCH_TEST_ROLE"

var roles = map[string]scripted{
	"well": func() int { say(); return 0 },
	"leaves": func() int {
		start()
		return 0
	},
	"hangs": func() int { start(); say(); time.Sleep(time.Hour); return 1 },
	"grows": func() int {
		start()
		f, err := os.CreateTemp("", "grows-")
		if err != nil {
			return 1
		}
		go func() {
			for page := make([]byte, 1<<16); ; time.Sleep(100 * time.Microsecond) {
				_, _ = f.Write(page)
			}
		}()
		<-make(chan int) // what this one does can be told: of one that runs there is no stack
		return 1
	},
}

// scripted are tests that do as told.
type scripted func() int

func (s scripted) Run() int { return s() }

// start runs a program that frees itself of whoever started it, as servers do.
func start() {
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("started", cmd.Process.Pid)
}

func say() {
	fmt.Println("files in", os.Getenv("TMPDIR"), "and in", current.claim())
	fmt.Println("slot is", inode(current.claim()))
}

// inode tells a directory from another of its name: who waits for a slot makes one as soon
// as it is free. 0 = there is none.
func inode(dir string) uint64 {
	var s syscall.Stat_t
	if syscall.Stat(dir, &s) != nil {
		return 0
	}
	return s.Ino
}

func TestMain(m *testing.M) {
	if script, ok := roles[os.Getenv(roleEnv)]; ok {
		memoryCeiling, diskCeiling, grace = 8<<20, 8<<20, time.Second
		os.Exit(InMemory(script).Run())
	}
	AtOnce(4)
	os.Exit(OnDisk(m).Run())
}

// others are tests in another process.
type others struct {
	cmd *exec.Cmd
	out *bufio.Reader
	err bytes.Buffer
}

func begin(t *testing.T, role string) *others {
	t.Helper()
	x := &others{cmd: exec.Command(os.Args[0])}
	x.cmd.Env = append(os.Environ(), roleEnv+"="+role)
	x.cmd.Stderr = &x.err
	out, err := x.cmd.StdoutPipe()
	if err == nil {
		err = x.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	x.out = bufio.NewReader(out)
	return x
}

// line is what they say next.
func (x *others) line(t *testing.T, before string) string {
	t.Helper()
	line, err := x.out.ReadString('\n')
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), before+" ")
	if !ok {
		t.Fatalf("they say %q, %v\n%s", line, err, x.err.String())
	}
	return rest
}

// end waits for them, and for their keeper, which shares their standard error.
func (x *others) end(t *testing.T) int {
	t.Helper()
	_, _ = io.Copy(io.Discard, x.out)
	_ = x.cmd.Wait()
	return x.cmd.ProcessState.ExitCode()
}

func goneFiles(t *testing.T, said, slotIs string) {
	t.Helper()
	disk, slot, _ := strings.Cut(said, " and in") // nothing follows where there is no slot
	slot = strings.TrimSpace(slot)
	if _, err := os.Stat(disk); disk != slot && err == nil {
		t.Errorf("%s is left", disk)
	}
	if is := inode(slot); is == 0 || strconv.FormatUint(is, 10) != slotIs {
		return
	}
	if d, err := tempdir.Claim(slot); err == nil { // else others were quick to take it over
		t.Errorf("%s is left", slot)
		_ = d.Remove()
	}
}

func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	// A zombie that nobody has asked about carries no mark any more.
	if env, _ := os.ReadFile(proc(n, "environ")); len(env) > 0 {
		t.Errorf("process %d goes on", n)
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
}

func TestWellBehavedTestsLeaveNothing(t *testing.T) {
	t.Parallel()
	x := begin(t, "well")
	said, slot := x.line(t, "files in"), x.line(t, "slot is")
	if code := x.end(t); code != 0 {
		t.Errorf("exit %d: %s", code, x.err.String())
	}
	goneFiles(t, said, slot)
}

// A program that outlives its tests ends, and is their fault.
func TestWhatTestsStartEndsWithThem(t *testing.T) {
	t.Parallel()
	x := begin(t, "leaves")
	pid := x.line(t, "started")
	if code := x.end(t); code != 1 || !strings.Contains(x.err.String(), "a program outlives the tests that started it: sleep 600") {
		t.Errorf("exit %d: %s", code, x.err.String())
	}
	gone(t, pid)
}

// Tests that are killed take with them what they started, and their files.
func TestKilledTestsLeaveNothing(t *testing.T) {
	t.Parallel()
	x := begin(t, "hangs")
	pid, said, slot := x.line(t, "started"), x.line(t, "files in"), x.line(t, "slot is")
	if err := x.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	x.end(t)
	gone(t, pid)
	goneFiles(t, said, slot)
}

// Tests that write without end are ended, and say what they did.
func TestTheCeilingEndsTestsThatGrow(t *testing.T) {
	t.Parallel()
	x := begin(t, "grows")
	pid := x.line(t, "started")
	if code := x.end(t); code != 2 {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{"something writes without end", "scratch_test.go"} {
		if !strings.Contains(x.err.String(), want) {
			t.Errorf("%q is not in\n%s", want, x.err.String())
		}
	}
	gone(t, pid)
}

// All that is in memory at once is 2 GB, whoever runs tests. This takes all of it: the others run later.
func TestMemoryHasACeiling(t *testing.T) {
	if total := slots * memoryCeiling; total > 2<<30 {
		t.Errorf("tests may take %d bytes of memory", total)
	}
	taken := map[string]bool{}
	var all []*others
	for range slots + 1 {
		x := begin(t, "hangs")
		all = append(all, x)
		x.line(t, "started")
		_, slot, _ := strings.Cut(x.line(t, "files in"), " and in ")
		if slot = strings.TrimSpace(slot); slot != "" && taken[slot] {
			t.Errorf("two have %s", slot)
		}
		taken[slot] = slot != ""
	}
	for _, x := range all {
		_ = x.cmd.Process.Kill()
		x.end(t)
	}
	delete(taken, "")
	if len(taken) > slots {
		t.Errorf("%d places in memory are taken", len(taken))
	}
}

// Every package whose tests start programs or open stores has them kept; nothing else
// chooses where in memory files go.
func TestEveryHarnessIsKept(t *testing.T) {
	top := filepath.Join("..", "..")
	type sources struct{ needs, kept bool }
	all := map[string]*sources{}
	err := filepath.WalkDir(top, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == ".git" || e.Name() == "pictures") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		dir, _ := filepath.Rel(top, filepath.Dir(path))
		if all[dir] == nil {
			all[dir] = &sources{}
		}
		s := all[dir]
		s.needs = s.needs || dir == "storage" || bytes.Contains(text, []byte(`"os/exec"`)) || bytes.Contains(text, []byte(`farsight/storage"`))
		s.kept = s.kept || bytes.Contains(text, []byte("scratch.OnDisk(m)")) || bytes.Contains(text, []byte("scratch.InMemory(m)")) || dir == filepath.Join("internal", "scratch")
		if dir != filepath.Join("internal", "scratch") && bytes.Contains(text, []byte(memory)) {
			t.Errorf("%s chooses a place in memory by itself", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Errorf("only %d packages were looked at", len(all))
	}
	for dir, s := range all {
		if s.needs && !s.kept {
			t.Errorf("%s: its tests start programs or open stores: its TestMain must run scratch.OnDisk(m)", dir)
		}
	}
}
