package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
)

// frames is how often a second the screen may be painted; see beat.
const frames = 30

// stuckAfter is how long the program may take to end once it was told to. A
// terminal that takes no bytes must not keep the engine from its drain.
const stuckAfter = 2 * time.Second

// Run shows the console until the operator quits, ctx ends or a signal asks for
// the end; these give nil. A panic in the console gives a *Panic: the terminal is
// restored, and the engine is the caller's to drain.
func Run(ctx context.Context, console engine.Console, opt Options) error {
	if err := opt.Validate(); err != nil {
		return err
	}
	m := New(console, opt)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m.ctx = ctx
	if opt.mend() {
		m.toasts.add(engine.Note{Level: engine.LevelInfo, Text: mendedText}, m.now())
	}
	err := runProgram(ctx, m, opt, func(ctx context.Context, p *tea.Program) { m.feed.Run(ctx, func(msg any) { p.Send(msg) }) })
	if opt.Mine.file != nil {
		_ = opt.Mine.file.Flush() // it was told when it first failed
	}
	return m.leaving(err)
}

// What Run returns when the engine may outlive its console (Options.CanDetach).
var (
	ErrDetached = errors.New("the console was left, the engine shall go on")
	ErrHungUp   = errors.New("the terminal has gone")
)

// leaving is how Run ends: whoever cannot detach need not know why the console did.
func (m *Model) leaving(err error) error {
	switch {
	case err == nil && m.detached:
		return ErrDetached
	case errors.Is(err, ErrHungUp) && !m.opt.CanDetach:
		return nil
	}
	return err
}

// errNoTerminal says that there is nothing to draw on.
var errNoTerminal = errors.New("the console needs a terminal: use farsight status, jobs, accounts or limits for plain output")

// runProgram runs a model on the terminal; feed sends it messages of its own
// until its context ends, and may be nil. ErrHungUp when the terminal has gone.
func runProgram(ctx context.Context, m tea.Model, opt Options, feed func(context.Context, *tea.Program)) error {
	if opt.Output == nil && !term.IsTerminal(int(os.Stdout.Fd())) {
		return errNoTerminal
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b := &beat{}
	defer b.stop()
	g := guard{inner: beaten{halver{m}, b}, crash: func(p *Panic) {
		if opt.Stack != nil {
			opt.Stack(p.Error(), string(p.Stack))
		}
		cancel(p)
	}}
	sig := newSignals()
	if opt.SSH {
		if o := newOutlet(opt.Output, opt.StallAfter, sig.stall); o != nil {
			defer o.Close()
			defer func() { o.tell(opt.Stalled) }()
			opt.Output = o
		}
	}
	p := tea.NewProgram(g, programOptions(opt, sig)...)
	b.program = p
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	wg.Go(func() { sig.run(ctx, p) })
	if feed != nil {
		wg.Go(func() {
			defer g.catch()
			feed(ctx, p)
		})
	}
	err := runToEnd(ctx, p)
	if crash, ok := errors.AsType[*Panic](context.Cause(ctx)); ok {
		return crash
	}
	if sig.stalled.Load() {
		return errStalled
	}
	hungUp := errors.Is(err, syscall.EIO) // a closed terminal is read before its signal comes
	if err != nil && ctx.Err() == nil && !sig.ended.Load() && !hungUp {
		return fmt.Errorf("run the console: %w", err)
	}
	if hungUp || sig.hungUp.Load() {
		return ErrHungUp
	}
	return nil
}

// runToEnd runs the program, tells it to end when ctx does, and gives up on it
// when it does not.
func runToEnd(ctx context.Context, p *tea.Program) error {
	done := make(chan error, 1)
	go func() {
		_, err := p.Run()
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	go p.Quit()
	select {
	case err := <-done:
		return err
	case <-time.After(stuckAfter):
		return errors.New("the terminal takes no output")
	}
}

func programOptions(opt Options, sig *signals) []tea.ProgramOption {
	out := []tea.ProgramOption{
		tea.WithFPS(frames), tea.WithoutSignalHandler(), tea.WithFilter(sig.filter),
		tea.WithColorProfile(themes.DetectProfile(opt.Env, true)), // as the theme: nothing is converted twice
	}
	if opt.Input != nil {
		out = append(out, tea.WithInput(opt.Input))
	}
	return append(out, tea.WithOutput(joined(opt.Output)))
}
