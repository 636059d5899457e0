package backendtest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// P02_RescueByHeartbeatOnly: a job that beats for three hours, or waits half an
// hour for a permit, is never rescued; a silent one is, once.
func P02_RescueByHeartbeatOnly(t testing.TB, s Site) {
	runs := newTally()
	r := newRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		n := runs.add(run.Job.ID)
		if run.Job.Key == "silent" && n == 1 {
			return hanging(ctx, run)
		}
		for range map[string]int{"long": 36, "permit": 6}[run.Job.Key] {
			time.Sleep(5 * time.Minute)
			run.Beat()
		}
		return engine.Done(nil)
	}).start()
	long, permit, silent := r.add(spec("long")), r.add(spec("permit")), r.add(spec("silent"))
	time.Sleep(4 * time.Hour)
	for _, id := range []engine.JobID{long, permit} {
		if d := r.want(id, engine.Completed); len(d.Attempts) != 1 || len(d.Holds) != 0 || runs.of(id) != 1 {
			t.Errorf("job %s: %d attempts, %d holds, %d runs; want 1, 0, 1", d.Job.Key, len(d.Attempts), len(d.Holds), runs.of(id))
		}
	}
	d := r.want(silent, engine.Completed)
	if len(d.Attempts) != 1 || len(d.Holds) != 1 || runs.of(silent) != 2 {
		t.Errorf("silent job: %d attempts, %d holds, %d runs; want 1, 1, 2", len(d.Attempts), len(d.Holds), runs.of(silent))
	}
	if h := d.Holds[0]; h.Verb != engine.VerbInterrupted {
		t.Errorf("the rescued run ended as %s", h.Verb)
	}
	r.down()
}

// P03_LateResultIsRefused: a run that was rescued and comes back while the next
// one is at work writes nothing, and the next one's result counts.
func P03_LateResultIsRefused(t testing.TB, s Site) {
	runs, late, end := newTally(), make(chan struct{}), make(chan struct{})
	var committed shared[int, int]
	r := newRig(t, s, func(_ context.Context, run engine.Run) engine.Outcome {
		n := runs.add(run.Job.ID)
		<-map[int]chan struct{}{1: late, 2: end}[n] // deaf
		return engine.Done(func(engine.Tx) error { committed.set(n, 1); return nil })
	}).start()
	id := r.add(spec("match:1"))
	first := r.want(id, engine.Running).Job.Rev
	time.Sleep(15 * time.Minute)
	before := r.want(id, engine.Running)
	if before.Job.Rev != first+2 || runs.of(id) != 2 {
		t.Errorf("revision %d after %d, %d runs; want rescue and claim", before.Job.Rev, first, runs.of(id))
	}
	close(late)
	if after := r.want(id, engine.Running); after.Job.Rev != before.Job.Rev || len(after.Holds) != 1 {
		t.Errorf("the late result was written: %+v", after)
	}
	if n := r.noted("late result discarded"); n != 1 {
		t.Errorf("%d notes of a late result, want 1", n)
	}
	close(end)
	if d := r.want(id, engine.Completed); len(d.Attempts) != 1 || len(d.Holds) != 1 {
		t.Errorf("%d attempts, %d holds; want 1, 1", len(d.Attempts), len(d.Holds))
	}
	if committed.get(1) != 0 || committed.get(2) != 1 {
		t.Errorf("commits: first run %d, second run %d; want 0, 1", committed.get(1), committed.get(2))
	}
	r.down()
}

// P04_OrphansAreKnownByTheLock: whatever host, process or boot ran them, running
// jobs found at a start are given back at once and uncharged.
func P04_OrphansAreKnownByTheLock(t testing.TB, s Site) {
	runs := newTally()
	r := newRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		if runs.add(run.Job.ID) == 1 {
			return hanging(ctx, run)
		}
		return engine.Done(nil)
	}).start()
	id := r.add(spec("match:1"))
	r.want(id, engine.Running)
	r.crash()
	r.boots-- // even the boot id comes back
	r.start()
	d := r.want(id, engine.Completed)
	if len(d.Attempts) != 1 || len(d.Holds) != 1 || d.Holds[0].Verb != engine.VerbInterrupted {
		t.Errorf("attempts %+v, holds %+v", d.Attempts, d.Holds)
	}
	r.down()
}

