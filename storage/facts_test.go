package storage

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestFactsOfAStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if _, held, err := HolderOf(dir); held || err != nil {
		t.Errorf("no directory: held %v, %v", held, err)
	}
	began := time.Now().Add(-time.Second)
	db, err := Open(Options{Dir: dir})
	must(t, err)
	h, held, err := HolderOf(dir)
	if !held || err != nil || h.PID != os.Getpid() || !h.Here || !h.Alive || h.Since.Before(began) {
		t.Errorf("held %v by %+v, %v", held, h, err)
	}
	f, err := db.Facts(context.Background())
	must(t, err)
	if f.Schema != f.Known || f.Instance == "" || f.Created.Before(began) || f.Opened.Before(began) || !f.Closed.IsZero() || !f.Restored.IsZero() {
		t.Errorf("%+v", f)
	}
	stop := serve(t, db)
	stop()
	must(t, db.Close())
	if _, held, err := HolderOf(dir); held || err != nil {
		t.Errorf("closed: held %v, %v", held, err)
	}
	db, err = OpenReadOnly(Options{Dir: dir})
	must(t, err)
	if _, held, err := HolderOf(dir); held || err != nil {
		t.Errorf("a reader holds: %v, %v", held, err)
	}
	f, err = db.Facts(context.Background())
	must(t, err)
	if f.Closed.Before(f.Opened) {
		t.Errorf("%+v", f)
	}
	must(t, db.Close())
	if free, err := RoomIn(dir); err != nil || free == 0 {
		t.Errorf("%d bytes free, %v", free, err)
	}
	if kind, err := NetworkFS(dir); err != nil || kind != "" {
		t.Errorf("file system %q, %v", kind, err)
	}
}
