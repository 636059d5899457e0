package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// fullErrors are how the system says that there is no room.
var fullErrors = []windows.Errno{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}

// FreeBytes is what an ordinary user may still write to the file system of dir.
func FreeBytes(dir string) (free uint64, err error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	}
	if err != nil {
		return 0, fmt.Errorf("ask for the free space of %s: %w", dir, err)
	}
	return free, nil
}

// NetworkKind is "network drive" when dir lies on another host; "" when it lies on a local disk.
func NetworkKind(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(abs) + `\`)
	if err != nil || windows.GetDriveType(root) != windows.DRIVE_REMOTE {
		return "", err
	}
	return "network drive", nil
}

// mapFile maps the first n bytes of a file, to be read until unmap.
func mapFile(f *os.File, n int) (data []byte, unmap func(), err error) {
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, nil, err
	}
	defer windows.CloseHandle(h) // the view keeps it
	at, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(n))
	if err != nil {
		return nil, nil, err
	}
	data = unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n) // memory that is not Go's
	return data, func() { _ = windows.UnmapViewOfFile(at) }, nil
}
