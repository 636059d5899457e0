package backendtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// undo takes back what a command has done, all of it.
func (r *rig) undo(moves []engine.JobMove) {
	r.t.Helper()
	got, err := r.node.Undo(context.Background(), moves, ana, "", false)
	if err != nil || got.Applied != len(moves) || len(got.Skipped) != 0 {
		r.t.Errorf("undo of %d moves: %d done, skipped %v, %v", len(moves), got.Applied, got.Skipped, err)
	}
}

// place is where a job stands in its line.
func (r *rig) place(id engine.JobID) int {
	r.t.Helper()
	_, _, place := r.node.Why(r.detail(id).Job.Job)
	return place
}

// I11_UndoBringsASyncBack: a sync that was cancelled while it waited comes back with
// all its children: those that waited, those that had failed, and those that ran,
// over a restart too. It goes on once, when the last of them has ended.
func I11_UndoBringsASyncBack(t testing.TB, s Site, children int, restart bool) {
	const failed, workers = 40, 8
	release := make(chan struct{})
	f := newFanRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
		if n := 0; run.Job.Round == 1 && run.Job.Attempts == 1 {
			if _, err := fmt.Sscanf(run.Job.Key, "match:%d", &n); err == nil && n < failed {
				return engine.Retry(errors.New("503"))
			}
		}
		select {
		case <-release:
			return engine.Done(nil)
		case <-ctx.Done():
			return engine.Retry(ctx.Err())
		}
	})
	f.start()
	id := f.sync("full:1", children)
	time.Sleep(time.Second)
	if _, err := f.node.Pause(context.Background(), queue, ana, ""); err != nil {
		t.Fatal(err)
	}
	stand := func(id engine.JobID) engine.JobStand { return engine.StandOf(f.detail(id).Job.Job) }
	ids := map[engine.JobID]engine.JobStand{id: stand(id)}
	for i := range children {
		d, err := f.node.Detail(context.Background(), engine.JobQuery{Key: fmt.Sprint("match:", i)})
		if err != nil {
			t.Fatal(err)
		}
		ids[d.Job.ID] = engine.StandOf(d.Job.Job)
	}
	before := f.detail(id)
	r, err := f.node.Act(context.Background(), engine.Command{Op: engine.OpCancel, Job: id, By: ana})
	if err != nil || len(r.Moves) != children+1 || r.Moves[0].Job != id || !strings.Contains(r.Text, fmt.Sprintf("and with it %d jobs", children)) {
		t.Errorf("cancel answered %q with %d moves, %v", r.Text, len(r.Moves), err)
	}
	if restart {
		time.Sleep(time.Second)
		f.down()
		f.start()
	}
	f.undo(r.Moves) // at once: it waits for those that are still stopping
	time.Sleep(time.Second)
	stopped := 0
	for id, was := range ids {
		now := stand(id)
		if was.State == engine.Running {
			stopped++
			if now.State != engine.Available || !now.Front || now.Tries != was.Tries-1 {
				t.Errorf("job %s ran, now it is %+v", id, now)
			}
			continue
		}
		if now != was {
			t.Fatalf("job %s stands at %+v, stood at %+v", id, now, was)
		}
	}
	if stopped != workers {
		t.Errorf("%d jobs ran, want %d", stopped, workers)
	}
	if g := f.detail(id).Groups[0]; g.Open != children || g.Retrying != before.Groups[0].Retrying || g.Cancelled != 0 {
		t.Errorf("its group is %+v, was %+v", g, before.Groups[0])
	}
	close(release)
	if _, err := f.node.Resume(context.Background(), queue, ana, ""); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Hour)
	f.want(id, engine.Completed)
	if g := f.once(id); g.Done != children {
		t.Errorf("it went on with %+v", g)
	}
	f.down()
}