// P05_KeyHeldByTheLivingOnly: for each state, whether an insert with the same key
// is a duplicate.
func P05_KeyHeldByTheLivingOnly(t testing.TB, s Site) {
	duplicate := map[engine.State]bool{
		engine.Pending: true, engine.Available: true, engine.Scheduled: true, engine.Running: true, engine.Retryable: true,
		engine.Completed: false, engine.Cancelled: false, engine.Discarded: false,
	}
	r := newRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		switch run.Job.Key {
		case "pending":
			return engine.Wait(1, func(tx engine.Tx) error {
				_, err := tx.Enqueue(engine.Spec{Kind: "unknown", Queue: queue, Parents: []engine.GroupID{{Parent: run.Job.ID, Group: 1}}})
				return err
			})
		case "scheduled":
			return engine.Snooze(time.Now().Add(time.Hour), engine.HoldThrottled, nil)
		case "retryable":
			return engine.Retry(errors.New("503"))
		case "discarded":
			return engine.Fail(errors.New("404"))
		case "running", "cancelled", "rescued":
			return hanging(ctx, run)
		}
		return engine.Done(nil)
	}).start()
	if _, err := r.node.Pause(context.Background(), "held", ana, ""); err != nil {
		t.Fatal(err)
	}
	for _, state := range engine.States() {
		sp := spec(state.String())
		if state == engine.Available {
			sp.Queue = "held"
		}
		id := r.add(sp)
		synctest.Wait()
		if state == engine.Cancelled {
			r.cancel(id)
		}
		r.want(id, state)
		out, err := r.node.Insert(context.Background(), sp)
		if err != nil {
			t.Fatal(err)
		}
		if out[0].Duplicate != duplicate[state] || out[0].Duplicate != (out[0].ID == id) {
			t.Errorf("insert beside a %s job: duplicate %v (job %s beside %s)", state, out[0].Duplicate, out[0].ID, id)
		}
	}
	r.down()
}

// P12_CancelARunningJob: its context ends within 100 ms, and it ends as cancelled
// whatever it brings, also over a restart.
func P12_CancelARunningJob(t testing.TB, s Site) {
	brings := map[string]engine.Outcome{
		"done": engine.Done(func(engine.Tx) error { t.Error("a cancelled job committed its rows"); return nil }),
		"fail": engine.Fail(errors.New("404")), "retry": engine.Retry(errors.New("503")),
		"snooze": engine.Snooze(time.Now().Add(time.Hour), engine.HoldThrottled, nil), "wait": engine.Wait(1, nil),
	}
	var told shared[string, time.Time]
	r := newRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		<-ctx.Done()
		told.set(run.Job.Key, time.Now())
		if !errors.Is(context.Cause(ctx), engine.ErrCancelled) {
			t.Errorf("cause = %v", context.Cause(ctx))
		}
		return brings[run.Job.Key]
	}).start()
	for name := range brings {
		id := r.add(spec(name))
		r.want(id, engine.Running)
		asked := time.Now()
		r.cancel(id)
		time.Sleep(100 * time.Millisecond)
		if at := told.get(name); at.IsZero() || at.Sub(asked) > 100*time.Millisecond {
			t.Errorf("%s: told at %v, asked at %v", name, at, asked)
		}
		if d := r.want(id, engine.Cancelled); len(d.Attempts) != 1 {
			t.Errorf("%s: %d attempts, want 1", name, len(d.Attempts))
		}
	}
	r.down()
	cancelThenCrash(t, s)
}

func cancelThenCrash(t testing.TB, s Site) {
	runs := newTally()
	release := make(chan struct{})
	r := newRig(t, s, func(_ context.Context, run engine.Run) engine.Outcome {
		runs.add(run.Job.ID)
		<-release
		return engine.Done(nil)
	}).start()
	id := r.add(spec("crash"))
	r.want(id, engine.Running)
	r.cancel(id)
	r.node.Cut(0)
	close(release)
	r.bury()
	r.start()
	time.Sleep(time.Hour)
	r.want(id, engine.Cancelled)
	if runs.of(id) != 1 {
		t.Errorf("%d runs after the cancel, want 1", runs.of(id))
	}
	r.down()
}

// P27_DrainChargesNothing: no claim after the signal; what does not end within
// the grace goes back available, uncharged, first in line.
func P27_DrainChargesNothing(t testing.TB, s Site) {
	runs := newTally()
	var stopped atomic.Bool
	r := newRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		runs.add(run.Job.ID)
		if stopped.Load() && run.Job.Boot == "boot-1" {
			t.Errorf("job %s began after the signal", run.Job.Key)
		}
		if run.Job.Boot != "boot-1" || run.Job.Key == "quick" {
			time.Sleep(time.Second)
			return engine.Done(nil)
		}
		return hanging(ctx, run)
	})
	r.workers = 2
	r.start()
	quick, slow := r.add(spec("quick")), r.add(spec("slow"))
	synctest.Wait()
	rest := r.insert(spec("third"), spec("fourth"))
	stopped.Store(true)
	asked := time.Now()
	r.stop()
	if err := <-r.ended; err != nil {
		t.Errorf("Run = %v", err)
	}
	if took := time.Since(asked); took < 2*time.Second || took > 3*time.Second {
		t.Errorf("the stop took %s, want the grace of 2s", took)
	}
	r.want(quick, engine.Completed)
	d := r.want(slow, engine.Available)
	if d.Job.Attempts != 0 || d.Job.Tries != 0 || !d.Job.Front || len(d.Holds) != 1 || d.Holds[0].Verb != engine.VerbInterrupted {
		t.Errorf("job after the drain: %+v, holds %+v", d.Job.Job, d.Holds)
	}
	r.close()
	r.workers = 1
	r.start()
	time.Sleep(10 * time.Second)
	for _, id := range append(rest, slow) {
		r.want(id, engine.Completed)
	}
	if first := runs.times(slow)[1]; !first.Before(runs.times(rest[0])[0]) {
		t.Error("the job that was handed back was not first in its line")
	}
	r.down()
}

