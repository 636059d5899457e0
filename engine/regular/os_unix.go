//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// NoFollow is a flag of Open: a symbolic link is refused with syscall.ELOOP.
const NoFollow = syscall.O_NOFOLLOW

// Others are the permissions that a file gives to others than its owner.
func Others(info fs.FileInfo) fs.FileMode { return info.Mode().Perm() & 0o077 }

// Owner are the numbers of the user and the group whose a file is; false where the system has no such numbers.
func Owner(info fs.FileInfo) (uid, gid int, known bool) {
	st, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}

// ID tells a file or folder from any other of this host: by its disk, and its number there.
func ID(path string) (disk, number uint64, err error) {
	var st unix.Stat_t
	err = unix.Stat(path, &st)
	return uint64(st.Dev), st.Ino, err //nolint:unconvert // its type differs by system
}

// Private keeps others out of a file or folder that was just made: here its mode has done so.
func Private(string) error { return nil }

// Lock locks a file, for itself alone or (shared) together with others who do: until it is unlocked, or closed by
// all who have it, or the process ends. It waits, or fails with ErrLocked.
func Lock(f *os.File, shared, wait bool) error {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	if !wait {
		how |= unix.LOCK_NB
	}
	err := flock(f, how)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Unlock frees a lock.
func Unlock(f *os.File) error { return flock(f, unix.LOCK_UN) }

// flock is flock(2), begun again when a signal breaks it off.
func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func rename(from, to string) error { return os.Rename(from, to) }

// SyncDir makes the entries of dir survive a power cut. A folder that may be written to but not read
// cannot be synced, which is no error.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
