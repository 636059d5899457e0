package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// WriteTimes gives the p95 of the commits of the last minute: of "state", the group commits, and of "payload". A store to
// which nothing was written is left out.
func (db *DB) WriteTimes(now time.Time) map[string]time.Duration {
	out := map[string]time.Duration{}
	for name, w := range map[string]*disk.WriteTimes{"state": &db.commits, "payload": &db.payloads.Commits} {
		if d, ok := w.P95(now); ok {
			out[name] = d
		}
	}
	return out
}

// WriteBounds are the upper bounds of the counts of WriteSums.
var WriteBounds = disk.WriteBounds

// WriteSums gives the sums of the commits since the start: of "state", the group commits, and of "payload".
func (db *DB) WriteSums() map[string]disk.WriteSum {
	return map[string]disk.WriteSum{"state": db.commits.Sum(), "payload": db.payloads.Commits.Sum()}
}

// Sizes are how large the files of the store are, in bytes.
type Sizes struct {
	State    int64
	Payloads int64
	Shards   int    // payload files
	Free     uint64 // on the disk
}

// Sizes looks at the files of the store.
func (db *DB) Sizes() (s Sizes, err error) {
	if s.Free, err = disk.FreeBytes(db.dir); err != nil {
		return s, err
	}
	if s.State, err = fileSize(disk.StatePath(db.dir)); err != nil {
		return s, err
	}
	months, err := db.payloads.Months()
	if err != nil {
		return s, err
	}
	s.Shards = len(months)
	for _, m := range months {
		n, err := fileSize(filepath.Join(db.payloads.Dir, m+payload.Ext))
		if err != nil {
			return s, err
		}
		s.Payloads += n
	}
	return s, nil
}

// fileSize is 0 for a file that has gone meanwhile.
func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
