package riot

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// offline are how the system says that there is no network.
var offline = []syscall.Errno{windows.WSAENETUNREACH, windows.WSAENETDOWN, windows.WSAEHOSTUNREACH}

// readable reports whether something waits to be read on a connection, its end included. Here it is not asked for:
// Go's sockets are read by a request that the system completes, and a look beside it would wait.
func readable(uintptr) bool { return false }
