//go:build unix

package disk

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// fullErrors are how the system says that there is no room.
var fullErrors = []unix.Errno{unix.ENOSPC, unix.EDQUOT}

// FreeBytes is what an ordinary user may still write to the file system of dir.
func FreeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("ask for the free space of %s: %w", dir, err)
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}

// mapFile maps the first n bytes of a file, to be read until unmap.
func mapFile(f *os.File, n int) (data []byte, unmap func(), err error) {
	data, err = unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_SHARED)
	return data, func() { _ = unix.Munmap(data) }, err
}
