package local_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/storage"
)

const benchWorkers = 100

// BenchmarkEngine runs no-op jobs with 100 workers on the real store, and prints
// its pace against two committers without an engine around them, each with 100
// callers: bbolt alone, and our store, which writes what belongs to a job (both
// states, its attempt, its archived record). All take turns, and medians are
// printed: the machine has other work. What a job costs the committer is told as
// processor time, on which other work has little influence.
// Target: at least 0.6 of the bare committer.
func BenchmarkEngine(b *testing.B) {
	const jobs, rounds = 8_000, 7
	var rates, bares, toBare, toStore, perCommit, cpu []float64
	for b.Loop() {
		for range rounds {
			bare, store := bareCommitter(b, jobs), storeCommitter(b, jobs)
			whole := wholeEngine(b, jobs, false)
			rates, bares, perCommit = append(rates, whole.rate), append(bares, bare), append(perCommit, whole.perCommit)
			toBare, toStore = append(toBare, whole.rate/bare), append(toStore, whole.rate/store)
			cpu = append(cpu, wholeEngine(b, jobs, true).committer)
		}
	}
	b.ReportMetric(median(rates), "jobs/s")
	b.ReportMetric(median(bares), "bare-bbolt-jobs/s")
	b.ReportMetric(median(toBare), "ratio-to-bare-bbolt")
	b.ReportMetric(median(toStore), "ratio-to-bare-store")
	b.ReportMetric(median(perCommit), "jobs/commit")
	b.ReportMetric(median(cpu), "committer-µs/job")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func noop(context.Context, engine.Run) engine.Outcome { return engine.Done(nil) }

// benchStore opens a store with jobs in it.
func benchStore(b *testing.B, onCommit func(uint64, []engine.Change), jobs int, queue engine.Queue) (*storage.DB, []engine.JobID) {
	b.Helper()
	db, err := storage.Open(storage.Options{Dir: b.TempDir() + "/data"})
	if err != nil {
		b.Fatal(err)
	}
	if onCommit != nil {
		db.OnCommit(onCommit)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- db.Serve(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return db, fill(b, db, jobs, queue)
}

func fill(b *testing.B, db *storage.DB, jobs int, queue engine.Queue) (ids []engine.JobID) {
	b.Helper()
	specs := make([]engine.Spec, jobs)
	for i := range specs {
		specs[i] = engine.Spec{Kind: "noop", Queue: queue, Key: fmt.Sprint("match:EUW1_", i), Args: []byte(`{"match":"EUW1_7"}`)}
	}
	err := db.Write(context.Background(), func(tx engine.Tx) error {
		out, err := tx.Enqueue(specs...)
		ids = ids[:0]
		for _, e := range out {
			ids = append(ids, e.ID)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return ids
}

// storeCommitter gives jobs per second of our store without an engine.
func storeCommitter(b *testing.B, jobs int) float64 {
	db, ids := benchStore(b, nil, jobs, "bench")
	work := make(chan engine.JobID, jobs)
	for _, id := range ids {
		work <- id
	}
	close(work)
	start := time.Now()
	var wg sync.WaitGroup
	for range benchWorkers {
		wg.Go(func() { bareCaller(b, db, work) })
	}
	wg.Wait()
	return float64(jobs) / time.Since(start).Seconds()
}

// bareCaller completes one job and claims the next in each op.
func bareCaller(b *testing.B, db *storage.DB, work <-chan engine.JobID) {
	var mine engine.JobID
	for more := true; more; {
		var next engine.JobID
		next, more = <-work
		err := db.Write(context.Background(), func(tx engine.Tx) error {
			if mine != "" {
				if err := bareComplete(db, tx, mine); err != nil {
					return err
				}
			}
			if next == "" {
				return nil
			}
			return bareClaim(db, tx, next)
		})
		if err != nil {
			b.Error(err)
			return
		}
		mine = next
	}
}

func bareClaim(db *storage.DB, tx engine.Tx, id engine.JobID) error {
	j, err := db.Job(tx, id)
	if err != nil {
		return err
	}
	j.Rev++
	j.State, j.Boot, j.Started, j.Tries, j.Attempts = engine.Running, "bare", time.Now(), 1, 1
	return db.SaveJob(tx, j)
}

func bareComplete(db *storage.DB, tx engine.Tx, id engine.JobID) error {
	j, err := db.Job(tx, id)
	if err != nil {
		return err
	}
	j.Rev++
	j.State, j.Boot, j.Finished = engine.Completed, "", time.Now()
	if err := db.AddAttempt(tx, id, engine.Attempt{Number: 1, Round: 1, Try: 1, Start: j.Started, End: j.Finished}); err != nil {
		return err
	}
	return db.SaveJob(tx, j)
}

// pace is what a run of the engine has shown.
type pace struct {
	rate      float64 // jobs per second
	perCommit float64 // jobs
	committer float64 // µs of processor time per job
}

// wholeEngine runs jobs with everything around them. Asked for the committer's
// time, it keeps that goroutine on one thread, which makes it wait longer.
func wholeEngine(b *testing.B, jobs int, clocked bool) (p pace) {
	var backend atomic.Pointer[local.Backend]
	apply := func(seq uint64, changes []engine.Change) {
		if be := backend.Load(); be != nil {
			be.Apply(seq, changes)
		}
	}
	db, _ := benchStore(b, apply, jobs, "bench")
	be, err := local.New(local.Options{
		Store: db, Kinds: []engine.KindSpec{{Kind: "noop", Policy: engine.PolicyMatch, Handler: noop}},
		Policies: engine.DefaultPolicies(), Boot: "bench", Workers: func() int { return benchWorkers },
	})
	if err != nil {
		b.Fatal(err)
	}
	backend.Store(be)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	var from time.Duration
	if clocked {
		from = committerTime(b, db, runtime.LockOSThread)
	}
	commits, start := db.Seq(), time.Now()
	go func() { ended <- be.Run(ctx) }()
	for be.Stats().Finished < int64(jobs) {
		time.Sleep(time.Millisecond)
	}
	p.rate = float64(jobs) / time.Since(start).Seconds()
	p.perCommit = float64(jobs) / float64(db.Seq()-commits)
	if clocked {
		p.committer = float64((committerTime(b, db, runtime.UnlockOSThread) - from).Microseconds()) / float64(jobs)
	}
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
	return p
}

// committerTime is the processor time of the committer's thread. An op that writes
// nothing costs no commit.
func committerTime(b *testing.B, db *storage.DB, also func()) (spent time.Duration) {
	err := db.Write(context.Background(), func(engine.Tx) error {
		also()
		spent = threadTime()
		return nil
	})
	if err != nil {
		b.Error(err)
	}
	return spent
}
