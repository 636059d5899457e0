package backendtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
)

const parentKind engine.Kind = "account.sync"

// fanRig is a rig whose parents spawn children in phase 0 and count how often
// they go on.
type fanRig struct {
	*rig
	mu    sync.Mutex
	went  map[engine.JobID][]engine.GroupStat // what each later phase saw
	sizes shared[string, int]                 // parent's key -> children
}

func newFanRig(t testing.TB, s Site, child engine.Handler) *fanRig {
	f := &fanRig{rig: newRig(t, s, child), went: map[engine.JobID][]engine.GroupStat{}}
	f.kinds = append(f.kinds, engine.KindSpec{Kind: parentKind, Policy: engine.PolicyIngest, Handler: f.parent})
	return f
}

func (f *fanRig) parent(_ context.Context, run engine.Run) engine.Outcome {
	if run.Job.Phase > 0 {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.went[run.Job.ID] = append(f.went[run.Job.ID], run.Group(1))
		return engine.Done(nil)
	}
	return engine.Wait(1, func(tx engine.Tx) error {
		for i := range f.sizes.get(run.Job.Key) {
			child := engine.Spec{Kind: kind, Queue: queue, Key: fmt.Sprint("match:", i), Owner: run.Job.Key,
				Parents: []engine.GroupID{{Parent: run.Job.ID, Group: 1}}}
			if _, err := tx.Enqueue(child); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *fanRig) sync(name string, children int) engine.JobID {
	f.sizes.set(name, children)
	return f.add(engine.Spec{Kind: parentKind, Queue: queue, Key: name})
}

// together adds jobs while their queue is paused: they stand in line before any child
// that one of them makes, which would take the workers of the next for a minute.
func (f *fanRig) together(add func() []engine.JobID) []engine.JobID {
	f.t.Helper()
	ctx := context.Background()
	if _, err := f.node.Pause(ctx, queue, ana, ""); err != nil {
		f.t.Fatal(err)
	}
	ids := add()
	if _, err := f.node.Resume(ctx, queue, ana, ""); err != nil {
		f.t.Fatal(err)
	}
	return ids
}

// once checks that a parent went on once, and gives what it saw.
func (f *fanRig) once(id engine.JobID) engine.GroupStat {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.went[id]) != 1 {
		f.t.Errorf("parent %s went on %d times, want once", id, len(f.went[id]))
		return engine.GroupStat{}
	}
	return f.went[id][0]
}

// P17_ExactlyOneTrigger: no children, children that are there already, children
// that end while others are made: the parent goes on once.
func P17_ExactlyOneTrigger(t testing.TB, s Site) {
	f := newFanRig(t, s, succeed)
	f.start()
	none, first, second := f.sync("none", 0), f.sync("first", 50), f.sync("second", 50)
	big := f.sync("big", 300)
	time.Sleep(time.Minute)
	for _, id := range []engine.JobID{none, first, second, big} {
		f.want(id, engine.Completed)
		if g := f.once(id); g.Open != 0 || g.Done != g.Total {
			t.Errorf("parent %s went on with %+v", id, g)
		}
	}
	f.down()
}

// S3_5_ChildrenThatFail: a child retried three times counts once; a dead child
// settles the group.
func S3_5_ChildrenThatFail(t testing.TB, s Site) {
	f := newFanRig(t, s, func(_ context.Context, run engine.Run) engine.Outcome {
		switch {
		case run.Job.Key == "match:0" && run.Job.Tries < 4:
			return engine.Retry(errors.New("503")).With(engine.CallStat{Calls: 1, Status: 503})
		case run.Job.Key == "match:1":
			return engine.Fail(errors.New("404")).With(engine.CallStat{Calls: 1, Status: 404})
		case run.Job.Key == "match:2" && run.Job.Holds == 0:
			return engine.Snooze(time.Now().Add(time.Second), engine.HoldThrottled, nil).With(engine.CallStat{Calls: 1, Status: 429})
		}
		return engine.Done(nil).With(engine.CallStat{Calls: 1, Status: 200})
	})
	f.start()
	id := f.sync("full:1", 5)
	time.Sleep(time.Second / 2)
	d := f.want(id, engine.Pending)
	if g := d.Groups[0]; g.Open != 2 || g.Retrying != 1 || g.Dead != 1 || g.Done != 2 {
		t.Errorf("group while one child is retried and one is held: %+v", g)
	}
	if why, _, _ := f.node.Why(d.Job.Job); why != "waits for 2 other jobs" {
		t.Errorf("reason = %q", why)
	}
	time.Sleep(time.Hour)
	f.want(id, engine.Completed)
	if g := f.once(id); g.Total != 5 || g.Done != 4 || g.Dead != 1 || g.Calls != 9 || g.Throttled != 1 {
		t.Errorf("group at the end: %+v", g)
	}
	f.down()
}

// S3_6_SettlesOnce: a hundred children that end together trigger once.
func S3_6_SettlesOnce(t testing.TB, s Site) {
	f := newFanRig(t, s, func(context.Context, engine.Run) engine.Outcome {
		time.Sleep(time.Second)
		return engine.Done(nil)
	})
	f.workers = 100
	f.start()
	id := f.sync("full:1", 100)
	time.Sleep(time.Minute)
	f.want(id, engine.Completed)
	if g := f.once(id); g.Done != 100 {
		t.Errorf("went on with %+v", g)
	}
	f.down()
}

// S3_7_EmptyGroupGoesOn: a group of no children settles at once.
func S3_7_EmptyGroupGoesOn(t testing.TB, s Site) {
	f := newFanRig(t, s, succeed)
	f.start()
	id := f.sync("full:1", 0)
	d := f.want(id, engine.Completed)
	if d.Job.Phase != 1 || d.Job.Round != 2 || len(d.Attempts) != 2 {
		t.Errorf("phase %d, round %d, %d attempts; want 1, 2, 2", d.Job.Phase, d.Job.Round, len(d.Attempts))
	}
	f.once(id)
	f.down()
}

// P18_LateChild: the retry of a dead child after the group has settled opens
// nothing again; before, it does.
func P18_LateChild(t testing.TB, s Site) {
	var heal atomic.Bool
	f := newFanRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		switch {
		case run.Job.Key == "match:0" && !heal.Load():
			return engine.Fail(errors.New("404"))
		case run.Job.Key == "match:0" && run.Job.Tries == 1:
			return engine.Retry(errors.New("503"))
		case run.Job.Key == "match:1" && !heal.Load():
			return engine.Snooze(time.Now().Add(time.Minute), engine.HoldOutage, nil)
		}
		return engine.Done(nil)
	})
	f.start()
	id := f.sync("full:1", 2)
	synctest.Wait()
	child := f.childOf("match:0")
	f.retry(child) // while the other child is open: the group waits again, and it dies again
	f.want(child, engine.Discarded)
	f.want(id, engine.Pending)
	heal.Store(true)
	time.Sleep(2 * time.Minute)
	f.want(id, engine.Completed)
	if g := f.once(id); g.Dead != 1 || g.Done != 1 {
		t.Errorf("went on with %+v", g)
	}
	if rc := f.retry(child); !strings.Contains(rc.Text, "late child") {
		t.Errorf("the retry of a late child answered %q", rc.Text)
	}
	f.want(child, engine.Retryable)
	if g := f.want(id, engine.Completed).Groups[0]; g.Open != 0 {
		t.Errorf("a late child opened its group again: %+v", g)
	}
	time.Sleep(time.Hour)
	f.want(child, engine.Completed)
	if g := f.want(id, engine.Completed).Groups[0]; g.Open != 0 || g.Done != 2 || g.Total != 2 {
		t.Errorf("group after the late child's end: %+v", g)
	}
	f.once(id)
	f.down()
}

