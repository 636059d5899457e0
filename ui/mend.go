package ui

import (
	"os"

	"golang.org/x/sys/unix"
)

// Modes that a screen program takes away from a terminal and gives back at its end.
const (
	mendInput  = unix.BRKINT | unix.ICRNL | unix.IXON
	mendOutput = unix.OPOST
	mendLocal  = unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ICANON | unix.ISIG | unix.IEXTEN
)

// mendTerminal gives a terminal back the modes that a program which was killed took
// away: without it this console would restore the same broken state at its end. It
// reports whether there was something to mend.
func mendTerminal(f *os.File) bool {
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

// mend mends the terminal that this console is going to take over.
func (o Options) mend() bool {
	f, ok := o.Input.(*os.File)
	if o.Input == nil {
		f, ok = os.Stdin, true
	}
	return ok && mendTerminal(f)
}

// mendedText is what the operator is told.
const mendedText = "a program that was killed had left this terminal without echo: it is set right when you leave"
