package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/engine/hub"
	"github.com/farsight-console/farsight/engine/local"
	"github.com/farsight-console/farsight/storage"
)

// BenchmarkConsoles runs no-op jobs on the real store with consoles on the socket
// and without, in turns, and prints the median of the ratios: fifty that read, and
// one that never reads. What a console costs its own process is not counted: the
// ends of the streams are thrown away. Targets: fifty at least 0.9, one that stops
// reading 1 (issue 5).
func BenchmarkConsoles(b *testing.B) {
	for _, c := range []struct {
		name  string
		n     int
		reads bool
	}{{"50-attached", 50, true}, {"1-that-stops-reading", 1, false}} {
		b.Run(c.name, func(b *testing.B) {
			var ratios, rates []float64
			for b.Loop() {
				for range 5 {
					alone, with := throughput(b, 0, true), throughput(b, c.n, c.reads)
					ratios, rates = append(ratios, with/alone), append(rates, with)
				}
			}
			b.ReportMetric(middle(ratios), "ratio-to-none")
			b.ReportMetric(middle(rates), "jobs/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func middle(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// working is a hub's source over a job engine.
type working struct{ *local.Backend }

func (w working) Engine() engine.EngineRow {
	n, most := w.Load()
	return engine.EngineRow{State: engine.EngineLive, InFlight: n, Workers: most, Stored: w.Stats().Finished}
}
func (working) Limits() engine.LimitsRow           { return engine.LimitsRow{} }
func (working) CallsAfter(uint64) []engine.CallRow { return nil }
func (w working) Row(j engine.Job) engine.JobRow   { return engine.JobRow{Job: j} }

// throughput is how many jobs per second an engine settles with n consoles.
func throughput(b *testing.B, n int, reads bool) float64 {
	b.Helper()
	const jobs = 8_000
	db, err := storage.Open(storage.Options{Dir: b.TempDir() + "/data"})
	if err != nil {
		b.Fatal(err)
	}
	be, err := local.New(local.Options{
		Store: db, Policies: engine.DefaultPolicies(), Boot: "bench", Workers: func() int { return 100 },
		Kinds: []engine.KindSpec{{Kind: "noop", Policy: engine.PolicyMatch, Handler: func(context.Context, engine.Run) engine.Outcome { return engine.Done(nil) }}},
	})
	if err != nil {
		b.Fatal(err)
	}
	h := hub.New(hub.Options{Source: working{be}, Accounts: func(context.Context, engine.AccountsQuery) (engine.AccountsPage, error) {
		return engine.AccountsPage{}, nil
	}})
	db.OnCommit(func(seq uint64, changes []engine.Change) {
		be.Apply(seq, changes)
		h.Publish(seq, changes)
	})
	load(b, db, jobs)
	s := serve(b, &desk{watch: h.Watch}, func(o *api.Options) { o.Pace = 0 }) // as the product has it
	took := attachAll(b, s.path, n, reads)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Run(ctx) })
	start := time.Now()
	running.Go(func() {
		if err := be.Run(ctx); err != nil {
			b.Error(err)
		}
	})
	for be.Stats().Finished < jobs {
		time.Sleep(time.Millisecond)
	}
	rate := jobs / time.Since(start).Seconds()
	cancel()
	running.Wait()
	if n > 0 && reads && took.Load() == 0 {
		b.Error("the consoles were told nothing")
	}
	return rate
}

// load serves the store until the benchmark ends, and puts jobs into it.
func load(b *testing.B, db *storage.DB, jobs int) {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- db.Serve(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := errors.Join(<-served, db.Close()); err != nil {
			b.Error(err)
		}
	})
	specs := make([]engine.Spec, jobs)
	for i := range specs {
		specs[i] = engine.Spec{Kind: "noop", Queue: "bench", Key: fmt.Sprint("match:EUW1_", i)}
	}
	err := db.Write(ctx, func(tx engine.Tx) error {
		_, err := tx.Enqueue(specs...)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// attachAll connects consoles and counts the bytes that they are told.
func attachAll(b *testing.B, path string, n int, reads bool) *atomic.Int64 {
	b.Helper()
	var told atomic.Int64
	for range n {
		c, err := net.Dial("unix", path)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = c.Close() })
		_, _ = io.WriteString(c, "GET /v1/watch HTTP/1.0\r\nHost: farsight\r\n\r\n")
		if !reads {
			continue
		}
		go func() { _, _ = io.Copy(io.Discard, countingReader{c, &told}) }()
	}
	return &told
}

// countingReader adds up what is read.
type countingReader struct {
	io.Reader
	n *atomic.Int64
}

func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}
