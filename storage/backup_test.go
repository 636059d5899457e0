package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/keep"
)

func backup(t testing.TB, db *DB, o keep.BackupOptions) engine.BackupDone {
	t.Helper()
	r, err := db.Backup(context.Background(), o)
	must(t, err)
	return r
}

func TestABackupIsTakenWhileCommitsGoOn(t *testing.T) {
	db := start(t, oldStore(t, 5))
	n := 0
	var told int64
	r := backup(t, db, keep.BackupOptions{Progress: func(done, total int64) {
		if n++; n < 4 {
			must(t, storeMatch(db, fmt.Sprintf("EUW1_7%d", n))) // commits in the middle of the copy
		}
		told = total
	}})
	if n < 4 || r.Copied == 0 || told == 0 || len(r.Months) != 2 || r.Reused != 0 || !r.Verified || seqOf(r) == 0 {
		t.Errorf("%d calls, %+v", n, r)
	}
	kept := filepath.Join(t.TempDir(), "data")
	if _, err := Restore(context.Background(), Options{Dir: kept}, keep.RestoreOptions{Backups: keep.BackupsDir(db.dir)}); err != nil {
		t.Fatal(err)
	}
	back, err := Open(Options{Dir: kept})
	must(t, err)
	wantSound(t, back)
	wantOld(t, back, 5)
	must(t, back.Close())
}

// What the state names must be in the months that lie beside it.
func TestABackupLooksAtTheMonthsAfterItHasTheState(t *testing.T) {
	db := start(t, oldStore(t, 5))
	must(t, storeMatch(db, "EUW1_70"))
	first := backup(t, db, keep.BackupOptions{})
	late := false
	second := backup(t, db, keep.BackupOptions{Verify: func(ctx context.Context, path string) error {
		if !late { // the state is copied, no month is
			late = true
			must(t, storeMatch(db, "EUW1_71"))
		}
		return payload.CheckCopy(ctx, path)
	}})
	if !late || second.Reused != len(first.Months)-1 || len(second.Months) != len(first.Months) {
		t.Errorf("%+v", second)
	}
}

func TestABackupIsReadWhereItLies(t *testing.T) {
	db := start(t, oldStore(t, 5))
	r := backup(t, db, keep.BackupOptions{})
	for _, dir := range []string{r.Path, r.Path + "/"} {
		kept, err := OpenReadOnly(Options{Dir: dir})
		must(t, err)
		wantSound(t, kept)
		wantOld(t, kept, 5)
		must(t, kept.Close())
	}
	if _, err := Open(Options{Dir: r.Path}); !strings.Contains(fmt.Sprint(err), "only read") {
		t.Errorf("a backup was opened to write to it: %v", err)
	}
	backup(t, db, keep.BackupOptions{Keep: 1}) // what reading has left there does not keep it
	if list, err := keep.Backups(keep.BackupsDir(db.dir)); err != nil || len(list) != 1 || list[0].Problem != "" {
		t.Errorf("%+v, %v", list, err)
	}
}

// Seq is what the test asks of a report.
func seqOf(r engine.BackupDone) uint64 { return r.State.Seq }

func TestAMonthThatDidNotChangeIsCopiedOnce(t *testing.T) {
	db := start(t, oldStore(t, 5))
	first := backup(t, db, keep.BackupOptions{})
	must(t, storeMatch(db, "EUW1_8")) // the open month
	second := backup(t, db, keep.BackupOptions{})
	if second.Reused != 1 || len(second.Months) != 2 || second.Months[0].Month != oldMonth || second.Months[0].Taken != first.Months[0].Taken {
		t.Errorf("%+v", second)
	}
	archive(t, db, payload.ArchiveOptions{}) // the same payloads, written anew
	third := backup(t, db, keep.BackupOptions{})
	if third.Reused != 1 || third.Months[0].Instance == first.Months[0].Instance {
		t.Errorf("%+v", third)
	}
	must(t, os.Remove(filepath.Join(keep.BackupsDir(db.dir), third.Months[0].Name))) // lost: copied again
	if r := backup(t, db, keep.BackupOptions{}); r.Reused != 1 {
		t.Errorf("%+v", r)
	}
}