// childOf finds a job by its key, live or ended.
func (f *fanRig) childOf(key string) engine.JobID {
	f.t.Helper()
	d, err := f.node.Detail(context.Background(), engine.JobQuery{Key: key})
	if err != nil {
		f.t.Fatalf("job with key %s: %v", key, err)
	}
	return d.Job.ID
}

// CancelledParentTakesItsOwnChildren: but not those that another live run wants,
// and running ones end as cancelled.
func CancelledParentTakesItsOwnChildren(t testing.TB, s Site) {
	f := newFanRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		if run.Job.Key == "match:8" || run.Job.Key == "match:9" {
			return engine.Snooze(time.Now().Add(time.Hour), engine.HoldOutage, nil)
		}
		select {
		case <-ctx.Done():
			return engine.Retry(context.Cause(ctx))
		case <-time.After(5 * time.Minute):
			return engine.Done(nil)
		}
	})
	f.workers = 20
	f.start()
	a := f.sync("full:a", 10)
	f.want(a, engine.Pending)
	b := f.sync("full:b", 5) // wants the first five too
	time.Sleep(time.Second)
	f.want(b, engine.Pending)
	f.cancel(a)
	time.Sleep(time.Second)
	f.want(a, engine.Cancelled)
	if g := f.detail(a).Groups[0]; g.Cancelled != 5 {
		t.Errorf("cancelled run: %+v, want 5 cancelled", g)
	}
	time.Sleep(10 * time.Hour)
	f.want(b, engine.Completed)
	if g := f.once(b); g.Done != 5 || g.Cancelled != 0 {
		t.Errorf("the other run went on with %+v", g)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.went[a]) != 0 {
		t.Error("the cancelled parent went on")
	}
	f.down()
}

