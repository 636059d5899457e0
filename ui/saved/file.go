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
)

// version numbers the form of the file. A file of a later one is left alone: to write it would drop
// what this program does not know.
const version = 1

// largest bounds what is read of the file, in bytes. A usual one has a few thousand.
const largest = 1 << 20

// File is where a State is kept:
//
//	{"version": 1, "theme": "cb-dark", "lists": {"jobs": {…}}, "history": ["jobs state:failed"]}
//
// A file that could not be read is never written: it may be another version's, or mended by hand. Its
// methods may be called by any goroutine.
type File struct {
	path string

	mu      sync.Mutex
	pending *State // to be written; nil = nothing
	// base is what this console has written, or read: what differs from it are changes of its own, which
	// merge puts on top of what the file holds by then.
	base   State
	locked bool // it could not be read
}

// Open reads the file at a path. One that is not there gives the defaults, and fresh: this
// user has never used a console. One that cannot be used gives the defaults too, with a
// sentence as its error.
func Open(path string) (f *File, s State, fresh bool, err error) {
	f = &File{path: path, base: State{Version: version}}
	switch s, err = read(path); {
	case errors.Is(err, os.ErrNotExist):
		return f, f.base.clone(), true, nil
	// The console works all the same: what it remembers is a convenience.
	case err != nil:
		f.locked = true
		err = fmt.Errorf("what the console remembers cannot be read, so it begins afresh and saves nothing: "+
			"%s: %w (move the file away to begin anew)", path, err)
		return f, f.base.clone(), false, err
	}
	s.Version = version
	// The file may be edited by hand: no more is taken than would be written.
	s.History, s.Sought = s.History[max(len(s.History)-keptLines, 0):], s.Sought[max(len(s.Sought)-keptLines, 0):]
	f.base = s.clone()
	return f, s, false, nil
}

// Put makes s what the file shall hold; false when it does already, and nothing is to be flushed.
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
// the user have written meanwhile. After an error nothing is left to be written: the next Put counts.
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

// read reads the file as it is now. os.ErrNotExist where there is none.
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
	_ = regular.Lock(d, false, true)
	return f()
}
