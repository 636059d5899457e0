//go:build unix

package riot

import "syscall"

// offline are how the system says that there is no network.
var offline = []syscall.Errno{syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EHOSTUNREACH}

// readable reports whether something waits to be read on a connection, its end included.
func readable(fd uintptr) bool {
	_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return err != syscall.EAGAIN && err != syscall.EINTR
}
