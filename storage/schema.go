package storage

import (
	"errors"

	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// Every value of state.db is framed by internal/rec (format byte, body, CRC-32C over table, key and
// value). Keys are built by package key: u64 = eight big-endian bytes, time = UTC milliseconds,
// desc = latest first, str = escaped and terminated. A job id on disk is the u64 of its sequence. A
// marker is an empty body. Each table is declared once, beside what stores its rows;
// testdata/schema.txt lists them all.
//
// What this program writes is newestSchema; migrate.go leads there from the versions before. A shard counts for
// itself: an archived one is of version 2, so that a Farsight that cannot read it says so.

// What the rows of a table may belong to. With an account that is forgotten, a run or a match that
// is dropped, or a job that is pruned, its rows go. Ids are texts in keys, but a job's is the u64
// of its number.
const (
	ofAccount collection.Owner = 1 << iota
	ofRun
	ofMatch
	ofJob
)

var tMeta = collection.New("meta", "name", "schema version, instance, created, run (boot, opened, closed, live jobs)").Own()

// forgetPrefix leads the names of marks in table state, before the account's id.
const forgetPrefix = "forget:"

// forgetKey is where the mark of an account stands that is half forgotten: "forget:01J…".
func forgetKey(account string) []byte { return []byte(forgetPrefix + account) }

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
