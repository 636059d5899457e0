package ui

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/ui/terminal"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestP34_AStalledNetworkTerminalIsClosed: nobody reads what a console over SSH
// writes. It is closed, not left hanging; whoever reads again finds the terminal
// whole, and why.
func TestP34_AStalledNetworkTerminalIsClosed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("a terminal is opened once more on Linux only")
	}
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	defer master.Close()
	defer tty.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 60, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	fill(t, tty.Name())
	opt := testOptions()
	opt.Getenv, opt.Embedded, opt.CanDetach = trueColor, true, true
	opt.Input, opt.Output, opt.SSH, opt.StallAfter, opt.Stalled = tty, tty, true, 200*time.Millisecond, "the engine goes on"
	if err := Run(context.Background(), newAtWork(100*time.Millisecond, true), opt); !errors.Is(err, terminal.ErrHungUp) || !strings.Contains(err.Error(), "took nothing") {
		t.Fatalf("Run gave %v", err)
	}
	after, err := term.GetState(int(tty.Fd()))
	if err != nil || *after != *before {
		t.Errorf("the terminal's modes are not as they were: %v", err)
	}
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	raw, _ := io.ReadAll(master) // ends with EIO: the other end is closed
	text := string(raw)
	for _, want := range []string{"\x18\x1b[?2026l\x1b[0m", "\x1b[?1049l", "\x1b[?25h", "the engine goes on\r\n"} {
		if strings.Index(text, want) < strings.LastIndex(text, "\x1b[?1049h") {
			t.Errorf("the terminal is left without %q: it ends with %q", want, text[max(0, len(text)-300):])
		}
	}
	if !strings.HasSuffix(text, "the engine goes on\r\n") {
		t.Errorf("the last words are %q", text[max(0, len(text)-100):])
	}
}

// fill writes to a terminal as much as it takes while nobody reads.
func fill(t *testing.T, name string) {
	t.Helper()
	tty, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	for err == nil {
		if err := tty.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		_, err = tty.Write(make([]byte, 4096))
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
}

// TestANetworkTerminalThatReadsIsNotClosed, however slowly it does.
func TestANetworkTerminalThatReadsIsNotClosed(t *testing.T) {
	t.Parallel()
	x := newTerminal(t)
	opt := x.options()
	opt.SSH, opt.StallAfter = true, time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error, 1)
	go func() { end <- Run(ctx, uitest.New(uitest.Busy()), opt) }()
	x.await("Blue Heron#KR1")
	cancel()
	if err := <-end; err != nil {
		t.Errorf("Run gave %v", err)
	}
	x.whole()
}
