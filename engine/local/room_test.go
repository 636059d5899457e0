package local_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
)

// Below the floor of free space nothing starts within ten seconds, what runs ends
// and is written, no attempt is used, and work goes on by itself.
func TestLowDiskPausesAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var free atomic.Uint64
		free.Store(600 << 20)
		be := newBench(t, local.Options{
			Workers: func() int { return 1 },
			Room:    func() (uint64, bool) { n := free.Load(); return n, n >= 512<<20 },
		}, func(context.Context, engine.Run) engine.Outcome {
			time.Sleep(30 * second)
			return engine.Done(nil)
		}).run()
		ids := be.add(keyed("1"), keyed("2"), keyed("3"))
		time.Sleep(15 * second)
		be.want(ids[0], engine.Running)
		free.Store(400 << 20)
		time.Sleep(time.Hour)
		be.want(ids[0], engine.Completed)
		for _, id := range ids[1:] {
			if j := be.want(id, engine.Available); j.Attempts != 0 || j.Holds != 0 {
				t.Errorf("job %s: %+v", j.Key, j)
			}
		}
		if why, _, _ := be.b.Why(be.job(ids[1])); why != "disk low: 419.4 MB free" || be.b.Halted() != why {
			t.Errorf("reason %q, halted %q", why, be.b.Halted())
		}
		if _, err := be.b.Act(context.Background(), engine.Command{Op: engine.OpCancel, Job: ids[2], By: engine.Actor{User: "ana"}}); err != nil {
			t.Errorf("cancel on a low disk: %v", err)
		}
		free.Store(512 << 20)
		time.Sleep(11 * second)
		be.want(ids[1], engine.Running)
		if be.b.Halted() != "" {
			t.Errorf("still halted: %q", be.b.Halted())
		}
		time.Sleep(time.Minute)
		if j := be.want(ids[1], engine.Completed); j.Attempts != 1 {
			t.Errorf("%+v", j)
		}
		be.want(ids[2], engine.Cancelled)
		be.mu.Lock()
		notes := strings.Join(be.notes, "\n")
		be.mu.Unlock()
		if !strings.Contains(notes, "419.4 MB") || !strings.Contains(notes, "room on the disk again") {
			t.Errorf("notes %q", notes)
		}
		be.down()
		if be.b.Halted() != "" {
			t.Errorf("a stopped engine is halted by %q", be.b.Halted())
		}
	})
}

// A start on a low disk starts nothing at all.
func TestLowDiskAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var low atomic.Bool
		low.Store(true)
		be := newBench(t, local.Options{Room: func() (uint64, bool) { return 1 << 20, !low.Load() }}, func(context.Context, engine.Run) engine.Outcome {
			return engine.Done(nil)
		})
		be.add2(keyed("1"))
		be.run()
		time.Sleep(time.Minute)
		if n := len(be.started()); n != 0 {
			t.Errorf("%d jobs began", n)
		}
		low.Store(false)
		time.Sleep(11 * second)
		if n := len(be.started()); n != 1 {
			t.Errorf("%d jobs began, want 1", n)
		}
		be.down()
	})
}

// freed is an admitter whose holds end when the test says so.
type freed struct {
	changed chan struct{}
	ended   chan engine.Hold
}

func (freed) Lane(engine.Job) string            { return "" }
func (freed) Admit(engine.Job) engine.Admission { return engine.Admission{OK: true} }
func (freed) Withdraw(engine.JobID)             {}
func (f freed) Changed() <-chan struct{}        { return f.changed }
func (freed) Backlog(string, int)               {}
func (freed) Untried(string) bool               { return false }
func (f freed) Released() (holds []engine.Hold) {
	for len(f.ended) > 0 {
		holds = append(holds, <-f.ended)
	}
	return holds
}

// A hold that has ended lets its jobs go at once, also one whose outcome is
// written only afterwards; other holds keep their instants.
func TestAnEndedHoldLetsItsJobsGoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := freed{make(chan struct{}, 1), make(chan engine.Hold, 1)}
		be := newBench(t, local.Options{Admitter: f, Workers: func() int { return 3 }}, func(_ context.Context, r engine.Run) engine.Outcome {
			switch {
			case r.Job.Holds > 0:
				return engine.Done(nil)
			case r.Job.Key == "outage":
				return engine.Snooze(time.Now().Add(time.Minute), engine.HoldOutage, nil)
			case r.Job.Key == "slow":
				time.Sleep(10 * second)
			}
			return engine.Snooze(time.Now().Add(time.Minute), engine.HoldKeyInvalid, nil)
		}).run()
		ids := be.add(keyed("key"), keyed("outage"), keyed("slow"))
		time.Sleep(5 * second)
		be.want(ids[0], engine.Scheduled)
		f.ended <- engine.HoldKeyInvalid
		f.changed <- struct{}{}
		synctest.Wait()
		be.want(ids[0], engine.Completed)
		be.want(ids[1], engine.Scheduled)
		time.Sleep(6 * second)
		be.want(ids[2], engine.Completed)
		time.Sleep(time.Minute)
		be.want(ids[1], engine.Completed)
		be.down()
	})
}
