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

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/keep"
)

// What keeps files is package keep's. Here it gets what it needs of the tables.

// kept is the open store as package keep sees it: files, and the version that they must not exceed.
func (db *DB) kept() keep.Store {
	return keep.Store{Dir: db.dir, Bolt: db.bolt, Payloads: db.files, Schema: newestSchema()}
}

// Backup is keep.Store.Backup.
func (db *DB) Backup(ctx context.Context, o keep.BackupOptions) (engine.BackupDone, error) {
	return db.kept().Backup(ctx, o)
}

// CompactMonths is keep.Store.Compact beside an engine: state.db stays as it is.
func (db *DB) CompactMonths(ctx context.Context, c keep.CompactOptions) (engine.CompactDone, error) {
	c.State, c.Months = false, true
	r, err := db.kept().Compact(ctx, c)
	r.StateLeft = "an engine works on it, and fills its holes"
	return r, err
}

// Compact is keep.Store.Compact of a data directory that nobody holds (*ErrHeld).
func Compact(ctx context.Context, o Options, c keep.CompactOptions) (r engine.CompactDone, err error) {
	db, err := openUpkeep(o)
	if err != nil {
		return engine.CompactDone{DryRun: c.DryRun}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.kept().Compact(ctx, c)
}

// Restore is keep.Restore.
func Restore(ctx context.Context, o Options, ro keep.RestoreOptions) (r keep.RestoreReport, err error) {
	if err := disk.PrepareDir(o.Dir); err != nil {
		return r, err
	}
	if err := refuseNetworkUnless(o); err != nil {
		return r, err
	}
	return keep.Restore(ctx, o.Dir, newestSchema(), ro, func(b *bolt.Tx, e engine.AuditEntry) error {
		t := newTx(b, e.At)
		// What came after the backup is undone: whoever follows a feed must not go on where that
		// one ended.
		return errors.Join(t.beginAnew(e, ro.Forget), t.PutInstant(tMeta, metaRestored, e.At),
			t.PutText(tMeta, disk.MetaInstance, disk.RandomID()))
	})
}

// Reset is keep.Reset.
func Reset(o Options, ro keep.ResetOptions) (r keep.ResetReport, err error) {
	if err := hasState(o.Dir); err != nil {
		return keep.ResetReport{DryRun: ro.DryRun, Dir: o.Dir}, err
	}
	// A backup looks like a data directory, and can be browsed as one.
	if keep.IsBackup(o.Dir) {
		return r, &disk.ErrUnusable{Path: o.Dir, Why: "it is a backup, which is only read", Do: "name a data directory"}
	}
	if err := refuseNetworkUnless(o); err != nil {
		return r, err
	}
	// What is stored is counted with the lock held, and before anything is moved.
	totals := func() (engine.Totals, error) { return storedTotals(o) }
	fill := func(b *bolt.Tx, e engine.AuditEntry) error {
		if err := fillState(b); err != nil {
			return err
		}
		return newTx(b, e.At).beginAnew(e, ro.Forget)
	}
	return keep.Reset(o.Dir, ro, totals, fill, func(lock *disk.Lock) error {
		db, err := openLocked(o, lock, false)
		if err != nil {
			return err
		}
		return db.Close()
	})
}

// storedTotals counts what a directory holds whose lock is held, as far as it can be read.
func storedTotals(o Options) (totals engine.Totals, err error) {
	// The lock is keep.Reset's: this DB has none, and is not closed by Close, which would free it.
	db := &DB{dir: o.Dir, log: zerolog.Nop(), readOnly: true, payloads: payload.New(o.Dir, true, zerolog.Nop())}
	if err = db.openState(o); err == nil {
		totals, err = db.Totals(context.Background())
	}
	if db.bolt != nil {
		err = errors.Join(err, db.bolt.Close())
	}
	return totals, err
}

// beginAnew adds the entry that says so to the audit, and replaces saved states by a word that
// their owners cannot read: they tell of other times, such as the limiter's counts.
func (t *txn) beginAnew(e engine.AuditEntry, disbelieve []string) error {
	// There is no open store yet, and AddAudit needs but the transaction.
	_, err := (&DB{}).AddAudit(t, e)
	for _, name := range disbelieve {
		err = errors.Join(err, t.PutBlob(tState, []byte(name), []byte("restored")))
	}
	return err
}

// restored is when a backup was last put back; the zero time when never.
func (t *txn) restored() time.Time {
	at, _, _ := t.Instant(tMeta, metaRestored) // a record that cannot be read costs a few calls
	return at
}

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
