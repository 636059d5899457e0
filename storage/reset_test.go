package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/keep"
)

// resetDir is a directory at rest with a store, and with what a reset leaves alone.
func resetDir(t testing.TB) (dir string, others map[string]string) {
	t.Helper()
	dir = oldStore(t, 3)
	others = map[string]string{"config.toml": "theme = \"nord\"", "riot.key": "not read here", "themes/own.toml": "name = 'own'", "backup/20261101T000000Z/manifest.json": "{}"}
	for name, text := range others {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), disk.DirMode))
		must(t, os.WriteFile(path, []byte(text), disk.FileMode))
	}
	return dir, others
}

func wantOthers(t testing.TB, dir string, others map[string]string) {
	t.Helper()
	for name, want := range others {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

// wantBegun: the store is sound and empty but for the entry that says why.
func wantBegun(t testing.TB, dir string, r keep.ResetReport) {
	t.Helper()
	atRest(t, dir, func(db *DB) {
		wantSound(t, db)
		if tot, err := db.Totals(context.Background()); err != nil || tot != (engine.Totals{}) {
			t.Errorf("it begins with %+v %v", tot, err)
		}
		all, err := db.Audit(context.Background(), 10)
		if err != nil || len(all) != 1 || all[0].Op != "reset" || all[0].By.User != "ana" || all[0].Reason != "moved on" || all[0].Result != r.Text() {
			t.Errorf("the audit: %+v %v", all, err)
		}
		if months, err := db.files.Months(); err != nil || len(months) > 0 {
			t.Errorf("months %v %v", months, err)
		}
		if left, err := db.LoadState(context.Background(), "limiter"); err != nil || string(left) != "restored" {
			t.Errorf("the limiter would believe %q %v", left, err)
		}
	})
}

func resetNow(t testing.TB, dir string, ro keep.ResetOptions) keep.ResetReport {
	t.Helper()
	ro.By, ro.Reason, ro.Forget = engine.Actor{User: "ana"}, "moved on", []string{"limiter"}
	r, err := Reset(Options{Dir: dir}, ro)
	must(t, err)
	return r
}

func TestResetMovesTheStoreAside(t *testing.T) {
	dir, others := resetDir(t)
	dry := resetNow(t, dir, keep.ResetOptions{DryRun: true})
	if dry.Totals.Matches != 4 || dry.Months != 2 || dry.State == 0 || dry.Bytes <= dry.State || !strings.Contains(dry.Text(), "would be moved to before-reset-") {
		t.Errorf("%+v: %s", dry, dry.Text())
	}
	atRest(t, dir, func(db *DB) { wantOld(t, db, 3) })
	r := resetNow(t, dir, keep.ResetOptions{})
	if r.Totals != dry.Totals || !strings.HasPrefix(r.Text(), "4 matches of 0 accounts and 2 months of payloads, ") {
		t.Errorf("%+v: %s", r, r.Text())
	}
	wantBegun(t, dir, r)
	wantOthers(t, dir, others)
	atRest(t, r.Aside, func(db *DB) { // it is a data directory by itself
		wantSound(t, db)
		wantOld(t, db, 3)
	})
	if again := resetNow(t, dir, keep.ResetOptions{}); again.Aside == r.Aside || again.Totals.Matches != 0 {
		t.Errorf("again: %+v", again)
	}
}

func TestResetWithoutABackupDeletes(t *testing.T) {
	dir, others := resetDir(t)
	must(t, os.WriteFile(disk.StatePath(dir)+".compacting", []byte("half made"), disk.FileMode))
	r := resetNow(t, dir, keep.ResetOptions{NoBackup: true})
	if r.Aside != "" || !strings.HasSuffix(r.Text(), " deleted") {
		t.Errorf("%+v: %s", r, r.Text())
	}
	wantBegun(t, dir, r)
	wantOthers(t, dir, others)
	for _, gone := range []string{payload.Dir, disk.StateFile + ".compacting"} {
		if there, err := disk.Exists(filepath.Join(dir, gone)); there || err != nil {
			t.Errorf("%s is there: %v", gone, err)
		}
	}
}

// A store that cannot be opened is what one wants to be rid of.
func TestADamagedStoreIsReset(t *testing.T) {
	dir, others := resetDir(t)
	must(t, os.WriteFile(disk.StatePath(dir), []byte("dear operator"), disk.FileMode))
	r := resetNow(t, dir, keep.ResetOptions{})
	if r.Damage == "" || !strings.Contains(r.Text(), "cannot be counted") {
		t.Errorf("%+v", r)
	}
	wantBegun(t, dir, r)
	wantOthers(t, dir, others)
	if raw, err := os.ReadFile(filepath.Join(r.Aside, disk.StateFile)); err != nil || string(raw) != "dear operator" {
		t.Errorf("aside: %q %v", raw, err)
	}
}

// A reset that was cut off before the new store had the name leaves a second name for the old one, in a folder that the
// next reset removes: nobody can take it for a copy.
func TestAResetThatWasCutOffLeavesNoTwin(t *testing.T) {
	dir, _ := resetDir(t)
	twin := filepath.Join(dir, "before-reset-20261101T000000Z")
	must(t, os.Mkdir(twin, disk.DirMode))
	must(t, os.Link(disk.StatePath(dir), filepath.Join(twin, disk.StateFile)))
	r := resetNow(t, dir, keep.ResetOptions{})
	if there, err := disk.Exists(twin); there || err != nil {
		t.Errorf("it is there: %v", err)
	}
	atRest(t, r.Aside, func(db *DB) { wantOld(t, db, 3) })
}

// Two resets that were cut off one after the other, once the new store had the name: each old store has its own payloads.
func TestAResetThatWasCutOffIsFinished(t *testing.T) {
	dir, _ := resetDir(t)
	cut := func() (aside string) {
		r, err := keep.Reset(dir, keep.ResetOptions{}, func() (engine.Totals, error) { return engine.Totals{}, nil },
			func(b *bolt.Tx, e engine.AuditEntry) error {
				return errors.Join(fillState(b), newTx(b, e.At).beginAnew(e, nil))
			}, func(lock *disk.Lock) error {
				lock.Release() // and nobody opens it
				return nil
			})
		must(t, err)
		return r.Aside
	}
	first := cut()
	if there, err := disk.Exists(filepath.Join(dir, payload.Dir)); !there || err != nil {
		t.Fatalf("it was not cut off: %v", err)
	}
	second := cut()
	atRest(t, first, func(db *DB) { wantOld(t, db, 3) })
	atRest(t, dir, func(db *DB) {
		if mark, err := db.LoadState(context.Background(), "resetting"); mark != nil || err != nil {
			t.Errorf("the mark is left: %s %v", mark, err)
		}
	})
	atRest(t, second, func(db *DB) { wantSound(t, db) })
}

func TestResetIsRefused(t *testing.T) {
	held, _ := resetDir(t)
	db := start(t, held)
	elsewhere, _ := resetDir(t)
	payloads := filepath.Join(elsewhere, payload.Dir)
	must(t, os.Rename(payloads, payloads+"-elsewhere"))
	must(t, os.Symlink(payloads+"-elsewhere", payloads))
	empty := t.TempDir()
	for name, c := range map[string]struct {
		dir string
		is  func(error) bool
	}{
		"held":                    {held, func(err error) bool { e, ok := errors.AsType[*disk.ErrHeld](err); return ok && e.PID == os.Getpid() }},
		"nothing stored":          {empty, func(err error) bool { return errors.Is(err, os.ErrNotExist) }},
		"payloads somewhere else": {elsewhere, func(err error) bool { e, ok := errors.AsType[*disk.ErrUnusable](err); return ok && e.Path == payloads }},
	} {
		if _, err := Reset(Options{Dir: c.dir}, keep.ResetOptions{}); !c.is(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantOld(t, db, 3)
	atRest(t, elsewhere, func(db *DB) { wantOld(t, db, 3) })
}
