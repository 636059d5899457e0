package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// WriteBounds are the upper bounds of WriteSum's counts.
var WriteBounds = [...]time.Duration{
	500 * time.Microsecond, time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond,
	20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second,
}

// WriteSum says how long the commits since the start have taken.
type WriteSum struct {
	Counts [len(WriteBounds)]uint64 // commits no longer than the bound, and longer than the one before
	Count  uint64                   // all, those beyond the last bound too
	Sum    time.Duration
}

func (s *WriteSum) add(took time.Duration) {
	s.Count++
	s.Sum += took
	for i, bound := range WriteBounds {
		if took <= bound {
			s.Counts[i]++
			return
		}
	}
}

// WriteSums gives the sums of the commits since the start: of "state", the group commits, and of "payload".
func (db *DB) WriteSums() map[string]WriteSum {
	return map[string]WriteSum{"state": db.commits.sum(), "payload": db.payloads.commits.sum()}
}

func (w *writeTimes) sum() WriteSum {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all
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
	if s.Free, err = freeBytes(db.dir); err != nil {
		return s, err
	}
	if s.State, err = fileSize(statePath(db.dir)); err != nil {
		return s, err
	}
	months, err := db.payloads.Months()
	if err != nil {
		return s, err
	}
	s.Shards = len(months)
	for _, m := range months {
		n, err := fileSize(filepath.Join(db.payloads.dir, m+shardExt))
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
