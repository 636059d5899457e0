package app

import (
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
)

// report prints the median and what 99 of 100 took at most, in milliseconds and of
// their target.
func report(b *testing.B, took []time.Duration, target time.Duration) {
	b.Helper()
	slices.Sort(took)
	p50, p99 := took[len(took)/2], took[(len(took)*99+99)/100-1]
	b.ReportMetric(p50.Seconds()*1000, "p50-ms")
	b.ReportMetric(p99.Seconds()*1000, "p99-ms")
	b.ReportMetric(float64(p99)/float64(target), "p99-of-target")
	b.ReportMetric(0, "ns/op")
}

// synced is a daemon that has synced an account, and a program that talks to it.
func synced(b *testing.B, matches int) (*client, string) {
	b.Helper()
	who := player("Quiet River#BENCH", matches)
	s, dir := startSim(b, quick(who)), freshDir(b)
	d := s.serving(b, dir, map[string]string{"FARSIGHT_PLATFORM": "euw1"}, "--http", "127.0.0.1:0")
	c := program(b, d, dir)
	c.ask(b, "POST", "/v1/accounts/Quiet%20River/BENCH/sync", "", 202, nil)
	d.until("the end of the sync", func() bool {
		var a engine.AccountDetail
		c.ask(b, "GET", "/v1/accounts/Quiet%20River/BENCH", "", 200, &a)
		return a.Row.Status == engine.SyncCompleted
	})
	return c, dir
}

// BenchmarkHTTPStats is a look at stored stats, over TCP (target: p99 at most 10 ms).
func BenchmarkHTTPStats(b *testing.B) {
	c, _ := synced(b, 200)
	c.doc = nil // what is measured is the engine, not the validator
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		c.ask(b, "GET", "/v1/stats/Quiet%20River/BENCH", "", 200, nil)
		took = append(took, time.Since(began))
	}
	report(b, took, 10*time.Millisecond)
}

// BenchmarkCommandRoundTrip is a command that is written, with its audit entry, over
// the socket of an idle engine (target: under 20 ms).
func BenchmarkCommandRoundTrip(b *testing.B) {
	_, dir := synced(b, 5)
	c := api.NewClient(controlSocket(dir))
	defer c.Close()
	ops := []engine.Op{engine.OpPause, engine.OpResume}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		if _, err := c.Do(b.Context(), engine.Command{Op: ops[i%2], Queue: "ingest.rank.daily"}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	report(b, took, 20*time.Millisecond)
}
