package storage

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
)

// ended stores a job that ended some days before noon.
func ended(t testing.TB, db *DB, key string, to engine.State, class engine.Class, days int) engine.JobID {
	t.Helper()
	j := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: key})
	j = move(t, db, j, engine.Running)
	j.Class, j.Finished, j.Attempts = class, noon.AddDate(0, 0, -days), 1
	write(t, db, func(tx engine.Tx) error {
		return db.AddAttempt(tx, j.ID, engine.Attempt{Number: 1, Class: class, Start: j.Finished, End: j.Finished})
	})
	return move(t, db, j, to).ID
}

func stays(t testing.TB, db *DB, id engine.JobID) bool {
	t.Helper()
	_, err := db.Detail(context.Background(), engine.JobQuery{ID: id})
	return err == nil
}

// A job that completes stands in the archive, and in no list of live jobs, from the
// transaction on that ends it; its key is free.
func TestS4_2_CompletedJobsGoToTheArchiveAtOnce(t *testing.T) {
	db := start(t, "")
	done := ended(t, db, "match:EUW1_1", engine.Completed, "", 0)
	for j, err := range db.Live(context.Background()) {
		t.Errorf("job %s is live: %v", j.ID, err)
	}
	read(t, db, func(tx *txn) error {
		if n := tx.rowCount(tArchive.Table); n != 1 {
			t.Errorf("%d archived jobs", n)
		}
		if n := tx.rowCount(tJobState.Table); n != 0 {
			t.Errorf("%d live rows", n)
		}
		return nil
	})
	if next := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:EUW1_1"}); next.ID == done {
		t.Error("the key of a completed job is held")
	}
}

func (t *txn) rowCount(tb *collection.Table) (n int) {
	for range t.Rows(tb, nil) {
		n++
	}
	return n
}

// Failed jobs are kept by the class of their error and by age; a dry run says the
// same and changes nothing.
func TestS4_2_FailedJobsAreKeptByClassAndAge(t *testing.T) {
	db := start(t, "")
	rule := engine.PruneAsk{
		Completed: 30 * 24 * time.Hour, Failed: 90 * 24 * time.Hour,
		Classes: map[engine.Class]time.Duration{"404": 10 * 24 * time.Hour, "403.path": 20 * 24 * time.Hour, "crash": 0},
	}
	jobs := []struct {
		to    engine.State
		class engine.Class
		days  int
		stays bool
	}{
		{engine.Completed, "", 29, true},
		{engine.Completed, "404", 31, false}, // an error of an earlier attempt changes nothing
		{engine.Discarded, "404", 9, true},
		{engine.Discarded, "404", 11, false},
		{engine.Discarded, "404.timeline", 11, false},
		{engine.Discarded, "4040", 11, true},
		{engine.Discarded, "403.path", 21, false},
		{engine.Discarded, "403", 21, true},
		{engine.Discarded, "503", 89, true},
		{engine.Discarded, "503", 91, false},
		{engine.Discarded, "crash", 900, true},
		{engine.Cancelled, "", 89, true},
		{engine.Cancelled, "", 91, false},
	}
	var ids []engine.JobID
	for i, j := range jobs {
		ids = append(ids, ended(t, db, fmt.Sprint("match:EUW1_", i), j.to, j.class, j.days))
	}
	ctx, seq := context.Background(), db.Seq()
	dry, err := db.Prune(ctx, rule, noon, true)
	must(t, err)
	if db.Seq() != seq {
		t.Error("a dry run wrote")
	}
	want := engine.PruneDone{Completed: 1, Failed: 5, Attempts: 6, Classes: map[engine.Class]int{"404": 1, "404.timeline": 1, "403.path": 1, "503": 1, "": 1}}
	if !reflect.DeepEqual(dry, want) {
		t.Errorf("dry run: %+v", dry)
	}
	did, err := db.Prune(ctx, rule, noon, false)
	must(t, err)
	if !reflect.DeepEqual(did, dry) {
		t.Errorf("did %+v, said %+v", did, dry)
	}
	for i, j := range jobs {
		if stays(t, db, ids[i]) != j.stays {
			t.Errorf("%s %q of %d days: stays %v", j.to, j.class, j.days, !j.stays)
		}
	}
}

// Whatever the rule says, the last hundred failures stay.
func TestS4_2_TheLastHundredFailuresStay(t *testing.T) {
	db := start(t, "")
	rule := engine.PruneAsk{Failed: time.Hour, Classes: map[engine.Class]time.Duration{"404": time.Minute}, KeepFailed: 100}
	var ids []engine.JobID
	for i := range 130 {
		class, to := engine.Class("404"), engine.Discarded
		if i%3 == 0 {
			class, to = "", engine.Cancelled
		}
		ids = append(ids, ended(t, db, fmt.Sprint("match:EUW1_", i), to, class, 300))
	}
	r, err := db.Prune(context.Background(), rule, noon, false)
	must(t, err)
	if r.Failed != 30 {
		t.Errorf("%+v", r)
	}
	for i, id := range ids {
		if stays(t, db, id) != (i >= 30) {
			t.Errorf("failure %d of 130: stays %v", i, i < 30)
		}
	}
	again, err := db.Prune(context.Background(), rule, noon, false)
	must(t, err)
	if again.Failed != 0 {
		t.Errorf("a second run: %+v", again)
	}
}
