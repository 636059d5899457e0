package keep

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

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// Resetting begins a new store in the place of the old one. The new state.db takes the old one's
// name in one step; it holds the audit entry, and a mark that says what is to become of the
// payloads, which this or the next opening carries out. So there is at no instant a store that
// lacks what it names.

const (
	resetPrefix = "before-reset-" // and when: a folder of the data directory, itself one that can be opened
	resetExt    = ".resetting"
)

// resetKey is the mark, in the table of small blobs.
var resetKey = []byte("resetting")

const stateTable = "state"

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
	// Forget names saved states (SaveState) of which nothing may be believed in the new store, such
	// as the limiter's counts.
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

// Reset begins a new store in a data directory that nobody holds (*ErrHeld), whatever state the old
// one is in. Everything else in the directory stays, backups too. It needs something that is
// stored: fs.ErrNotExist.
//
// What it needs of the tables is handed in: totals counts what is stored, fill makes the tables of
// a new store with the entry in its audit, and open opens the new store with the lock that it is
// given, which carries out the mark.
func Reset(
	dir string, o ResetOptions, totals func() (engine.Totals, error),
	fill func(b *bolt.Tx, e engine.AuditEntry) error, open func(*disk.Lock) error,
) (r ResetReport, err error) {
	r.DryRun, r.Dir = o.DryRun, dir
	if err := sameDisk(dir, filepath.Join(dir, payload.Dir)); err != nil {
		return r, err
	}
	lock, err := disk.LockDir(dir, false)
	if err != nil {
		return r, err
	}
	// One instant for the name of the folder and for the audit.
	at := disk.Now()
	if !o.DryRun {
		err = finishEarlier(dir)
	}
	if err == nil {
		err = r.weigh(totals)
	}
	// The name is chosen for a dry run as well, which says where everything would go.
	if err == nil && !o.NoBackup {
		r.Aside, err = freeAside(dir, at)
	}
	if err == nil && !o.DryRun {
		err = r.begin(o, at, fill)
	}
	if err != nil || o.DryRun {
		lock.Release()
		return r, err
	}
	return r, open(lock)
}

// sameDisk refuses payloads that lie on another disk than the directory: they cannot be moved aside
// by their name.
func sameDisk(dir, payloads string) error {
	info, err := os.Lstat(payloads)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var own, its uint64
	if err == nil && info.IsDir() {
		own, _, err = regular.ID(dir)
	}
	if err == nil && info.IsDir() {
		its, _, err = regular.ID(payloads)
	}
	if err != nil {
		return disk.Unusable(payloads, err)
	}
	// A rename works within one file system alone. A link in place of the folder would be moved,
	// and what it leads to would stay in use.
	if own != its || !info.IsDir() {
		return &disk.ErrUnusable{
			Path: payloads, Why: "it is no folder of the data directory's own disk",
			Do: "move it into the data directory, or name another one",
		}
	}
	return nil
}

// weigh counts what is stored, as far as it can be read.
// A store that is damaged can be reset like any other: that may be why it is wanted.
func (r *ResetReport) weigh(totals func() (engine.Totals, error)) error {
	months, err := payload.New(r.Dir, true, zerolog.Nop()).Files()
	if err != nil {
		return err
	}
	r.Months = len(months)
	if r.State, err = disk.Size(disk.StatePath(r.Dir)); err != nil {
		return err
	}
	if r.Bytes, err = disk.Size(append(months, disk.StatePath(r.Dir))...); err != nil {
		return err
	}
	// The text of the damage is shown in place of the counts, and is no error of the reset.
	if r.Totals, err = totals(); err != nil {
		r.Damage = err.Error()
	}
	return nil
}

// begin puts the new state.db in the place of the old one, which has another name then.
// The rename is the one step that matters: before it nothing has happened, after it everything has,
// but for the payloads, which the mark keeps from being taken for the new store's.
func (r *ResetReport) begin(o ResetOptions, at time.Time, fill func(b *bolt.Tx, e engine.AuditEntry) error) error {
	mark := resetting{}
	if r.Aside != "" {
		mark.Aside = filepath.Base(r.Aside)
	}
	text, err := json.Marshal(mark)
	if err != nil {
		return err
	}
	entry := engine.AuditEntry{
		At: at, By: o.By, Op: "reset", Target: "data directory", Reason: o.Reason, Result: r.Text(), Matched: 1, Applied: 1,
	}
	temp := disk.StatePath(r.Dir) + resetExt
	err = disk.CreateFile(temp, func(b *bolt.Tx) error {
		if err := fill(b, entry); err != nil {
			return err
		}
		return disk.TableOf(b, stateTable).PutBlob(resetKey, text)
	})
	if err != nil {
		return err
	}
	if err := r.keep(); err != nil {
		return err
	}
	crash.Point("reset-kept")
	if err := regular.Rename(temp, disk.StatePath(r.Dir)); err != nil {
		return disk.Unusable(disk.StatePath(r.Dir), err)
	}
	crash.Point("reset-renamed")
	return nil
}

