package backendtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// walk is a random life: handlers that end in every way, operators that do
// everything at any moment, stops and crashes.
type walk struct {
	*fanRig
	rnd  *rand.Rand // the operator's; handlers draw from their job's name
	ids  []engine.JobID
	last []engine.JobMove // of the last command that changed something
	mu   sync.Mutex
	busy map[engine.JobID]int
}

// RandomWalk does so many random steps, then lets everything end: no job runs
// twice at once, counts equal lists, every group's summary equals its members
// after each step (P-16), and all jobs end.
func RandomWalk(t testing.TB, s Site, seed uint64, steps int) {
	w := &walk{rnd: random(t, seed), busy: map[engine.JobID]int{}}
	w.fanRig = newFanRig(t, s, w.handle)
	w.start()
	for range steps {
		w.step()
		if err := w.node.Recount(); err != nil {
			t.Fatalf("a recount after a step: %v", err)
		}
		time.Sleep(time.Duration(w.rnd.IntN(3000)) * time.Millisecond)
	}
	if _, err := w.node.Resume(context.Background(), queue, ana, ""); err != nil {
		t.Error(err)
	}
	time.Sleep(48 * time.Hour)
	for _, id := range w.ids {
		if d := w.detail(id); !d.Job.State.Terminal() {
			t.Errorf("job %s is still %s", id, d.Job.State)
		} else {
			w.sound(d)
		}
	}
	if n := live(w.node); len(n) != 0 {
		t.Errorf("live jobs are left: %v", n)
	}
	w.down()
}

func (w *walk) handle(ctx context.Context, run engine.Run) engine.Outcome {
	id := run.Job.ID
	w.mu.Lock()
	if w.busy[id]++; w.busy[id] > 1 {
		w.t.Errorf("job %s runs twice at once", id)
	}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.busy[id]--
	}()
	rnd := rand.New(rand.NewPCG(uint64(run.Job.Rev), uint64(len(id))<<32+uint64(id[len(id)-1])))
	select {
	case <-time.After(time.Duration(rnd.IntN(2000)) * time.Millisecond):
	case <-ctx.Done():
		return engine.Retry(context.Cause(ctx))
	}
	switch rnd.IntN(8) {
	case 0:
		return engine.Retry(errors.New("503")).With(engine.CallStat{Calls: 1, Status: 503})
	case 1:
		return engine.Snooze(time.Now().Add(5*time.Second), engine.HoldThrottled, nil).With(engine.CallStat{Calls: 1, Status: 429})
	case 2:
		return engine.Fail(errors.New("404"))
	case 3:
		panic("a fault of the handler")
	case 4:
		return engine.Done(func(engine.Tx) error { return errors.New("refused") })
	}
	return engine.Done(nil).With(engine.CallStat{Calls: 1, Status: 200})
}

func (w *walk) step() {
	ctx := context.Background()
	switch w.rnd.IntN(16) {
	case 0, 1, 2:
		w.ids = append(w.ids, w.add(spec(fmt.Sprint("match:", w.rnd.IntN(30)))))
	case 3, 4:
		w.ids = append(w.ids, w.sync(fmt.Sprint("full:", w.rnd.IntN(4)), w.rnd.IntN(20)))
	case 5, 6:
		w.command(w.node.Act(ctx, engine.Command{Op: engine.OpCancel, Job: w.any(), By: ana, Reason: "walk"}))
	case 7, 8:
		w.command(w.node.Act(ctx, engine.Command{Op: engine.OpRetry, Job: w.any(), By: ana, Reason: "walk"}))
	case 9:
		w.command(w.node.Act(ctx, engine.Command{Op: engine.OpReschedule, Job: w.any(), At: time.Now().Add(time.Minute), By: ana, Reason: "walk"}))
	case 10:
		act := w.node.Pause
		if w.rnd.IntN(2) == 0 {
			act = w.node.Resume
		}
		w.command(act(ctx, queue, ana, "walk"))
	case 11:
		w.restart()
	case 12:
		w.command(w.node.Act(ctx, engine.Command{Op: engine.OpForce, Job: w.any(), By: ana, Reason: "walk"}))
	case 13, 14:
		ops := []engine.Op{engine.OpCancel, engine.OpRetry, engine.OpForce, engine.OpReclass, engine.OpReschedule}
		c := engine.Command{Op: ops[w.rnd.IntN(len(ops))], By: ana, Reason: "walk", At: time.Now().Add(time.Minute), DryRun: w.rnd.IntN(3) == 0}
		c.Select = &engine.Selection{IDs: []engine.JobID{w.any(), w.any(), w.any(), w.any()}}
		w.command(w.node.Bulk(ctx, c))
	case 15:
		w.command(w.node.Undo(ctx, w.last, ana, "walk", false))
	}
}

func (w *walk) any() engine.JobID {
	if len(w.ids) == 0 {
		return "none"
	}
	return w.ids[w.rnd.IntN(len(w.ids))]
}

// command takes any answer but a failure of the engine.
func (w *walk) command(r engine.Receipt, err error) {
	w.t.Helper()
	if len(r.Moves) > 0 {
		w.last = r.Moves
	}
	if _, told := errors.AsType[*engine.Problem](err); err != nil && !told {
		w.t.Errorf("command = %v", err)
	}
}

func (w *walk) restart() {
	if w.rnd.IntN(2) == 0 {
		w.down()
	} else {
		w.node.Cut(w.rnd.IntN(10))
		time.Sleep(time.Duration(w.rnd.IntN(5000)) * time.Millisecond)
		w.bury()
	}
	w.start()
}
