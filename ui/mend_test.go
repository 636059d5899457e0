package ui

import (
	"context"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/ui/uitest"
)

// TestTerminalOfAKilledProgramIsMended: what ended by kill -9 leaves a terminal
// without echo; the next console says so and leaves it sane.
func TestTerminalOfAKilledProgramIsMended(t *testing.T) {
	x := newTerminal(t)
	if mendTerminal(x.tty) {
		t.Error("a sane terminal was mended")
	}
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
	modes, err := unix.IoctlGetTermios(int(x.tty.Fd()), getModes)
	if err != nil {
		t.Fatal(err)
	}
	if want := uint32(mendLocal); uint32(modes.Lflag)&want != want || modes.Oflag&mendOutput == 0 || modes.Iflag&unix.ICRNL == 0 {
		t.Errorf("the modes are %+v", modes)
	}
}
