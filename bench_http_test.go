package main

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
)

// p99 is what 99 of 100 took at most.
func p99(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[(len(took)*99+99)/100-1]
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
	b.ReportMetric(float64(p99(took))/float64(10*time.Millisecond), "p99-of-10ms")
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
	b.ReportMetric(float64(p99(took))/float64(20*time.Millisecond), "p99-of-20ms")
	b.ReportMetric(float64(took[len(took)/2])/float64(20*time.Millisecond), "median-of-20ms")
}

// BenchmarkFiftyConsoles syncs an account with nobody looking and with fifty consoles
// attached, one of which does not read. What the consoles themselves take of the
// machine is not the engine's: its own processor time is compared besides (target:
// under 0.10 more).
func BenchmarkFiftyConsoles(b *testing.B) {
	for b.Loop() {
		alone, aloneCPU := attachedSync(b, 0)
		many, manyCPU := attachedSync(b, 50)
		b.ReportMetric(many.Seconds()/alone.Seconds()-1, "more-time")
		b.ReportMetric(manyCPU.Seconds()/aloneCPU.Seconds()-1, "more-cpu")
	}
}

func attachedSync(b *testing.B, consoles int) (wall, cpu time.Duration) {
	b.Helper()
	who := player("Long Haul#BENCH", 600)
	o := quick(who)
	o.Limits = limits("100:1")
	s, dir := startSim(b, o), freshDir(b)
	d := s.serving(b, dir, nil)
	ctx, cancel := context.WithCancel(b.Context())
	var watching sync.WaitGroup
	for i := range consoles {
		watching.Go(func() { lookOn(ctx, dir, i == 0) })
	}
	c := api.NewClient(controlSocket(dir))
	defer c.Close()
	began := time.Now()
	if _, err := c.Do(ctx, engine.Command{Op: engine.OpTrigger, Account: who.RiotID, Sync: engine.SyncAsk{Platform: "euw1", Timelines: "none"}}); err != nil {
		b.Fatal(err)
	}
	for u := range c.Watch(ctx) {
		if slices.ContainsFunc(u.Accounts, func(a engine.AccountRow) bool { return a.Status == engine.SyncCompleted }) {
			break
		}
	}
	wall = time.Since(began)
	cancel()
	watching.Wait()
	d.kill()
	return wall, d.cmd.ProcessState.UserTime() + d.cmd.ProcessState.SystemTime()
}

// lookOn is one attached console. One that is stuck takes one update and then none.
func lookOn(ctx context.Context, dir string, stuck bool) {
	c := api.NewClient(controlSocket(dir))
	defer c.Close()
	for range c.Watch(ctx) {
		if stuck {
			<-ctx.Done()
			return
		}
	}
}
