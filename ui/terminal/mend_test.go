package terminal

import (
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// TestMendGivesBackWhatAKilledProgramTook, and leaves a sane terminal alone.
func TestMendGivesBackWhatAKilledProgramTook(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	defer master.Close()
	defer tty.Close()
	if Mend(tty) {
		t.Error("a sane terminal was mended")
	}
	if _, err := term.MakeRaw(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	if !Mend(tty) {
		t.Error("a raw terminal was not mended")
	}
	modes, err := unix.IoctlGetTermios(int(tty.Fd()), getModes)
	if err != nil {
		t.Fatal(err)
	}
	if want := uint32(mendLocal); uint32(modes.Lflag)&want != want || modes.Oflag&mendOutput == 0 || modes.Iflag&unix.ICRNL == 0 {
		t.Errorf("the modes are %+v", modes)
	}
}
