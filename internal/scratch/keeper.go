//go:build unix

package scratch

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/internal/tempdir"
)

// over is the line that says that the tests have ended by themselves.
const over = "over"

// keeper is the process that stays when the tests are killed. It looks at the files that
// they write, and at the end clears away what is left of them.
//
// The tests cannot do this themselves: the go command ends them with SIGKILL when they take too long,
// and somebody's kill -9 does the same. The keeper is told of each directory by a pipe, and the end
// of the pipe is the end of the tests, however they ended.
type keeper struct {
	said   io.Writer
	tests  int // process id
	parent int // of the tests, where that is the go command; 0 = somebody else
	lines  chan string
	dirs   []kept
	over   bool
}

// kept is a directory with a ceiling.
type kept struct {
	path    string
	ceiling int64 // bytes
}

// keep is what the keeper does; it gives its exit code.
func keep(told io.Reader, said io.Writer, tests int) int {
	// ctrl+c in a terminal goes to the whole group: the keeper is needed after it.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	k := &keeper{said: said, tests: tests, lines: make(chan string)}
	// Somebody who runs the test binary by hand may well leave before it ends.
	if pid := parentOf(tests); commandOf(pid) == "go" {
		k.parent = pid
	}
	go func() {
		defer close(k.lines)
		for s := bufio.NewScanner(told); s.Scan(); {
			k.lines <- s.Text()
		}
	}()
	look := time.NewTimer(lookEvery)
	defer look.Stop()
	for {
		select {
		case line, open := <-k.lines:
			if !open {
				return k.clear()
			}
			k.read(line)
		case began := <-look.C:
			k.check()
			// Thousands of files cost no more than a fiftieth of a core, until lookAtLatest: on a busy machine a look takes
			// long by itself.
			look.Reset(min(max(lookEvery, 50*time.Since(began)), lookAtLatest))
		}
	}
}

// read takes a line: a directory with its ceiling in bytes before it, or that the tests are over.
func (k *keeper) read(line string) {
	if line == over {
		k.over = true
		return
	}
	ceiling, path, _ := strings.Cut(line, " ")
	n, _ := strconv.ParseInt(ceiling, 10, 64)
	k.dirs = append(k.dirs, kept{path, n})
}

// check ends tests that write without end, or that nobody waits for any more.
func (k *keeper) check() {
	if k.parent != 0 && parentOf(k.tests) != k.parent {
		_, _ = fmt.Fprintln(k.said, "the go command has gone: the tests end, too")
		_ = syscall.Kill(k.tests, syscall.SIGKILL)
		k.parent = 0
	}
	for i, d := range k.dirs {
		if n := size(d.path); n > d.ceiling {
			_, _ = fmt.Fprintf(k.said, "the tests' files in %s take %d MB, and may take %d: something writes without end; what each goroutine does follows\n", d.path, n>>20, d.ceiling>>20)
			k.dirs[i].ceiling = 1 << 62 // said once
			k.endTests()
			return
		}
	}
}

// endTests has the tests say what they do, and ends them.
func (k *keeper) endTests() {
	k.kill(k.left())
	// Go prints what each goroutine does, and ends.
	_ = syscall.Kill(k.tests, syscall.SIGQUIT)
	dead := time.After(grace)
	for {
		select {
		case line, open := <-k.lines:
			if !open {
				k.lines = closed
				return
			}
			k.read(line)
		case <-dead:
			_ = syscall.Kill(k.tests, syscall.SIGKILL)
		}
	}
}

// closed is the end of what the tests told.
var closed = func() chan string { c := make(chan string); close(c); return c }()

// clear ends the programs that are left, and removes the files of tests that cannot.
func (k *keeper) clear() (code int) {
	if k.over {
		code = k.wait()
	}
	for left := k.left(); len(left) > 0; left = k.left() { // what one has started while it was looked at
		k.kill(left)
		time.Sleep(10 * time.Millisecond)
	}
	for _, d := range k.dirs {
		tempdir.Sweep(filepath.Split(d.path))
	}
	return code
}

// wait gives what is left time to end by itself. What does not is a fault of the tests.
func (k *keeper) wait() (code int) {
	left := k.left()
	for end := time.Now().Add(grace); len(left) > 0 && time.Now().Before(end); left = k.left() {
		time.Sleep(10 * time.Millisecond)
	}
	for _, pid := range left {
		line, _ := os.ReadFile(proc(pid, "cmdline"))
		_, _ = fmt.Fprintf(k.said, "a program outlives the tests that started it: %s\n", bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
		code = 1
	}
	return code
}

// kill ends processes; one that has just ended is no fault.
func (k *keeper) kill(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// left are the processes that carry the tests' mark. Where there is no /proc there are none.
func (k *keeper) left() (pids []int) {
	if len(k.dirs) == 0 {
		return nil
	}
	mark := []byte("\x00" + markName + "=" + k.dirs[0].path + "\x00")
	// Those of other users cannot be read, and are none of ours.
	environs, _ := filepath.Glob(proc(-1, "environ"))
	for _, path := range environs {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		env, _ := os.ReadFile(path)
		if err == nil && pid != os.Getpid() && bytes.Contains(slices.Concat([]byte{0}, env, []byte{0}), mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// proc is a file about a process; -1 = all of them.
func proc(pid int, file string) string {
	name := "*"
	if pid >= 0 {
		name = strconv.Itoa(pid)
	}
	return filepath.Join("/proc", name, file)
}

// parentOf is the parent of a process; 0 = it is not known.
func parentOf(pid int) int {
	stat, _ := os.ReadFile(proc(pid, "stat"))
	_, rest, _ := bytes.Cut(stat, []byte(") ")) // the name before it may hold anything
	if f := bytes.Fields(rest); len(f) > 1 {
		ppid, _ := strconv.Atoi(string(f[1]))
		return ppid
	}
	return 0
}

// commandOf is the name of a process's program; "" = it is not known.
func commandOf(pid int) string {
	name, _ := os.ReadFile(proc(pid, "comm"))
	return strings.TrimSpace(string(name))
}

// size is how many bytes the files below dir take where they are.
func size(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // it has just been removed
		}
		if info, err := e.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				n += st.Blocks * 512
			}
		}
		return nil
	})
	return n
}
