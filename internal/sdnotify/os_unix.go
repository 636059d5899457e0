//go:build unix

package sdnotify

import (
	"time"

	"golang.org/x/sys/unix"
)

// isStderr reports whether the standard error is the file of that number on that device.
func isStderr(dev, inode uint64) bool {
	var st unix.Stat_t
	err := unix.Fstat(unix.Stderr, &st)
	return err == nil && uint64(st.Dev) == dev && st.Ino == inode //nolint:unconvert // its type differs by system
}

// monotonic is the time that the kernel's clock has counted.
func monotonic() (time.Duration, error) {
	var now unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return time.Duration(now.Nano()), err
}
