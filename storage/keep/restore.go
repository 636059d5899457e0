package keep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

const (
	restoreExt = ".restoring"
	keptExt    = ".before-restore-" // and when
)

// RestoreOptions say what to put back, and where.
type RestoreOptions struct {
	Backups string // folder of the backups; "" = backup/ in the data directory
	Name    string // "" = the newest that can be used, where all are of one store
	DryRun  bool
	Verify  payload.Verifier
	By      engine.Actor // for the audit
	// Forget names saved states (SaveState) that tell of the moments before the backup and must not
	// be believed after it, such as the limiter's counts. Each is replaced by a word that its owner
	// cannot read.
	Forget   []string
	Progress func(done, total int64)
}

// What restore does with a file.
const (
	DoPutBack = "put back"                                // it is not there
	DoReplace = "replace"                                 // it is kept under another name
	DoKeep    = "keep"                                    // it is sound, and newer than the copy
	doNothing = "leave: damaged, and no copy of it there" // nothing better to offer

	doNotPutBack = "not put back: its copy is not sound"
)

// RestoredFile is what restore did, or would do, with one file of the data directory.
type RestoredFile struct {
	Name string `json:"name"`
	Do   string `json:"do"`
	Kept string `json:"kept,omitempty"` // under which name the old one stays
	Why  string `json:"why,omitempty"`
	Size int64  `json:"size"` // of what is put back
	from engine.BackupFile
}

// RestoreReport is what one Restore did.
type RestoreReport struct {
	DryRun bool           `json:"dry_run,omitempty"`
	From   Backup         `json:"from"`
	Age    time.Duration  `json:"age_ns"`
	Files  []RestoredFile `json:"files"`
	Bytes  int64          `json:"bytes"`
}

// Mixed reports whether a part of what the state names was not put back.
func (r RestoreReport) Mixed() bool {
	return slices.ContainsFunc(r.Files, func(f RestoredFile) bool { return f.Do == doNothing || f.Do == doNotPutBack })
}

// restorer puts one backup back.
// It plans everything first: a restore that would fail half way, for want of room or for a backup
// of a newer version, has then changed nothing.
type restorer struct {
	ctx    context.Context
	dir    string
	to     string // folder of the backups
	o      RestoreOptions
	schema uint64
	at     time.Time
	sign   func(b *bolt.Tx, e engine.AuditEntry) error // adds to the audit: see Restore
	report *RestoreReport
	done   int64
}

// Restore puts a backup back into a data directory that nobody holds (*ErrHeld). state.db is
// replaced; the one that was there keeps its bytes under another name. Payload files that are sound
// stay, since they have all that the backup has and what came after; missing and damaged ones are
// put back. Nothing is deleted, and at no instant is there no state.db.
//
// schema is the newest version that this program reads. sign is called in a transaction of the copy
// before it is let in, and adds the entry to the audit.
func Restore(
	ctx context.Context, dir string, schema uint64, o RestoreOptions,
	sign func(b *bolt.Tx, e engine.AuditEntry) error,
) (r RestoreReport, err error) {
	lock, err := disk.LockDir(dir, false)
	if err != nil {
		return r, err
	}
	defer lock.Release()
	rs := &restorer{
		ctx: ctx, dir: dir, schema: schema, to: backupsOf(dir, o.Backups),
		o: o, at: disk.Now(), sign: sign, report: &r,
	}
	r.DryRun = o.DryRun
	if err := rs.plan(); err != nil || o.DryRun {
		return r, err
	}
	return r, rs.run()
}

// plan chooses the backup and says what becomes of each file.
func (r *restorer) plan() error {
	all, err := Backups(r.to)
	if err != nil {
		return err
	}
	if r.report.From, err = r.choose(all); err != nil {
		return err
	}
	// Age is what the restore takes back of the state: everything since.
	r.report.Age = r.at.Sub(r.report.From.Taken)
	// The manifest tells, so that nothing is copied in vain. The copy itself is asked again in
	// signCopy.
	if have := r.report.From.Schema; have > int(r.schema) {
		return &disk.ErrNewer{Path: r.report.From.Path, Have: have, Know: int(r.schema)}
	}
	state, err := r.planFile(disk.StateFile, r.report.From.State, true)
	if err != nil {
		return err
	}
	r.add(state)
	return r.planMonths(all)
}

