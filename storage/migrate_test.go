package storage

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/keep"
)

const goldenDir = "testdata/schema6"

// goldenFiles are the files of the golden store, gzipped in testdata.
var goldenFiles = []string{disk.StateFile, payload.Dir + "/2026-11" + payload.Ext}

// TestAStoreOfBeforeTheFirstReleaseIsRefused: it says what to do, and changes nothing.
func TestAStoreOfBeforeTheFirstReleaseIsRefused(t *testing.T) {
	dir := goldenStore(t, "testdata/schema1", disk.StateFile)
	for _, open := range []func(Options) (*DB, error){Open, OpenReadOnly} {
		_, err := open(Options{Dir: dir})
		e := wantError[*disk.ErrUnusable](t, err)
		if !strings.Contains(e.Why, "schema 1") || !strings.Contains(e.Do, "name another directory") {
			t.Errorf("%v", e)
		}
	}
	if _, err := os.Stat(keep.BackupsDir(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a backup was made: %v", err)
	}
}

// TestPayloadsOfDictionariesAreFetchedAgain: a shard of the time when archives had dictionaries, for timelines, says what to
// do, and is archived when those have come again.
func TestPayloadsOfDictionariesAreFetchedAgain(t *testing.T) {
	db := start(t, archivedStore(t))
	if _, err := db.Raw(context.Background(), "EUW1_0001", league.PartTimeline); err == nil || !strings.Contains(err.Error(), "check --repair") {
		t.Errorf("read: %v", err)
	}
	r, err := db.Check(context.Background())
	must(t, err)
	if len(r.Findings) != goldenMatches || r.Findings[0].Match == "" {
		t.Errorf("%d findings, the first %+v", len(r.Findings), r.Findings[0])
	}
	must(t, storeOld(db, goldenMatches))
	if r := archive(t, db, payload.ArchiveOptions{}); !strings.Contains(r[0].Left, "check --repair") {
		t.Errorf("%+v", r)
	}
	for i := range goldenMatches {
		must(t, storeOld(db, i))
	}
	if r := archive(t, db, payload.ArchiveOptions{}); r[0].Packed != goldenMatches+2 || r[0].Left != "" {
		t.Errorf("%+v", r)
	}
	wantOld(t, db, goldenMatches+1)
}

// TestGoldenStoreOfSchema6 opens a directory of the time before collections: the tables that came since are made.
func TestGoldenStoreOfSchema6(t *testing.T) {
	dir := goldenStore(t, goldenDir, goldenFiles...)
	db := start(t, dir)
	page, err := db.Matches(context.Background(), engine.MatchesQuery{})
	if err != nil || len(page.Matches) != 3 || page.Matches[0].Status != "success" {
		t.Errorf("%+v, %v", page, err)
	}
	if kept, err := keep.Backups(keep.BackupsDir(dir)); err != nil || len(kept) != 1 {
		t.Errorf("backups %+v, %v", kept, err)
	}
}

const (
	archiveDir    = "testdata/archive2"
	goldenMatches = 32
)

// archivedStore is a store of today's code with the golden archive in it.
func archivedStore(t testing.TB) (dir string) {
	t.Helper()
	dir = oldStore(t, goldenMatches)
	from := goldenStore(t, archiveDir, oldShard)
	must(t, os.Rename(filepath.Join(from, oldShard), filepath.Join(dir, oldShard)))
	return dir
}

func goldenStore(t testing.TB, from string, names ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	for _, name := range names {
		f, err := os.Open(filepath.Join(from, name+".gz"))
		must(t, err)
		r, err := gzip.NewReader(f)
		must(t, err)
		body, err := io.ReadAll(r)
		must(t, errors.Join(err, f.Close()))
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), body, 0o600))
	}
	return dir
}

// testMigrations prove the framework: the first makes a table and fills it with a row for each counter.
var testMigrations = []migration{
	{newestSchema() + 1, copyCounters},
	{newestSchema() + 2, func(t *txn) error { return t.PutText(tMeta, []byte("noted"), "yes") }},
}

const copiedTable = "counters_copy"

func copyCounters(t *txn) error {
	to, err := t.Bolt.CreateBucket([]byte(copiedTable))
	if err != nil {
		return err
	}
	for r := range t.Rows(collection.Counters, nil) {
		c := rec.Write(nil, rec.Marker)
		v, err := rec.TableSeed(copiedTable).Seal(r.Key, &c)
		if err = errors.Join(err, to.Put(r.Key, v)); err != nil {
			return err
		}
	}
	return nil
}

// withMigrations makes this process one of a later version.
func withMigrations(t testing.TB, more ...migration) (undo func()) {
	t.Helper()
	old := migrations
	migrations = append(slices.Clone(old), more...)
	undo = func() { migrations = old }
	t.Cleanup(undo)
	return undo
}

// Every version is either that of a migration or one that tables came with: a migration of a version that files have
// already, because tables came with it, would never run.
func TestEveryVersionComesFromOnePlace(t *testing.T) {
	from := map[uint64][]string{}
	for _, m := range migrations {
		from[m.to] = append(from[m.to], "migration")
	}
	for _, tb := range collection.Tables {
		if tb.Since > 0 && !slices.Contains(from[tb.Since], "new tables") {
			from[tb.Since] = append(from[tb.Since], "new tables")
		}
	}
	for v := uint64(oldestSchema + 1); v <= newestSchema(); v++ {
		if len(from[v]) != 1 {
			t.Errorf("version %d comes from %q", v, from[v])
		}
	}
}

