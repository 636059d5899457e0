package api

import "golang.org/x/sys/windows"

// unixSockets: Windows has some, which do not tell whose process is at the other end.
const unixSockets = false

// connRefused is how the system says that nobody listens.
const connRefused = windows.WSAECONNREFUSED

func umask(int) (old int) { return 0 }
