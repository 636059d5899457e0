package storage

import (
	"errors"

	"github.com/farsight-console/farsight/storage/internal/disk"
)

// What a store is refused for, and what a write may meet, for callers to tell apart.
type (
	// ErrHeld is returned (as *ErrHeld) when another process has the data directory.
	ErrHeld = disk.ErrHeld
	// Damaged is returned (as *Damaged) when a file is not what Farsight wrote. The file has not
	// been changed.
	Damaged = disk.Damaged
	// ErrUnusable is returned (as *ErrUnusable) when a file or directory cannot be used as it is.
	ErrUnusable = disk.ErrUnusable
)

var (
	// ErrDiskFull: the disk (or the configured maximum size) has no room. Nothing was written.
	ErrDiskFull = disk.ErrDiskFull
	// ErrUnknown: it is unknown whether a commit is on disk. The store takes no more writes.
	ErrUnknown = disk.ErrUnknown
)

// Refused reports whether err says that a store was refused as it is on disk: damaged, not usable,
// or of a later version.
func Refused(err error) bool {
	_, bad := errors.AsType[*disk.Damaged](err)
	_, newer := errors.AsType[*disk.ErrNewer](err)
	_, unusable := errors.AsType[*disk.ErrUnusable](err)
	_, corrupt := errors.AsType[*disk.ErrCorrupt](err)
	return bad || newer || unusable || corrupt
}
