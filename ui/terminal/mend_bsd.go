//go:build darwin || freebsd

package terminal

import "golang.org/x/sys/unix"

// Requests that read and set a terminal's modes.
const (
	getModes = unix.TIOCGETA
	setModes = unix.TIOCSETA
)
