package disk

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Sentinels for callers to test with errors.Is.
var (
	// ErrClosed: the store is closed, or its Serve has ended.
	ErrClosed = errors.New("the store is closed")
	// ErrReadOnly: a write was asked of a store that was opened to browse.
	ErrReadOnly = errors.New("the store is open for reading only")
	// ErrDiskFull: the disk (or the configured maximum size) has no room. Nothing was written; the
	// same write may be tried again when there is room. It is also the system's ENOSPC, which is
	// how those who do not see this package know it.
	ErrDiskFull error = diskFull{}
	// ErrUnknown: a commit failed in a way that leaves open whether its writes will survive. The
	// store takes no more writes; close it, open it again and recover as after a crash.
	ErrUnknown = errors.New("it is unknown whether the commit is on disk")
	// ErrDropped: retention, as the operator configured it, took the payload; its match keeps its
	// row. It is an engine.ErrNotFound too.
	ErrDropped = fmt.Errorf("its month was dropped by retention: %w", engine.ErrNotFound)
	// ErrReplaced: the file behind the open store is not the one under its name any more, so the
	// lock guards nothing.
	ErrReplaced = errors.New("the database file was replaced while it was open")
	// ErrDeposed: who wrote does not lead the fleet any more. Nothing was written.
	ErrDeposed = errors.New("this process does not lead the fleet any more")
)

type diskFull struct{}

func (diskFull) Error() string { return "no room left on the disk" }

func (diskFull) Is(target error) bool { return target == syscall.ENOSPC }

// ErrHeld is returned (as *ErrHeld) when another process has the store for itself.
type ErrHeld struct {
	PID   int // 0: the holder had not yet written who it is
	Host  string
	Since time.Time
	Store string // "data directory /var/lib/farsight"
	Do    string // what else to do than wait; "" = nothing
}

// Error says who: "data directory /var/lib/farsight is held by process 4711 on web1 since
// 2026-11-21T09:12:44Z".
func (e *ErrHeld) Error() string {
	if e.PID == 0 {
		return e.Store + " is held by another Farsight"
	}
	text := fmt.Sprintf("%s is held by process %d on %s since %s", e.Store, e.PID, e.Host,
		e.Since.UTC().Format(time.RFC3339))
	if e.Do != "" {
		text += ": " + e.Do
	}
	return text
}

// Damaged is returned (as *Damaged) when a file is not what Farsight wrote. The file has not been
// changed.
type Damaged struct {
	Path string
	Why  string
}

func (e *Damaged) Error() string {
	return fmt.Sprintf("%s is damaged: %s. It was not changed; put a backup back with `farsight restore`", e.Path, e.Why)
}

// ErrNewer is returned (as *ErrNewer) when a later version of Farsight wrote the file.
type ErrNewer struct {
	Path       string
	Have, Know int // schema version of the file, and the newest that this program knows
}

func (e *ErrNewer) Error() string {
	return fmt.Sprintf("%s was written by a newer Farsight (schema %d, this one knows %d): use that version; nothing was changed",
		e.Path, e.Have, e.Know)
}

// ErrUnusable is returned (as *ErrUnusable) when a file or directory cannot be used as it is:
// rights, owner, kind of file, kind of file system.
type ErrUnusable struct {
	Path string
	Why  string // what is wrong
	Do   string // what to do about it
	Err  error  // may be nil
}

func (e *ErrUnusable) Error() string {
	s := fmt.Sprintf("cannot use %s: %s", e.Path, e.Why)
	if e.Do != "" {
		s += ": " + e.Do
	}
	return s
}

func (e *ErrUnusable) Unwrap() error { return e.Err }

// ErrCorrupt is returned (as *ErrCorrupt) for one record whose checksum or shape does not hold. The
// rest of the store works.
type ErrCorrupt struct {
	Bucket string
	Key    []byte
	Err    error
}

func (e *ErrCorrupt) Error() string {
	return fmt.Sprintf("corrupt record in table %s under key %x: %v", e.Bucket, e.Key, e.Err)
}

func (e *ErrCorrupt) Unwrap() error { return e.Err }

// Is tells those who do not see this package that it is about one record.
func (e *ErrCorrupt) Is(target error) bool { return target == engine.ErrUnreadable }

func IsNotFound(err error) bool { return errors.Is(err, engine.ErrNotFound) }

// IsDamage reports whether err is about what is on disk: a file, or one record.
func IsDamage(err error) bool {
	_, corrupt := errors.AsType[*ErrCorrupt](err)
	_, damaged := errors.AsType[*Damaged](err)
	return corrupt || damaged
}

// AsCorrupt tells a corrupt record from other errors.
func AsCorrupt(err error) (*ErrCorrupt, bool) { return errors.AsType[*ErrCorrupt](err) }
