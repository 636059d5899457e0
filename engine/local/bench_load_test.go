package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/storage"
)

// engineOn is an engine on a store that several measurements use.
type engineOn struct {
	db      *storage.DB
	backend atomic.Pointer[local.Backend]
}

func newEngineOn(b *testing.B) *engineOn {
	e := &engineOn{}
	e.db, _ = benchStore(b, func(seq uint64, changes []engine.Change) {
		if be := e.backend.Load(); be != nil {
			be.Apply(seq, changes)
		}
	}, 0, "bench")
	return e
}

// work runs an engine until done says so.
func (e *engineOn) work(b *testing.B, handler func(context.Context, engine.Run) engine.Outcome, done func(*local.Backend) bool) time.Duration {
	b.Helper()
	be, err := local.New(local.Options{
		Store: e.db, Kinds: []engine.KindSpec{{Kind: "noop", Policy: engine.PolicyMatch, Handler: handler}},
		Policies: engine.DefaultPolicies(), Boot: "bench", Workers: func() int { return benchWorkers },
	})
	if err != nil {
		b.Fatal(err)
	}
	e.backend.Store(be)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	start := time.Now()
	go func() { ended <- be.Run(ctx) }()
	for !done(be) {
		time.Sleep(time.Millisecond)
	}
	took := time.Since(start)
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
	return took
}

// rate is how many no-op jobs a second the engine ends.
func (e *engineOn) rate(b *testing.B, jobs int) float64 {
	fill(b, e.db, jobs, "bench")
	took := e.work(b, noop, func(be *local.Backend) bool { return be.Stats().Finished >= int64(jobs) })
	return float64(jobs) / took.Seconds()
}

// BenchmarkFinished runs no-op jobs on a store with a million finished jobs and on
// one without any, in turns, and prints the median of the ratios. Target: at least
// 0.85. FARSIGHT_BENCH_FINISHED sets another number.
func BenchmarkFinished(b *testing.B) {
	const jobs, rounds = 8_000, 7
	full, empty := newEngineOn(b), newEngineOn(b)
	finished := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("FARSIGHT_BENCH_FINISHED")); err == nil {
		finished = n
	}
	archive(b, full.db, finished)
	var ratios []float64
	for b.Loop() {
		for range rounds {
			without := empty.rate(b, jobs)
			ratios = append(ratios, full.rate(b, jobs)/without)
		}
	}
	slices.Sort(ratios)
	b.ReportMetric(float64(finished), "finished-jobs")
	b.ReportMetric(ratios[len(ratios)/2], "ratio-to-none-finished")
	b.ReportMetric(0, "ns/op")
}

// archive makes n jobs that have ended.
func archive(b *testing.B, db *storage.DB, n int) {
	b.Helper()
	const batch = 10_000
	for done := 0; done < n; done += batch {
		err := db.Write(context.Background(), func(tx engine.Tx) error {
			for i := range min(batch, n-done) {
				if err := ended(db, tx, fmt.Sprint("old:", done+i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func ended(db *storage.DB, tx engine.Tx, key string) error {
	made, err := tx.Enqueue(engine.Spec{Kind: "noop", Queue: "bench", Key: key, Args: []byte(`{"match":"EUW1_7"}`)})
	if err != nil {
		return err
	}
	j, err := db.Job(tx, made[0].ID)
	if err != nil {
		return err
	}
	j.State, j.Rev, j.Finished = engine.Completed, 2, time.Now()
	return db.SaveJob(tx, j)
}

// BenchmarkDue has 100,000 jobs wait for far instants and 500 for near ones, and
// prints how late the near ones start. Target: 50 ms (P-21).
func BenchmarkDue(b *testing.B) {
	const waiting, near = 100_000, 500
	for b.Loop() {
		e := newEngineOn(b)
		first := time.Now().Add(8 * time.Second) // by then all is written
		schedule(b, e.db, waiting, func(i int) time.Time { return first.Add(time.Hour + time.Duration(i)*time.Second) })
		schedule(b, e.db, near, func(i int) time.Time { return first.Add(time.Duration(i) * 4 * time.Millisecond) })
		var mu sync.Mutex
		var late []time.Duration
		e.work(b, func(_ context.Context, r engine.Run) engine.Outcome {
			mu.Lock()
			late = append(late, time.Since(instantOf(b, r.Job)))
			mu.Unlock()
			return engine.Done(nil)
		}, func(be *local.Backend) bool { return be.Stats().Finished >= near })
		slices.Sort(late)
		b.ReportMetric(float64(late[len(late)*99/100].Microseconds())/1000, "ms-late-p99")
		b.ReportMetric(float64(late[len(late)/2].Microseconds())/1000, "ms-late-p50")
	}
	b.ReportMetric(0, "ns/op")
}

// instantOf is the instant that a job was scheduled for, as its arguments tell.
func instantOf(b *testing.B, j engine.Job) (at time.Time) {
	if err := json.Unmarshal(j.Args, &at); err != nil {
		b.Error(err)
	}
	return at
}

func schedule(b *testing.B, db *storage.DB, n int, at func(i int) time.Time) {
	b.Helper()
	const batch = 10_000
	for from := 0; from < n; from += batch {
		specs := make([]engine.Spec, min(batch, n-from))
		for i := range specs {
			specs[i] = engine.Spec{Kind: "noop", Queue: "bench", Key: fmt.Sprint("due:", from+i, "/", n), RunAt: at(from + i), Args: at(from+i).AppendFormat(nil, `"`+time.RFC3339Nano+`"`)}
		}
		err := db.Write(context.Background(), func(tx engine.Tx) error {
			_, err := tx.Enqueue(specs...)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
