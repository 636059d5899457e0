package local_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/local"
)

// A full disk stops the choosing, loses nothing, and work goes on by itself.
func TestDiskFullPausesAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		be := newBench(t, local.Options{Workers: func() int { return 4 }}, func(context.Context, engine.Run) engine.Outcome {
			time.Sleep(second)
			return engine.Done(nil)
		})
		be.s.Fault(func() error {
			if full.Load() {
				return fmt.Errorf("commit: %w", syscall.ENOSPC)
			}
			return nil
		})
		be.run()
		ids := be.add(keyed("1"), keyed("2"), keyed("3"), keyed("4"), keyed("5"), keyed("6"))
		synctest.Wait()
		full.Store(true)
		time.Sleep(time.Hour)
		if n := len(be.started()); n != 4 {
			t.Errorf("%d jobs began, want the 4 from before", n)
		}
		if why, _, _ := be.b.Why(be.job(ids[5])); why != "disk full" {
			t.Errorf("reason = %q", why)
		}
		full.Store(false)
		time.Sleep(10 * second)
		for _, id := range ids {
			if j := be.want(id, engine.Completed); j.Attempts != 1 {
				t.Errorf("job %s has %d attempts", j.Key, j.Attempts)
			}
		}
		be.down()
	})
}

// standby is the error of a server that only reads.
type standby struct{}

func (standby) Error() string  { return "cannot execute UPDATE in a read-only transaction" }
func (standby) Closed() string { return "read-only" }

// A store that takes no writes for another reason than a full disk is called so.
func TestAStoreThatOnlyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed atomic.Bool
		be := newBench(t, local.Options{
			Workers: func() int { return 1 }, NoRoom: func(err error) bool { return errors.Is(err, standby{}) },
		}, func(context.Context, engine.Run) engine.Outcome {
			time.Sleep(second)
			return engine.Done(nil)
		})
		be.s.Fault(func() error {
			if closed.Load() {
				return fmt.Errorf("commit: %w", standby{})
			}
			return nil
		})
		be.run()
		ids := be.add(keyed("1"), keyed("2"))
		synctest.Wait()
		closed.Store(true)
		time.Sleep(time.Hour)
		if why, _, _ := be.b.Why(be.job(ids[1])); why != "store: read-only" || be.b.Halted() != why {
			t.Errorf("reason = %q, halted = %q", why, be.b.Halted())
		}
		closed.Store(false)
		time.Sleep(10 * second)
		for _, id := range ids {
			be.want(id, engine.Completed)
		}
		be.down()
		want := []string{"the database is read-only: nothing is lost, and work goes on when it takes writes", "the database takes writes again: work goes on"}
		if !slices.Equal(be.notes, want) {
			t.Errorf("said %q", be.notes)
		}
	})
}

// A store that fails otherwise ends Run with its error, and nothing is claimed
// after it.
func TestStoreErrorEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		be := newBench(t, local.Options{Workers: func() int { return 2 }}, func(ctx context.Context, r engine.Run) engine.Outcome {
			if r.Job.Key == "slow" {
				<-ctx.Done()
				if !errors.Is(context.Cause(ctx), engine.ErrShutdown) {
					t.Errorf("cause = %v", context.Cause(ctx))
				}
				return engine.Retry(context.Cause(ctx))
			}
			broken.Store(true)
			return engine.Done(nil)
		})
		be.s.Fault(func() error {
			if broken.Load() {
				return syscall.EIO
			}
			return nil
		})
		be.add2(keyed("slow"))
		be.add2(keyed("quick"))
		be.add2(keyed("never"))
		be.run()
		if err := <-be.ended; !errors.Is(err, syscall.EIO) {
			t.Errorf("Run = %v, want the store's error", err)
		}
		if n := len(be.started()); n != 2 {
			t.Errorf("%d jobs began, want 2", n)
		}
		be.stop()
	})
}

