// Package regular opens files, and nothing else that has a name: a pipe would wait for its
// writer for ever. And it replaces files whole.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrOther says that a path names no file, but a folder, a pipe or a device.
var ErrOther = errors.New("not a regular file")

// ErrLocked says that another has a file's lock.
var ErrLocked = errors.New("another has the lock")

// Open opens a file for reading. flags are added to those of the call, such as NoFollow.
func Open(path string, flags int) (*os.File, fs.FileInfo, error) {
	return OpenFile(path, os.O_RDONLY|flags, 0)
}

// Secret is what stands in a file alone, without the blanks around it, and of at most so many bytes: one that was named by
// mistake may be a large one. A file that others may read is refused, since what it holds is no secret any more.
func Secret(path string, most int64) (string, error) {
	f, info, err := Open(path, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if Others(info) != 0 {
		return "", fmt.Errorf("%s can be read by others (mode %04o): run chmod 600 %s", path, info.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	return strings.TrimSpace(string(text)), err
}

// OpenFile is os.OpenFile for a file that is one, or is made; else ErrOther, or syscall.ENXIO of a socket.
func OpenFile(path string, flags int, mode fs.FileMode) (*os.File, fs.FileInfo, error) {
	// O_NONBLOCK lets a pipe without a writer be opened, so that it can be found out; to a file it is
	// nothing.
	f, err := os.OpenFile(path, syscall.O_NONBLOCK|flags, mode)
	if errors.Is(err, syscall.ELOOP) {
		err = linked(path)
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Type() == fs.ModeSymlink { // Windows opens the link itself
		err = linked(path)
	} else if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is %w", path, ErrOther)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func linked(path string) error {
	return fmt.Errorf("%s is a symbolic link, which is not followed here (%w)", path, syscall.ELOOP)
}

// Replace puts text in the place of a file, or of none, whole or not at all. Only its owner may read it.
func Replace(path string, text []byte) error {
	// In the same folder, since a rename does not lead from one disk to another.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	if err = Private(f.Name()); err == nil {
		_, err = f.Write(text)
	}
	err = errors.Join(err, f.Sync(), f.Close())
	// Synced before it has the name: after a crash the name would lead to a file without its text.
	if err == nil {
		err = Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Rename is os.Rename whose outcome survives a power cut. What a file holds must be synced before.
func Rename(from, to string) error {
	if err := rename(from, to); err != nil {
		return err
	}
	// The new name first: a file that has both is better than one that has neither.
	err := SyncDir(filepath.Dir(to))
	if old := filepath.Dir(from); old != filepath.Dir(to) {
		err = errors.Join(err, SyncDir(old))
	}
	return err
}

// Link is os.Link whose outcome survives a power cut.
func Link(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// Mkdir is os.Mkdir, for the owner alone, whose outcome survives a power cut.
func Mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := Private(dir); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(dir))
}

// MkdirAll is Mkdir with all folders above; one that is there is kept as it is.
func MkdirAll(dir string) error {
	err := Mkdir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = MkdirAll(filepath.Dir(dir)); err == nil {
			err = Mkdir(dir)
		}
	}
	if info, gone := os.Stat(dir); gone == nil && info.IsDir() && errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
