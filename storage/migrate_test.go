package storage

import (
	"bytes"
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

const goldenDir = "testdata/schema1"

// goldenFiles are the files of the golden store, gzipped in testdata.
var goldenFiles = []string{disk.StateFile, payload.Dir + "/" + testMonth + payload.Ext}

// TestGoldenStoreOfSchema1 opens what the first schema wrote (by the code of that day). It must be readable for ever.
func TestGoldenStoreOfSchema1(t *testing.T) {
	dir := goldenStore(t, goldenDir, goldenFiles...)
	db := start(t, dir)
	if db.Boot().New || !db.Boot().Clean {
		t.Errorf("boot %+v", db.Boot())
	}
	read(t, db, func(tx *txn) error {
		a, err := tx.account("01A")
		if err != nil || a.RiotID() != "A#1" {
			t.Errorf("account %+v %v", a, err)
		}
		m, err := tx.match("EUW1_1")
		if err != nil || m.Match.Status != league.Success || !m.Played.Equal(noon) {
			t.Errorf("match %+v %v", m, err)
		}
		if raw, err := db.files.Raw("EUW1_1", league.PartMatch, m.Match.Ref); err != nil || string(raw) != `{"metadata":{}}` {
			t.Errorf("payload %q %v", raw, err)
		}
		return nil
	})
	if d, err := db.Detail(context.Background(), engine.JobQuery{Key: "match:EUW1_2"}); err != nil || d.Job.State != engine.Discarded {
		t.Errorf("job %+v %v", d.Job, err)
	}
	for kind, want := range map[engine.FeedKind]int{engine.FeedMatches: 2, engine.FeedParticipants: 1, engine.FeedJobs: 1} {
		if page, err := db.Feed(context.Background(), engine.FeedQuery{Kind: kind}); err != nil || len(page.Rows) != want {
			t.Errorf("feed of %s: %+v %v", kind, page, err)
		}
	}
}

// TestGoldenArchive reads a shard of the time when archives had dictionaries, and archives it again with what has come
// since.
func TestGoldenArchive(t *testing.T) {
	db := start(t, archivedStore(t))
	wantOld(t, db, goldenMatches)
	if dictsOf(t, db) == 0 {
		t.Error("it has no dictionary")
	}
	must(t, storeOld(db, goldenMatches))
	if r := archive(t, db, payload.ArchiveOptions{}); r[0].Packed != 2 || r[0].Left != "" {
		t.Errorf("%+v", r)
	}
	wantOld(t, db, goldenMatches+1)
}

// TestGoldenStoreOfSchema6 opens a directory of the time before collections: the tables that came since are made.
func TestGoldenStoreOfSchema6(t *testing.T) {
	dir := goldenStore(t, "testdata/schema6", disk.StateFile, payload.Dir+"/2026-11"+payload.Ext)
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

// testMigrations prove the framework: the first makes a table and fills it with a row for each counter, two per step; the
// second does all at once.
var testMigrations = []migration{
	{newestSchema() + 1, "copy the counters", copyCounters},
	{newestSchema() + 2, "note it", func(t *txn, _ []byte) ([]byte, error) { return nil, t.PutText(tMeta, []byte("noted"), "yes") }},
}

const copiedTable = "counters_copy"

func copyCounters(t *txn, after []byte) (next []byte, err error) {
	to, err := t.Bolt.CreateBucketIfNotExists([]byte(copiedTable))
	if err != nil {
		return nil, err
	}
	seed := rec.TableSeed(copiedTable)
	c := t.Bucket(collection.Counters).Cursor()
	k, _ := c.Seek(after)
	for n := 0; k != nil; k, _ = c.Next() {
		if n++; n > 2 {
			return bytes.Clone(k), nil
		}
		if to.Get(k) != nil {
			return nil, fmt.Errorf("row %s was copied twice", k)
		}
		c := rec.Write(nil, rec.Marker)
		v, err := seed.Seal(k, &c)
		if err = errors.Join(err, to.Put(k, v)); err != nil {
			return nil, err
		}
	}
	return nil, nil
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
		from[m.to] = append(from[m.to], "migration: "+m.name)
	}
	for _, tb := range collection.Tables {
		if tb.Since > 0 && !slices.Contains(from[tb.Since], "new tables") {
			from[tb.Since] = append(from[tb.Since], "new tables")
		}
	}
	for v := uint64(firstSchema + 1); v <= newestSchema(); v++ {
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
		if newTx(b, noon).Has(tMeta, metaMigration) {
			t.Errorf("%s: the place of the migration is still noted", after)
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
	if err != nil || len(list) != 1 || list[0].Schema != 1 || list[0].Note != fmt.Sprintf("before schema %d", newestSchema()) || !list[0].Verified {
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

// TestP01_KillsInAMigration ends the process at each instant of each step.
func TestP01_KillsInAMigration(t *testing.T) {
	sound := goldenStore(t, goldenDir, goldenFiles...)
	withMigrations(t, testMigrations...)
	for _, point := range []string{"backup-copied 1", "backup-before-rename 1", "migration-backed-up 1", "migration-before-commit 1",
		"migration-after-commit 1", "migration-before-commit 2", "migration-after-commit 2", "migration-before-commit 5", "migration-after-commit 5", "migration-before-commit 8", "migration-after-commit 8"} {
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
	undo := withMigrations(t, migration{newestSchema() + 1, "fail", func(*txn, []byte) ([]byte, error) { return nil, errors.New("no luck") }})
	_, err := Open(Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "no luck") || !strings.Contains(err.Error(), "is in backup") {
		t.Errorf("%v", err)
	}
	undo()
	start(t, dir) // as far as it came
}