// What the domain refuses, or panics over, is a charged retry with that error.
func TestRefusedCommitIsCharged(t *testing.T) {
	classes := map[string]engine.Class{"refused": "commit", "commit panics": "panic", "handler panics": "panic", "on move": "commit"}
	synctest.Test(t, func(t *testing.T) {
		kind := engine.KindSpec{Kind: fetch, Policy: engine.PolicyMatch}
		kind.OnMove = func(_ engine.Tx, _, after engine.Job, o engine.Outcome) error {
			if after.Key == "on move" && after.State == engine.Completed {
				return errors.New("precondition refused")
			}
			return nil
		}
		be := newBench(t, local.Options{Kinds: []engine.KindSpec{kind}}, func(_ context.Context, r engine.Run) engine.Outcome {
			return engine.Done(func(engine.Tx) error {
				switch r.Job.Key {
				case "refused":
					return errors.New("precondition refused")
				case "commit panics":
					panic("precondition refused")
				}
				return nil
			})
		})
		be.run()
		ids := map[string]engine.JobID{}
		for key := range classes {
			if key != "handler panics" {
				ids[key] = be.add(keyed(key))[0]
			}
		}
		for key, id := range ids {
			j := be.want(id, engine.Retryable)
			if j.Class != classes[key] || !strings.Contains(j.LastError, "precondition refused") || j.Tries != 1 {
				t.Errorf("%s: class %q, error %q, tries %d", key, j.Class, j.LastError, j.Tries)
			}
		}
		be.down()
	})
}

// A job that the domain does not let run is left alone; it is not charged, nor is
// the job whose outcome shared the write, and others flow.
func TestRefusedClaimHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kind := engine.KindSpec{Kind: fetch, Policy: engine.PolicyMatch}
		kind.OnMove = func(_ engine.Tx, _, after engine.Job, _ engine.Outcome) error {
			if after.Key == "bad" && after.State == engine.Running {
				return errors.New("no such account")
			}
			return nil
		}
		be := newBench(t, local.Options{Kinds: []engine.KindSpec{kind}, Workers: func() int { return 1 }}, func(context.Context, engine.Run) engine.Outcome {
			time.Sleep(second)
			return engine.Done(nil)
		}).run()
		ids := be.add(keyed("first"), keyed("bad"), keyed("last"))
		time.Sleep(time.Minute)
		for i, want := range []engine.State{engine.Completed, engine.Available, engine.Completed} {
			if j := be.want(ids[i], want); want == engine.Completed && (j.Attempts != 1 || j.Tries != 1) || want != engine.Completed && j.Rev != 1 {
				t.Errorf("job %s: %+v", j.Key, j)
			}
		}
		if n := be.b.Stats().LeftAlone; n != 1 {
			t.Errorf("%d jobs left alone, want 1", n)
		}
		be.down()
	})
}

func TestHandlerPanicIsCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{}, func(context.Context, engine.Run) engine.Outcome { panic("nil map") }).run()
		id := be.add(keyed("1"))[0]
		j := be.want(id, engine.Retryable)
		if j.Class != "panic" || !strings.Contains(j.LastError, "nil map") || be.b.Stats().Panics != 1 {
			t.Errorf("class %q, error %q, %d panics counted", j.Class, j.LastError, be.b.Stats().Panics)
		}
		be.down()
	})
}

// The timeout does not count the wait for a permit, which beats.
func TestTimeoutWithoutTheWaitForAPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kind := engine.KindSpec{Kind: fetch, Policy: engine.PolicyMatch, Timeout: 10 * second}
		be := newBench(t, local.Options{Kinds: []engine.KindSpec{kind}}, func(ctx context.Context, r engine.Run) engine.Outcome {
			for range 600 {
				time.Sleep(3 * second)
				r.Beat()
			}
			<-ctx.Done()
			return engine.Retry(ctx.Err())
		}).run()
		id := be.add(keyed("1"))[0]
		time.Sleep(30*time.Minute + 9*second)
		be.want(id, engine.Running)
		time.Sleep(2 * second)
		if j := be.want(id, engine.Retryable); j.Class != "timeout" {
			t.Errorf("class %q", j.Class)
		}
		be.down()
	})
}