// I11_UndoOfSharedChildren: of two syncs that share children and were cancelled one
// after the other, each comes back when its own cancel is taken back, and none waits
// for ever.
func I11_UndoOfSharedChildren(t testing.TB, s Site) {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		f := newFanRig(t, s, func(ctx context.Context, run engine.Run) engine.Outcome {
			select {
			case <-time.After(time.Minute):
				return engine.Done(nil)
			case <-ctx.Done():
				return engine.Retry(ctx.Err())
			}
		})
		f.workers = 2
		f.start()
		syncs := f.together(func() []engine.JobID { return []engine.JobID{f.sync("full:1", 4), f.sync("full:2", 6)} })
		time.Sleep(time.Second)
		var moves [2][]engine.JobMove
		for i, id := range syncs {
			moves[i] = f.cancel(id).Moves
			time.Sleep(time.Second)
			f.want(id, engine.Cancelled)
		}
		for _, i := range order {
			f.undo(moves[i])
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		for _, id := range syncs {
			f.want(id, engine.Completed)
			f.once(id)
		}
		f.down()
	}
}

// I11_UndoKeepsThePlace: a job that waited in the middle of its line stands there
// again, one whose instant has come meanwhile where it would stand, and a restart
// changes no place.
func I11_UndoKeepsThePlace(t testing.TB, s Site) {
	r := newRig(t, s, hanging)
	r.workers = 1
	r.start()
	r.add(spec("match:0")) // runs all the time
	var ids []engine.JobID
	add := func(names ...string) {
		for _, name := range names {
			ids = append(ids, r.add(spec("match:"+name)))
		}
	}
	add("1", "2", "3")
	soon := r.add(engine.Spec{Kind: kind, Queue: queue, Key: "match:soon", RunAt: time.Now().Add(time.Second)})
	ids = append(ids, soon)
	cut := []engine.JobID{ids[1], soon}
	sel := engine.Selection{IDs: cut}
	cancelled, err := r.node.Bulk(context.Background(), engine.Command{Op: engine.OpCancel, Select: &sel, By: ana})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Second)
	add("4", "5")
	inOrder := func(when string) {
		t.Helper()
		time.Sleep(time.Second)
		for i, id := range ids {
			if at := r.place(id); at != i+1 {
				t.Errorf("%s job %d stands at place %d", when, i, at)
			}
		}
	}
	r.undo(cancelled.Moves)
	inOrder("after the undo of a cancel")

	moved, err := r.node.Act(context.Background(), engine.Command{Op: engine.OpReschedule, Job: ids[2], At: time.Now().Add(time.Hour), By: ana})
	if err != nil {
		t.Fatal(err)
	}
	r.undo(moved.Moves)
	inOrder("after the undo of a new instant")

	moved, err = r.node.Act(context.Background(), engine.Command{Op: engine.OpReschedule, Job: ids[0], At: time.Now(), By: ana}) // now: to the end of the line
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if at := r.place(ids[0]); at != len(ids) {
		t.Errorf("let run now, it stands at place %d", at)
	}
	r.undo(moved.Moves)
	inOrder("after the undo of an instant that had come")

	r.down()
	r.start()
	inOrder("after a restart")
	r.down()
}

// I11_UndoOnlyOfWhatStands: what has moved on since is left alone and told, and a
// child stays away without its parent.
func I11_UndoOnlyOfWhatStands(t testing.TB, s Site) {
	f := newFanRig(t, s, hanging)
	f.workers = 1
	f.start()
	id := f.sync("full:1", 3)
	time.Sleep(time.Second)
	moves := f.cancel(id).Moves
	time.Sleep(time.Second)
	f.add(engine.Spec{Kind: kind, Queue: queue, Key: "full:1", Owner: "another"}) // takes the key
	r, err := f.node.Undo(context.Background(), moves, ana, "", false)
	if err != nil || r.Applied != 0 || !r.Nothing {
		t.Errorf("undo of a sync whose key is taken: %+v, %v", r, err)
	}
	for why := range r.Skipped {
		if !strings.Contains(why, "holds full:1") {
			t.Errorf("skipped because %q", why)
		}
	}
	for _, m := range moves {
		f.want(m.Job, engine.Cancelled)
	}
	synctest.Wait()
	f.down()
}
