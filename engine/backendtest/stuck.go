package backendtest

import (
	"context"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// P30_StuckHandlerGivesItsSlotUp: a handler that goes on after its timeout is noted
// as stuck ten seconds later, and its slot goes to the next job; what it brings in
// the end still counts, since nobody took its job.
func P30_StuckHandlerGivesItsSlotUp(t testing.TB, s Site) {
	r := newRig(t, s, func(_ context.Context, run engine.Run) engine.Outcome {
		if run.Job.Key == "deaf" {
			time.Sleep(5 * time.Minute) // whatever becomes of its context
		}
		return engine.Done(nil)
	})
	r.workers, r.kinds[0].Timeout = 1, 5*time.Second
	r.start()
	deaf, next := r.add(spec("deaf")), r.add(spec("next"))
	time.Sleep(14 * time.Second)
	r.want(next, engine.Available)
	time.Sleep(3 * time.Second)
	r.want(next, engine.Completed)
	if n := r.noted("is stuck"); n != 1 {
		t.Errorf("noted %d times", n)
	}
	r.want(deaf, engine.Running)
	time.Sleep(5 * time.Minute)
	if d := r.want(deaf, engine.Completed); len(d.Attempts) != 1 || len(d.Holds) != 0 {
		t.Errorf("%d attempts, %d holds", len(d.Attempts), len(d.Holds))
	}
	r.down()
}