// A handler that ignores its context gives its slot up ten seconds later, is
// counted and noted, and what it brings in the end still counts if nobody took
// its job.
func TestP30_DeafHandlerGivesItsSlotUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kind := engine.KindSpec{Kind: fetch, Policy: engine.PolicyMatch, Timeout: 5 * second}
		be := newBench(t, local.Options{Kinds: []engine.KindSpec{kind}, Workers: func() int { return 1 }}, func(_ context.Context, r engine.Run) engine.Outcome {
			if r.Job.Key == "deaf" {
				time.Sleep(5 * time.Minute)
			}
			return engine.Done(nil)
		}).run()
		ids := be.add(keyed("deaf"), keyed("next"))
		time.Sleep(14 * second)
		be.want(ids[1], engine.Available)
		time.Sleep(3 * second)
		be.want(ids[1], engine.Completed)
		if s := be.b.Stats(); s.Stuck != 1 || s.InFlight != 0 || s.Slots != 0 {
			t.Errorf("stats %+v", s)
		}
		if why, _, _ := be.b.Why(be.job(ids[0])); !strings.HasPrefix(why, "stuck") {
			t.Errorf("reason = %q", why)
		}
		time.Sleep(5 * time.Minute)
		be.want(ids[0], engine.Completed)
		if s := be.b.Stats(); s.Slots != 0 || s.InFlight != 0 {
			t.Errorf("stats %+v", s)
		}
		be.down()
	})
}

// A handler that ignores even the stop does not hold it up for ever.
func TestStopDoesNotWaitForTheDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{}, func(context.Context, engine.Run) engine.Outcome {
			time.Sleep(time.Hour)
			return engine.Done(nil)
		}).run()
		id := be.add(keyed("deaf"))[0]
		be.want(id, engine.Running)
		began := time.Now()
		be.down()
		if took := time.Since(began); took > 8*second {
			t.Errorf("the stop took %s", took)
		}
		if j := be.want(id, engine.Available); j.Attempts != 0 || !j.Front {
			t.Errorf("the job was not handed back: %+v", j)
		}
		time.Sleep(time.Hour)
		be.want(id, engine.Available)
		if be.b.Stats().Late != 1 {
			t.Errorf("%d late results, want 1", be.b.Stats().Late)
		}
	})
}

// A result that was there when the engine stopped counts.
func TestStopKeepsWhatWasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{}, func(ctx context.Context, r engine.Run) engine.Outcome {
			<-ctx.Done()
			switch r.Job.Key {
			case "done":
				return engine.Done(nil)
			case "fail":
				return engine.Fail(errors.New("404"))
			case "snooze":
				return engine.Snooze(time.Now().Add(time.Hour), engine.HoldThrottled, nil)
			case "wrapped":
				return engine.Fail(fmt.Errorf("fetch: %w", ctx.Err()))
			}
			return engine.Retry(ctx.Err())
		}).run()
		want := map[string]engine.State{
			"done": engine.Completed, "fail": engine.Discarded, "snooze": engine.Scheduled,
			"wrapped": engine.Available, "retry": engine.Available,
		}
		ids := map[string]engine.JobID{}
		for key := range want {
			ids[key] = be.add(keyed(key))[0]
		}
		synctest.Wait()
		be.down()
		for key, state := range want {
			be.want(ids[key], state)
		}
	})
}

