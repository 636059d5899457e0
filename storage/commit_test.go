package storage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/commit"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

var errNo = errors.New("a precondition does not hold")

// A step is one generated write of the model test.
type step struct {
	key   string
	value uint64
	how   string // ok, refuse, refuse late, panic, panic late
}

func (s step) run(tx engine.Tx) error {
	t := own(tx)
	k := []byte("test." + s.key)
	switch s.how {
	case "refuse":
		t.Emit(engine.Change{Deleted: "refused"})
		return errNo
	case "panic":
		panic("before anything was written")
	}
	if err := t.PutNumber(tState, k, s.value); err != nil {
		return err
	}
	t.Emit(engine.Change{Deleted: engine.JobID(fmt.Sprintf("%s=%d", s.key, s.value))})
	switch s.how {
	case "refuse late":
		return errNo
	case "panic late":
		panic("after a write")
	}
	return nil
}

// TestCommitter proves, against a map, that a failing or panicking write leaves no trace and harms no neighbour, and that
// changes are published once, in commit order and before the answer.
func TestCommitter(t *testing.T) {
	db := start(t, "")
	published := map[string]uint64{} // as a console would fold it
	var lastSeq uint64
	var mu sync.Mutex
	db.OnCommit(func(seq uint64, changes []engine.Change) {
		mu.Lock()
		defer mu.Unlock()
		if seq <= lastSeq {
			t.Errorf("seq %d after %d", seq, lastSeq)
		}
		lastSeq = seq
		for _, c := range changes {
			if c.Seq != seq {
				t.Errorf("a change of commit %d says %d", seq, c.Seq)
			}
			name, value, ok := strings.Cut(string(c.Deleted), "=")
			if !ok {
				t.Errorf("published: %q", c.Deleted)
			}
			var n uint64
			fmt.Sscan(value, &n)
			published[name] = n
		}
	})
	model := map[string]uint64{}
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				key:   rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key"),
				value: rapid.Uint64Range(1, 1000).Draw(rt, "value"),
				how:   rapid.SampledFrom([]string{"ok", "ok", "ok", "refuse", "refuse late", "panic", "panic late"}).Draw(rt, "how"),
			}
		}), 1, 12).Draw(rt, "steps")
		answers := atOnce(db, steps)
		mu.Lock()
		defer mu.Unlock()
		// Which of several writes to one key came last is known from what was published.
		for i, s := range steps {
			if (answers[i] == nil) != (s.how == "ok") {
				rt.Fatalf("%+v answered %v", s, answers[i])
			}
		}
		for _, k := range []string{"a", "b", "c"} {
			allowed := map[uint64]bool{}
			for _, s := range steps {
				if s.key == k && s.how == "ok" {
					allowed[s.value] = true
				}
			}
			if len(allowed) == 0 {
				allowed[model[k]] = true
			}
			got := stored(t, db, k)
			if !allowed[got] {
				rt.Fatalf("%s is %d, allowed are %v", k, got, allowed)
			}
			if published[k] != got {
				rt.Fatalf("%s is %d, published was %d", k, got, published[k])
			}
			model[k] = got
		}
	})
}

// atOnce writes all steps from goroutines of their own, so that they meet in one group.
func atOnce(db *DB, steps []step) []error {
	answers := make([]error, len(steps))
	var wg sync.WaitGroup
	for i, s := range steps {
		wg.Go(func() { answers[i] = db.Write(context.Background(), s.run) })
	}
	wg.Wait()
	return answers
}

func stored(t testing.TB, db *DB, k string) (n uint64) {
	t.Helper()
	read(t, db, func(tx *txn) (err error) {
		n, _, err = tx.Number(tState, []byte("test."+k))
		return err
	})
	return n
}

// One group is made by hand, so that what happens to neighbours does not depend on timing.
func TestAFailingWriteHarmsNoNeighbour(t *testing.T) {
	for _, how := range []string{"refuse", "refuse late", "panic", "panic late"} {
		db := start(t, "")
		first := step{"a", 1, "ok"}
		before := db.Seq()
		answers, err := db.writer.Now(first.run, step{"b", 2, how}.run, step{"c", 3, "ok"}.run)
		must(t, err)
		if answers[0] != nil || answers[1] == nil || answers[2] != nil {
			t.Errorf("%s: answers %v", how, answers)
		}
		if a, b, c := stored(t, db, "a"), stored(t, db, "b"), stored(t, db, "c"); a != 1 || b != 0 || c != 3 {
			t.Errorf("%s: stored %d, %d, %d", how, a, b, c)
		}
		if db.Seq() != before+1 {
			t.Errorf("%s: %d commits for one group", how, db.Seq()-before)
		}
		if _, ok := errors.AsType[*commit.Panic](answers[1]); ok == (how == "refuse" || how == "refuse late") || ok && !strings.Contains(answers[1].Error(), "goroutine") {
			t.Errorf("%s: %v", how, answers[1])
		}
	}
}

