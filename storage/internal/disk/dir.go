package disk

import (
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

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

// LockFile guards the whole data directory. It is never removed: a name that comes and goes would
// let two processes lock two different files.
const LockFile = "farsight.lock"

// Signature is what the lock file says, in JSON.
type Signature struct {
	PID    int       `json:"pid"`
	Host   string    `json:"host"`
	Since  time.Time `json:"since"`
	Browse bool      `json:"browse,omitempty"` // a reader: several may hold the directory together
}

// Lock is a held lock. The kernel frees it when the process ends, however it ends.
type Lock struct{ f *os.File }

// LockDir takes the lock of dir, for itself alone or (browse) together with other readers. It tries
// once.
func LockDir(dir string, browse bool) (*Lock, error) {
	path := filepath.Join(dir, LockFile)
	f, err := openLock(path, browse)
	if err != nil {
		return nil, Unusable(path, err)
	}
	if f == nil {
		return &Lock{}, nil
	}
	// Nobody waits for a lock: another Farsight holds it for hours, and the user has to hear of
	// that at once.
	if err := regular.Lock(f, browse, false); err != nil {
		defer f.Close()
		if errors.Is(err, regular.ErrLocked) {
			return nil, heldBy(f, dir)
		}
		return nil, Unusable(path, err)
	}
	l := &Lock{f: f}
	// Readers sign as well as they can: on a disk that is only read they cannot.
	if err := l.sign(browse); err != nil && !browse {
		l.Release()
		return nil, Unusable(path, err)
	}
	return l, nil
}

// openLock opens the lock file. A reader of a directory that cannot be written takes what there is:
// nil when there is no lock file, since then nobody can be writing either.
func openLock(path string, browse bool) (*os.File, error) {
	f, _, err := regular.OpenFile(path, os.O_RDWR|os.O_CREATE|regular.NoFollow, 0o600)
	if err == nil || !browse || !(errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		return f, err
	}
	f, _, err = regular.Open(path, regular.NoFollow)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// sign writes who holds the lock.
func (l *Lock) sign(browse bool) error {
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	since := time.Now().UTC().Truncate(time.Millisecond)
	b, err := json.Marshal(Signature{PID: os.Getpid(), Host: host, Since: since, Browse: browse})
	if err != nil {
		return err
	}
	// Whoever reads it between the two steps finds it empty, and asks again: see heldBy.
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err = l.f.WriteAt(append(b, '\n'), 0)
	return err
}

// Release frees the lock by name, not only by closing the file: a child that is just being started
// has it open too, until it has become another program.
func (l *Lock) Release() {
	if l.f != nil {
		_ = regular.Unlock(l.f)
		l.f.Close()
		l.f = nil
	}
}

// heldBy reads who holds the lock. The holder may be between taking the lock and signing it: a
// moment's patience.
func heldBy(f *os.File, dir string) error {
	var h Signature
	// Five looks within 50 ms; after that the holder has no name, which is said as it is.
	for range 5 {
		b, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
		if err == nil && json.Unmarshal(b, &h) == nil && h.PID != 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return &ErrHeld{PID: h.PID, Host: h.Host, Since: h.Since, Store: "data directory " + dir}
}

const (
	// ballastFile holds nothing. It keeps room that an order gets on a full disk, and may be deleted.
	ballastFile = "full-disk.ballast"
	// BallastBytes is more than a command on 256 jobs writes that lie far apart: 3.4 MB, measured among 60,000.
	BallastBytes = 4 << 20
)

// MakeBallast takes room on the disk of a data directory, unless that is done already. What is no file
// under its name stays as it is.
func MakeBallast(dir string) (made bool, err error) {
	path := filepath.Join(dir, ballastFile)
	info, err := os.Lstat(path)
	if err == nil && (info.Size() == BallastBytes || !info.Mode().IsRegular()) {
		return false, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, Unusable(path, err)
	}
	// Noise, since a file system that compresses would keep no room for zeros.
	// The system's own takes ten times as long.
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // it never fails
	noise := make([]byte, BallastBytes)
	_, _ = rand.NewChaCha8(seed).Read(noise)
	f, err := openNoFollow(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, FileMode)
	if err == nil {
		// Not synced: after a power cut it is made anew.
		_, err = f.Write(noise)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		GiveUpBallast(dir) // half of one would be there for nothing
		return false, Unusable(path, err)
	}
	return true, nil
}

// GiveUpBallast frees the room that MakeBallast took, and reports whether there was any.
func GiveUpBallast(dir string) bool {
	path := filepath.Join(dir, ballastFile)
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && syscall.Unlink(path) == nil
}
