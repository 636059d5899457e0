package ui

import (
	"context"
	"testing"

	"golang.org/x/term"

	"github.com/farsight-console/farsight/ui/uitest"
)

// TestTerminalOfAKilledProgramIsMended: what ended by kill -9 leaves a terminal
// without echo; the next console says so.
func TestTerminalOfAKilledProgramIsMended(t *testing.T) {
	t.Parallel()
	x := newTerminal(t)
	if _, err := term.MakeRaw(int(x.tty.Fd())); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error, 1)
	go func() { end <- Run(ctx, uitest.New(uitest.Browse()), x.options()) }()
	x.await("had left this terminal without echo")
	cancel()
	if err := <-end; err != nil {
		t.Errorf("Run gave %v", err)
	}
}
