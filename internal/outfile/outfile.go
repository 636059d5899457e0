// Package outfile is a file that a command writes for somebody: it appears whole or not
// at all, and replaces nothing.
package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/farsight-console/farsight/engine/regular"
)

// File is where an export with --out goes. A whole export is written under
// a name of its own beside it and gets the real one when it is complete; one that
// follows has the real name from the start. Nothing is ever overwritten.
type File struct {
	*os.File
	name     string
	temp     bool
	Headless bool // it goes on behind lines that are there already
}

// Open begins the file called name. A file that exists is refused, unless
// the export follows and goes on after a cursor.
func Open(name string, follow, after bool) (*File, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, cannotWrite(name, err)
	case !follow:
		return nil, fmt.Errorf("%s exists already: name a file that does not", name)
	case !after:
		return nil, fmt.Errorf("%s exists already: name a file that does not, or go on after its last line with --after", name)
	default:
		return reopen(name, info)
	}
	if follow {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, cannotWrite(name, err)
		}
		return &File{File: f, name: name}, nil
	}
	// In the same folder, so that its name can be changed into the real one; hidden, and named so
	// that who finds one after a crash knows what it was to be: .matches.ndjson.123.part.
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.part")
	if err != nil {
		return nil, cannotWrite(name, err)
	}
	return &File{File: f, name: name, temp: true}, nil
}

// reopen goes on at the end of a file, if that is the end of a line.
func reopen(name string, info fs.FileInfo) (*File, error) {
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: name a new one", name)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|regular.NoFollow, 0)
	if err != nil {
		return nil, cannotWrite(name, err)
	}
	if info.Size() == 0 {
		return &File{File: f, name: name}, nil
	}
	var last [1]byte
	// A crash in the middle of a line leaves half of it: going on behind that would make two halves
	// one line.
	if _, err = f.ReadAt(last[:], info.Size()-1); err == nil && last[0] != '\n' {
		err = errors.New("its last line is cut; remove that line and go on after the one before it")
	}
	if err != nil {
		return nil, errors.Join(cannotWrite(name, err), f.Close())
	}
	return &File{File: f, name: name, Headless: true}, nil
}

// cannotWrite says which file, by the name that was asked for.
func cannotWrite(name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the name that the caller gave says more than ours
	}
	return fmt.Errorf("write %s: %w", name, err)
}

// Finish ends the file after an export that failed with err, or did not. A whole
// export that failed leaves no file.
func (f *File) Finish(err error) error {
	if err == nil || !f.temp {
		err = errors.Join(err, f.Sync())
	}
	err = errors.Join(err, f.Close())
	if !f.temp {
		return errors.Join(err, regular.SyncDir(filepath.Dir(f.name)))
	}
	if err == nil {
		err = f.publish()
	}
	// After a rename it has gone already.
	if e := os.Remove(f.Name()); !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// publish gives the file its name. A link never replaces a file that has come
// there meanwhile; where there are no links, a look must do.
func (f *File) publish() error {
	err := regular.Link(f.Name(), f.name)
	if _, refused := errors.AsType[*os.LinkError](err); !refused {
		return err // nil, or the folder could not be synced
	}
	if _, there := os.Lstat(f.name); there == nil {
		return fmt.Errorf("%s exists already: it came there meanwhile, and was kept", f.name)
	}
	if err := regular.Rename(f.Name(), f.name); err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	return nil
}
