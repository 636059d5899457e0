package backendtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// P06_UniqueConflictOnRetry: the refusal names the holder, and the dead row stays
// as it is.
func P06_UniqueConflictOnRetry(t testing.TB, s Site) {
	r := newRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		if run.Job.Owner == "first" {
			return engine.Fail(errors.New("404"))
		}
		return hanging(ctx, run)
	}).start()
	dead := r.add(engine.Spec{Kind: kind, Queue: queue, Key: "match:X", Owner: "first"})
	before := r.want(dead, engine.Discarded)
	holder := r.add(spec("match:X"))
	_, err := r.node.Act(context.Background(), engine.Command{Op: engine.OpRetry, Job: dead, IfRev: before.Job.Rev, By: ana})
	r.wantProblem(err, engine.ErrRefused, fmt.Sprintf("unique: #%s holds match:X", holder))
	if p, _ := errors.AsType[*engine.Problem](err); p != nil && p.Job != holder {
		t.Errorf("the problem names job %s, want %s", p.Job, holder)
	}
	if after := r.want(dead, engine.Discarded); after.Job.Rev != before.Job.Rev {
		t.Error("the dead row was changed")
	}
	r.cancel(holder)
	r.want(holder, engine.Cancelled)
	r.retry(dead)
	r.want(dead, engine.Discarded) // it ran again and failed again
	if d := r.detail(dead); len(d.Attempts) != 2 || d.Job.Round != 2 {
		t.Errorf("%d attempts, round %d; want 2, 2", len(d.Attempts), d.Job.Round)
	}
	r.down()
}

// P13_CancelDoesNotLeak: an unknown id stores nothing, and a cancelled job that
// is retried is not cancelled again.
func P13_CancelDoesNotLeak(t testing.TB, s Site) {
	runs := newTally()
	r := newRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		if runs.add(run.Job.ID) == 1 && run.Job.Key == "match:1" {
			return hanging(ctx, run)
		}
		time.Sleep(time.Second)
		return engine.Done(nil)
	}).start()
	probe := r.add(spec("probe"))
	for _, unknown := range []engine.JobID{"", "nonsense", probe + "9", "z9999999", "12", "b12"} {
		_, err := r.node.Act(context.Background(), engine.Command{Op: engine.OpCancel, Job: unknown, By: ana})
		r.wantProblem(err, engine.ErrNotFound, "there is no job")
	}
	var ids []engine.JobID
	for i := range 20 {
		ids = append(ids, r.add(spec(fmt.Sprint("later", i))))
	}
	time.Sleep(time.Minute)
	for _, id := range ids {
		r.want(id, engine.Completed)
	}
	id := r.add(spec("match:1"))
	r.want(id, engine.Running)
	r.cancel(id)
	r.want(id, engine.Cancelled)
	if rc := r.cancel(id); !rc.Nothing {
		t.Error("a second cancel did something")
	}
	r.retry(id)
	time.Sleep(time.Minute)
	if d := r.want(id, engine.Completed); d.Job.CancelAsked || runs.of(id) != 2 {
		t.Errorf("after cancel and retry: cancel asked %v, %d runs", d.Job.CancelAsked, runs.of(id))
	}
	r.down()
}

// P14_CancelCompleteRace: in n random interleavings state, answer, history,
// attempts and domain rows tell one story: whoever commits first wins.
func P14_CancelCompleteRace(t testing.TB, s Site, n int) {
	rnd := random(t, 14)
	var took shared[string, time.Duration]
	r := newRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		select {
		case <-time.After(took.get(run.Job.Key)):
		case <-ctx.Done():
		}
		return engine.Done(func(tx engine.Tx) error {
			_, err := tx.Enqueue(engine.Spec{Kind: "row", Queue: "domain", Key: "row:" + run.Job.Key})
			return err
		})
	}).start()
	for i := range n {
		name := fmt.Sprint("match:", i)
		took.set(name, time.Duration(rnd.IntN(4))*time.Millisecond)
		id := r.add(spec(name))
		time.Sleep(time.Duration(rnd.IntN(4)) * time.Millisecond)
		_, err := r.node.Act(context.Background(), engine.Command{Op: engine.OpCancel, Job: id, By: ana, Reason: "race"})
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		_, missing := r.node.Detail(context.Background(), engine.JobQuery{Key: "row:" + name})
		r.sameStory(id, err, missing == nil)
	}
	r.down()
}

