package local_test

import (
	"syscall"
	"time"
)

// threadTime is the processor time of the thread that asks.
func threadTime() time.Duration {
	const rusageThread = 1
	var u syscall.Rusage
	if syscall.Getrusage(rusageThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
