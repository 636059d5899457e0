package backendtest

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// P28_UnreadableJobIsDiscarded: one record that cannot be read, found at the
// start or at a claim: that job alone is discarded as undecodable, its key is
// free, who waits for it goes on, and its neighbours never notice.
func P28_UnreadableJobIsDiscarded(t testing.TB, s Site) {
	f := newFanRig(t, s, succeed)
	f.workers = 4
	for _, atStart := range []bool{true, false} {
		f.open()
		f.sizes.set("full:1", 10)
		if _, err := f.node.Pause(t.Context(), "held", ana, ""); err != nil {
			t.Fatal(err)
		}
		// One that lies in a line when it goes bad, and one that is loaded so.
		alone := f.add(engine.Spec{Kind: kind, Queue: "held", Key: fmt.Sprint("match:bad:", atStart)})
		if atStart {
			f.spoil(alone)
		}
		f.run()
		id := f.sync("full:1", 10)
		if !atStart {
			f.spoil(alone)
			if _, err := f.node.Resume(t.Context(), "held", ana, ""); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		d := f.want(alone, engine.Discarded)
		if d.Job.Class != "undecodable" || f.noted("cannot be read and is discarded") == 0 {
			t.Errorf("at the start %t: class %q, notes %v", atStart, d.Job.Class, f.notes)
		}
		f.want(id, engine.Completed)
		again := f.add(engine.Spec{Kind: kind, Queue: queue, Key: fmt.Sprint("match:bad:", atStart)})
		time.Sleep(time.Second)
		f.want(again, engine.Completed)
		f.down()
	}
}

// P28_UnreadableChildSettles: a parent does not wait for a child that nobody can
// read.
func P28_UnreadableChildSettles(t testing.TB, s Site) {
	f := newFanRig(t, s, hanging)
	f.start()
	id := f.sync("full:1", 3)
	f.want(id, engine.Pending)
	bad := f.childOf("match:1")
	f.crash()
	f.kinds[0].Handler = succeed
	f.open()
	f.spoil(bad)
	f.run()
	time.Sleep(time.Minute)
	f.want(id, engine.Completed)
	if g := f.once(id); g.Dead != 1 || g.Done != 2 {
		t.Errorf("went on with %+v", g)
	}
	f.down()
}

// P28_UnreadableWhileItRuns: a record that goes bad while its job is at work, whose handler ends or is
// given up: that job alone is discarded, and the engine goes on.
func P28_UnreadableWhileItRuns(t testing.TB, s Site) {
	f := newFanRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		if run.Job.Key == "match:silent" {
			return hanging(ctx, run)
		}
		time.Sleep(time.Minute)
		return engine.Done(nil)
	})
	f.start()
	ends, silent, good := f.add(spec("match:ends")), f.add(spec("match:silent")), f.add(spec("match:good"))
	f.want(ends, engine.Running)
	f.want(silent, engine.Running)
	f.spoil(ends)
	f.spoil(silent)
	time.Sleep(2*time.Minute + engine.DefaultStuck)
	synctest.Wait()
	f.want(good, engine.Completed)
	// A store that has the job in memory still knows it, and writes it anew with its next move.
	for _, id := range []engine.JobID{ends, silent} {
		if d := f.detail(id); d.Job.State == engine.Discarded && d.Job.Class != "undecodable" {
			t.Errorf("job %s: class %q", id, d.Job.Class)
		}
	}
	again := f.add(spec("match:again"))
	time.Sleep(2 * time.Minute)
	f.want(again, engine.Completed)
	f.down()
}

func (f *fanRig) spoil(id engine.JobID) {
	f.t.Helper()
	synctest.Wait() // nothing is written meanwhile
	if err := f.node.Spoil(id); err != nil {
		f.t.Fatal(err)
	}
}
