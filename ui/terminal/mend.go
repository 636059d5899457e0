//go:build unix

package terminal

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
