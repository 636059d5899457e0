package storage

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/keep"
)

// backupOf copies a directory that nobody has open.
func backupOf(t testing.TB, dir, to string) (r engine.BackupDone) {
	t.Helper()
	db, err := OpenReadOnly(Options{Dir: dir})
	must(t, err)
	r = backup(t, db, keep.BackupOptions{To: to, Keep: 1})
	must(t, db.Close())
	return r
}

func TestB13a_TwoDirectoriesInOneFolderKeepTheirBackups(t *testing.T) {
	to := filepath.Join(t.TempDir(), "backups")
	first, second := oldStore(t, 6), oldStore(t, 2)
	r := backupOf(t, first, to)
	backupOf(t, second, to) // the same months, and one backup to keep
	must(t, os.RemoveAll(first))
	_, err := Restore(context.Background(), Options{Dir: first}, keep.RestoreOptions{Backups: to, Name: r.Name})
	must(t, err)
	atRest(t, first, func(db *DB) {
		wantSound(t, db)
		wantOld(t, db, 6)
	})
}

// A copy of a directory has the same instances, and goes on by itself: after as many transactions the same month
// is another one.
func TestB13a_ACloneKeepsItsOwnBackups(t *testing.T) {
	to := filepath.Join(t.TempDir(), "backups")
	first, clone := oldStore(t, 6), filepath.Join(t.TempDir(), "clone")
	backupOf(t, first, to)
	must(t, os.CopyFS(clone, os.DirFS(first)))
	later(t, clone)
	r := backupOf(t, first, to)
	other := backupOf(t, clone, to)
	if other.Reused != 0 || len(other.Removed) != 0 {
		t.Errorf("the clone takes %d copies of the original for its own, and removes %q", other.Reused, other.Removed)
	}
	must(t, os.RemoveAll(first))
	_, err := Restore(context.Background(), Options{Dir: first}, keep.RestoreOptions{Backups: to, Name: r.Name})
	must(t, err)
	atRest(t, first, func(db *DB) {
		wantSound(t, db)
		wantOld(t, db, 6)
	})
}

func TestB13a_AResetKeepsTheBackupsBeforeIt(t *testing.T) {
	dir := oldStore(t, 6)
	r := backupOf(t, dir, "")
	resetNow(t, dir, keep.ResetOptions{NoBackup: true})
	later(t, dir)
	backupOf(t, dir, "")
	_, err := Restore(context.Background(), Options{Dir: dir}, keep.RestoreOptions{Name: r.Name})
	must(t, err)
	atRest(t, dir, func(db *DB) {
		wantSound(t, db)
		wantOld(t, db, 6)
	})
}

func TestB13b_ADataDirectoryIsNoFolderForBackups(t *testing.T) {
	db, other := start(t, oldStore(t, 1)), oldStore(t, 2)
	for _, to := range []string{db.dir, other, filepath.Join(other, payload.Dir)} {
		_, err := db.Backup(context.Background(), keep.BackupOptions{To: to})
		if e := wantError[*disk.ErrUnusable](t, err); e != nil && e.Do == "" {
			t.Error(e)
		}
	}
	atRest(t, other, func(db *DB) { wantOld(t, db, 2) })
}

func TestB13c_OnlyWhatABackupWroteIsRemoved(t *testing.T) {
	dir := oldStore(t, 1)
	to := keep.BackupsDir(dir)
	stranger := []string{"holiday.partial/photo", "notes.partial", "20261101T000000Z.partial/mine", "payload/2026-10.db.partial/x", "payload/film.partial"}
	for _, name := range stranger {
		path := filepath.Join(to, name)
		must(t, os.MkdirAll(filepath.Dir(path), disk.DirMode))
		must(t, os.WriteFile(path, nil, disk.FileMode))
	}
	left := filepath.Join(to, payload.Dir, oldMonth+payload.Ext+".partial")
	must(t, os.WriteFile(left, nil, disk.FileMode))
	backupOf(t, dir, "")
	for _, name := range stranger {
		if _, err := os.Stat(filepath.Join(to, name)); err != nil {
			t.Error(err)
		}
	}
	if there, err := disk.Exists(left); there || err != nil {
		t.Errorf("a half-made copy is left: %v", err)
	}
}

