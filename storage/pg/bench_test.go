package pg

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/internal/pgtest"
)

// A job is moved, as at each claim and each end.
func BenchmarkMove(b *testing.B) {
	db := open(b, pgtest.Schema(b))
	id := insert(b, db, spec("a"))[0]
	for b.Loop() {
		must(b, db.Write(context.Background(), func(tx engine.Tx) error {
			j, err := db.Job(tx, id)
			j.Rev++
			return errors.Join(err, db.SaveJob(tx, j))
		}))
	}
}

// An engine alone ends jobs that do nothing, as many as benchtime says: jobs/s. Asked for are 1,000 on
// two cores that nobody else uses.
func BenchmarkEngine(b *testing.B) {
	db := open(b, pgtest.Schema(b))
	noop := func(context.Context, engine.Run) engine.Outcome { return engine.Done(nil) }
	be, err := local.New(local.Options{
		Store: db, Kinds: []engine.KindSpec{{Kind: "k", Policy: engine.PolicyMatch, Handler: noop}},
		Policies: engine.DefaultPolicies(), Boot: "bench", Workers: func() int { return 20 },
	})
	must(b, err)
	db.OnCommit(be.Apply)
	specs := make([]engine.Spec, b.N)
	for i := range specs {
		specs[i] = engine.Spec{Kind: "k", Queue: "q"}
	}
	insert(b, db, specs...)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	b.ResetTimer()
	go func() { ended <- be.Run(ctx) }()
	for be.Stats().Finished < int64(b.N) {
		time.Sleep(time.Millisecond)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	stop()
	must(b, <-ended)
}

// A job is moved by four writers of a process that hears of all commits.
func BenchmarkMoveServed(b *testing.B) {
	for _, served := range []bool{false, true} {
		b.Run(map[bool]string{false: "alone", true: "served"}[served], func(b *testing.B) {
			db := open(b, pgtest.Schema(b))
			if served {
				ctx, stop := context.WithCancel(context.Background())
				done, up := make(chan error), make(chan struct{}, 1)
				db.OnGap(func() { up <- struct{}{} })
				go func() { done <- db.Serve(ctx) }()
				<-up
				defer func() { stop(); <-done }()
			}
			b.SetParallelism(2)
			b.ResetTimer()
			b.RunParallel(func(p *testing.PB) {
				id := insert(b, db, spec(""))[0]
				for p.Next() {
					must(b, db.Write(context.Background(), func(tx engine.Tx) error {
						j, err := db.Job(tx, id)
						j.Rev++
						return errors.Join(err, db.SaveJob(tx, j))
					}))
				}
			})
		})
	}
}
