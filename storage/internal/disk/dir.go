package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/farsight-console/farsight/engine/regular"
)

const (
	StateFile = "state.db"

	DirMode  = 0o700
	FileMode = 0o600
)

// PrepareDir makes the data directory, or proves that the one that is there may be used.
func PrepareDir(dir string) error {
	if err := makeDir(dir); err != nil {
		return Unusable(dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return Unusable(dir, err)
	}
	if !info.IsDir() {
		return &ErrUnusable{Path: dir, Why: "it is no directory", Do: "name a directory"}
	}
	if regular.Others(info) == 0 {
		return nil
	}
	return tighten(dir, info.Mode().Perm())
}

// makeDir makes a directory, with those above it, so that all of them survive a power cut.
func makeDir(dir string) error {
	if there, err := Exists(dir); err != nil || there {
		return err
	}
	parent := filepath.Dir(dir)
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := regular.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// tighten closes an empty directory to others, as a new one would be. One that has files is the
// operator's own: it is left as it is, and refused when others may put files into it.
func tighten(dir string, mode fs.FileMode) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Unusable(dir, err)
	}
	// An empty folder is nobody's: the user has just made it for this.
	if len(entries) == 0 {
		if err := os.Chmod(dir, DirMode); err != nil {
			return Unusable(dir, err)
		}
		return nil
	}
	// Whoever may write to the folder may put another state.db there.
	if mode&0o022 != 0 {
		return &ErrUnusable{
			Path: dir, Why: fmt.Sprintf("others may write to it (mode %04o)", mode),
			Do: "chmod 700 it, or name another directory",
		}
	}
	return nil
}

// RefuseNetwork stops on file systems where a lock on one host says nothing to another.
func RefuseNetwork(dir string) error {
	kind, err := NetworkKind(dir)
	if err != nil {
		return Unusable(dir, err)
	}
	if kind == "" {
		return nil
	}
	return &ErrUnusable{Path: dir, Why: "it lies on a network file system (" + kind + ")",
		Do: "use a local directory, or force it if only one host will ever use this one"}
}

// Unusable puts a file system's error into words.
func Unusable(path string, err error) error {
	e := &ErrUnusable{Path: path, Err: err}
	switch {
	case NoRoom(err):
		return fmt.Errorf("%s: %w: %w", path, ErrDiskFull, err)
	case errors.Is(err, fs.ErrNotExist):
		e.Why, e.Do = "it does not exist", "check the path"
	case errors.Is(err, fs.ErrPermission):
		e.Why, e.Do = "permission denied", "check its owner and mode"
	case errors.Is(err, syscall.EROFS):
		e.Why, e.Do = "the file system is read-only", "remount it, or name another directory"
	case errors.Is(err, syscall.ELOOP):
		e.Why, e.Do = "it is a symbolic link", "put the real file there"
	// ENXIO is how a socket refuses to be opened.
	case errors.Is(err, regular.ErrOther), errors.Is(err, syscall.ENXIO):
		e.Why, e.Do = "it is no regular file", "put the real file there, or move away what is in its place"
	case errors.Is(err, syscall.ENOTDIR):
		e.Why, e.Do = "a part of the path is no directory", "check the path"
	default:
		e.Why = err.Error()
	}
	return e
}

// NoRoom reports whether an error says that the disk or a quota is full.
func NoRoom(err error) bool {
	// A quota ends one user's room where the disk still has some.
	for _, full := range fullErrors {
		if errors.Is(err, full) || grewInVain(err, full) {
			return true
		}
	}
	return false
}

// grewInVain reports whether bbolt could not make its file larger for this reason, of which it
// keeps but the text.
func grewInVain(err error, why syscall.Errno) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return strings.HasSuffix(text, why.Error()) &&
		(strings.Contains(text, "file resize error: ") || strings.Contains(text, "file sync error: "))
}

// Exists reports whether there is something of that name, be it a link that leads nowhere.
func Exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// StatePath is where a data directory has its state.
func StatePath(dir string) string { return filepath.Join(dir, StateFile) }
