// Package regular opens files for reading, and nothing else that has a name: a pipe would wait for its writer for ever.
package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ErrOther says that a path names no file, but a folder, a pipe or a device.
var ErrOther = errors.New("not a regular file")

// Open opens a file for reading. flags are added to those of the call, such as syscall.O_NOFOLLOW.
func Open(path string, flags int) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is %w", path, ErrOther)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
