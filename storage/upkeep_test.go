package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/storage/internal/payload"
	"github.com/farsight-console/farsight/storage/keep"
)

// jobEnv names what an upkeep child does.
const jobEnv = "FARSIGHT_STORAGE_TEST_JOB"

func init() { children["upkeep"] = upkeepChild }

var upkeepJobs = map[string]func(dir string) error{
	"open": func(dir string) error {
		db, err := Open(Options{Dir: dir})
		if err != nil {
			return err
		}
		return db.Close()
	},
	"archive": func(dir string) error {
		_, err := Compact(context.Background(), Options{Dir: dir}, keep.CompactOptions{Months: true, Archive: payload.ArchiveOptions{Months: []string{oldMonth}}})
		return err
	},
	"compact": func(dir string) error {
		_, err := Compact(context.Background(), Options{Dir: dir}, keep.CompactOptions{State: true})
		return err
	},
	"backup": func(dir string) error {
		db, err := OpenReadOnly(Options{Dir: dir})
		if err != nil {
			return err
		}
		_, err = db.Backup(context.Background(), keep.BackupOptions{Keep: 1})
		return errors.Join(err, db.Close())
	},
	"restore": func(dir string) error {
		_, err := Restore(context.Background(), Options{Dir: dir}, keep.RestoreOptions{})
		return err
	},
	"migrate": func(dir string) error {
		migrations = append(migrations, testMigrations...)
		db, err := Open(Options{Dir: dir})
		if err != nil {
			return err
		}
		return db.Close()
	},
}

// upkeepChild does one job and ends itself at the crash point that it was given.
func upkeepChild(dir string) int {
	var name string
	var hit int
	fmt.Sscanf(os.Getenv(pointEnv), "%s %d", &name, &hit)
	var mu sync.Mutex
	crash.Arm(func(at string) {
		mu.Lock()
		defer mu.Unlock()
		if at == name {
			if hit--; hit == 0 {
				os.Exit(3)
			}
		}
	})
	if err := upkeepJobs[os.Getenv(jobEnv)](dir); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// copyDir makes a copy of a closed data directory.
func copyDir(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "data")
	must(t, scratch.Copy(from, to))
	return to
}

// TestP01_KillsInUpkeep ends a process at each named instant of recovery, backup, restore and compaction. What it leaves is
// sound and complete, and the same job done again comes to its end.
func TestP01_KillsInUpkeep(t *testing.T) {
	const n = 6
	sound := oldStore(t, n)
	must(t, upkeepJobs["backup"](sound)) // there is one to restore, and one to prune
	later(t, sound)
	cases := []struct{ job, points string }{
		{"open", "recovery-before-mark recovery-after-mark"},
		{"archive", "creation-before-rename archive-begun archive-page archive-sealed archive-before-rename archive-after-rename"},
		{"compact", "compact-begun compact-filled compact-before-rename compact-after-rename"},
		{"backup", "backup-copied backup-month-copied backup-month-renamed backup-before-rename backup-after-rename backup-pruned"},
		{"restore", "restore-copied restore-kept restore-renamed"},
	}
	for _, c := range cases {
		for _, point := range strings.Fields(c.points) {
			t.Run(c.job+" at "+point, func(t *testing.T) {
				t.Parallel() // they wait for the disk far more than they compute
				dir := copyDir(t, sound)
				out, err := child(t, "upkeep", dir, jobEnv+"="+c.job, fmt.Sprintf("%s=%s 1", pointEnv, point)).Output()
				if exitCode(err) != 3 {
					t.Fatalf("exit %d: %s", exitCode(err), out)
				}
				wantWhole(t, dir, n, "the kill")
				must(t, upkeepJobs[c.job](dir))
				wantWhole(t, dir, n, "the second try")
				wantNothingHalfMade(t, dir, "the second try")
			})
		}
	}
}

// later adds a payload to both months, so that a backup has something to do.
func later(t testing.TB, dir string) {
	t.Helper()
	db, err := Open(Options{Dir: dir})
	must(t, err)
	stop := serve(t, db)
	must(t, storeOld(db, 0))
	must(t, storeMatch(db, "EUW1_10"))
	write(t, db, func(tx engine.Tx) error {
		_, err := tx.Enqueue(engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:later"})
		return err
	})
	stop()
	must(t, db.Close())
}

func wantWhole(t testing.TB, dir string, n int, after string) {
	t.Helper()
	db, err := Open(Options{Dir: dir})
	if err != nil {
		t.Errorf("after %s: %v", after, err)
		return
	}
	defer func() { must(t, db.Close()) }()
	r, err := db.Check(context.Background())
	if err != nil || !r.Sound() {
		t.Errorf("after %s: %+v %v", after, r.Findings, err)
		return
	}
	wantOld(t, db, n)
	if list, err := keep.Backups(keep.BackupsDir(dir)); err != nil || len(list) == 0 || list[0].Problem != "" {
		t.Errorf("after %s: backups %+v %v", after, list, err)
	}
}

// wantNothingHalfMade looks for what only an interrupted job may leave.
func wantNothingHalfMade(t testing.TB, dir, after string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		for _, ext := range []string{".partial", payload.ArchiveExt, ".compacting", ".restoring", ".new"} {
			if strings.HasSuffix(path, ext) {
				t.Errorf("after %s: %s is left", after, path)
			}
		}
		return err
	}))
}
