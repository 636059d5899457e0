package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/storage/internal/collection"
	"github.com/farsight-console/farsight/storage/internal/disk"
)

// TestP16_DiscardedJobsAreCounted discards, opens again, cancels and prunes jobs of two queues at random: the
// counters are what the jobs say, and what was published last. The check at the end recounts them.
func TestP16_DiscardedJobsAreCounted(t *testing.T) {
	db := start(t, "")
	told := map[engine.Queue]int{}
	db.OnCommit(func(_ uint64, changes []engine.Change) {
		for _, c := range changes {
			if c.Discards != nil {
				told[c.Discards.Queue] = c.Discards.Jobs
			}
		}
	})
	jobs, made := map[engine.JobID]engine.Job{}, 0
	rapid.Check(t, func(rt *rapid.T) {
		made++
		queue := engine.Queue(rapid.SampledFrom([]string{"full", "latest"}).Draw(rt, "queue"))
		j := enqueue(t, db, engine.Spec{Kind: "match.fetch", Queue: queue, Key: fmt.Sprint("match:", made)})
		j = move(t, db, j, engine.Running)
		for _, to := range rapid.SampledFrom([][]engine.State{
			{engine.Discarded}, {engine.Cancelled}, {engine.Completed}, {engine.Discarded, engine.Available},
			{engine.Discarded, engine.Available, engine.Running, engine.Discarded},
		}).Draw(rt, "moves") {
			j = move(t, db, j, to)
		}
		jobs[j.ID] = j
		if rapid.IntRange(0, 19).Draw(rt, "prune") == 0 {
			_, err := db.Prune(context.Background(), engine.PruneAsk{Completed: time.Hour, Failed: time.Hour}, time.Now().Add(48*time.Hour), false)
			must(t, err)
			maps.DeleteFunc(jobs, func(_ engine.JobID, j engine.Job) bool { return j.State.Terminal() && !stays(t, db, j.ID) })
		}
		want := map[engine.Queue]int{}
		for _, j := range jobs {
			if j.State == engine.Discarded {
				want[j.Queue]++
			}
		}
		got, err := db.Discards(context.Background())
		must(t, err)
		maps.DeleteFunc(told, func(_ engine.Queue, n int) bool { return n == 0 })
		if !maps.Equal(got, want) || !maps.Equal(told, want) {
			rt.Fatalf("stored %v, told %v, want %v", got, told, want)
		}
	})
}

// TestP6_DiscardedJobsAreRecounted: check finds a wrong counter.
func TestP6_DiscardedJobsAreRecounted(t *testing.T) {
	db := start(t, "")
	for i, to := range []engine.State{engine.Discarded, engine.Completed, engine.Discarded, engine.Cancelled} {
		ended(t, db, fmt.Sprint("match:", i), to, "", 1)
	}
	counter := []byte(countDiscards + "q")
	write(t, db, func(tx engine.Tx) error { return own(tx).PutNumber(collection.Counters, counter, 7) })
	report, err := db.Check(context.Background())
	must(t, err)
	if text := fmt.Sprint(report.Findings); len(report.Findings) != 1 || !strings.Contains(text, "says 7, the rows say 2") {
		t.Errorf("check finds %s", text)
	}
	write(t, db, func(tx engine.Tx) error { return own(tx).PutNumber(collection.Counters, counter, 2) })
}

// TestACloseLeavesTheCountsOfItsJobs: who looks at a store that was closed in order reads no job to count them, and none
// is missed in one that was not.
func TestACloseLeavesTheCountsOfItsJobs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	look := func() (rows []engine.QueueRow) {
		db, err := OpenReadOnly(Options{Dir: dir})
		must(t, err)
		defer db.Close()
		rows, err = db.QueueRows(context.Background())
		must(t, err)
		return rows
	}
	work := func(end func(*DB), specs ...engine.Spec) {
		db, err := Open(Options{Dir: dir})
		must(t, err)
		stop := serve(t, db)
		must(t, db.Write(context.Background(), func(tx engine.Tx) error {
			_, err := tx.Enqueue(specs...)
			return errors.Join(err, db.SetQueue(tx, engine.QueueState{Name: "paused", Paused: true}))
		}))
		end(db)
		stop()
		must(t, db.Close())
	}
	full := engine.Spec{Kind: "match.fetch", Queue: "full"}
	later := engine.Spec{Kind: "match.fetch", Queue: "full", RunAt: time.Now().Add(time.Hour)}
	work(func(*DB) {}, full, full, later)
	want := []engine.QueueRow{
		{QueueState: engine.QueueState{Name: "full"}, Counts: map[engine.State]int{engine.Available: 2, engine.Scheduled: 1}},
		{QueueState: engine.QueueState{Name: "paused", Paused: true}, Counts: map[engine.State]int{}},
	}
	same := func() {
		t.Helper()
		if got := look(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, want %+v", got, want)
		}
	}
	same()

	work(func(db *DB) { db.Abandon(disk.ErrUnknown) }, full)
	want[0].Counts[engine.Available]++
	same()

	// Closed in order once more, and then the jobs are taken away: only what the close has left tells them.
	work(func(*DB) {})
	b, err := bolt.Open(disk.StatePath(dir), 0o600, disk.BoltOptions())
	must(t, err)
	must(t, b.Update(func(tx *bolt.Tx) error {
		must(t, tx.DeleteBucket([]byte(tJobState.Name)))
		_, err := tx.CreateBucket([]byte(tJobState.Name))
		return err
	}))
	must(t, b.Close())
	same()
}
