package ui

import (
	"context"
	"errors"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/terminal"
)

// Run shows the console until the operator quits, ctx ends, or a signal asks for the end; all these
// give nil. A panic in the console gives a *terminal.Panic: the terminal is restored by then, and
// the engine is the caller's to drain.
func Run(ctx context.Context, console engine.Console, opt Options) error {
	if err := opt.Validate(); err != nil {
		return err
	}
	m := newModel(console, opt)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m.ctx = ctx
	// Before the terminal is touched: later nobody could tell whose fault its state was.
	if terminal.Mend(opt.Input) {
		m.showMessage(mendedText)
	}
	err := terminal.Run(ctx, m, opt.terminal(), m.feed.Run)
	if opt.Mine.file != nil {
		_ = opt.Mine.file.Flush() // it was told when it first failed
	}
	return m.leaving(err)
}

// mendedText is told to an operator whose terminal was found without echo, as a program leaves it
// that was killed.
const mendedText = "a program that was killed had left this terminal without echo: it is set right when you leave"

// ErrDetached is what Run returns when the engine shall outlive its console, and
// terminal.ErrHungUp when it may (Options.CanDetach).
var ErrDetached = errors.New("the console was left, the engine shall go on")

// leaving is how Run ends. A caller that cannot go on without the console need not know why it was
// left: it ends either way.
func (m *model) leaving(err error) error {
	switch {
	case err == nil && m.detached:
		return ErrDetached
	case errors.Is(err, terminal.ErrHungUp) && !m.opt.CanDetach:
		return nil
	}
	return err
}
