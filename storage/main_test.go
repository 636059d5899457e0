package storage

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// canary stands for the operator's key. No test may find it in any file that the store wrote (P-40).
const canary = "RGAPI-00000000-cafe-4bad-8bad-c0ffee000000"

// fewRows are the pages of all tests: whatever goes through a table of ten rows comes to its third page, so that a loop
// that stops after the first is noticed wherever it is used. Benchmarks have the usual ones.
var fewRows = disk.Pages{Scan: 4, Load: 3, Prune: 2, Forget: 2, Archive: 2}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(children[role](os.Args[len(os.Args)-1]))
	}
	os.Setenv("RIOT_API_KEY", canary)
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		disk.UsualPages = fewRows
	}
	leak.Main(scratch.InMemory(m))
}

// start opens a store in dir ("" = a new one), serves it, and at the end of the test proves that it is sound.
func start(t testing.TB, dir string) *DB {
	t.Helper()
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "data")
	}
	db, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	stop := serve(t, db)
	t.Cleanup(func() {
		stop()
		wantSound(t, db)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		wantNoCanary(t, dir)
	})
	return db
}

// serve runs the committer until stop is called.
func serve(t testing.TB, db *DB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- db.Serve(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, disk.ErrUnknown) {
			t.Error(err)
		}
	}
}

// reopen ends the store and opens it again without a check between.
func reopen(t testing.TB, db *DB, stop func()) *DB {
	t.Helper()
	stop()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(Options{Dir: db.dir})
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func wantSound(t testing.TB, db *DB) {
	t.Helper()
	r, err := db.Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Errorf("check: %+v", f)
	}
}

func wantNoCanary(t testing.TB, dir string) {
	t.Helper()
	paths, err := scratch.Holding(dir, canary)
	if err != nil || len(paths) > 0 {
		t.Errorf("P-40: %s hold the key; %v", paths, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write runs fn in a commit and fails the test when it is refused.
func write(t testing.TB, db *DB, fn func(tx engine.Tx) error) {
	t.Helper()
	must(t, db.Write(context.Background(), fn))
}

func read(t testing.TB, db *DB, fn func(tx *txn) error) {
	t.Helper()
	must(t, db.view(context.Background(), fn))
}

// enqueue inserts one job and gives it back as stored.
func enqueue(t testing.TB, db *DB, s engine.Spec) (j engine.Job) {
	t.Helper()
	write(t, db, func(tx engine.Tx) error {
		a, err := tx.Enqueue(s)
		if err != nil {
			return err
		}
		j, err = db.Job(tx, a[0].ID)
		return err
	})
	return j
}

// move saves the job in another state with its next revision.
func move(t testing.TB, db *DB, j engine.Job, to engine.State) engine.Job {
	t.Helper()
	j.State = to
	j.Rev++
	write(t, db, func(tx engine.Tx) error { return db.SaveJob(tx, j) })
	return j
}
