package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// NoFollow is a flag of Open: a symbolic link is refused with syscall.ELOOP.
const NoFollow = windows.FILE_FLAG_OPEN_REPARSE_POINT

// Others is 0: the modes that Go tells here are made up. See Private.
func Others(fs.FileInfo) fs.FileMode { return 0 }

// Owner is not known: users have no numbers here.
func Owner(fs.FileInfo) (uid, gid int, known bool) { return 0, 0, false }

// ID tells a file or folder from any other of this host: by its disk, and its number there.
func ID(path string) (disk, number uint64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	var info windows.ByHandleFileInformation
	err = windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return uint64(info.VolumeSerialNumber), uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow), err
}

// Private keeps others out of a file or folder that was just made, and of what is made in that folder: its access
// list names this user and nobody else, whatever the folder above it allows.
func Private(path string) error {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("keep others out of %s: %w", path, err)
	}
	// A protected list that grants all, to files and folders below as well.
	list, err := windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;" + user.User.Sid.String() + ")")
	if err != nil {
		return fmt.Errorf("keep others out of %s: %w", path, err)
	}
	dacl, _, err := list.DACL()
	if err == nil {
		err = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
			windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, dacl, nil)
	}
	if err != nil {
		return fmt.Errorf("keep others out of %s: %w", path, err)
	}
	return nil
}

// lockedByte is which byte of a file is locked: far behind its end, since a locked one could not be read.
var lockedByte = windows.Overlapped{Offset: 1<<32 - 2, OffsetHigh: 1<<31 - 1}

// Lock locks a file, for itself alone or (shared) together with others who do: until it is unlocked or closed, or
// the process ends. It waits, or fails with ErrLocked.
func Lock(f *os.File, shared, wait bool) error {
	var how uint32
	if !shared {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	at := lockedByte
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// Unlock frees a lock.
func Unlock(f *os.File) error {
	at := lockedByte
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}

// renamePatience is how long a name is waited for whose file is open: others, such as a virus scanner, read a
// file for a moment.
const renamePatience = 2 * time.Second

// rename is os.Rename that returns when the new name is on disk.
func rename(from, to string) error {
	a, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	b, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	for end := time.Now().Add(renamePatience); ; time.Sleep(10 * time.Millisecond) {
		err = windows.MoveFileEx(a, b, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		if err == nil {
			return nil
		}
		open := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !open || time.Now().After(end) {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
		}
	}
}

// SyncDir has nothing to do: a folder cannot be flushed here, and the file system logs its changes.
func SyncDir(string) error { return nil }
