package terminal

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// reopen opens a terminal once more, so that its writes can have deadlines: that is
// a property of the opening, and the program's own is shared with its shell.
func reopen(tty *os.File) (*os.File, error) {
	return os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(tty.Fd())), os.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
}

// discard throws away what was written and nobody has read. That it failed is seen
// at the next write.
func discard(out *os.File) {
	raw, err := out.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCOFLUSH) })
}
