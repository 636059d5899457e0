package storage

import (
	"context"
	"time"

	"github.com/farsight-console/farsight/storage/internal/disk"
)

// WriteTimes gives the p95 of the commits of the last minute: of "state", the group commits, and of
// "payload". A store to which nothing was written is left out.
func (db *DB) WriteTimes(now time.Time) map[string]time.Duration {
	out := map[string]time.Duration{}
	for name, w := range map[string]*disk.WriteTimes{"state": &db.commits, "payload": db.files.Commits} {
		if d, ok := w.P95(now); ok {
			out[name] = d
		}
	}
	return out
}

// WriteBounds are the upper bounds of the counts of WriteSums.
var WriteBounds = disk.WriteBounds

// WriteSum is disk.WriteSum.
type WriteSum = disk.WriteSum

// WriteSums gives the sums of the commits since the start: of "state", the group commits, and of
// "payload".
func (db *DB) WriteSums() map[string]disk.WriteSum {
	return map[string]disk.WriteSum{"state": db.commits.Sum(), "payload": db.files.Commits.Sum()}
}

// Sizes are how large a store is, in bytes.
type Sizes struct {
	State    int64
	Payloads int64
	Free     uint64 // on the disk
}

// Sizes looks at the files of the store.
func (db *DB) Sizes() (s Sizes, err error) {
	if s.Free, err = disk.FreeBytes(db.dir); err != nil {
		return s, err
	}
	if s.State, err = disk.Size(disk.StatePath(db.dir)); err != nil {
		return s, err
	}
	if db.share != nil {
		s.Payloads, err = db.share.DiskBytes(context.Background())
		return s, err
	}
	months, err := db.files.Files()
	if err == nil {
		s.Payloads, err = disk.Size(months...)
	}
	return s, err
}
