// Package tempdir makes temporary directories that belong to a process. Each holds a locked
// file; when its process is gone, however it ended, the next one of the same name removes it.
package tempdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/farsight-console/farsight/engine/regular"
)

// lockName is the file whose lock says that a directory is in use.
const lockName = "lock"

// errHeld says that a directory belongs to a process that runs.
var errHeld = errors.New("the directory is in use")

// Dir is a directory of this process.
type Dir struct {
	Path string
	lock *os.File
}

// New makes a directory below base ("" = the usual one for temporary files), whose name
// is prefix and a number, and removes all others of this prefix that nobody uses.
func New(base, prefix string) (*Dir, error) {
	if base == "" {
		base = os.TempDir()
		if err := os.MkdirAll(base, 0o700); err != nil { // an image from scratch has none
			return nil, err
		}
	}
	Sweep(base, prefix)
	for {
		path, err := os.MkdirTemp(base, prefix)
		if err != nil {
			return nil, err
		}
		// Between the two somebody who sweeps may have taken it for an abandoned one.
		d, err := hold(path, os.O_CREATE)
		if err == nil || !overtaken(err) {
			return d, err
		}
	}
}

// overtaken reports whether somebody who sweeps was there between two steps of making a
// directory.
func overtaken(err error) bool { return errors.Is(err, errHeld) || errors.Is(err, fs.ErrNotExist) }

// Claim makes the directory at path this process's own and empty. It fails with errHeld
// while another has it.
func Claim(path string) (*Dir, error) {
	for {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if err := ours(path); err != nil {
			return nil, err
		}
		d, err := hold(path, os.O_CREATE)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its last user has removed it meanwhile
		}
		if err != nil {
			return nil, err
		}
		return d, d.empty()
	}
}

// Sweep removes the directories below base whose name begins with prefix and whose
// process is gone. What cannot be removed is left.
func Sweep(base, prefix string) {
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		path := filepath.Join(base, e.Name())
		if len(e.Name()) < len(prefix) || e.Name()[:len(prefix)] != prefix || ours(path) != nil {
			continue
		}
		// One without a lock is not of this package, or new and empty, or left empty.
		if d, err := hold(path, 0); err == nil {
			_ = d.Remove()
		} else if errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(path)
		}
	}
}

// ours reports whether path is a directory of this user.
func ours(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	// In a folder that all users share, one of this name may be somebody else's trap.
	if owner, _, known := regular.Owner(info); !info.IsDir() || known && owner != os.Getuid() {
		return fmt.Errorf("%s is no directory of this user", path)
	}
	return nil
}

// hold takes the lock of a directory.
func hold(path string, create int) (*Dir, error) {
	f, _, err := regular.OpenFile(filepath.Join(path, lockName), os.O_RDWR|regular.NoFollow|create, 0o600)
	if err != nil {
		return nil, err
	}
	if err := regular.Lock(f, false, false); err != nil {
		_ = f.Close()
		if errors.Is(err, regular.ErrLocked) {
			err = errHeld
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := &Dir{Path: path, lock: f}
	if err := d.stillOurs(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return d, nil
}

// stillOurs reports whether the locked file is still the one of the directory, and not of
// one that was removed between opening and locking it.
func (d *Dir) stillOurs() error {
	locked, err := d.lock.Stat()
	if err != nil {
		return err
	}
	there, err := os.Lstat(d.lock.Name())
	if err == nil && !os.SameFile(locked, there) {
		err = fs.ErrNotExist
	}
	return err
}

// Lock is the file that is locked. A child that inherits it holds the directory, too.
func (d *Dir) Lock() *os.File { return d.lock }

// Remove removes the directory: the lock after all else, so that what is left when this
// is broken off is removed by the next.
func (d *Dir) Remove() error {
	err := d.empty()
	if runtime.GOOS == "windows" { // where an open file cannot be removed, be it another's who claims the directory now
		err = errors.Join(err, d.lock.Close())
	}
	if err == nil {
		err = os.Remove(d.lock.Name())
	}
	if err == nil {
		_ = os.Remove(d.Path) // without the lock it is anybody's: to remove, or to claim
	}
	if runtime.GOOS == "windows" {
		return err
	}
	return errors.Join(err, d.lock.Close())
}

// empty removes all but the lock.
func (d *Dir) empty() error {
	entries, err := os.ReadDir(d.Path)
	for _, e := range entries {
		if e.Name() != lockName {
			err = errors.Join(err, removeAll(filepath.Join(d.Path, e.Name())))
		}
	}
	return err
}

// removeAll is os.RemoveAll, in steps where that fails: Wine lacks the call that Go makes for it.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if err == nil || runtime.GOOS != "windows" {
		return err
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if err := removeAll(filepath.Join(path, e.Name())); err != nil {
			return err
		}
	}
	return os.Remove(path)
}
