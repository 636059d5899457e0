package terminal

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"github.com/farsight-console/farsight/engine/await"
)

// signals does what Bubble Tea leaves out: SIGHUP ends the program in order, a
// stop from outside gives the terminal back first, and a program that was
// continued paints itself anew.
//
// Bubble Tea's own suspend sends SIGTSTP to itself. That cannot work here: once
// a Go program has been notified of SIGTSTP, the signal stops it no more, even
// after signal.Stop. The stop is therefore a SIGSTOP, which nothing can catch.
type signals struct {
	got   chan os.Signal
	asked await.Bell  // ctrl+z
	ended atomic.Bool // a signal asked for the end

	hungUp atomic.Bool // it was that of a terminal which has gone

	restore func() // leaves the screen without the program, which may stand still

	full    chan struct{} // the terminal takes nothing any more
	stalled atomic.Bool
}

// newSignals catches signals from now on, before there is a screen that must be given
// back. run lets them go.
func newSignals() *signals {
	s := &signals{got: make(chan os.Signal, 4), asked: await.NewBell(), full: make(chan struct{}, 1)}
	signal.Notify(s.got, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGTSTP, syscall.SIGCONT,
		syscall.SIGQUIT, syscall.SIGABRT)
	return s
}

// run turns signals into messages until ctx ends.
func (s *signals) run(ctx context.Context, p *tea.Program) {
	defer signal.Stop(s.got)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.asked:
			s.suspend(p)
		case <-s.full:
			s.ended.Store(true)
			p.Send(tea.QuitMsg{})
		case sig := <-s.got:
			s.take(sig, p)
		}
	}
}

// take does what a signal asks for. The end is asked of the program, which leaves the screen as it was.
func (s *signals) take(sig os.Signal, p *tea.Program) {
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
		s.hungUp.Store(s.hungUp.Load() || sig == syscall.SIGHUP)
		s.ended.Store(true)
		p.Send(tea.QuitMsg{})
	}
}

// stall ends the program because its terminal takes nothing. It is called once.
func (s *signals) stall() {
	s.stalled.Store(true)
	s.full <- struct{}{}
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
			defer s.take(sig, p) // an end that was asked for meanwhile
		}
	}
	resume(p)
}

// resume takes the terminal again and has the screen painted anew.
func resume(p *tea.Program) {
	if p.RestoreTerminal() == nil {
		p.Send(tea.ResumeMsg{})
	}
}

// suspendAsked is ctrl+z.
type suspendAsked struct{}

// Suspend is the command that gives the terminal back and stops the program.
func Suspend() tea.Msg { return suspendAsked{} }

// filter sees each message before Bubble Tea does.
func (s *signals) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg.(type) {
	case suspendAsked:
		s.asked.Ring()
		return nil
	case tea.CapabilityMsg:
		return nil // colour is settled: an answer nobody asked for must not change it
	}
	return msg
}
