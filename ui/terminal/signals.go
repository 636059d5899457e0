package terminal

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

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

	resized chan os.Signal               // the terminal may have another size
	told    atomic.Int64                 // the size that the program knows, see packed
	size    func() (w, h int, err error) // nil = there is no terminal
}

// newSignals catches signals from now on, before there is a screen that must be given
// back. run lets them go.
func newSignals() *signals {
	s := &signals{got: make(chan os.Signal, 4), asked: await.NewBell(), full: make(chan struct{}, 1), resized: make(chan os.Signal, 1)}
	if len(resizes) > 0 { // none would be all
		signal.Notify(s.resized, resizes...)
	}
	signal.Notify(s.got, append(moreSignals, syscall.SIGHUP, syscall.SIGTERM, os.Interrupt)...)
	return s
}

// run turns signals into messages until ctx ends.
func (s *signals) run(ctx context.Context, p *tea.Program) {
	defer signal.Stop(s.got)
	defer signal.Stop(s.resized)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.asked:
			s.suspend(p)
		case <-s.resized:
			s.measure(p)
		case <-s.full:
			s.ended.Store(true)
			p.Send(tea.QuitMsg{})
		case sig := <-s.got:
			s.handle(sig, p)
		}
	}
}

// handle does what a signal asks for. The end is asked of the program, which leaves the screen as it was.
func (s *signals) handle(sig os.Signal, p *tea.Program) {
	if !s.takeMore(sig, p) {
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

// resume takes the terminal again and has the screen painted anew. Bubble Tea's clock stops a moment after the terminal
// was released: were it started before, it would stand still for good.
func resume(p *tea.Program) {
	time.Sleep(frame)
	if p.RestoreTerminal() == nil {
		p.Send(tea.ResumeMsg{})
	}
}

// suspendAsked is ctrl+z.
type suspendAsked struct{}

// Suspend is the command that gives the terminal back and stops the program.
func Suspend() tea.Msg { return suspendAsked{} }

// measure tells the program the terminal's size if it knows another. It does so once, after the first: from then on
// Bubble Tea listens.
func (s *signals) measure(p *tea.Program) {
	told := s.told.Load()
	if s.size == nil || told == 0 {
		return
	}
	signal.Stop(s.resized)
	if w, h, err := s.size(); err == nil && w > 0 && h > 0 && packed(w, h) != told {
		p.Send(tea.WindowSizeMsg{Width: w, Height: h})
	}
}

// packed is a size as one number.
func packed(w, h int) int64 { return int64(w)<<32 | int64(h) }

// filter sees each message before Bubble Tea does.
//
// Bubble Tea listens for other sizes only after it has read the first: one that came between, as where a window is
// given its place while the program starts, is looked for once the first is known.
func (s *signals) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if s.told.Swap(packed(msg.Width, msg.Height)) == 0 {
			select {
			case s.resized <- nil:
			default:
			}
		}
	case suspendAsked:
		s.asked.Ring()
		return nil
	case tea.CapabilityMsg:
		return nil // colour is settled: an answer nobody asked for must not change it
	}
	return msg
}
