//go:build unix

package api

import "syscall"

// unixSockets: the system tells who is at the other end of one.
const unixSockets = true

// connRefused is how the system says that nobody listens.
const connRefused = syscall.ECONNREFUSED

func umask(mask int) (old int) { return syscall.Umask(mask) }