// P28_SuspectRunsAloneThenEnds: three interruptions in a row make a job suspect;
// three more, alone, discard it with class "crash". Healthy jobs beside it end.
func P28_SuspectRunsAloneThenEnds(t testing.TB, s Site) {
	running := newTally()
	r := newRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		running.add(run.Job.ID)
		if run.Job.Key == "poison" {
			return hanging(ctx, run)
		}
		time.Sleep(time.Second)
		return engine.Done(nil)
	})
	r.start()
	id := r.add(spec("poison"))
	for crash := 1; crash <= 6; crash++ {
		healthy := r.insert(spec(fmt.Sprint("a", crash)), spec(fmt.Sprint("b", crash)))
		time.Sleep(100 * time.Millisecond)
		if crash > engine.SuspectAfter && running.of(id) == crash && running.of(healthy[0]) > 0 {
			t.Errorf("crash %d: the suspect ran beside others", crash)
		}
		time.Sleep(5 * time.Minute)
		r.want(id, engine.Running)
		r.crash()
		r.start()
	}
	d := r.want(id, engine.Discarded)
	if d.Job.Class != "crash" || len(d.Attempts) != 0 || len(d.Holds) != 6 {
		t.Errorf("class %q, %d attempts, %d holds", d.Job.Class, len(d.Attempts), len(d.Holds))
	}
	time.Sleep(time.Minute)
	if n := live(r.node); len(n) != 0 {
		t.Errorf("live jobs are left: %v", n)
	}
	r.down()
}

// P29_UnknownKindIsLeftAlone: uncharged, and shown as what it is.
func P29_UnknownKindIsLeftAlone(t testing.TB, s Site) {
	r := newRig(t, s, succeed).start()
	id := r.add(engine.Spec{Kind: "from.the.future", Queue: queue})
	due := r.add(engine.Spec{Kind: "from.the.future", Queue: queue, RunAt: time.Now().Add(time.Minute)})
	known := r.add(spec("known"))
	time.Sleep(time.Hour)
	r.want(known, engine.Completed)
	for id, state := range map[engine.JobID]engine.State{id: engine.Available, due: engine.Scheduled} {
		d := r.want(id, state)
		if d.Job.Attempts != 0 || d.Job.Rev != 1 {
			t.Errorf("job of an unknown kind was touched: %+v", d.Job.Job)
		}
		if why, _, _ := r.node.Why(d.Job.Job); why != "no handler here" {
			t.Errorf("reason = %q", why)
		}
	}
	r.down()
}

// P38_PausedMeansNothingStarts: nor retries, nor due jobs, nor new ones, nor after
// a restart; running ones go on.
func P38_PausedMeansNothingStarts(t testing.TB, s Site) {
	runs := newTally()
	var paused atomic.Bool
	r := newRig(t, s, func(_ context.Context, run engine.Run) engine.Outcome {
		if paused.Load() && run.Job.Queue == queue {
			t.Errorf("job %s began on a paused queue", run.Job.Key)
		}
		runs.add(run.Job.ID)
		time.Sleep(time.Second)
		if run.Job.Key == "retry" && run.Job.Tries == 1 {
			return engine.Retry(errors.New("503"))
		}
		return engine.Done(nil)
	}).start()
	running, retried := r.add(spec("running")), r.add(spec("retry"))
	due := r.add(engine.Spec{Kind: kind, Queue: queue, RunAt: time.Now().Add(time.Minute)})
	synctest.Wait()
	if _, err := r.node.Pause(context.Background(), queue, ana, "maintenance"); err != nil {
		t.Fatal(err)
	}
	paused.Store(true)
	fresh := r.add(spec("new"))
	other := r.add(engine.Spec{Kind: kind, Queue: "another"})
	time.Sleep(time.Hour)
	r.want(running, engine.Completed)
	r.want(other, engine.Completed)
	d := r.want(fresh, engine.Available)
	if why, _, _ := r.node.Why(d.Job.Job); why != "queue paused by ana" {
		t.Errorf("reason = %q", why)
	}
	r.down()
	r.start()
	time.Sleep(time.Hour)
	r.want(fresh, engine.Available)
	paused.Store(false)
	if _, err := r.node.Resume(context.Background(), queue, ana, ""); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Hour)
	for _, id := range []engine.JobID{fresh, retried, due} {
		r.want(id, engine.Completed)
	}
	r.down()
}