// choose finds the backup that was named, or the newest that can be used. One that was named and
// cannot be used is an error: another one would not be what was asked for. So is none where several
// stores have their backups: the newest of them may be another's.
func (r *restorer) choose(all []Backup) (Backup, error) {
	var names []string
	newest := map[string]string{} // backup of each store; manifests of older versions do not tell theirs
	for _, b := range all {
		store := b.State.Instance
		known := slices.ContainsFunc(slices.Collect(maps.Keys(newest)), func(s string) bool { return sameStore(s, store) })
		if !known && store != "" && b.Problem == "" {
			newest[store] = b.Name
		}
	}
	if r.o.Name == "" && len(newest) > 1 {
		return Backup{}, &disk.ErrUnusable{
			Path: r.to, Why: fmt.Sprintf("backups of %d stores lie in it", len(newest)),
			Do: "name one, as in `farsight restore BACKUP`; the newest of each store: " +
				strings.Join(slices.Sorted(maps.Values(newest)), ", "),
		}
	}
	for _, b := range all {
		switch {
		case r.o.Name == b.Name && b.Problem != "":
			return b, &disk.Damaged{Path: b.Path, Why: b.Problem}
		case r.o.Name == b.Name, r.o.Name == "" && b.Problem == "":
			return b, nil
		}
		names = append(names, b.Name)
	}
	e := &disk.ErrUnusable{Path: r.to, Why: "there is no backup in it", Do: "name the folder that `farsight backup` wrote to"}
	if len(names) > 0 {
		e.Why = fmt.Sprintf("there is no backup %q in it", r.o.Name)
		e.Do = "choose one of " + strings.Join(names, ", ")
	}
	return Backup{}, e
}

// add puts a file into the plan, and adds up what is to be written.
func (r *restorer) add(f RestoredFile) {
	if f.Do == DoPutBack || f.Do == DoReplace {
		f.Size = f.from.Size
		r.report.Bytes += f.Size
	}
	r.report.Files = append(r.report.Files, f)
}

// planFile says what becomes of one file. A payload file that is sound stays (always = false).
func (r *restorer) planFile(name string, from engine.BackupFile, always bool) (f RestoredFile, err error) {
	f = RestoredFile{Name: name, Do: DoPutBack, from: from}
	path := filepath.Join(r.dir, name)
	there, err := disk.Exists(path)
	if err != nil {
		return f, disk.Unusable(path, err)
	}
	if !there {
		return f, nil
	}
	// It looks at pages and not at values: a payload that is damaged in itself is found by check.
	_, err = disk.Preflight(path)
	switch {
	// A payload file only ever gains: one that is sound, and the one that was copied, has at least
	// what its copy has.
	case err == nil && !always && sameOrigin(path, from):
		f.Do = DoKeep
		return f, nil
	case err != nil && !disk.IsDamage(err):
		return f, err
	case err != nil:
		f.Why = err.Error()
	}
	// A damaged month stays: parts of it may be readable, and there is nothing better.
	if from.Name == "" {
		f.Do = doNothing
		return f, nil
	}
	f.Do = DoReplace
	f.Kept, err = r.freeKept(name)
	return f, err
}

// sameOrigin reports whether a month's file is the one of the copy, or was archived from it.
func sameOrigin(path string, from engine.BackupFile) (same bool) {
	if from.Name == "" {
		return true // there is no copy
	}
	o := disk.BoltOptions()
	o.ReadOnly = true
	b, err := disk.OpenFile(path, o, zerolog.Nop())
	if err != nil {
		return false
	}
	defer b.Close()
	_ = b.View(func(tx *bolt.Tx) error {
		origin := payload.Origin(tx)
		named := copyForm.FindStringSubmatch(from.Name)[2]
		same = named == origin || named == "" && (from.Instance == origin || from.Instance == versionOf(tx).Instance)
		return nil
	})
	return same
}

// freeKept is a name beside a file that nothing has.
func (r *restorer) freeKept(name string) (string, error) {
	for n := 0; ; n++ {
		kept := name + keptExt + r.at.Add(time.Duration(n)*time.Second).UTC().Format(stampForm)
		there, err := disk.Exists(filepath.Join(r.dir, kept))
		if err != nil || !there {
			return kept, err
		}
	}
}

// planMonths covers every month that there is a copy of, and every month that is there.
func (r *restorer) planMonths(all []Backup) error {
	// Its own copies first, then what later backups of the same store have of other months. A file's
	// copy may have been renewed since: the newest manifest that names it tells its sum.
	all = ofStore(all, r.report.From.State.Instance)
	copies := newestCopies(r.to, all)
	unsound := map[string]bool{}
	for _, m := range r.report.From.Months {
		delete(copies, m.Month)
		for _, k := range slices.Backward(all) {
			for _, f := range k.Months {
				if f.Name == m.Name {
					copies[m.Month] = f
				}
			}
		}
		info, err := os.Lstat(filepath.Join(r.to, m.Name))
		unsound[m.Month] = err != nil || info.Size() != copies[m.Month].Size
	}
	here, err := payload.New(r.dir, true, zerolog.Nop()).Months()
	if err != nil {
		return err
	}
	months := map[string]bool{}
	for _, m := range here {
		months[m] = true
	}
	// A month that is only in the backup was deleted by somebody, or lost.
	for m := range copies {
		months[m] = true
	}
	for _, m := range slices.Sorted(maps.Keys(months)) {
		f, err := r.planFile(filepath.Join(payload.Dir, m+payload.Ext), copies[m], false)
		if err != nil {
			return err
		}
		// The copy is gone or cut: the others are put back, and this one is told of.
		if unsound[m] && (f.Do == DoPutBack || f.Do == DoReplace) {
			f = RestoredFile{Name: f.Name, Do: doNotPutBack, Why: "its copy is missing, or has another size than the manifest says"}
		}
		r.add(f)
	}
	return nil
}