func TestOldBackupsAreRemovedAndNotedOnesStay(t *testing.T) {
	dir := oldStore(t, 1)
	db := start(t, dir)
	backup(t, db, keep.BackupOptions{Note: "before schema 2", StateOnly: true})
	var last engine.BackupDone
	for range 4 {
		last = backup(t, db, keep.BackupOptions{Keep: 2})
	}
	list, err := keep.Backups(keep.BackupsDir(dir))
	if err != nil || len(list) != 3 || list[0].Name != last.Name || list[2].Note == "" || len(last.Removed) != 1 {
		t.Errorf("%+v %v", list, err)
	}
}

func TestABackupThatIsNotSoundIsNotKept(t *testing.T) {
	dir := oldStore(t, 3)
	db := start(t, dir)
	bad := errors.New("not sound")
	_, err := db.Backup(context.Background(), keep.BackupOptions{Verify: func(context.Context, string) error { return bad }})
	if !errors.Is(err, bad) {
		t.Fatal(err)
	}
	if list, err := keep.Backups(keep.BackupsDir(dir)); len(list) != 0 || err != nil {
		t.Errorf("%+v %v", list, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := db.Backup(ctx, keep.BackupOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// A month whose copy fails keeps the copy that it had.
	first := backup(t, db, keep.BackupOptions{})
	must(t, storeOld(db, 3))
	r := backup(t, db, keep.BackupOptions{Verify: func(_ context.Context, path string) error {
		if strings.Contains(path, oldMonth) {
			return &disk.Damaged{Path: path, Why: "a test says so"}
		}
		return nil
	}})
	if len(r.Failed) != 1 || r.Months[0] != first.Months[0] {
		t.Errorf("%+v", r)
	}
	wantNothingHalfMade(t, dir, "a failed month")
}

func TestTwoBackupsAtOnceAreRefused(t *testing.T) {
	db := start(t, oldStore(t, 1))
	var second error
	backup(t, db, keep.BackupOptions{Progress: func(int64, int64) {
		if second == nil {
			_, second = db.Backup(context.Background(), keep.BackupOptions{})
		}
	}})
	wantError[*disk.ErrHeld](t, second)
}

func TestRestoreKeepsWhatItReplaces(t *testing.T) {
	dir := oldStore(t, 4)
	must(t, upkeepJobs["backup"](dir))
	later(t, dir) // after the backup: one more match of this month
	state := disk.StatePath(dir)
	must(t, os.WriteFile(state, []byte("oh dear"), 0o600))
	ctx, o := context.Background(), Options{Dir: dir}

	dry, err := Restore(ctx, o, keep.RestoreOptions{DryRun: true})
	if err != nil || len(dry.Files) != 3 || dry.Files[0].Do != keep.DoReplace || dry.Files[0].Why == "" || dry.Files[1].Do != keep.DoKeep {
		t.Fatalf("dry run: %+v %v", dry, err)
	}
	if b, _ := os.ReadFile(state); string(b) != "oh dear" {
		t.Fatal("a dry run changed something")
	}
	r, err := Restore(ctx, o, keep.RestoreOptions{By: engine.Actor{User: "ana"}, Forget: []string{"limiter"}})
	must(t, err)
	if b, err := os.ReadFile(filepath.Join(dir, r.Files[0].Kept)); err != nil || string(b) != "oh dear" {
		t.Errorf("what was replaced: %q %v", b, err)
	}
	db := start(t, dir)
	if db.Boot().Restored.IsZero() {
		t.Error("nobody is told")
	}
	if blob, err := db.LoadState(ctx, "limiter"); err != nil || string(blob) != "restored" {
		t.Errorf("the old counts are believed: %q %v", blob, err)
	}
	wantOld(t, db, 4)
	audit, err := db.Audit(ctx, 1)
	if err != nil || len(audit) != 1 || audit[0].Op != "restore" || audit[0].By.User != "ana" {
		t.Errorf("audit %+v %v", audit, err)
	}
	// The payload that is newer than the backup is there to be adopted.
	if r, err := db.Check(ctx); err != nil || r.Orphans != 1 {
		t.Errorf("%d orphans, %v", r.Orphans, err)
	}
	if _, _, ok, err := db.FindPayload(ctx, "EUW1_10", league.PartMatch); !ok || err != nil {
		t.Errorf("%t %v", ok, err)
	}
}

func TestRestorePutsBackMissingAndDamagedMonths(t *testing.T) {
	dir := oldStore(t, 4)
	must(t, upkeepJobs["backup"](dir))
	old := filepath.Join(dir, payload.Dir, oldMonth+payload.Ext)
	now := filepath.Join(dir, payload.Dir, testMonth+payload.Ext)
	must(t, os.Remove(old))
	must(t, os.WriteFile(now, []byte("damage"), 0o600))
	r, err := Restore(context.Background(), Options{Dir: dir}, keep.RestoreOptions{})
	must(t, err)
	if r.Files[1].Do != keep.DoPutBack || r.Files[2].Do != keep.DoReplace || r.Files[2].Kept == "" {
		t.Errorf("%+v", r.Files)
	}
	db := start(t, dir)
	wantOld(t, db, 4)
	if b, err := os.ReadFile(filepath.Join(dir, r.Files[2].Kept)); err != nil || string(b) != "damage" {
		t.Errorf("%q %v", b, err)
	}
}

func TestRestoreRefuses(t *testing.T) {
	dir := oldStore(t, 1)
	ctx, o := context.Background(), Options{Dir: dir}
	_, err := Restore(ctx, o, keep.RestoreOptions{})
	wantError[*disk.ErrUnusable](t, err) // there is none
	must(t, upkeepJobs["backup"](dir))
	list, err := keep.Backups(keep.BackupsDir(dir))
	must(t, err)
	_, err = Restore(ctx, o, keep.RestoreOptions{Name: "20200101T000000Z"})
	if e := wantError[*disk.ErrUnusable](t, err); !strings.Contains(e.Do, list[0].Name) {
		t.Errorf("%v does not say which there are", e)
	}
	db, err := Open(o)
	must(t, err)
	_, err = Restore(ctx, o, keep.RestoreOptions{})
	wantError[*disk.ErrHeld](t, err)
	must(t, db.Close())

	before, err := os.ReadFile(disk.StatePath(dir))
	must(t, err)
	copied := filepath.Join(list[0].Path, disk.StateFile)
	body, err := os.ReadFile(copied)
	must(t, err)
	body[len(body)-1] ^= 1
	must(t, os.WriteFile(copied, body, 0o600))
	_, err = Restore(ctx, o, keep.RestoreOptions{})
	wantError[*disk.Damaged](t, err) // not what the backup wrote
	must(t, os.Truncate(copied, 100))
	_, err = Restore(ctx, o, keep.RestoreOptions{Name: list[0].Name})
	wantError[*disk.Damaged](t, err)
	if after, _ := os.ReadFile(disk.StatePath(dir)); !bytes.Equal(before, after) {
		t.Error("state.db was changed")
	}
	wantNothingHalfMade(t, dir, "a refused restore")
}

func TestCompactTakesOutHoles(t *testing.T) {
	dir := oldStore(t, 3)
	db, err := Open(Options{Dir: dir})
	must(t, err)
	stop := serve(t, db)
	for i := range 40 {
		must(t, db.SaveState(context.Background(), fmt.Sprint("hole", i), make([]byte, 20_000)))
	}
	write(t, db, func(tx engine.Tx) error { return own(tx).RemoveAll(tState, []byte("hole")) })
	if _, err := Compact(context.Background(), Options{Dir: dir}, keep.CompactOptions{State: true}); err == nil {
		t.Error("compacted under a running engine")
	} else {
		wantError[*disk.ErrHeld](t, err)
	}
	stop()
	must(t, db.Close())
	dry, err := Compact(context.Background(), Options{Dir: dir}, keep.CompactOptions{State: true, Months: true, DryRun: true})
	if err != nil || dry.StateAfter != dry.StateBefore || len(dry.Months) != 1 {
		t.Errorf("%+v %v", dry, err)
	}
	r, err := Compact(context.Background(), Options{Dir: dir}, keep.CompactOptions{State: true, Months: true})
	if err != nil || r.StateAfter*3 > r.StateBefore || r.After >= r.Before || len(r.Months) != 1 {
		t.Errorf("%+v %v", r, err)
	}
	db = start(t, dir)
	if !db.Boot().Clean || db.Boot().Last.IsZero() {
		t.Errorf("what the last engine left is forgotten: %+v", db.Boot())
	}
	wantOld(t, db, 3)
}

func TestCompactLeavesADamagedStateAlone(t *testing.T) {
	dir := oldStore(t, 1)
	path := disk.StatePath(dir)
	flipRecord(t, dir)
	b, err := os.ReadFile(path)
	must(t, err)
	if _, err = Compact(context.Background(), Options{Dir: dir}, keep.CompactOptions{State: true}); err == nil {
		t.Fatal("a copy of a damaged record took the place of the file")
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(after, b) {
		t.Error("the file was changed")
	}
	wantNothingHalfMade(t, dir, "a refused compaction")
}

func TestDropExpiredTakesWholeMonths(t *testing.T) {
	dir := oldStore(t, 6)
	db := start(t, dir)
	ctx := context.Background()
	year := league.Span{Years: 1}
	for name, c := range map[string]struct {
		keep league.Span
		now  time.Time
		want int
	}{
		"off":                             {league.Span{}, noon.AddDate(50, 0, 0), 0},
		"within":                          {year, noon, 0},
		"its last day is kept":            {year, time.Date(2027, 4, 1, 12, 0, 0, 0, time.UTC), 0},
		"its games may begin in the next": {year, time.Date(2027, 4, 2, 0, 0, 0, 0, time.UTC), 0},
		"past":                            {year, time.Date(2027, 4, 2, 0, 0, 1, 0, time.UTC), 1},
	} {
		list, err := db.DropExpired(ctx, c.keep, c.now, true)
		if err != nil || len(list) != c.want {
			t.Errorf("%s: %+v %v", name, list, err)
		}
	}
	wantOld(t, db, 6)
	past := time.Date(2027, 5, 1, 0, 0, 0, 0, time.UTC)
	dry, err := db.DropExpired(ctx, year, past, true)
	must(t, err)
	list, err := db.DropExpired(ctx, year, past, false)
	if err != nil || len(list) != 1 || list[0] != dry[0] || list[0].Payloads != 12 || list[0].Bytes == 0 {
		t.Fatalf("%+v, dry %+v, %v", list, dry, err)
	}
	read(t, db, func(tx *txn) error {
		m, err := tx.match("EUW1_0001")
		if err != nil || m.Match.Status != league.Success || !m.Match.Ref.Dropped() || !m.Timeline.Ref.Dropped() {
			t.Errorf("%+v %v", m, err)
		}
		_, err = db.files.Get("EUW1_0001", league.PartMatch, m.Match.Ref)
		if !errors.Is(err, disk.ErrDropped) {
			t.Errorf("asked for it: %v", err)
		}
		return nil
	})
	if again, err := db.DropExpired(ctx, year, past, false); len(again) != 0 || err != nil {
		t.Errorf("%+v %v", again, err)
	}
	// A damaged file is not deleted, and its matches are not marked.
	path := filepath.Join(dir, payload.Dir, "2026-04"+payload.Ext)
	must(t, os.WriteFile(path, []byte("damage"), 0o600))
	if list, err = db.DropExpired(ctx, year, past.AddDate(0, 1, 0), false); err != nil || len(list) != 1 || list[0].Left == "" {
		t.Errorf("%+v %v", list, err)
	}
	if b, _ := os.ReadFile(path); string(b) != "damage" {
		t.Error("a damaged file was deleted")
	}
	must(t, os.Remove(path))
}
