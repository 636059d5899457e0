package saved

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/regular"
	"golang.org/x/sys/unix"
)

// version numbers the form of the file. A file of a later one is left alone.
const version = 1

// largest bounds what is read of the file, in bytes.
const largest = 1 << 20

// File is where a State is kept. A file that could not be read is never written:
// it may be another version's, or mended by hand.
type File struct {
	path string

	mu      sync.Mutex
	pending *State // to be written; nil = nothing
	base    State  // what this console has written, or read: what it changes since is its own
	locked  bool   // it could not be read
}

// Open reads the file at a path. One that is not there gives the defaults, and fresh: this
// user has never used a console. One that cannot be used gives the defaults too, with a
// sentence as its error.
func Open(path string) (f *File, s State, fresh bool, err error) {
	f = &File{path: path, base: State{Version: version}}
	switch s, err = read(path); {
	case errors.Is(err, os.ErrNotExist):
		return f, f.base.clone(), true, nil
	case err != nil:
		f.locked = true
		return f, f.base.clone(), false, fmt.Errorf("what the console remembers cannot be read, so it begins afresh and saves nothing: %s: %w (move the file away to begin anew)", path, err)
	}
	s.Version = version
	s.History = s.History[max(len(s.History)-keptLines, 0):]
	f.base = s.clone()
	return f, s, false, nil
}

// Put makes s what the file shall hold; false when it does already.
func (f *File) Put(s State) bool {
	if f.locked {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.base
	if f.pending != nil {
		now = *f.pending
	}
	if s.same(now) {
		return false
	}
	s = s.clone()
	f.pending = &s
	return true
}

// Flush writes what is to be written, whole or not at all, with what other consoles of
// the user have written meanwhile.
func (f *File) Flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending == nil {
		return nil
	}
	mine := *f.pending
	f.pending = nil
	err := alone(f.path, func() error {
		theirs, err := read(f.path)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // somebody works on it by hand, or a newer version wrote it
			return err
		}
		text, err := json.MarshalIndent(merge(f.base, mine, theirs), "", "  ")
		if err != nil {
			return err
		}
		return regular.Replace(f.path, append(text, '\n'))
	})
	if err != nil {
		return fmt.Errorf("what the console remembers was not saved: %w", err)
	}
	f.base = mine
	return nil
}

// read reads the file as it is now.
func read(path string) (s State, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	if !st.Mode().IsRegular() || st.Size() > largest {
		return s, fmt.Errorf("it is not a file of at most %s", human.Bytes(largest))
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err == nil && s.Version > version {
		err = fmt.Errorf("it was written by a newer farsight (version %d)", s.Version)
	}
	return s, err
}

// alone runs f while no other console of this user reads and writes the file. Where a
// folder cannot be locked, as on some network file systems, it runs all the same.
func alone(path string, f func() error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return f()
	}
	defer d.Close() // which unlocks it
	_ = unix.Flock(int(d.Fd()), unix.LOCK_EX)
	return f()
}
