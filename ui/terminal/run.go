// Package terminal runs a program of screens on a terminal that may be slow, far away, left
// broken by another program, stopped, or gone, and gives it back whole, also after a panic.
package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/themes"
)

// frames is how often a second the screen may be painted.
const frames = 30

// beats is how often a second Bubble Tea looks whether it has modes of the terminal to write, on a console on which
// nothing happens, too; each look wakes several threads.
const beats = 5

// stuckAfter is how long the program may take to end once it was told to. A
// terminal that takes no bytes must not keep the engine from its drain.
const stuckAfter = 2 * time.Second

// How long a terminal is waited for that may answer nothing. Most answer within milliseconds.
const (
	drainNear = 300 * time.Millisecond
	drainFar  = 2 * time.Second // over a network
)

// Options of a terminal.
type Options struct {
	// Input and Output replace the process's own.
	Input   io.Reader
	Output  io.Writer
	Profile themes.Profile // of its colours, as the theme has them: nothing is converted twice

	// A network terminal that takes nothing for StallAfter (0 = 30 s) is closed, and Stalled
	// is the last thing written on it.
	SSH        bool
	StallAfter time.Duration
	Stalled    string
	// Stack takes the stack of a panic in the program, so that it reaches the log.
	Stack func(message, stack string)
}

// ErrHungUp says that the terminal has gone.
var ErrHungUp = errors.New("the terminal has gone")

// errNoTerminal says that there is nothing to draw on.
var errNoTerminal = errors.New("the console needs a terminal: " +
	"use farsight status, jobs, accounts or limits for plain output")

// Run runs a model until it quits, ctx ends or a signal asks for the end; these give nil.
// feed sends it messages of its own until its context ends, and may be nil. It is ErrHungUp
// when the terminal has gone, and a *Panic when the model fell: the terminal is whole again.
func Run(ctx context.Context, m tea.Model, opt Options, feed func(ctx context.Context, send func(msg any))) error {
	if opt.Output == nil && !term.IsTerminal(int(os.Stdout.Fd())) {
		return errNoTerminal
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sig := newSignals()
	if _, out := files(opt); opt.Output == nil || opt.Output == io.Writer(out) {
		sig.size = func() (w, h int, err error) { return term.GetSize(int(out.Fd())) }
	}
	dismiss, back := keep(opt), leaver(opt)
	defer dismiss()
	sig.restore = func() {
		dismiss()
		back()
	}
	if opt.SSH {
		if o := newOutlet(opt.Output, opt.StallAfter, sig.stall); o != nil {
			defer o.Close()
			defer func() { o.reportClosed(opt.Stalled) }()
			opt.Output = o
		}
	}
	paint := newPainter(opt.Output)
	g := guard{inner: painted{m, paint}, crash: func(p *Panic) {
		if opt.Stack != nil {
			opt.Stack(p.Error(), string(p.Stack))
		}
		cancel(p)
	}}
	p := tea.NewProgram(g, programOptions(opt, sig, paint)...)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	wg.Go(func() { sig.run(ctx, p) })
	if feed != nil {
		wg.Go(func() {
			defer g.catch()
			feed(ctx, func(msg any) { p.Send(msg) })
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
	if in, out := files(opt); err == nil {
		most := drainNear
		if opt.SSH {
			most = drainFar
		}
		drain(in, cmp.Or(opt.Output, io.Writer(out)), most)
	}
	return nil
}

// Mend gives a terminal back the modes that a program which was killed took away: without
// it the next program would restore the same broken state at its end. It reports whether
// there was something to mend; in is standard input if it is nil.
func Mend(in io.Reader) bool {
	if in == nil {
		in = os.Stdin
	}
	f, ok := in.(*os.File)
	return ok && mend(f)
}

// files are the terminal's two ends.
func files(opt Options) (in, out *os.File) {
	in, out = os.Stdin, os.Stdout
	if f, ok := opt.Input.(*os.File); ok {
		in = f
	}
	if f, ok := opt.Output.(*os.File); ok {
		out = f
	}
	return in, out
}

// leave is what a program has to send that ends without its renderer: out of what was cut in two, off with mouse,
// focus, paste and the keyboard's modes, back to the main screen with its cursor.
const leave = cutOff + "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[>4m\x1b[<u\x1b[?1049l\x1b[?25h\r\n"

// leaver gives the terminal back as it is now, whatever the program does.
func leaver(opt Options) func() {
	in, out := files(opt)
	before, err := term.GetState(int(in.Fd()))
	return func() {
		if err != nil {
			return
		}
		_, _ = out.WriteString(leave)
		_ = term.Restore(int(in.Fd()), before)
	}
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

func programOptions(opt Options, sig *signals, p *painter) []tea.ProgramOption {
	out := []tea.ProgramOption{
		tea.WithFPS(beats), tea.WithoutSignalHandler(), tea.WithFilter(sig.filter), tea.WithColorProfile(opt.Profile),
	}
	if opt.Input != nil {
		out = append(out, tea.WithInput(opt.Input))
	}
	return append(out, tea.WithOutput(p.output()))
}
