//go:build unix

package api

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// unixSockets: the system tells who is at the other end of one.
const unixSockets = true

// connRefused is how the system says that nobody listens.
const connRefused = syscall.ECONNREFUSED

func umask(mask int) (old int) { return syscall.Umask(mask) }

func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // it cannot fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// residentMemory is 0 where nobody tells, as on macOS.
func residentMemory() int {
	raw, _ := os.ReadFile("/proc/self/statm") // "302461 9217 6533 …": pages of all, and of those that are in memory
	if f := bytes.Fields(raw); len(f) > 1 {
		n, _ := strconv.Atoi(string(f[1]))
		return n * os.Getpagesize()
	}
	return 0
}
