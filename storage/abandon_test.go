package storage

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// TestAbandonIsAsACrash: nothing is written after it, and the next opening knows that
// this one did not end in order. What slows commits down loses nothing.
func TestAbandonIsAsACrash(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	waits := 0
	db, err := Open(Options{Dir: dir, BeforeCommit: func() { waits++ }})
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- db.Serve(context.Background()) }()
	audit := func(target string) error {
		return db.Write(context.Background(), func(tx engine.Tx) error {
			_, err := db.AddAudit(tx, engine.AuditEntry{Op: engine.OpPause, Target: target})
			return err
		})
	}
	must(t, audit("before"))
	gone := errors.New("gone")
	db.OnCommit(func(uint64, []engine.Change) { db.Abandon(gone) })
	must(t, audit("last"))
	if err := audit("after"); !errors.Is(err, disk.ErrClosed) || !errors.Is(err, gone) {
		t.Errorf("a write after it gives %v", err)
	}
	if err := <-done; !errors.Is(err, gone) {
		t.Errorf("Serve ends with %v", err)
	}
	must(t, db.Close())
	if waits != 2 {
		t.Errorf("%d commits were waited for, want 2", waits)
	}
	again := start(t, dir)
	if again.Boot().Clean {
		t.Error("the next opening takes it for a clean end")
	}
	list, err := again.Audit(context.Background(), 10)
	must(t, err)
	if len(list) != 2 || list[0].Target != "last" && list[1].Target != "last" {
		t.Errorf("kept %+v", list)
	}
}
