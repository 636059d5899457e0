//go:build unix

package terminal

import (
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// moreSignals are those that not every system has, or not this way.
var moreSignals = []os.Signal{syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGQUIT, syscall.SIGABRT}

// resizes are the signals of a terminal that has another size.
var resizes = []os.Signal{syscall.SIGWINCH}

// takeMore does what one of moreSignals asks for; false of another.
func (s *signals) takeMore(sig os.Signal, p *tea.Program) bool {
	switch sig {
	case syscall.SIGQUIT, syscall.SIGABRT:
		// Asked for where the program stands still: it is not waited for. The runtime then ends the process
		// with what each goroutine does, as without us.
		s.restore()
		signal.Reset(sig)
		_ = syscall.Kill(os.Getpid(), sig.(syscall.Signal))
	case syscall.SIGTSTP:
		if JobControl() { // else nobody would let it go on: a terminal's own stop does nothing then, either
			s.suspend(p)
		}
	case syscall.SIGCONT: // a SIGSTOP from outside is over
		if p.ReleaseTerminal() == nil {
			resume(p)
		}
	default:
		return false
	}
	return true
}

// JobControl reports whether a shell would take the terminal back and can let the
// program go on. A shell with job control gives each job a process group of its own;
// a program that shares the group of its session's leader was started by something
// else, such as a container, a multiplexer's window or `ssh host farsight`, and would
// stand still for good.
func JobControl() bool {
	session, err := unix.Getsid(0)
	return err == nil && unix.Getpgrp() != session
}

// suspend gives the terminal back and stops the process group, as ctrl+z does for
// a program that does not read it. The stop may come a moment after the call: the
// terminal is taken again only when the signal to go on has come.
func (s *signals) suspend(p *tea.Program) {
	if p.ReleaseTerminal() != nil {
		return
	}
	if syscall.Kill(0, syscall.SIGSTOP) != nil {
		resume(p)
		return
	}
	for sig := range s.got {
		if sig == syscall.SIGCONT {
			break
		}
		if sig != syscall.SIGTSTP {
			defer s.handle(sig, p) // an end that was asked for meanwhile
		}
	}
	resume(p)
}
