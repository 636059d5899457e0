package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// Resetting begins a new store in the place of the old one. The new state.db takes the old one's name in one step; it holds
// the audit entry, and a mark that says what is to become of the payloads, which this or the next opening carries out. So
// there is at no instant a store that lacks what it names.

const (
	resetPrefix = "before-reset-" // and when: a folder of the data directory, itself one that can be opened
	resetExt    = ".resetting"
)

// resetKey is the mark, in table state.
var resetKey = []byte("resetting")

// resetting is what the mark says.
type resetting struct {
	Aside string `json:"aside,omitempty"` // folder that the payloads go to; "" = they are deleted
}

// ResetOptions say how to begin anew.
type ResetOptions struct {
	NoBackup bool // delete what was stored instead of moving it aside
	DryRun   bool
	By       engine.Actor // for the audit
	Reason   string
	// Forget names saved states (SaveState) of which nothing may be believed in the new store, such as the limiter's counts.
	Forget []string
}

// ResetReport is what one Reset did, or would do.
type ResetReport struct {
	DryRun bool          `json:"dry_run,omitempty"`
	Dir    string        `json:"dir"`
	Aside  string        `json:"aside,omitempty"` // where what was stored is now; "" = it is deleted
	Totals engine.Totals `json:"totals"`          // of what was stored
	Months int           `json:"months"`          // of payloads
	State  int64         `json:"state_bytes"`     // of state.db
	Bytes  int64         `json:"bytes"`           // of all files of the store
	// Damage says why Totals is not known.
	Damage string `json:"damage,omitempty"`
}

// Reset begins a new store in a data directory that nobody holds (*ErrHeld), whatever state the old one is in. Everything
// else in the directory stays, backups too. It needs something that is stored: fs.ErrNotExist.
func Reset(o Options, ro ResetOptions) (r ResetReport, err error) {
	r.DryRun, r.Dir = ro.DryRun, o.Dir
	if err := resettable(o); err != nil {
		return r, err
	}
	lock, err := disk.LockDir(o.Dir, false)
	if err != nil {
		return r, err
	}
	at := disk.Now()
	if !ro.DryRun {
		err = finishEarlier(o.Dir)
	}
	if err == nil {
		err = r.weigh(o, lock)
	}
	if err == nil && !ro.NoBackup {
		r.Aside, err = freeAside(o.Dir, at)
	}
	if err == nil && !ro.DryRun {
		err = r.begin(ro, at)
	}
	if err != nil || ro.DryRun {
		lock.Release()
		return r, err
	}
	db, err := openLocked(o, lock, false) // carries out the mark
	if err != nil {
		return r, err
	}
	return r, db.Close()
}

func resettable(o Options) error {
	if _, err := os.Stat(disk.StatePath(o.Dir)); err != nil {
		return disk.Unusable(disk.StatePath(o.Dir), err)
	}
	if isBackup(o.Dir) {
		return &disk.ErrUnusable{Path: o.Dir, Why: "it is a backup, which is only read", Do: "name a data directory"}
	}
	if err := refuseNetworkUnless(o); err != nil {
		return err
	}
	return sameDisk(o.Dir, filepath.Join(o.Dir, payload.Dir))
}

// sameDisk refuses payloads that lie on another disk than the directory: they cannot be moved aside by their name.
func sameDisk(dir, payloads string) error {
	var a, b unix.Stat_t
	err := unix.Lstat(payloads, &b)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := errors.Join(err, unix.Stat(dir, &a)); err != nil {
		return disk.Unusable(payloads, err)
	}
	if a.Dev != b.Dev || b.Mode&unix.S_IFMT != unix.S_IFDIR {
		return &disk.ErrUnusable{Path: payloads, Why: "it is no folder of the data directory's own disk", Do: "move it into the data directory, or name another one"}
	}
	return nil
}

// weigh counts what is stored, as far as it can be read.
func (r *ResetReport) weigh(o Options, lock *disk.Lock) error {
	db := &DB{dir: o.Dir, lock: lock, log: zerolog.Nop(), readOnly: true, queue: newQueue(), payloads: payload.New(o.Dir, true, zerolog.Nop())}
	months, err := db.payloads.Months()
	if err != nil {
		return err
	}
	r.Months = len(months)
	if r.State, err = sizeOf(disk.StatePath(o.Dir)); err != nil {
		return err
	}
	r.Bytes = r.State
	for _, m := range months {
		n, err := sizeOf(filepath.Join(o.Dir, payload.Dir, m+payload.Ext))
		if err != nil {
			return err
		}
		r.Bytes += n
	}
	err = db.openState(o)
	if err == nil {
		err = db.guarded(func() error {
			return db.bolt.View(func(b *bolt.Tx) (err error) {
				r.Totals, err = db.tx(b).totals()
				return err
			})
		})
	}
	if err != nil {
		r.Damage = err.Error()
	}
	if db.bolt == nil {
		return nil
	}
	return db.bolt.Close()
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, disk.Unusable(path, err)
	}
	return info.Size(), nil
}

// begin puts the new state.db in the place of the old one, which has another name then.
func (r *ResetReport) begin(ro ResetOptions, at time.Time) error {
	temp := disk.StatePath(r.Dir) + resetExt
	if err := disk.CreateFile(temp, func(b *bolt.Tx) error { return r.fill(b, ro, at) }); err != nil {
		return err
	}
	if err := r.keep(); err != nil {
		return err
	}
	crash.Point("reset-kept")
	if err := os.Rename(temp, disk.StatePath(r.Dir)); err != nil {
		return disk.Unusable(disk.StatePath(r.Dir), err)
	}
	crash.Point("reset-renamed")
	return disk.SyncDir(r.Dir)
}