// TestANewTableNeedsNoMigration: the next start makes it, after a backup, and a program
// that does not know it refuses the file.
func TestANewTableNeedsNoMigration(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, err := Open(Options{Dir: dir})
	must(t, err)
	must(t, db.Close())
	before, had := newestSchema(), slices.Clone(collection.Tables)
	undo := func() { collection.Tables = had }
	t.Cleanup(undo)
	collection.New("later", "str id", "what a later version keeps").CameWith(before + 1)
	db, err = Open(Options{Dir: dir})
	must(t, err)
	must(t, db.bolt.View(func(b *bolt.Tx) error {
		if have, err := disk.SchemaOf(b, dir, newestSchema()); err != nil || have != before+1 || b.Bucket([]byte("later")) == nil {
			t.Errorf("schema %d, %v", have, err)
		}
		return nil
	}))
	must(t, db.Close())
	if list, err := keep.Backups(keep.BackupsDir(dir)); err != nil || len(list) != 1 || uint64(list[0].Schema) != before {
		t.Errorf("backups: %+v, %v", list, err)
	}
	undo()
	_, err = Open(Options{Dir: dir})
	if e := wantError[*disk.ErrNewer](t, err); uint64(e.Have) != before+1 {
		t.Errorf("%+v", e)
	}
}

func wantMigrated(t testing.TB, dir, after string) {
	t.Helper()
	db, err := Open(Options{Dir: dir})
	if err != nil {
		t.Errorf("%s: %v", after, err)
		return
	}
	defer func() { must(t, db.Close()) }()
	must(t, db.bolt.View(func(b *bolt.Tx) error {
		version, err := disk.SchemaOf(b, "", newestSchema())
		rows := b.Bucket([]byte(copiedTable)).Stats().KeyN
		if want := b.Bucket([]byte(collection.Counters.Name)).Stats().KeyN; err != nil || version != newestSchema() || rows != want || want < 3 {
			t.Errorf("%s: version %d, %d of %d rows, %v", after, version, rows, want, err)
		}
		if said, _, err := newTx(b, noon).Text(tMeta, []byte("noted")); err != nil || said != "yes" {
			t.Errorf("%s: the second one was not done: %v", after, err)
		}
		return nil
	}))
	wantSound(t, db)
}

func TestAnOlderStoreIsBackedUpAndMigrated(t *testing.T) {
	dir := goldenStore(t, goldenDir, goldenFiles...)
	undo := withMigrations(t, testMigrations...)
	_, err := OpenReadOnly(Options{Dir: dir})
	if e := wantError[*disk.ErrUnusable](t, err); !strings.Contains(e.Do, "start farsight") {
		t.Errorf("%v", e)
	}
	wantMigrated(t, dir, "first start")
	list, err := keep.Backups(keep.BackupsDir(dir))
	if err != nil || len(list) != 1 || list[0].Schema != oldestSchema || list[0].Note != fmt.Sprintf("before schema %d", newestSchema()) || !list[0].Verified {
		t.Fatalf("%+v %v", list, err)
	}
	wantMigrated(t, dir, "second start")
	if list, _ = keep.Backups(keep.BackupsDir(dir)); len(list) != 1 {
		t.Errorf("a second backup was made: %+v", list)
	}
	// The program before refuses the result, and is content with the backup.
	undo()
	_, err = Open(Options{Dir: dir})
	if e := wantError[*disk.ErrNewer](t, err); e.Have != e.Know+2 {
		t.Errorf("%+v", e)
	}
	if _, err := Restore(context.Background(), Options{Dir: dir}, keep.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	db := start(t, dir)
	if db.Boot().Restored.IsZero() {
		t.Error("nobody is told that a backup was put back")
	}
}

// TestP01_KillsInAMigration ends the process at each instant of it.
func TestP01_KillsInAMigration(t *testing.T) {
	sound := goldenStore(t, goldenDir, goldenFiles...)
	withMigrations(t, testMigrations...)
	for _, point := range []string{"backup-copied 1", "backup-before-rename 1", "migration-backed-up 1", "migration-before-commit 1", "migration-after-commit 1"} {
		dir := copyDir(t, sound)
		out, err := child(t, "upkeep", dir, jobEnv+"=migrate", pointEnv+"="+point).Output()
		if exitCode(err) != 3 {
			t.Errorf("%s: exit %d: %s", point, exitCode(err), out)
			continue
		}
		wantMigrated(t, dir, "after "+point)
		if list, err := keep.Backups(keep.BackupsDir(dir)); err != nil || len(list) != 1 {
			t.Errorf("after %s: %d backups, %v", point, len(list), err)
		}
	}
}

func TestAMigrationThatFailsSaysWhereTheBackupIs(t *testing.T) {
	dir := goldenStore(t, goldenDir, goldenFiles...)
	undo := withMigrations(t, migration{newestSchema() + 1, func(*txn) error { return errors.New("no luck") }})
	_, err := Open(Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "no luck") || !strings.Contains(err.Error(), "is in backup") {
		t.Errorf("%v", err)
	}
	undo()
	start(t, dir) // as far as it came
}
