package fold_test

import (
	"fmt"
	"maps"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/fold"
)

// draw is a small update of a few jobs, whose revisions only grow, and an account.
func draw(t *rapid.T, rev *engine.Revision) (u engine.Update) {
	u.Snapshot = rapid.IntRange(0, 9).Draw(t, "snapshot") == 0
	id := rapid.IntRange(0, 5)
	for range rapid.IntRange(0, 3).Draw(t, "jobs") {
		*rev++
		u.Jobs = append(u.Jobs, engine.JobRow{Job: engine.Job{ID: engine.JobID(fmt.Sprint(id.Draw(t, "id"))), Rev: *rev}})
	}
	if !u.Snapshot && rapid.Bool().Draw(t, "leaves") {
		u.Gone = []engine.JobID{engine.JobID(fmt.Sprint(id.Draw(t, "gone")))}
	}
	if rapid.Bool().Draw(t, "account") {
		u.Accounts = []engine.AccountRow{{ID: fmt.Sprint(id.Draw(t, "account id")), Calls: rapid.IntRange(0, 9).Draw(t, "calls")}}
	}
	if rapid.Bool().Draw(t, "engine") {
		u.Engine = &engine.EngineRow{InFlight: rapid.IntRange(0, 9).Draw(t, "in flight")}
	}
	u.Calls = make([]engine.CallRow, rapid.IntRange(0, 2).Draw(t, "new calls"))
	return u
}

// TestWhatIsMergedOnTheWayEndsTheSame: a reader who is told of each update, and one who
// is told of some at once, merged, know the same in the end.
func TestWhatIsMergedOnTheWayEndsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var each, some, waits fold.Rows
		rev := engine.Revision(0)
		start := engine.Update{Snapshot: true}
		each.Add(start)
		some.Add(start)
		for range rapid.IntRange(1, 30).Draw(t, "updates") {
			u := draw(t, &rev)
			each.Add(u)
			waits.Add(u)
			if rapid.Bool().Draw(t, "reads") {
				some.Add(waits.Update())
				waits = fold.Rows{}
			}
		}
		some.Add(waits.Update())
		if a, b := each.Update(), some.Update(); !reflect.DeepEqual(a, b) {
			t.Fatalf("told of each:\n%+v\ntold of some:\n%+v", a, b)
		}
	})
}

// TestWhatWasHandedOutStays: a frozen screen shows what it showed.
func TestWhatWasHandedOutStays(t *testing.T) {
	var r fold.Rows
	r.Add(engine.Update{Snapshot: true, Calls: []engine.CallRow{{Seq: 1}}, Jobs: []engine.JobRow{{Job: engine.Job{ID: "a", Rev: 2}}}})
	before := r.Update()
	for i := range 3 * fold.KeptCalls {
		r.Add(engine.Update{Calls: []engine.CallRow{{Seq: uint64(2 + i)}}})
	}
	r.Add(engine.Update{Jobs: []engine.JobRow{{Job: engine.Job{ID: "a", Rev: 1}}, {Job: engine.Job{ID: "b", Rev: 3}}}})
	if len(before.Calls) != 1 || before.Calls[0].Seq != 1 || len(before.Jobs) != 1 {
		t.Errorf("what was handed out is now %+v", before)
	}
	now := r.Update()
	revs := map[engine.JobID]engine.Revision{}
	for _, j := range now.Jobs {
		revs[j.ID] = j.Rev
	}
	if !maps.Equal(revs, map[engine.JobID]engine.Revision{"a": 2, "b": 3}) {
		t.Errorf("revisions %v: a late row took a job back", revs)
	}
	if n := len(now.Calls); n != fold.KeptCalls || now.Calls[n-1].Seq != uint64(1+3*fold.KeptCalls) {
		t.Errorf("%d calls are kept", n)
	}
}
