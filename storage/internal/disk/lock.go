package disk

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine/regular"
)

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
