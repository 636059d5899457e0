package jobs

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/uitest"
)

// Of very many live jobs those are asked for that go next, and they stand in that order:
// a place in one line says nothing of another.
func TestI1_JobsThatGoNextStandFirst(t *testing.T) {
	if q, ok := New("", page.ShownLive).Want(pagetest.View(&page.Data{Ready: true})).(engine.JobsQuery); !ok || !q.Oldest {
		t.Errorf("asked: %+v", q)
	}
	now := uitest.Noon.Add(-time.Minute)
	job := func(id string, s engine.State, place int, in time.Duration) engine.JobRow {
		j := engine.JobRow{Job: engine.Job{ID: engine.JobID(id), State: s, Kind: "match.fetch"}, Place: place, Line: strings.Fields(id)[0]}
		switch {
		case s == engine.Retryable:
			j.Due = now.Add(in)
		case in > 0:
			j.Until = now.Add(in)
		}
		return j
	}
	rows := []engine.JobRow{
		job("unknown", engine.Available, 1, 0),
		job("timeline", engine.Available, 1, time.Minute),
		job("match 9", engine.Available, 9, 2*time.Second),
		job("match 3", engine.Available, 3, 2*time.Second+time.Millisecond), // told a moment later
		job("match 1", engine.Available, 1, time.Second),
		job("retry", engine.Retryable, 0, time.Hour),
	}
	page.SortJobs(rows)
	waits := job("late", engine.Available, 1, time.Second)
	if late := columns.NextTry(page.Pen{View: pagetest.View(&page.Data{})}, &waits); late != "now" {
		t.Errorf("what could have gone goes %s", late)
	}
	for i, want := range []engine.JobID{"retry", "match 1", "match 3", "match 9", "timeline", "unknown"} {
		if rows[i].ID != want {
			t.Errorf("%d is %s, want %s", i, rows[i].ID, want)
		}
	}
}