func TestOptionsAreChecked(t *testing.T) {
	handler := func(context.Context, engine.Run) engine.Outcome { return engine.Done(nil) }
	for name, o := range map[string]local.Options{
		"no store":       {Boot: "b"},
		"no boot":        {Store: newMemorySite().s},
		"no handler":     {Store: newMemorySite().s, Boot: "b", Kinds: []engine.KindSpec{{Kind: "k"}}},
		"unknown policy": {Store: newMemorySite().s, Boot: "b", Kinds: []engine.KindSpec{{Kind: "k", Handler: handler, Policy: "?"}}},
	} {
		if _, err := local.New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestInsertRefusesNonsense(t *testing.T) {
	be := newBench(t, local.Options{}, quick)
	for _, s := range []engine.Spec{{Queue: fullQ}, {Kind: fetch}, {Kind: fetch, Queue: fullQ, Policy: "nonesuch"}} {
		_, err := be.b.Insert(context.Background(), s)
		if !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("insert %+v = %v", s, err)
		}
	}
}

func TestReschedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{}, func(_ context.Context, r engine.Run) engine.Outcome {
			if r.Job.Tries == 1 {
				return engine.Retry(errors.New("503"))
			}
			return engine.Done(nil)
		}).run()
		id := be.add(keyed("1"))[0]
		be.want(id, engine.Retryable)
		by := engine.Actor{User: "ana"}
		if _, err := be.b.Act(context.Background(), engine.Command{Op: engine.OpReschedule, Job: id, At: time.Now().Add(time.Hour), By: by}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Minute)
		be.want(id, engine.Retryable)
		if _, err := be.b.Act(context.Background(), engine.Command{Op: engine.OpReschedule, Job: id, At: time.Now().Add(-time.Hour), By: by}); err != nil {
			t.Fatal(err)
		}
		be.want(id, engine.Completed)
		_, err := be.b.Act(context.Background(), engine.Command{Op: engine.OpReschedule, Job: id, At: time.Now(), By: by})
		if !errors.Is(err, engine.ErrRefused) {
			t.Errorf("reschedule of a completed job = %v", err)
		}
		be.down()
	})
}

func TestViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{Workers: func() int { return 1 }}, func(ctx context.Context, r engine.Run) engine.Outcome {
			switch r.Job.Key {
			case "held":
				return engine.Snooze(time.Now().Add(time.Minute), engine.HoldThrottled, nil)
			case "retry":
				return engine.Retry(errors.New("503"))
			}
			<-ctx.Done()
			return engine.Done(nil)
		}).run()
		ids := be.add(keyed("held"), keyed("retry"), keyed("running"), keyed("waits"), engine.Spec{Key: "later", RunAt: time.Now().Add(second)})
		synctest.Wait()
		next, err := be.b.NextRetries(context.Background(), 10)
		if err != nil || len(next) != 2 || next[0].ID != ids[1] || next[1].ID != ids[0] {
			t.Errorf("next retries %+v, %v", next, err)
		}
		if run := be.b.Running(); len(run) != 1 || run[0].Job.ID != ids[2] {
			t.Errorf("running %+v", run)
		}
		rows := be.b.Queues()
		if len(rows) != 1 || rows[0].Held != 1 || rows[0].Counts[engine.Scheduled] != 2 || rows[0].Counts[engine.Available] != 1 {
			t.Errorf("queues %+v", rows)
		}
		for id, want := range map[engine.JobID]string{ids[0]: "held: 429, too many calls", ids[1]: "next try after 1 failed", ids[2]: "", ids[3]: "1st in line", ids[4]: "scheduled"} {
			if why, _, _ := be.b.Why(be.job(id)); why != want {
				t.Errorf("reason of %s = %q, want %q", be.job(id).Key, why, want)
			}
		}
		be.down()
	})
}

// What an owner's jobs wait for excuses their silence; a job that runs on without an end
// excuses nothing.
func TestWaitingSaysWhatExcusesASilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := newBench(t, local.Options{Workers: func() int { return 1 }}, func(ctx context.Context, r engine.Run) engine.Outcome {
			if r.Job.Key == "later" {
				return engine.Snooze(time.Now().Add(time.Hour), engine.HoldThrottled, nil)
			}
			<-ctx.Done()
			return engine.Retry(context.Cause(ctx))
		})
		be.run()
		spec := keyed("later")
		spec.Owner = "ana"
		be.add(spec)
		synctest.Wait()
		wants := func(owner, want string) {
			t.Helper()
			if got := be.b.Waiting(owner, time.Second); got != want {
				t.Errorf("%s waits: %q, want %q", owner, got, want)
			}
		}
		wants("ana", "waits for its instant")
		stuck := keyed("stuck")
		stuck.Owner = "bo"
		id := be.add(stuck)[0]
		synctest.Wait()
		time.Sleep(10 * time.Second)
		wants("bo", "")
		wants("nobody", "")
		if _, err := be.b.Pause(t.Context(), be.job(id).Queue, engine.Actor{User: "cy"}, ""); err != nil {
			t.Fatal(err)
		}
		wants("bo", "queue paused by cy")
		be.down()
	})
}