// P01_NothingIsLostInACrash: jobs, some failing, cut off at random commits: every
// one ends exactly once, and nothing runs again that had ended.
func P01_NothingIsLostInACrash(t testing.TB, s Site, jobs, crashes int) {
	rnd := random(t, 1)
	var ended shared[engine.JobID, bool] // whose end was committed: a cut fails a commit before it begins
	f := newFanRig(t, s, func(_ context.Context, run engine.Run) engine.Outcome {
		if ended.get(run.Job.ID) {
			t.Errorf("job %s ran again after it had ended", run.Job.ID)
		}
		time.Sleep(time.Duration(rand.N(50)) * time.Millisecond)
		if run.Job.Tries == 1 && strings.HasSuffix(run.Job.Key, "3") {
			return engine.Retry(errors.New("503"))
		}
		return engine.Done(func(engine.Tx) error { ended.set(run.Job.ID, true); return nil })
	})
	f.start()
	id := f.sync("full:1", jobs)
	synctest.Wait()
	for range crashes {
		f.node.Cut(rnd.IntN(jobs))
		time.Sleep(time.Duration(rnd.IntN(20_000)) * time.Millisecond)
		f.bury()
		f.start()
	}
	time.Sleep(time.Hour)
	d := f.want(id, engine.Completed)
	if g := d.Groups[0]; g.Total != jobs || g.Done != jobs {
		t.Errorf("group at the end: %+v, want %d done", g, jobs)
	}
	if n := live(f.node); len(n) != 0 {
		t.Errorf("live jobs are left: %v", n)
	}
	f.down()
}

// I4_BulkTakesChildrenAlong: what a parent takes along is done, and not "changed since
// shown", in a dry run as in the real one, over the edges of batches. What was taken
// along beyond the selection can be taken back with the rest.
func I4_BulkTakesChildrenAlong(t testing.TB, s Site, children int) {
	f := newFanRig(t, s, hanging)
	f.start()
	f.sync("full:1", children)
	time.Sleep(time.Second)
	var sel engine.Selection
	pick := func(key string) {
		d, err := f.node.Detail(context.Background(), engine.JobQuery{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		sel.IDs, sel.Revs = append(sel.IDs, d.Job.ID), append(sel.Revs, d.Job.Rev)
	}
	pick("full:1")
	for i := range children {
		pick(fmt.Sprint("match:", i))
	}
	sel.Revs[children]++ // the last one has changed since it was shown
	for _, dry := range []bool{true, false} {
		r, err := f.node.Bulk(context.Background(), engine.Command{Op: engine.OpCancel, Select: &sel, By: ana, DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		if r.Matched != children+1 || r.Applied != children || len(r.Moves) != children+1 || len(r.Skipped) != 1 {
			t.Errorf("dry run %t: %d of %d done, %d moves, skipped %v", dry, r.Applied, r.Matched, len(r.Moves), r.Skipped)
		}
		if dry {
			f.want(sel.IDs[0], engine.Pending)
		}
	}
	time.Sleep(time.Second)
	for _, id := range sel.IDs {
		f.want(id, engine.Cancelled) // the last one, too: only its parent wanted it
	}
	f.down()
}
