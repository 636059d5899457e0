package local_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
)

// Workers that are at work at once have numbers of their own, the lowest there are. A
// worker keeps its number from one job to the next, and a job that has ended that of
// its last attempt.
func TestAJobNamesItsWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{Workers: func() int { return 3 }}, func(ctx context.Context, r engine.Run) engine.Outcome {
			time.Sleep(time.Minute)
			return engine.Done(nil).With(engine.CallStat{Calls: 1, Status: 200, Bytes: 41_000})
		}).run()
		var ids []engine.JobID
		for i := range 5 {
			ids = append(ids, be.add(keyed(fmt.Sprint("match:", i)))...)
		}
		var workers []int
		for _, id := range ids[:3] {
			workers = append(workers, be.want(id, engine.Running).Worker)
		}
		slices.Sort(workers)
		if !slices.Equal(workers, []int{1, 2, 3}) {
			t.Errorf("the workers are %v", workers)
		}
		if j := be.want(ids[3], engine.Available); j.Worker != 0 || j.Bytes != 0 || j.Asker() != engine.ByEngine {
			t.Errorf("a job in line has worker %d, %d bytes, by %q", j.Worker, j.Bytes, j.Asker())
		}
		time.Sleep(90 * time.Second)
		rest := []int{be.want(ids[3], engine.Running).Worker, be.want(ids[4], engine.Running).Worker}
		if rest[0] == rest[1] || slices.Max(rest) > 3 || slices.Min(rest) < 1 {
			t.Errorf("the next jobs have the workers %v", rest)
		}
		time.Sleep(time.Minute)
		for i, id := range ids {
			d, err := be.s.Detail(context.Background(), engine.JobQuery{ID: id})
			if err != nil || d.Job.Worker == 0 || d.Job.Bytes != 41_000 || d.Attempts[0].Worker != d.Job.Worker {
				t.Errorf("job %d ended with %+v, its attempt with worker %+v: %v", i, d.Job.Job, d.Attempts, err)
			}
		}
		be.down()
	})
}

// TestV1m_NoMoreRunThanThereAreWorkers: those that run when the ceiling sinks go on, each in the hands of a worker.
func TestV1m_NoMoreRunThanThereAreWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ceiling atomic.Int64
		ceiling.Store(7)
		be := newBench(t, local.Options{Workers: func() int { return int(ceiling.Load()) }}, func(context.Context, engine.Run) engine.Outcome {
			time.Sleep(time.Minute)
			return engine.Done(nil)
		}).run()
		for i := range 7 {
			be.add(keyed(fmt.Sprint("match:", i)))
		}
		synctest.Wait()
		ceiling.Store(5)
		if running, workers := be.b.Load(); running != 7 || workers != 7 {
			t.Errorf("%d of %d workers", running, workers)
		}
		time.Sleep(90 * time.Second)
		if running, workers := be.b.Load(); running != 0 || workers != 5 {
			t.Errorf("at the end %d of %d workers", running, workers)
		}
		be.down()
	})
}

// Who gave the last command on a job is named by it; what the engine does with it
// afterwards changes nothing.
func TestAJobNamesWhoAsked(t *testing.T) {
	ana, bo := engine.Actor{User: "ana", Via: "console"}, engine.Actor{User: "bo", Via: "cli"}
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{}, func(context.Context, engine.Run) engine.Outcome {
			return engine.Retry(errors.New("503"))
		}).run()
		id := be.add(engine.Spec{Key: "match:1", By: "schedule full"})[0]
		if j := be.want(id, engine.Retryable); j.By != "schedule full" {
			t.Errorf("asked for by %q", j.By)
		}
		ctx := context.Background()
		if _, err := be.b.Act(ctx, engine.Command{Op: engine.OpRetry, Job: id, By: ana}); err != nil {
			t.Fatal(err)
		}
		if j := be.want(id, engine.Retryable); j.By != "ana" || j.Tries != 1 {
			t.Errorf("after a retry and another failure: by %q, %d tries", j.By, j.Tries)
		}
		r, err := be.b.Bulk(ctx, engine.Command{Op: engine.OpCancel, Select: &engine.Selection{IDs: []engine.JobID{id}}, By: bo})
		if err != nil {
			t.Fatal(err)
		}
		if j := be.want(id, engine.Cancelled); j.By != "bo" {
			t.Errorf("cancelled by %q", j.By)
		}
		if _, err := be.b.Undo(ctx, r.Moves, ana, "", false); err != nil {
			t.Fatal(err)
		}
		if j := be.want(id, engine.Retryable); j.By != "ana" {
			t.Errorf("put back by %q", j.By)
		}
		be.down()
	})
}
