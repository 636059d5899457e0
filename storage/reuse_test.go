package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/crash"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// bothWays reads a job as the committer knows it, and as it is on disk.
func bothWays(t *testing.T, db *DB, id engine.JobID) engine.Job {
	t.Helper()
	var known, onDisk engine.Job
	write(t, db, func(tx engine.Tx) (err error) { known, err = db.Job(tx, id); return err })
	read(t, db, func(tx *txn) (err error) { onDisk, err = tx.job(id); return err })
	if !reflect.DeepEqual(known, onDisk) {
		t.Errorf("the committer knows\n%+v, on disk is\n%+v", known, onDisk)
	}
	return onDisk
}

func TestTheCommitterKnowsRunningJobsAsTheyAreStored(t *testing.T) {
	db := start(t, "")
	var id, parent engine.JobID
	write(t, db, func(tx engine.Tx) error {
		made, err := tx.Enqueue(engine.Spec{Kind: "k", Key: "one", Args: []byte{}}, engine.Spec{Kind: "k"})
		id, parent = made[0].ID, made[1].ID
		return err
	})
	begun := time.Date(2026, 11, 21, 9, 0, 0, 123_456_789, time.FixedZone("", 3600))
	claim := func(tx engine.Tx) error {
		j, err := db.Job(tx, id)
		j.State, j.Started, j.Boot, j.Class, j.LastError = engine.Running, begun, "boot", "server", "500"
		j.Rev++
		return errors.Join(err, db.SaveJob(tx, j))
	}
	write(t, db, claim)
	if j := bothWays(t, db, id); j.State != engine.Running || len(db.reuse.running) != 1 {
		t.Fatalf("job %+v, known are %d", j, len(db.reuse.running))
	}
	late := errors.New("late")
	err := db.Write(context.Background(), func(tx engine.Tx) error { return errors.Join(claim(tx), late) })
	if !errors.Is(err, late) {
		t.Fatal(err)
	}
	if j := bothWays(t, db, id); j.Rev != 2 {
		t.Errorf("revision %d after a write that failed", j.Rev)
	}
	write(t, db, func(tx engine.Tx) error {
		_, err := tx.Enqueue(engine.Spec{Kind: "k", Key: "one", Parents: []engine.GroupID{{Parent: parent}}})
		return err
	})
	if j := bothWays(t, db, id); !j.HasParents {
		t.Error("a joined parent is not known")
	}
	write(t, db, func(tx engine.Tx) error {
		j, err := db.Job(tx, id)
		j.State, j.Finished, j.Rev = engine.Completed, begun, j.Rev+1
		_, marked := db.Mark(tx, id, engine.MarkDone, 0, 0)
		return errors.Join(err, db.SaveJob(tx, j), marked)
	})
	if j := bothWays(t, db, id); j.State != engine.Completed || len(db.reuse.running) != 0 {
		t.Errorf("state %s, known are %d", j.State, len(db.reuse.running))
	}
	wantSound(t, db)
}

// bbolt panics over a page that is not what it should be; whoever waits for that commit must not wait for ever.
func TestAPanicOfACommitIsAnsweredToAll(t *testing.T) {
	db, err := Open(Options{Dir: t.TempDir()})
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- db.Serve(context.Background()) }()
	write(t, db, step{"a", 1, "ok"}.run)
	disarm := crash.ArmFaults(func(string) error { panic("page 7 already freed") })
	defer disarm()
	if err := db.Write(context.Background(), step{"a", 2, "ok"}.run); !errors.Is(err, disk.ErrUnknown) {
		t.Errorf("answer: %v", err)
	}
	if err := <-served; !errors.Is(err, disk.ErrUnknown) {
		t.Errorf("Serve: %v", err)
	}
	if err := db.Write(context.Background(), step{"a", 3, "ok"}.run); !errors.Is(err, disk.ErrClosed) {
		t.Errorf("afterwards: %v", err)
	}
	disarm()
	must(t, db.Close())
}

// closedInOrder makes a store with free pages, and gives its state file and where in it the list of them stands.
func closedInOrder(t *testing.T) (path string, file []byte, list int, m disk.BoltMeta) {
	t.Helper()
	db, err := Open(Options{Dir: filepath.Join(t.TempDir(), "data")})
	must(t, err)
	stop := serve(t, db)
	must(t, db.SaveState(context.Background(), "big", make([]byte, 100<<10)))
	must(t, db.SaveState(context.Background(), "big", nil))
	stop()
	must(t, db.Close())
	path = disk.StatePath(db.dir)
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	info, err := f.Stat()
	must(t, err)
	m, _, err = disk.NewestMeta(f, info.Size())
	must(t, err)
	if m.Freelist == disk.NoFreelist {
		t.Fatal("a store that was closed in order has no list of free pages")
	}
	file, err = os.ReadFile(path)
	must(t, err)
	return path, file, int(m.Freelist) * m.PageSize, m
}

func TestAListOfFreePagesIsNotBelievedUnseen(t *testing.T) {
	path, file, list, m := closedInOrder(t)
	n := int(disk.ByteOrder.Uint16(file[list+10:]))
	if n < 2 {
		t.Fatalf("%d free pages", n)
	}
	first := list + disk.PageHeader
	for what, spoil := range map[string]func(b []byte){
		"a page in use":     func(b []byte) { disk.ByteOrder.PutUint64(b[first:], m.Root) },
		"the list itself":   func(b []byte) { disk.ByteOrder.PutUint64(b[first+8*(n-1):], m.Freelist) },
		"a meta page":       func(b []byte) { disk.ByteOrder.PutUint64(b[first:], 1) },
		"twice":             func(b []byte) { disk.ByteOrder.PutUint64(b[first+8:], disk.ByteOrder.Uint64(b[first:])) },
		"past the end":      func(b []byte) { disk.ByteOrder.PutUint64(b[first+8*(n-1):], m.High) },
		"more than it says": func(b []byte) { disk.ByteOrder.PutUint16(b[list+10:], uint16(n+1)) },
		"a wild number": func(b []byte) {
			disk.ByteOrder.PutUint16(b[list+10:], disk.ManyFree)
			disk.ByteOrder.PutUint64(b[first:], 1<<60)
		},
	} {
		bad := append([]byte(nil), file...)
		spoil(bad)
		must(t, os.WriteFile(path, bad, disk.FileMode))
		if _, err := Open(Options{Dir: filepath.Dir(path)}); !disk.IsDamage(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, os.WriteFile(path, file, disk.FileMode))
	db, err := Open(Options{Dir: filepath.Dir(path)})
	must(t, err)
	stop := serve(t, db)
	write(t, db, step{"a", 77, "ok"}.run)
	stop()
	if stored(t, db, "a") != 77 {
		t.Error("the sound file did not go on")
	}
	wantSound(t, db)
	must(t, db.Close())
}
