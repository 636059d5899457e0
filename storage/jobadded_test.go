package storage

import (
	"reflect"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/rec"
	"github.com/farsight-console/farsight/storage/key"
)

// What came to jobs and attempts after the first release comes back, of live and of
// ended ones; records of before it are read as if nothing was known of it.
func TestWorkerBytesFailuresAndWhoAskedComeBack(t *testing.T) {
	db := start(t, "")
	j := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: "q", Key: "match:1", By: "ana"})
	if j.By != "ana" {
		t.Errorf("enqueued by %q", j.By)
	}
	for _, s := range []engine.State{engine.Running, engine.Completed, engine.Available} {
		j.Rev++
		j.State, j.Worker, j.By, j.Bytes = s, j.Worker+1, "bo", 41_000+int(s)
		j.AddFailure(noon.Add(time.Duration(s) * time.Minute))
		write(t, db, func(tx engine.Tx) error { return db.SaveJob(tx, j) })
		wantJob(t, db, j)
	}
	write(t, db, func(tx engine.Tx) error {
		return db.AddAttempt(tx, j.ID, engine.Attempt{Number: 1, Round: 1, Try: 1, Worker: 7, Decision: "none"})
	})
	read(t, db, func(tx *txn) error {
		if list, _ := tx.attempts(key.Uint64(mustNumber(j.ID))); len(list) != 1 || list[0].Worker != 7 {
			t.Errorf("attempts %+v", list)
		}
		return nil
	})
}

func TestJobsOfTheFirstReleaseAreRead(t *testing.T) {
	want := engine.Job{ID: jobID(7), Rev: 3, Kind: "match.fetch", Queue: "q", Key: "match:1", State: engine.Completed, Round: 1, Tries: 1, Attempts: 1, Class: "503", LastError: "late"}
	k := key.Uint64(7)
	state := rec.Write(nil, tJobState.Format)
	stateFields(&state, &want)
	v, err := rec.TableSeed(tJobState.Name).Seal(k, &state)
	must(t, err)
	got, err := tJobState.Decode(k, v)
	if err != nil || got.Rev != want.Rev || got.By != "" || got.Worker != 0 || got.Bytes != 0 {
		t.Errorf("a live one: %+v, %v", got, err)
	}
	ended := rec.Write(nil, tArchive.Format)
	specFields(&ended, &want)
	stateFields(&ended, &want)
	errorFields(&ended, &want)
	v, err = rec.TableSeed(tArchive.Name).Seal(k, &ended)
	must(t, err)
	got, err = tArchive.Decode(k, v)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("an ended one: %+v, %v", got, err)
	}
}
