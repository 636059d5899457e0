package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

func byExternal(db *DB, sid string) (engine.JobDetail, error) {
	return db.Detail(context.Background(), engine.JobQuery{External: sid})
}

func called(t testing.TB, db *DB, j engine.Job, n int, sid string) {
	t.Helper()
	write(t, db, func(tx engine.Tx) error {
		return db.AddAttempt(tx, j.ID, engine.Attempt{Number: n, Round: 1, Try: n, Start: noon, End: noon.Add(time.Second), External: sid, Class: "busy"})
	})
}

// TestS2_8_ACallIsFoundByTheIdOfAnyAttempt: every attempt of a call has an id of its own,
// and each leads to the job for ever; a Riot call's does while it is among the newest.
func TestS2_8_ACallIsFoundByTheIdOfAnyAttempt(t *testing.T) {
	db := start(t, "")
	call := enqueue(t, db, engine.Spec{Kind: engine.KindCall, Queue: "alert"})
	called(t, db, call, 1, "CA1")
	called(t, db, call, 2, "CA2")
	called(t, db, call, 0, "CA-hold")
	called(t, db, call, 3, strings.Repeat("x", 5000))
	fetch := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q"})
	called(t, db, fetch, 1, "trace-first")
	for _, sid := range []string{"CA1", "CA2", "CA-hold", "trace-first"} {
		want := call.ID
		if sid == "trace-first" {
			want = fetch.ID
		}
		if d, err := byExternal(db, sid); err != nil || d.Job.ID != want {
			t.Errorf("%s leads to %q: %v", sid, d.Job.ID, err)
		}
	}
	for _, sid := range []string{"CA3", strings.Repeat("x", 5000), "\x00"} {
		if _, err := byExternal(db, sid); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%.10q: %v", sid, err)
		}
	}
	write(t, db, func(tx engine.Tx) error {
		for i := range externalScan {
			if err := db.AddAttempt(tx, fetch.ID, engine.Attempt{Number: 2 + i, End: noon, External: fmt.Sprint("trace-", i)}); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := byExternal(db, "trace-first"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("an old trace id: %v", err)
	}
	if d, err := byExternal(db, "CA1"); err != nil || d.Job.ID != call.ID {
		t.Errorf("an old call: %q %v", d.Job.ID, err)
	}
	wantSound(t, db)
}

func TestPruningForgetsTheIdsOfCalls(t *testing.T) {
	db := start(t, "")
	call := enqueue(t, db, engine.Spec{Kind: engine.KindCall, Queue: "alert"})
	called(t, db, call, 1, "CA1")
	call.Finished = noon
	call = move(t, db, call, engine.Completed)
	write(t, db, func(tx engine.Tx) error {
		x := own(tx)
		k, err := x.jobKey(call.ID)
		if err != nil {
			return err
		}
		return x.pruneJob(k, call)
	})
	if _, err := byExternal(db, "CA1"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a pruned call: %v", err)
	}
	read(t, db, func(tx *txn) error {
		if tx.Has(tCallSID, []byte("CA1")) {
			t.Error("its id is kept")
		}
		return nil
	})
}

func TestSizesAndWriteSums(t *testing.T) {
	db := start(t, "")
	enqueue(t, db, engine.Spec{Kind: "k", Queue: "q"})
	s, err := db.Sizes()
	if err != nil || s.State <= 0 || s.Free == 0 {
		t.Errorf("%+v %v", s, err)
	}
	w := db.WriteSums()["state"]
	var within uint64
	for _, n := range w.Counts {
		within += n
	}
	if w.Count == 0 || w.Sum <= 0 || within > w.Count {
		t.Errorf("%+v", w)
	}
	var far disk.WriteSum
	far.Add(time.Hour)
	if far.Count != 1 || far.Counts != ([len(disk.WriteBounds)]uint64{}) || far.Sum != time.Hour {
		t.Errorf("%+v", far)
	}
}
