//go:build unix

// Package scratch gives a package's tests a place for their files, with a ceiling, and ends
// with them whatever they started: programs, the servers that these leave behind, the files.
// It is for tests.
package scratch

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/internal/tempdir"
)

// memory is the file system in memory. All tests of a machine together take slots
// directories in it, each up to memoryCeiling: 2 GB. The others go to disk.
const (
	memory = "/dev/shm"
	slots  = 4
)

// Bytes that the files of one package's tests may take. One that takes more is ended, for
// something in it writes without end.
var (
	memoryCeiling int64 = 512 << 20
	diskCeiling   int64 = 4 << 30
)

// markName is the variable by which whatever the tests start is known.
const markName = "SCRATCH_RUN"

// keeperEnv makes the test binary the keeper of other tests. Its value is their grace.
const keeperEnv = "SCRATCH_KEEPER"

// grace is how long programs may take to end after the tests that started them. It is no
// measurement: on a busy machine, too, only one that hangs takes that long.
var grace = time.Minute

// lookEvery is how often the keeper looks at the files; lookAtLatest is after how long it looks again whatever that costs.
const (
	lookEvery    = 250 * time.Millisecond
	lookAtLatest = 5 * time.Second
)

// tests are a package's; *testing.M is some.
type tests interface{ Run() int }

// OnDisk are the same tests with their temporary files in a directory of their own.
func OnDisk(m tests) tests { return &run{tests: m} }

// InMemory are the same tests with their temporary files in memory where there is room:
// hundreds of stores commit thousands of times, and how long a disk takes to sync that is
// not what they prove.
func InMemory(m tests) tests { return &run{tests: m, inMemory: true} }

// run is one run of tests.
type run struct {
	tests
	inMemory bool
	keeper   *exec.Cmd
	tell     io.WriteCloser // to the keeper
	dirs     []*tempdir.Dir

	once sync.Once
	slot string // in memory; "" = there is no room
}

// Lavish lets garbage lie until the heap is five times what is in use: tests are short, and
// a quarter of what a drawn screen costs is its collection.
func Lavish() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// AtOnce lets n tests run at once that may run beside others, unless -parallel says how many: of
// those that wait for limits, servers and other processes more than they compute, more may than
// there are cores.
func AtOnce(n int) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", strconv.Itoa(n))
	}
}

// current is the run of this process.
var current *run

// Run implements tests.
func (r *run) Run() int {
	if d, err := time.ParseDuration(os.Getenv(keeperEnv)); err == nil {
		grace = d
		os.Exit(keep(os.Stdin, os.Stderr, os.Getppid()))
	}
	Lavish()
	if err := r.begin(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "no place for the tests' files:", err)
		return 1
	}
	current = r
	code := r.tests.Run()
	current = nil
	if err := r.end(); err != nil && code == 0 {
		_, _ = fmt.Fprintln(os.Stderr, "after the tests:", err)
		code = 1
	}
	return code
}

// begin makes the place and starts who looks after it. In memory there may be no room; then it is on
// disk.
func (r *run) begin() error {
	d, err := tempdir.New("", "ft-")
	if err != nil {
		return err
	}
	if err := r.keep(d); err != nil {
		return err
	}
	dir := d.Path
	if r.inMemory {
		if slot := r.claim(); slot != "" {
			dir = slot
		}
	}
	if err := os.Chmod(dir, 0o711); err != nil { // some tests are of two users
		return err
	}
	return os.Setenv("TMPDIR", dir)
}

// keep starts the keeper, and marks what will be started from now on.
func (r *run) keep(d *tempdir.Dir) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r.keeper = exec.Command(self)
	r.keeper.Env = append(os.Environ(), keeperEnv+"="+grace.String())
	r.keeper.Stderr = os.Stderr
	r.keeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what ends the tests leaves it
	if r.tell, err = r.keeper.StdinPipe(); err != nil {
		return err
	}
	if err := r.keeper.Start(); err != nil {
		return err
	}
	if err := os.Setenv(markName, d.Path); err != nil {
		return err
	}
	return r.own(d, diskCeiling)
}

// own puts a directory under the keeper's eyes.
func (r *run) own(d *tempdir.Dir, ceiling int64) error {
	r.dirs = append(r.dirs, d)
	_, err := fmt.Fprintf(r.tell, "%d %s\n", ceiling, d.Path)
	return err
}

// Place is the file system in memory where so many bytes of it are free, and /tmp where it is
// too small: a container may have as good as none.
func Place(bytes int64) string {
	var fs syscall.Statfs_t
	if syscall.Statfs(memory, &fs) != nil || int64(fs.Bavail)*int64(fs.Bsize) < bytes {
		return "/tmp"
	}
	return memory
}

// claim is a directory in memory, if one is free and there is room.
func (r *run) claim() string {
	r.once.Do(func() {
		if Place(slots*memoryCeiling) != memory {
			return
		}
		// The first that nobody has: each is locked by the tests that use it.
		for i := range slots {
			d, err := tempdir.Claim(filepath.Join(memory, fmt.Sprintf("ft-%d-%d", os.Getuid(), i)))
			if err == nil && r.own(d, memoryCeiling) == nil {
				r.slot = d.Path
				return
			}
		}
	})
	return r.slot
}

// end waits until all that the tests started has ended, and removes their files.
func (r *run) end() error {
	_, err := fmt.Fprintln(r.tell, over)
	if err == nil {
		err = r.tell.Close()
	}
	// Its exit code says whether something has outlived the tests.
	if waited := r.keeper.Wait(); err == nil {
		err = waited
	}
	for _, d := range r.dirs {
		if removed := d.Remove(); err == nil {
			err = removed
		}
	}
	return err
}

// Mark is what the environment of a program must hold that a test starts with a clean one:
// without it the program outlives tests that are killed.
func Mark() string { return markName + "=" + os.Getenv(markName) }

// test is what Memory needs of a *testing.T.
type test interface {
	TempDir() string
	Cleanup(func())
	Fatal(args ...any)
}

// Memory is a directory for one test, in memory where there is room.
func Memory(t test) string {
	if current == nil {
		return t.TempDir()
	}
	slot := current.claim()
	if slot == "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(slot, "t-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