func TestAGroupThatWritesNothingCostsNoCommit(t *testing.T) {
	db := start(t, "")
	before := db.Seq()
	for range 3 {
		if err := db.Write(context.Background(), step{how: "refuse"}.run); !errors.Is(err, errNo) {
			t.Fatal(err)
		}
	}
	if db.Seq() != before {
		t.Errorf("%d commits for refusals", db.Seq()-before)
	}
}

func TestChangesArePublishedBeforeTheAnswer(t *testing.T) {
	db := start(t, "")
	var seen atomic.Uint64
	db.OnCommit(func(seq uint64, _ []engine.Change) { seen.Store(seq) })
	for i := range 20 {
		write(t, db, step{"a", uint64(i + 1), "ok"}.run)
		if seen.Load() != db.Seq() {
			t.Fatalf("answered at version %d, published was %d", db.Seq(), seen.Load())
		}
	}
}

func TestWriteObeysItsContextAndTheEnd(t *testing.T) {
	db, err := Open(Options{Dir: t.TempDir()})
	must(t, err)
	cause := errors.New("the operator went home")
	ctx, cancel := context.WithCancelCause(context.Background())
	ran := false
	done := make(chan error)
	go func() { done <- db.Write(ctx, func(engine.Tx) error { ran = true; return nil }) }()
	cancel(cause)
	if err := <-done; !errors.Is(err, cause) || ran { // nobody serves yet
		t.Errorf("queued write: %v, ran %t", err, ran)
	}
	stop := serve(t, db)
	write(t, db, step{"a", 7, "ok"}.run)
	stop()
	if err := db.Write(context.Background(), step{"a", 8, "ok"}.run); !errors.Is(err, disk.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	if err := db.Serve(context.Background()); err == nil {
		t.Error("Serve ran twice")
	}
	if stored(t, db, "a") != 7 {
		t.Error("a write after the end was carried out")
	}
	must(t, db.Close())
	if err := db.Read(context.Background(), func(engine.Tx) error { return nil }); !errors.Is(err, disk.ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
}

func TestReadingTransactionsCannotWrite(t *testing.T) {
	db := start(t, "")
	err := db.Read(context.Background(), func(tx engine.Tx) error {
		if _, err := tx.Enqueue(engine.Spec{Kind: "k"}); !errors.Is(err, disk.ErrReadOnly) {
			t.Errorf("enqueue: %v", err)
		}
		return own(tx).Remove(tState, []byte("x"))
	})
	if !errors.Is(err, disk.ErrReadOnly) {
		t.Errorf("remove: %v", err)
	}
}

// A full disk is met by the largest size that the file may have: bbolt refuses to grow, and nothing is written.
func TestAFullDiskRefusesAndLetsTheStoreLive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, err := Open(Options{Dir: dir, MaxState: 1 << 20})
	must(t, err)
	stop := serve(t, db)
	write(t, db, step{"a", 1, "ok"}.run)
	big := func(tx engine.Tx) error {
		return own(tx).PutBlob(tState, []byte("big"), make([]byte, 1<<20))
	}
	for range 2 {
		if err := db.Write(context.Background(), big); !errors.Is(err, disk.ErrDiskFull) {
			t.Fatalf("got %v, want ErrDiskFull", err)
		}
	}
	write(t, db, step{"a", 2, "ok"}.run)
	if stored(t, db, "a") != 2 {
		t.Error("the store did not go on")
	}
	stop()
	wantSound(t, db)
	must(t, db.Close())
}

// A commit that fails for another reason than room leaves open what is on disk: the store takes no more writes.
func TestAnUnknownCommitStopsTheStore(t *testing.T) {
	db, err := Open(Options{Dir: t.TempDir()})
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- db.Serve(context.Background()) }()
	write(t, db, step{"a", 1, "ok"}.run)
	err = db.Write(context.Background(), func(tx engine.Tx) error {
		if err := own(tx).PutNumber(tState, []byte("test.a"), 2); err != nil {
			return err
		}
		panic(fault{errors.New("input/output error")})
	})
	if !errors.Is(err, disk.ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	if err := <-done; !errors.Is(err, disk.ErrUnknown) {
		t.Errorf("Serve ended with %v", err)
	}
	if err := db.Write(context.Background(), step{"a", 3, "ok"}.run); !errors.Is(err, disk.ErrClosed) || !errors.Is(err, disk.ErrUnknown) {
		t.Errorf("afterwards: %v", err)
	}
	must(t, db.Close())
	db, err = Open(Options{Dir: db.dir})
	must(t, err)
	if db.Boot().Clean {
		t.Error("a stop after a fault counts as clean")
	}
	if got := stored(t, db, "a"); got != 1 {
		t.Errorf("a is %d", got)
	}
	must(t, db.Close())
}

// fault is shaped as the runtime's error for a page that cannot be read.
type fault struct{ error }

func (fault) Addr() uintptr { return 4096 }

func TestAFaultWhileReadingIsDamage(t *testing.T) {
	db := start(t, "")
	err := db.Read(context.Background(), func(engine.Tx) error { panic(fault{errors.New("input/output error")}) })
	wantError[*disk.Damaged](t, err)
	defer func() {
		if recover() == nil {
			t.Error("a programming error was swallowed")
		}
	}()
	db.Read(context.Background(), func(engine.Tx) error { panic(errNo) })
}
