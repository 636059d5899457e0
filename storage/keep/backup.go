package keep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
)

// Backups lie in one folder, by default backup/ of the data directory:
//
//	20261121T140000Z/state.db        the state as one transaction saw it
//	20261121T140000Z/manifest.json   sizes, checksums and versions of everything; written last
//	payload/2026-10.<origin>.db      the newest sound copy of one file of a month's payloads, shared by all backups
//
// A month's payloads only ever grow or are replaced by the same in another codec, so that the
// newest copy serves the older states too, and a month that did not change is copied once. A copy
// takes its name after it was verified.
const (
	backupDir    = "backup"
	partialExt   = ".partial"
	manifestFile = "manifest.json"
	stampForm    = "20060102T150405Z"
	defaultKeep  = 7
)

// BackupOptions say how to back up.
type BackupOptions struct {
	To        string // folder of the backups; "" = backup/ in the data directory
	Keep      int    // newest to keep; 0 = 7. Those made before a migration are not counted and not removed
	StateOnly bool   // no payloads
	Note      string // why, if not by schedule or command
	Verify    payload.Verifier
	Progress  func(done, total int64) // bytes; called by one goroutine
}

// Backup is one kept backup, as its manifest tells.
type Backup struct {
	Name     string              `json:"name"`
	Taken    time.Time           `json:"taken"`
	Schema   int                 `json:"schema"`
	Note     string              `json:"note,omitempty"`
	Verified bool                `json:"verified"`
	State    engine.BackupFile   `json:"state"`
	Months   []engine.BackupFile `json:"months"`
	// Failed names months whose copy was not sound: the copy of an earlier backup stays in its
	// place.
	Failed  map[string]string `json:"failed,omitempty"`
	Path    string            `json:"-"`
	Problem string            `json:"-"` // why it cannot be used
}

// Bytes is what restoring all of it would write.
func (b Backup) Bytes() int64 {
	n := b.State.Size
	for _, m := range b.Months {
		n += m.Size
	}
	return n
}

// backuper makes one backup.
//
// Its order is what makes a backup whole without stopping anything: the state first, then the
// payloads that it names, then the manifest, then the name.
type backuper struct {
	Store
	ctx    context.Context
	o      BackupOptions // as they were given
	to     string
	last   map[string]engine.BackupFile // copies of months that are there, as the last manifest tells
	report *engine.BackupDone
	done   int64
	total  int64 // as it was estimated: what is written meanwhile comes to it
}

// Backup copies the store while it is in use; commits go on. ErrDiskFull before anything is written
// when there is no room, *ErrHeld when another backup to the same folder is under way, *Damaged
// when the copy is not sound.
func (s Store) Backup(ctx context.Context, o BackupOptions) (r engine.BackupDone, err error) {
	began := time.Now()
	r.Months = []engine.BackupFile{}
	b := &backuper{Store: s, ctx: ctx, o: o, to: backupsOf(s.Dir, o.To), report: &r}
	if err := refuseStore(b.to); err != nil {
		return r, err
	}
	// It is made if it is not there, for its owner alone.
	if err := disk.PrepareDir(b.to); err != nil {
		return r, err
	}
	// The lock of the folder of backups, not that of the data directory, which an engine holds
	// meanwhile.
	lock, err := disk.LockDir(b.to, false)
	if err != nil {
		return r, err
	}
	defer lock.Release()
	err = b.run()
	r.Took = time.Since(began)
	return r, err
}

// run makes the backup. It looks at the months twice: first to know how much room is needed,
// then, after the state, for what is to be copied.
func (b *backuper) run() error {
	kept, err := Backups(b.to)
	if err != nil {
		return err
	}
	if err := b.own(kept); err != nil {
		return err
	}
	if _, err := b.changed(); err != nil {
		return err
	}
	if err := disk.NeedRoom(b.to, "the backup", b.total); err != nil {
		return err
	}
	if err := b.state(kept); err != nil {
		return err
	}
	// What the state names was stored before it: months are looked at after it was copied, or one
	// that got its first payload, or its next, meanwhile would be left out. The backup will be called
	// verified: a copy that is no longer what was written is none, and its month is copied again.
	for month, f := range b.last {
		crc, _, err := disk.SumFile(b.ctx, filepath.Join(b.to, f.Name))
		if b.ctx.Err() != nil {
			return context.Cause(b.ctx)
		}
		if err != nil || crc != f.CRC {
			delete(b.last, month)
		}
	}
	b.report.Months, b.report.Reused, b.report.Failed = []engine.BackupFile{}, 0, nil
	months, err := b.changed()
	if err != nil {
		return err
	}
	for _, m := range months {
		if err := b.month(m); err != nil {
			return err
		}
	}
	if err := b.finish(); err != nil {
		return err
	}
	return b.prune()
}

