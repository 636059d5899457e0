//go:build unix

package terminal

import (
	"bytes"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// drain takes in what the terminal still has to say, which would reach the shell as if it had been typed: it
// asks one more question that every terminal answers (DA1), and reads up to its answer.
func drain(in *os.File, out io.Writer, most time.Duration) {
	fd := int(in.Fd())
	before, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil {
		return
	}
	modes := *before
	modes.Lflag &^= unix.ICANON | unix.ECHO
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 0, 1 // a read ends after a tenth of a second
	if unix.IoctlSetTermios(fd, setModes, &modes) != nil {
		return
	}
	defer func() { _ = unix.IoctlSetTermios(fd, setModes, before) }()
	if _, err := io.WriteString(out, "\x1b[c"); err != nil {
		return
	}
	var said []byte
	buf := make([]byte, 256)
	for end := time.Now().Add(most); time.Now().Before(end); {
		n, err := unix.Read(fd, buf)
		if err != nil && err != unix.EINTR {
			return
		}
		if said = append(said, buf[:max(n, 0)]...); answered(said) {
			return
		}
	}
}

// answered reports whether the answer to DA1 has come: ESC [ ? 62 ; 22 c.
func answered(said []byte) bool {
	_, answer, found := bytes.Cut(said, []byte("\x1b[?"))
	for ; found; _, answer, found = bytes.Cut(answer, []byte("\x1b[?")) {
		if rest := bytes.TrimLeft(answer, "0123456789;"); len(rest) > 0 && rest[0] == 'c' {
			return true
		}
	}
	return false
}

// Modes that a screen program takes away from a terminal and gives back at its end.
const (
	mendInput  = unix.BRKINT | unix.ICRNL | unix.IXON
	mendOutput = unix.OPOST
	mendLocal  = unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ICANON | unix.ISIG | unix.IEXTEN
)

// mend sets the modes, if they are those of a screen program: neither lines nor echo.
func mend(f *os.File) bool {
	fd := int(f.Fd())
	modes, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil || modes.Lflag&(unix.ICANON|unix.ECHO) != 0 {
		return false // no terminal, or a sane one
	}
	modes.Iflag |= mendInput
	modes.Oflag |= mendOutput
	modes.Lflag |= mendLocal
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, setModes, modes) == nil
}