// keep gives the old state.db a second name in the folder that it is moved to. What a reset that
// was cut off here has left is such a folder, too, and goes: the file is still in its place.
func (r *ResetReport) keep() error {
	if r.Aside == "" {
		return nil
	}
	// Only one folder may hold the old file at the end: twins would look like two stores.
	if err := dropTwins(r.Dir); err != nil {
		return err
	}
	// The state.db stays where it is until the rename of the new one: there is no instant without
	// one, for which a start would make an empty store.
	if err := regular.Mkdir(r.Aside); err != nil {
		return disk.Unusable(r.Aside, err)
	}
	return keepAs(disk.StatePath(r.Dir), filepath.Join(r.Aside, disk.StateFile))
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
		// Same file means the same inode: the second name of a state.db that was never replaced.
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
// Two resets within a second get two names.
func freeAside(dir string, at time.Time) (string, error) {
	for n := 0; ; n++ {
		aside := filepath.Join(dir, resetPrefix+at.Add(time.Duration(n)*time.Second).UTC().Format(stampForm))
		if there, err := disk.Exists(aside); err != nil || !there {
			return aside, err
		}
	}
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

// FinishReset carries out the mark of a reset, if there is one, and removes it.
func FinishReset(dir string, b *bolt.DB) error {
	mark, marked, err := resetMark(b)
	if err != nil || !marked {
		return err
	}
	// Base alone is used of what the mark says: a damaged or foreign mark must not lead out of the
	// directory.
	payloads := filepath.Join(dir, payload.Dir)
	if mark.Aside != "" {
		aside := filepath.Join(dir, filepath.Base(mark.Aside))
		if err = regular.Mkdir(aside); errors.Is(err, fs.ErrExist) {
			err = nil
		}
		err = errors.Join(err, regular.Rename(payloads, filepath.Join(aside, payload.Dir)))
	} else {
		err = os.RemoveAll(payloads)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return disk.Unusable(payloads, err)
	}
	for _, half := range []string{compactExt, restoreExt} { // of the old one
		if err := os.Remove(disk.StatePath(dir) + half); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return disk.Unusable(disk.StatePath(dir)+half, err)
		}
	}
	if err := regular.SyncDir(dir); err != nil {
		return disk.Unusable(dir, err)
	}
	crash.Point("reset-cleared")
	return b.Update(func(tx *bolt.Tx) error { return disk.TableOf(tx, stateTable).Remove(resetKey) })
}

// finishEarlier carries out the mark of a reset that was cut off. Its payloads are not those of the
// store that is there. A store that is damaged has no mark that could be read.
func finishEarlier(dir string) error {
	b, err := disk.OpenFile(disk.StatePath(dir), disk.BoltOptions(), zerolog.Nop())
	if err == nil {
		err = disk.GuardFile(disk.StatePath(dir), func() error { return FinishReset(dir, b) })
		err = errors.Join(err, b.Close())
	}
	if disk.IsDamage(err) {
		return nil
	}
	return err
}

// Resetting reports whether a reset was cut off.
func Resetting(tx *bolt.Tx) bool { return disk.TableOf(tx, stateTable).Has(resetKey) }

// resetMark reads the mark; marked is false where there is none.
func resetMark(b *bolt.DB) (mark resetting, marked bool, err error) {
	err = b.View(func(tx *bolt.Tx) error {
		state := disk.TableOf(tx, stateTable)
		if !state.Exists() {
			return nil // no store of ours
		}
		text, ok, err := state.Blob(resetKey)
		if err != nil || !ok {
			return err
		}
		marked = true
		if err := json.Unmarshal(text, &mark); err != nil {
			return &disk.ErrCorrupt{Bucket: stateTable, Key: resetKey, Err: err}
		}
		return nil
	})
	return mark, marked, err
}