// sameStory compares what the operator was told with what is stored.
func (r *rig) sameStory(id engine.JobID, answer error, committed bool) {
	r.t.Helper()
	d := r.detail(id)
	r.sound(d)
	byAna := slices.ContainsFunc(d.History, func(tr engine.Transition) bool { return tr.Actor == "ana via test" })
	switch {
	case answer == nil && d.Job.State == engine.Cancelled && !committed && byAna:
	case errors.Is(answer, engine.ErrConflict) && d.Job.State == engine.Completed && committed && !byAna:
	default:
		r.t.Errorf("job %s: state %s, answer %v, committed %v, history %+v", id, d.Job.State, answer, committed, d.History)
	}
}

// P15_TheLoserIsTold: two operators, one job, the same revision: one applies, the
// other learns what has changed. A running job is not retried in silence.
func P15_TheLoserIsTold(t testing.TB, s Site) {
	r := newRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		if run.Job.Tries == 1 && run.Job.Round == 1 {
			return engine.Retry(errors.New("503"))
		}
		return hanging(ctx, run)
	}).start()
	id := r.add(spec("match:1"))
	shown := r.want(id, engine.Retryable).Job.Rev
	if _, err := r.node.Act(context.Background(), engine.Command{Op: engine.OpRetry, Job: id, IfRev: shown, By: ana}); err != nil {
		t.Errorf("the first operator was refused: %v", err)
	}
	now := r.want(id, engine.Running).Job.Rev
	words := fmt.Sprintf("changed since shown: now running (rev %d)", now)
	_, err := r.node.Act(context.Background(), engine.Command{Op: engine.OpCancel, Job: id, IfRev: shown, By: ana})
	r.wantProblem(err, engine.ErrConflict, words)
	_, err = r.node.Act(context.Background(), engine.Command{Op: engine.OpRetry, Job: id, IfRev: shown, By: ana})
	r.wantProblem(err, engine.ErrConflict, words)
	_, err = r.node.Act(context.Background(), engine.Command{Op: engine.OpRetry, Job: id, IfRev: now, By: ana})
	r.wantProblem(err, engine.ErrConflict, "it is running now")
	r.want(id, engine.Running)
	r.down()
}

// S1_2_OneWinner: 50 inserts of one key at once and 50 claimers: one job, one
// run; the losers get the same job, not an error.
func S1_2_OneWinner(t testing.TB, s Site) {
	runs := newTally()
	r := newRig(t, s, runs.counting(func(context.Context, engine.Run) engine.Outcome {
		time.Sleep(time.Second)
		return engine.Done(nil)
	}))
	r.workers = 50
	r.start()
	var wg sync.WaitGroup
	ids := make([]engine.JobID, 50)
	for i := range ids {
		wg.Go(func() {
			out, err := r.node.Insert(context.Background(), spec("full:account"))
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = out[0].ID
		})
	}
	wg.Wait()
	time.Sleep(time.Minute)
	if len(slices.Compact(ids)) != 1 || runs.total() != 1 {
		t.Errorf("%d jobs, %d runs; want 1, 1", len(slices.Compact(ids)), runs.total())
	}
	r.want(ids[0], engine.Completed)
	r.down()
}

// S4_6_OneRunningPerLock: jobs of one lock run one after the other, in order, and
// do not hold up others.
func S4_6_OneRunningPerLock(t testing.TB, s Site) {
	var mu sync.Mutex
	running, most := map[string]int{}, map[string]int{}
	r := newRig(t, s, func(_ context.Context, run engine.Run) engine.Outcome {
		mu.Lock()
		running[run.Job.Lock]++
		most[run.Job.Lock] = max(most[run.Job.Lock], running[run.Job.Lock])
		mu.Unlock()
		time.Sleep(time.Second)
		mu.Lock()
		running[run.Job.Lock]--
		mu.Unlock()
		return engine.Done(nil)
	}).start()
	var locked []engine.JobID
	for range 5 {
		locked = append(locked, r.add(engine.Spec{Kind: kind, Queue: queue, Lock: "puuid:1"}))
	}
	free := r.insert(spec("a"), spec("b"))
	synctest.Wait()
	if why, _, _ := r.node.Why(r.job(locked[4])); why != fmt.Sprintf("lock of #%s", locked[0]) {
		t.Errorf("reason = %q", why)
	}
	time.Sleep(1100 * time.Millisecond)
	for _, id := range append(free, locked[0]) {
		r.want(id, engine.Completed)
	}
	time.Sleep(time.Minute)
	for _, id := range locked {
		r.want(id, engine.Completed)
	}
	if most["puuid:1"] != 1 {
		t.Errorf("%d jobs of one lock ran at once", most["puuid:1"])
	}
	r.down()
}