// run carries the plan out. The first file is the state: see plan.
func (r *restorer) run() error {
	if err := disk.NeedRoom(r.dir, "the restore", r.report.Bytes); err != nil {
		return err
	}
	// A state whose copy is not what was written ends the restore before anything is replaced.
	state := r.report.Files[0].from
	path := filepath.Join(r.to, state.Name)
	if crc, _, err := disk.SumFile(r.ctx, path); err != nil || crc != state.CRC {
		return errors.Join(err, &disk.Damaged{Path: path, Why: "it is not the file that the backup wrote"})
	}
	// Payloads first: once the state is there, it may name them.
	for i, f := range r.report.Files[1:] {
		err := r.putFile(f, nil)
		// One month whose copy is not sound must not keep the others, and the state, away.
		if disk.IsDamage(err) || errors.Is(err, fs.ErrNotExist) {
			r.report.Files[i+1] = RestoredFile{Name: f.Name, Do: doNotPutBack, Why: err.Error()}
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return r.putFile(r.report.Files[0], r.signCopy)
}

// putFile copies one file beside its place, proves it, keeps what is in its place under another name,
// and lets it in.
func (r *restorer) putFile(f RestoredFile, sign func(path string) error) error {
	// It stays as it is.
	if f.Do != DoPutBack && f.Do != DoReplace {
		return nil
	}
	path := filepath.Join(r.dir, f.Name)
	if err := regular.Mkdir(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrExist) {
		return disk.Unusable(path, err)
	}
	temp := path + restoreExt
	// f.from.CRC is that of the manifest: a copy whose bytes have changed since ends the restore
	// before anything is replaced.
	from := filepath.Join(r.to, f.from.Name)
	if err := disk.CopyFile(r.ctx, from, temp, f.from.CRC, r.moved); err != nil {
		return err
	}
	crash.Point("restore-copied")
	err := r.o.Verify.Verify(r.ctx, temp)
	if err == nil && sign != nil {
		err = sign(temp)
	}
	if err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("put back %s: %w", from, err)
	}
	if f.Kept != "" {
		// A second name for the file as it is: it is never moved away, so there is no instant
		// without a state.db, for which the next start would make an empty one.
		if err := keepAs(path, filepath.Join(r.dir, f.Kept)); err != nil {
			return err
		}
	}
	crash.Point("restore-kept")
	if err := regular.Rename(temp, path); err != nil {
		return disk.Unusable(path, err)
	}
	crash.Point("restore-renamed")
	return nil
}

// moved counts n bytes as written, and passes it on.
func (r *restorer) moved(n int) {
	r.done += int64(n)
	if r.o.Progress != nil {
		r.o.Progress(min(r.done, r.report.Bytes), r.report.Bytes)
	}
}

// keepAs gives a file a second name, or a copy where the file system knows no second names.
// A second name costs no room, and the file under it is the same to the last bit.
func keepAs(path, kept string) error {
	err := regular.Link(path, kept)
	if err != nil {
		var crc uint32
		// FAT and some network file systems know no second names. The copy is proved by its sum.
		if crc, _, err = disk.SumFile(context.Background(), path); err == nil {
			err = errors.Join(disk.CopyFile(context.Background(), path, kept, crc, nil), regular.SyncDir(filepath.Dir(kept)))
		}
	}
	if err != nil {
		return fmt.Errorf("keep %s as %s: %w", path, kept, err)
	}
	return nil
}

// signCopy notes in the copy that it was put back, when, and by whom.
// It is done before the copy takes its place: a state.db that was put back always says so.
func (r *restorer) signCopy(path string) error {
	b, err := disk.OpenFile(path, disk.BoltOptions(), zerolog.Nop())
	if err != nil {
		return err
	}
	err = disk.GuardFile(path, func() error {
		return b.Update(func(tx *bolt.Tx) error {
			if _, err := disk.SchemaOf(tx, path, r.schema); err != nil {
				return err
			}
			return r.sign(tx, engine.AuditEntry{
				At: r.at, By: r.o.By, Op: "restore", Target: r.report.From.Name,
				Result: "the state of " + r.report.From.Taken.UTC().Format(time.RFC3339) + " was put back", Matched: 1, Applied: 1,
			})
		})
	})
	return errors.Join(err, b.Close())
}
