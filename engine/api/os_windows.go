package api

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// unixSockets: Windows has some, which do not tell whose process is at the other end.
const unixSockets = false

// connRefused is how the system says that nobody listens.
const connRefused = windows.WSAECONNREFUSED

func umask(int) (old int) { return 0 }

func processorTime() time.Duration {
	var born, ended, kernel, user windows.Filetime
	_ = windows.GetProcessTimes(windows.CurrentProcess(), &born, &ended, &kernel, &user) // of oneself it cannot fail
	return ticks(kernel) + ticks(user)
}

// ticks is a span, which Windows counts in steps of 100 ns.
func ticks(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}

var processMemory = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")

// residentMemory is 0 where nobody tells.
func residentMemory() int {
	var told struct { // PROCESS_MEMORY_COUNTERS
		size, faults   uint32
		peak, resident uintptr
		_              [6]uintptr
	}
	told.size = uint32(unsafe.Sizeof(told))
	_, _, _ = processMemory.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&told)), uintptr(told.size))
	return int(told.resident)
}