func TestB13d_AManifestThatNamesOtherFilesIsRefused(t *testing.T) {
	dir := oldStore(t, 1)
	r := backupOf(t, dir, "")
	path := filepath.Join(r.Path, "manifest.json")
	sound, err := os.ReadFile(path)
	must(t, err)
	before, err := os.ReadFile(disk.StatePath(dir))
	must(t, err)
	name, month := r.Months[0].Name, r.Months[0].Month
	for _, change := range [][2]string{
		{name, "../../" + name}, {name, "/etc/passwd"}, {name, "payload/../" + name},
		{`"` + month + `"`, `"../../evil"`}, {`"` + month + `"`, `"2026-13"`}, {`"` + month + `"`, `"` + r.Months[1].Month + `"`},
		{r.Name + "/state.db", "../state.db"},
	} {
		must(t, os.WriteFile(path, bytes.ReplaceAll(sound, []byte(change[0]), []byte(change[1])), disk.FileMode))
		_, err := Restore(context.Background(), Options{Dir: dir}, keep.RestoreOptions{Name: r.Name})
		if e := wantError[*disk.Damaged](t, err); e != nil && !strings.Contains(e.Why, "it names") {
			t.Errorf("%v: %v", change, e)
		}
	}
	if after, _ := os.ReadFile(disk.StatePath(dir)); !bytes.Equal(before, after) {
		t.Error("state.db was changed")
	}
}

func TestB13e_AMonthWhoseCopyIsDamagedIsToldAndTheRestIsPutBack(t *testing.T) {
	dir := oldStore(t, 3)
	r := backupOf(t, dir, "")
	path := filepath.Join(keep.BackupsDir(dir), r.Months[0].Name)
	b, err := os.ReadFile(path)
	must(t, err)
	b[len(b)-1] ^= 1
	must(t, os.WriteFile(path, b, disk.FileMode))
	must(t, os.RemoveAll(filepath.Join(dir, payload.Dir)))
	done, err := Restore(context.Background(), Options{Dir: dir}, keep.RestoreOptions{})
	if err != nil || !done.Mixed() || done.Files[1].Why == "" || done.Files[2].Do != keep.DoPutBack {
		t.Errorf("%+v %v", done, err)
	}
}

func TestB13f_AMonthWhoseCopyIsGoneOrCutIsTold(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"gone": os.Remove,
		"cut":  func(path string) error { return os.Truncate(path, 4096) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := oldStore(t, 3)
			r := backupOf(t, dir, "")
			must(t, harm(filepath.Join(keep.BackupsDir(dir), r.Months[0].Name)))
			must(t, os.RemoveAll(filepath.Join(dir, payload.Dir)))
			for _, dry := range []bool{true, false} {
				done, err := Restore(context.Background(), Options{Dir: dir}, keep.RestoreOptions{DryRun: dry})
				if err != nil || !done.Mixed() || len(done.Files) < 3 || done.Files[1].Why == "" ||
					done.Files[2].Do != keep.DoPutBack {
					t.Errorf("dry %v: %+v %v", dry, done, err)
				}
			}
		})
	}
}

// TestB13g_RestoreAsksWhoseBackup: without a name the newest would be the other directory's.
func TestB13g_RestoreAsksWhoseBackup(t *testing.T) {
	to := filepath.Join(t.TempDir(), "backups")
	first, second := oldStore(t, 6), oldStore(t, 2)
	mine, other := backupOf(t, first, to), backupOf(t, second, to)
	_, err := Restore(context.Background(), Options{Dir: first}, keep.RestoreOptions{Backups: to})
	e := wantError[*disk.ErrUnusable](t, err)
	if e != nil && (!strings.Contains(e.Do, mine.Name) || !strings.Contains(e.Do, other.Name)) {
		t.Error(e)
	}
	atRest(t, first, func(db *DB) { wantOld(t, db, 6) })

	// A manifest of an older version does not say whose it is: it is no second store.
	path := filepath.Join(other.Path, "manifest.json")
	body, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, bytes.ReplaceAll(body, []byte(other.State.Instance), nil), disk.FileMode))
	r, err := Restore(context.Background(), Options{Dir: first}, keep.RestoreOptions{Backups: to, DryRun: true})
	if err != nil || r.From.Name != other.Name {
		t.Errorf("%s %v", r.From.Name, err)
	}
}

// TestB13i_ADamagedCopyIsNotUsedAgain: its length is right, its bytes are not.
func TestB13i_ADamagedCopyIsNotUsedAgain(t *testing.T) {
	dir := oldStore(t, 3)
	r := backupOf(t, dir, "")
	path := filepath.Join(keep.BackupsDir(dir), r.Months[0].Name)
	sound, err := os.ReadFile(path)
	must(t, err)
	harmed := bytes.Clone(sound)
	harmed[len(harmed)-1] ^= 1
	must(t, os.WriteFile(path, harmed, disk.FileMode))
	if again := backupOf(t, dir, ""); again.Reused != r.Reused+len(r.Months)-1 {
		t.Errorf("%d of %d copies are used again", again.Reused, len(r.Months))
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, sound) {
		t.Errorf("the copy is not whole again: %v", err)
	}
}