// refuseStore refuses a folder in which a store, open or not, has its files.
func refuseStore(to string) error {
	for _, dir := range []string{to, filepath.Dir(to)} {
		there, err := disk.Exists(disk.StatePath(dir))
		if err == nil && there && (dir == to || filepath.Base(to) == payload.Dir) {
			return &disk.ErrUnusable{Path: to, Why: "it is a data directory", Do: "name a folder for backups alone"}
		}
	}
	return nil
}

// own finds the newest copies of this store's months: the folder may have those of other stores, too.
func (b *backuper) own(kept []Backup) error {
	err := b.Bolt.View(func(tx *bolt.Tx) error {
		b.report.State.Instance = b.storeName(tx)
		return nil
	})
	b.last = newestCopies(b.to, ofStore(kept, b.report.State.Instance))
	return err
}

// storeName names the store in a directory: the instance of its state, and the directory. A copy of the directory
// has the same instance, and must not take the backups of the original for its own.
func (b *backuper) storeName(tx *bolt.Tx) string { return versionOf(tx).Instance + b.dirID() }

// dirID names the directory by its path and its inode, as ".0123456789abcdef": a directory that was moved has another
// name. It is "" where the backups lie in the directory: no other store backs up there.
func (b *backuper) dirID() string {
	dir, to := absolute(b.Dir), absolute(b.to)
	if strings.HasPrefix(to, dir+string(filepath.Separator)) {
		return ""
	}
	_, inode, _ := regular.ID(dir)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", dir, inode))
	return "." + hex.EncodeToString(sum[:8])
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// sameStore compares two names of stores. Manifests of older versions have the instance alone.
func sameStore(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

// ofStore are the backups of one store.
func ofStore(kept []Backup, store string) (list []Backup) {
	for _, k := range kept {
		if sameStore(k.State.Instance, store) {
			list = append(list, k)
		}
	}
	return list
}

// newestCopies tells what the copies of months are, of those that are still as long as they were.
// The length is all that is looked at here: who uses a copy compares its checksum.
func newestCopies(to string, kept []Backup) map[string]engine.BackupFile {
	newest := map[string]engine.BackupFile{}
	for _, k := range kept { // newest first
		for _, f := range k.Months {
			info, err := os.Lstat(filepath.Join(to, f.Name))
			if _, known := newest[f.Month]; !known && err == nil && info.Mode().IsRegular() && info.Size() == f.Size {
				newest[f.Month] = f
			}
		}
	}
	return newest
}

// changed lists the months to copy, takes over the copies that are up to date, and adds up what
// there is to write. A month has not changed if it is the same file (its instance) after the same
// transaction (its seq): the archiver's new file has another instance, and each commit another seq.
func (b *backuper) changed() (months []string, err error) {
	// The pages in use are what a copy writes. The file may be larger, by what was deleted.
	if b.total, err = disk.UsedBytes(disk.StatePath(b.Dir)); err != nil || b.o.StateOnly {
		return nil, err
	}
	all, err := b.Payloads.Months()
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		now, err := b.version(m)
		last, have := b.last[m]
		switch {
		// One damaged month must not keep the others, and the state, from being backed up.
		case disk.IsDamage(err):
			b.fail(m, err)
		case err != nil:
			return nil, err
		case have && last.Seq == now.Seq && last.Instance == now.Instance && strings.HasSuffix(last.Name, b.dirID()+payload.Ext):
			b.report.Months = append(b.report.Months, last)
			b.report.Reused++
		default:
			months = append(months, m)
			b.total += now.Size
		}
	}
	return months, nil
}

// fail notes a month that has no new copy; the one before stays.
// A backup with a month of yesterday is better than none. Its error is in the manifest and in
// the receipt.
func (b *backuper) fail(month string, err error) {
	if b.report.Failed == nil {
		b.report.Failed = map[string]string{}
	}
	b.report.Failed[month] = err.Error()
	if last, ok := b.last[month]; ok {
		b.report.Months = append(b.report.Months, last)
	}
}

// version tells what a copy of the month would be now.
// Size is that of the file with its free pages, which are copied too.
func (b *backuper) version(month string) (f engine.BackupFile, err error) {
	err = b.Payloads.With(month, false, func(s *payload.Shard) error {
		return s.View(func(tx *bolt.Tx) error {
			f = versionOf(tx)
			return nil
		})
	})
	return f, err
}

// versionOf reads it from an open transaction, so that it tells of the very bytes that are copied
// in it.
func versionOf(tx *bolt.Tx) engine.BackupFile {
	instance, _, err := disk.MetaOf(tx).Text(disk.MetaInstance)
	if err != nil {
		instance = "unreadable" // check names it
	}
	// Without an instance of its own the month differs from each copy there is, and is copied.
	return engine.BackupFile{Seq: uint64(tx.ID()), Instance: instance, Size: tx.Size()}
}

// moved counts n bytes as written, and passes it on.
func (b *backuper) moved(n int) {
	b.done += int64(n)
	b.report.Copied += int64(n)
	if b.o.Progress != nil {
		b.o.Progress(min(b.done, b.total), b.total)
	}
}

// state copies state.db into a folder that has no name of a backup yet.
// The name with ".partial" is what tells an interrupted backup from one that can be used.
func (b *backuper) state(kept []Backup) error {
	b.report.Taken = disk.Now().Truncate(time.Millisecond)
	b.report.Name = freeName(b.report.Taken, kept)
	b.report.Path = filepath.Join(b.to, b.report.Name)
	b.report.Note = b.o.Note
	if err := b.removePartial(); err != nil {
		return err
	}
	partial := b.report.Path + partialExt
	if err := regular.Mkdir(partial); err != nil {
		return disk.Unusable(partial, err)
	}
	path := filepath.Join(partial, disk.StateFile)
	w, seq, err := disk.Snapshot(b.ctx, b.Bolt, path, b.moved)
	if err != nil {
		return err
	}
	crash.Point("backup-copied")
	// It is read back from disk, page by page and record by record, by another process.
	if err := b.o.Verify.Verify(b.ctx, path); err != nil {
		return fmt.Errorf("the copy of state.db is not sound: %w", err)
	}
	b.report.State = engine.BackupFile{
		Name: b.report.Name + "/" + disk.StateFile,
		Size: w.Size, CRC: w.Crc, Seq: seq, Taken: b.report.Taken,
	}
	return b.Bolt.View(func(tx *bolt.Tx) error {
		// Restore must know it before it copies anything: an older Farsight cannot read the state.
		have, err := disk.SchemaOf(tx, disk.StatePath(b.Dir), b.Schema)
		b.report.Schema = int(have)
		b.report.State.Instance = b.storeName(tx)
		return err
	})
}

// freeName is the second of the backup, or the one after the last backup: names tell the order,
// also when a clock was put back.
func freeName(taken time.Time, kept []Backup) string {
	name := taken.UTC().Format(stampForm)
	// 20261121T140000Z: the text sorts as the time does.
	if len(kept) == 0 || name > kept[0].Name {
		return name
	}
	last, err := time.Parse(stampForm, kept[0].Name)
	if err != nil {
		return name // cannot be: Backups lists only such names
	}
	return last.Add(time.Second).Format(stampForm)
}

// removePartial removes what interrupted backups have left.
// The folder's lock is held: none of them is being written.
func (b *backuper) removePartial() error {
	to := b.to
	for _, dir := range []string{".", payload.Dir} {
		entries, err := os.ReadDir(filepath.Join(to, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return disk.Unusable(to, err)
		}
		for _, e := range entries {
			name, partial := strings.CutSuffix(e.Name(), partialExt)
			path := filepath.Join(to, dir, e.Name())
			_, stamp := time.Parse(stampForm, name)
			switch {
			case !partial: // whatever does not have one of our names stays
			case dir == "." && stamp == nil && e.IsDir():
				err = b.discard(path)
			case copyOf(dir+"/"+name) != "" && e.Type().IsRegular():
				err = os.Remove(path)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return disk.Unusable(path, err)
			}
		}
	}
	return nil
}

// discard removes a half-made or outdated backup, and the copies of months that it alone names; none of
// them while there is a backup that cannot be read, which may name them. What somebody has put into its
// folder stays.
func (b *backuper) discard(gone string) error {
	kept, err := Backups(b.to)
	if err != nil {
		return err
	}
	stays := map[string]bool{}
	for _, k := range kept {
		for _, m := range k.Months {
			stays[m.Name] = true
		}
	}
	unreadable := slices.ContainsFunc(kept, func(k Backup) bool { return k.Problem != "" })
	var old Backup
	if body, err := readSmall(filepath.Join(gone, manifestFile)); err == nil && json.Unmarshal(body, &old) == nil {
		for _, m := range old.Months {
			if copyOf(m.Name) != "" && !stays[m.Name] && !unreadable {
				_ = os.Remove(filepath.Join(b.to, m.Name))
			}
		}
	}
	for _, name := range []string{manifestFile, disk.StateFile, disk.LockFile} {
		if err := os.Remove(filepath.Join(gone, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return disk.Unusable(gone, err)
		}
	}
	_ = os.Remove(gone)
	return nil
}

// month copies one month beside the copy there is, and puts it in its place when it is sound.
// The copy that is there serves older backups too, and stays until the new one is proven.
func (b *backuper) month(month string) error {
	dir := filepath.Join(b.to, payload.Dir)
	if err := regular.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return disk.Unusable(dir, err)
	}
	f := engine.BackupFile{}
	name, partial := "", ""
	err := b.Payloads.With(month, false, func(s *payload.Shard) error {
		return s.View(func(tx *bolt.Tx) error {
			f = versionOf(tx)
			// payload/2026-11.<origin>.db.partial, beside the copy whose place it takes.
			name = copyName(month, payload.Origin(tx), b.dirID())
			partial = filepath.Join(b.to, name) + partialExt
			w, err := disk.WriteCopy(b.ctx, partial, b.moved, func(w *disk.CopyWriter) error {
				_, err := tx.WriteTo(w)
				return err
			})
			if err == nil {
				f.Size, f.CRC = w.Size, w.Crc
			}
			return err
		})
	})
	if disk.IsNotFound(err) {
		return nil // dropped meanwhile
	}
	crash.Point("backup-month-copied")
	if err == nil {
		err = b.o.Verify.Verify(b.ctx, partial)
	}
	// The month or its copy is not sound. The earlier copy stays, and the backup goes on.
	if disk.IsDamage(err) {
		b.fail(month, err)
		return os.Remove(partial)
	}
	if err != nil {
		return err
	}
	f.Name, f.Month, f.Taken = name, month, disk.Now().Truncate(time.Millisecond)
	b.report.Months = append(b.report.Months, f)
	if err := regular.Rename(partial, filepath.Join(b.to, name)); err != nil {
		return disk.Unusable(partial, err)
	}
	crash.Point("backup-month-renamed")
	return nil
}

// finish writes the manifest and gives the backup its name.
// The rename is the last step: before it there is no backup of that name, after it a whole one.
func (b *backuper) finish() error {
	sortFiles(b.report.Months)
	b.report.Verified = true
	partial := b.report.Path + partialExt
	if err := writeManifest(b.ctx, partial, b.report); err != nil {
		return err
	}
	crash.Point("backup-before-rename")
	if err := regular.Rename(partial, b.report.Path); err != nil {
		return disk.Unusable(partial, err)
	}
	crash.Point("backup-after-rename")
	return nil
}

// BackupsDir is where the backups of a data directory lie unless told otherwise.
func BackupsDir(dataDir string) string { return filepath.Join(dataDir, backupDir) }

func backupsOf(dataDir, to string) string {
	if to != "" {
		return to
	}
	return BackupsDir(dataDir)
}
