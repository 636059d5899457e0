//go:build unix

package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// leastFiles is how many files an engine may have open at once: a connection for each worker and console, a file for
// each month of matches, and what the program itself needs.
const leastFiles = 256

// enoughFiles refuses a process that would fail in the midst of its work. Go has raised the soft limit to the hard one.
func enoughFiles() error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil || l.Cur >= leastFiles {
		return nil
	}
	return fmt.Errorf("this process may have %d files open, and an engine needs %d: raise the limit with `ulimit -n %d`, or LimitNOFILE of its service",
		l.Cur, leastFiles, 4*leastFiles)
}

// readerGone reports whether the other end of a pipe was closed: without a line
// to write, nothing else would tell.
func readerGone(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	// No events are asked for: errors and hang-ups are told always.
	p := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0 && p[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
}

// isBrokenPipe reports whether who read the output has gone.
func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// detached makes a process the leader of a session of its own.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// killing is the command that ends an engine.
func killing(pid int) string { return fmt.Sprintf("kill %d", pid) }
