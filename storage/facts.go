package storage

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// RoomFloor is the free space, in bytes, below which the engine starts nothing.
const RoomFloor = disk.MinRoom

// Facts are what a store says of itself.
type Facts struct {
	Schema   int       `json:"schema"`
	Known    int       `json:"schema_known"` // the newest that this program knows
	Instance string    `json:"instance"`
	Created  time.Time `json:"created,omitzero"`
	Opened   time.Time `json:"opened,omitzero"`   // by an engine, last
	Closed   time.Time `json:"closed,omitzero"`   // in order, that time; zero = it was not
	Restored time.Time `json:"restored,omitzero"` // when a backup was last put back
}

// Facts reads what the store says of itself. A record that cannot be read leaves its facts empty:
// check names it.
func (db *DB) Facts(ctx context.Context) (f Facts, err error) {
	f.Known = int(newestSchema())
	err = db.view(ctx, func(t *txn) error {
		have, _, err := t.Number(tMeta, disk.MetaSchema)
		f.Schema, f.Restored = int(have), t.restored()
		f.Instance, _, _ = t.Text(tMeta, disk.MetaInstance)
		f.Created, _, _ = t.Instant(tMeta, metaCreated)
		last, _, _ := t.lastOpening()
		f.Opened, f.Closed = last.opened, last.closed
		return err
	})
	return f, err
}

// Holder is the process that has a data directory for itself.
type Holder struct {
	PID   int       `json:"pid"` // 0: it has not yet written who it is
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Here  bool      `json:"here"`  // it runs on this host
	Alive bool      `json:"alive"` // as far as this host can tell
}

// HolderOf tells which process has the directory for itself. It looks at the lock and gives it back
// at once; readers, who may be many, are no holders. held is false as well when there is no lock
// file.
func HolderOf(dir string) (h Holder, held bool, err error) {
	path := filepath.Join(dir, disk.LockFile)
	f, _, err := regular.Open(path, regular.NoFollow)
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, nil
	}
	if err != nil {
		return h, false, disk.Unusable(path, err)
	}
	defer f.Close()
	// A shared lock is refused only while somebody has it alone: an engine.
	err = regular.Lock(f, true, false)
	if err == nil {
		return h, false, regular.Unlock(f)
	}
	if !errors.Is(err, regular.ErrLocked) {
		return h, false, disk.Unusable(path, err)
	}
	var said disk.Signature
	if b, err := io.ReadAll(io.NewSectionReader(f, 0, 4096)); err == nil {
		_ = json.Unmarshal(b, &said) // a holder that is just signing has no name yet
	}
	h = Holder{PID: said.PID, Host: said.Host, Since: said.Since}
	here, err := os.Hostname()
	h.Here = err == nil && here == h.Host
	// Of another host nothing can be asked, so its holder counts as alive.
	h.Alive = !h.Here || h.PID == 0 || alive(h.PID)
	return h, true, nil
}

// alive reports whether there is a process of that number, be it another user's.
func alive(pid int) bool {
	p, err := os.FindProcess(pid) // which fails on Windows alone
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	defer p.Release()
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// RoomIn is how many bytes an ordinary user may still write to the file system of a directory.
func RoomIn(dir string) (free uint64, err error) { return disk.FreeBytes(dir) }

// NetworkFS names the kind of network file system that a directory lies on; "" when it is a local
// one.
func NetworkFS(dir string) (kind string, err error) { return disk.NetworkKind(dir) }

// HasState reports whether a data directory holds something to browse; what is no file there is refused
// when it is opened.
func HasState(dir string) bool {
	there, err := disk.Exists(disk.StatePath(dir))
	return err == nil && there
}