// keep gives the old state.db a second name in the folder that it is moved to. What a reset that was cut off here has left is
// such a folder, too, and goes: the file is still in its place.
func (r *ResetReport) keep() error {
	if r.Aside == "" {
		return nil
	}
	if err := dropTwins(r.Dir); err != nil {
		return err
	}
	if err := os.Mkdir(r.Aside, disk.DirMode); err != nil {
		return disk.Unusable(r.Aside, err)
	}
	if err := keepAs(disk.StatePath(r.Dir), filepath.Join(r.Aside, disk.StateFile)); err != nil {
		return err
	}
	return disk.SyncDir(r.Dir)
}

// dropTwins removes folders of earlier resets whose state.db is the one that is in use.
func dropTwins(dir string) error {
	mine, err := os.Stat(disk.StatePath(dir))
	if err != nil {
		return disk.Unusable(disk.StatePath(dir), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return disk.Unusable(dir, err)
	}
	for _, e := range entries {
		twin := filepath.Join(dir, e.Name(), disk.StateFile)
		info, err := os.Lstat(twin)
		if err != nil || !strings.HasPrefix(e.Name(), resetPrefix) || !os.SameFile(mine, info) {
			continue
		}
		if err := os.Remove(twin); err != nil {
			return disk.Unusable(twin, err)
		}
		_ = os.Remove(filepath.Dir(twin)) // it stays if somebody has put something into it
	}
	return nil
}

// freeAside is a folder of the directory that is not there yet.
func freeAside(dir string, at time.Time) (string, error) {
	for n := 0; ; n++ {
		aside := filepath.Join(dir, resetPrefix+at.Add(time.Duration(n)*time.Second).UTC().Format(stampForm))
		if there, err := disk.Exists(aside); err != nil || !there {
			return aside, err
		}
	}
}

// fill makes the tables of the new store, with the mark and the entry in the audit.
func (r *ResetReport) fill(b *bolt.Tx, ro ResetOptions, at time.Time) error {
	if err := fillState(b); err != nil {
		return err
	}
	mark := resetting{}
	if r.Aside != "" {
		mark.Aside = filepath.Base(r.Aside)
	}
	text, err := json.Marshal(mark)
	if err != nil {
		return err
	}
	t := newTx(b, at)
	_, auditErr := (&DB{}).AddAudit(t, engine.AuditEntry{
		At: at, By: ro.By, Op: "reset", Target: "data directory", Reason: ro.Reason, Result: r.Text(), Matched: 1, Applied: 1,
	})
	return errors.Join(t.putBlob(tState, resetKey, text), t.disbelieve(ro.Forget), auditErr)
}

// Text says in one sentence what was done, or would be.
func (r ResetReport) Text() string {
	what := fmt.Sprintf("%s of %s and %s of payloads", human.Counted(int(r.Totals.Matches), "match", "matches"),
		human.Counted(int(r.Totals.Accounts), "account", "accounts"), human.Counted(r.Months, "month", "months"))
	if r.Damage != "" {
		what = "a store that cannot be counted and " + human.Counted(r.Months, "month", "months") + " of payloads"
	}
	did, dry := "deleted", ""
	if r.Aside != "" {
		did = "moved to " + filepath.Base(r.Aside)
	}
	if r.DryRun {
		dry = "would be "
	}
	return fmt.Sprintf("%s, %s in all, %s%s", what, human.Bytes(r.Bytes), dry, did)
}

// finishReset carries out the mark of a reset, if there is one, and removes it.
func (db *DB) finishReset() error {
	mark, marked, err := db.resetMark()
	if err != nil || !marked {
		return err
	}
	payloads := filepath.Join(db.dir, payload.Dir)
	if mark.Aside != "" {
		aside := filepath.Join(db.dir, filepath.Base(mark.Aside))
		err = errors.Join(os.MkdirAll(aside, disk.DirMode), os.Rename(payloads, filepath.Join(aside, payload.Dir)))
	} else {
		err = os.RemoveAll(payloads)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return disk.Unusable(payloads, err)
	}
	for _, half := range []string{compactExt, restoreExt} { // of the old one
		if err := os.Remove(disk.StatePath(db.dir) + half); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return disk.Unusable(disk.StatePath(db.dir)+half, err)
		}
	}
	if err := disk.SyncDir(db.dir); err != nil {
		return disk.Unusable(db.dir, err)
	}
	crash.Point("reset-cleared")
	return db.bolt.Update(func(b *bolt.Tx) error { return newTx(b, disk.Now()).remove(tState, resetKey) })
}

// finishEarlier carries out the mark of a reset that was cut off. Its payloads are not those of the store that is there.
func finishEarlier(dir string) error {
	b, err := disk.OpenFile(disk.StatePath(dir), disk.BoltOptions(), zerolog.Nop())
	if disk.IsDamage(err) {
		return nil // it has no mark that could be read
	}
	if err != nil {
		return err
	}
	db := &DB{dir: dir, bolt: b}
	err = db.guarded(db.finishReset)
	if disk.IsDamage(err) {
		err = nil
	}
	return errors.Join(err, b.Close())
}

func (db *DB) resetMark() (mark resetting, marked bool, err error) {
	err = db.bolt.View(func(b *bolt.Tx) error {
		if b.Bucket([]byte(tState.name)) == nil {
			return nil // no store of ours
		}
		text, ok, err := newTx(b, disk.Now()).blob(tState, resetKey)
		if err != nil || !ok {
			return err
		}
		marked = true
		if err := json.Unmarshal(text, &mark); err != nil {
			return tState.corrupt(resetKey, err)
		}
		return nil
	})
	return mark, marked, err
}
