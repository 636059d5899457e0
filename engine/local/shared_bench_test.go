package local_test

import (
	"context"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/internal/pgtest"
)

// An engine that leads ends jobs that do nothing, as many as benchtime says: jobs/s.
func BenchmarkServer(b *testing.B) {
	run := func(b *testing.B, db store) {
		noop := func(context.Context, engine.Run) engine.Outcome { return engine.Done(nil) }
		be, err := local.New(local.Options{
			Store: db, Kinds: []engine.KindSpec{{Kind: "k", Policy: engine.PolicyMatch, Handler: noop}},
			Policies: engine.DefaultPolicies(), Boot: "bench", Workers: func() int { return 100 },
		})
		if err != nil {
			b.Fatal(err)
		}
		db.OnCommit(be.Apply)
		for left := b.N; left > 0; left -= 1000 {
			specs := make([]engine.Spec, min(left, 1000))
			for i := range specs {
				specs[i] = engine.Spec{Kind: "k", Queue: "q"}
			}
			err := db.Write(context.Background(), func(tx engine.Tx) error {
				_, err := tx.Enqueue(specs...)
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
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
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
	}
	b.Run("shared", func(b *testing.B) {
		db, stop, err := serveShared(pgtest.Schema(b), b.TempDir()+"/data")
		if err != nil {
			b.Fatal(err)
		}
		run(b, db)
		if err := stop(); err != nil {
			b.Fatal(err)
		}
	})
}
