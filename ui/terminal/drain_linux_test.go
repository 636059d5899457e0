package terminal

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// answering is a terminal that says something when it is asked who it is.
func answering(t *testing.T, says string) *os.File {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	t.Cleanup(func() { _, _ = tty.Close(), master.Close() })
	go func() {
		var asked strings.Builder
		buf := make([]byte, 64)
		for !strings.Contains(asked.String(), "\x1b[c") {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			asked.Write(buf[:n])
		}
		_, _ = master.WriteString(says)
	}()
	return tty
}

// Answers that come after the console has quit do not reach the shell.
func TestB16b_LateAnswersAreTakenIn(t *testing.T) {
	for name, says := range map[string]string{
		"at once":     "\x1b[?62;22c",
		"late colour": "\x1b]11;rgb:0000/0000/0000\x07\x1b[?2026;2$y\x1b[?1u\x1b[?64;1;2c",
	} {
		tty := answering(t, says)
		drain(tty, tty, time.Minute)
		left, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCINQ)
		if err != nil || left != 0 {
			t.Errorf("%s: %d bytes are left to the shell (%v)", name, left, err)
		}
		modes, err := unix.IoctlGetTermios(int(tty.Fd()), getModes)
		if err != nil || modes.Lflag&unix.ECHO == 0 || modes.Lflag&unix.ICANON == 0 {
			t.Errorf("%s: its modes are %+v (%v)", name, modes, err)
		}
	}
}

// A terminal that answers nothing, and what is no terminal, keep nobody.
func TestB16b_ASilentTerminalKeepsNobody(t *testing.T) {
	drain(answering(t, ""), io.Discard, 50*time.Millisecond)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	drain(r, w, time.Hour)
}

func TestAnswered(t *testing.T) {
	for said, want := range map[string]bool{
		"\x1b[?62;22c": true, "\x1b[?c": true, "q\x1b[?1u\x1b[?6c": true, "": false, "\x1b[?62;2": false, "\x1b[?2026;2$y": false, "c": false,
	} {
		if got := answered([]byte(said)); got != want {
			t.Errorf("answered(%q) = %v", said, got)
		}
	}
}
