package disk

import (
	"errors"
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/both"
)

// Sentinels for callers to test with errors.Is.
var (
	// ErrClosed: the store is closed, or its Serve has ended.
	ErrClosed = errors.New("the store is closed")
	// ErrReadOnly: a write was asked of a store that was opened to browse.
	ErrReadOnly = errors.New("the store is open for reading only")
	ErrDiskFull = both.ErrDiskFull
	ErrUnknown  = both.ErrUnknown
	ErrDropped  = both.ErrDropped
	// ErrReplaced: the file behind the open store is not the one under its name any more, so the
	// lock guards nothing.
	ErrReplaced = errors.New("the database file was replaced while it was open")
)

// ErrHeld is both.ErrHeld of a data directory.
type ErrHeld = both.ErrHeld

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
