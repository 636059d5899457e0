package app

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"

	"golang.org/x/sys/windows"
)

// enoughFiles has nothing to ask: the number of open files has no limit that matters here.
func enoughFiles() error { return nil }

// readerGone cannot tell here without a line to write.
func readerGone(io.Writer) bool { return false }

// isBrokenPipe reports whether who read the output has gone.
func isBrokenPipe(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{syscall.EPIPE, windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA, windows.ERROR_PIPE_NOT_CONNECTED},
		func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// detached makes a process that no console window ends.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// killing is the command that ends an engine: at once, as a crash would, for nothing can ask it.
func killing(pid int) string { return fmt.Sprintf("taskkill /F /PID %d", pid) }
