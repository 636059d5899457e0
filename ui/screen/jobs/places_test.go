package jobs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV7c_ACallIsReadBeforeItGivesWay: of calls that begin each second every other one has a row of three, and one that
// still runs after three seconds has one then.
func TestV7c_ACallIsReadBeforeItGivesWay(t *testing.T) {
	g := inGroups{counts: map[engine.State]int{}}
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{Workers: 3}})
	job := func(id string, began int) *engine.JobRow {
		return &engine.JobRow{Job: engine.Job{ID: engine.JobID(id), State: engine.Running, Started: uitest.Noon.Add(time.Duration(began) * time.Second)}}
	}
	var shown []int // the seconds whose call had a row
	slow := -1
	for s := range 12 {
		v.Now = uitest.Noon.Add(time.Duration(s) * time.Second)
		j := job(fmt.Sprint(s), s)
		rows := []*engine.JobRow{j}
		if s >= 6 {
			rows = append(rows, job("slow", 6))
		}
		g.keepRunning(v, &block.JobGroup{GroupKey: block.GroupKey{ReasonKey: engine.ReasonKey{State: engine.Running}}, Rows: rows}, 24)
		has := func(id engine.JobID) bool {
			return slices.ContainsFunc(g.slots, func(s slot) bool { return s.row.ID == id })
		}
		if has(j.ID) {
			shown = append(shown, s)
		}
		if slow < 0 && has("slow") {
			slow = s
		}
		v.Calls = append(v.Calls, engine.CallRow{Job: j.ID, At: v.Now, Status: 200}) // it is over by the next
	}
	if fmt.Sprint(shown) != "[0 1 2 3 5 7 9 11]" || slow != 9 {
		t.Errorf("calls of the seconds %v have a row, the slow one from %d on", shown, slow)
	}
}

// TestV7c_AJobThatHasEndedStandsOnce: where those that have ended are listed, its row among what ran is one too many.
func TestV7c_AJobThatHasEndedStandsOnce(t *testing.T) {
	row := func(id engine.JobID) engine.JobRow {
		return engine.JobRow{Job: engine.Job{ID: id, State: engine.Completed}}
	}
	done := row("done")
	g := inGroups{slots: []slot{{row: done}, {row: row("other")}}}
	if g.forgetEnded(); len(g.slots) != 2 {
		t.Fatalf("nothing is listed: %d", len(g.slots))
	}
	g.groups = []block.JobGroup{{GroupKey: block.GroupKey{ReasonKey: engine.ReasonKey{State: engine.Completed}}, Rows: []*engine.JobRow{&done}}}
	if g.forgetEnded(); len(g.slots) != 1 || g.slots[0].row.ID != "other" {
		t.Errorf("%+v", g.slots)
	}
}
