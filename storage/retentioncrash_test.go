package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/farsight-console/farsight/engine/league"
)

func init() {
	upkeepJobs["retention"] = func(dir string) error {
		db, err := Open(Options{Dir: dir})
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- db.Serve(ctx) }()
		_, err = db.DropExpired(ctx, league.Span{Months: 1}, noon, false)
		cancel()
		return errors.Join(err, <-served, db.Close())
	}
}

// A process that ends between the marks of retention and the deletion leaves a file that no match names; the next run
// deletes it, and nothing else is gone.
func TestP01_KilledInRetention(t *testing.T) {
	dir := oldStore(t, 6)
	later(t, dir)
	out, err := child(t, "upkeep", dir, jobEnv+"=retention", pointEnv+"=retention-marked 1").Output()
	if exitCode(err) != 3 {
		t.Fatalf("exit %d: %s", exitCode(err), out)
	}
	if _, err := os.Stat(filepath.Join(dir, oldShard)); err != nil {
		t.Errorf("the month went before its marks: %v", err)
	}
	must(t, upkeepJobs["retention"](dir))
	if _, err := os.Stat(filepath.Join(dir, oldShard)); !os.IsNotExist(err) {
		t.Errorf("the second run left the month: %v", err)
	}
	db := start(t, dir)
	read(t, db, func(tx *txn) error {
		for _, id := range []string{"EUW1_0000", "EUW1_10"} {
			if m, err := tx.match(id); err != nil || m.Match.Status != league.Success {
				t.Errorf("%s: %+v %v", id, m, err)
			}
		}
		return nil
	})
}
