package jobs

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/block"
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

// TestI1_NothingOfAnOlderReadingStandsAmongWhatGoesNext: the list was read before a sync brought jobs that go first, and
// what goes next after it. What the list alone has goes behind that.
func TestI1_NothingOfAnOlderReadingStandsAmongWhatGoesNext(t *testing.T) {
	p := New("", page.ShownLive).(*Screen)
	job := func(id string, pr engine.Priority, place int, in time.Duration) engine.JobRow {
		return engine.JobRow{Job: engine.Job{ID: engine.JobID(id), State: engine.Available, Kind: "match.fetch", Priority: pr},
			Place: place, Line: "a line", Until: uitest.Noon.Add(in)}
	}
	p.read = []engine.JobRow{job("old1", 3, 1, 0), job("old2", 3, 2, time.Second/2), job("old3", 3, 3, time.Hour), job("far", 3, 0, -1)}
	p.read[3].Until = time.Time{}
	p.groups.next = []engine.JobRow{job("new1", 2, 1, 0), job("new2", 2, 2, 16*time.Second), job("old1", 3, 3, 17*time.Second)}
	p.came.list, p.came.soon, p.more = uitest.Noon, uitest.Noon.Add(time.Second), true
	rows := p.merge(pagetest.View(&page.Data{Ready: true}))
	var got []string
	for i := range rows {
		in := "-"
		if !rows[i].Until.IsZero() {
			in = rows[i].Until.Sub(uitest.Noon).String()
		}
		got = append(got, string(rows[i].ID)+" "+in)
	}
	if all := strings.Join(got, ", "); all != "new1 0s, new2 16s, old1 17s, old2 17s, old3 1h0m0s, far -" {
		t.Error(all)
	}
	// Of a list that has all since, nothing is asked besides, and what was told to go next has gone.
	p.came.list, p.more = uitest.Noon.Add(time.Minute), false
	if rows := p.merge(pagetest.View(&page.Data{Ready: true})); len(rows) != len(p.read) {
		t.Errorf("%d rows of the %d that there are", len(rows), len(p.read))
	}
	p.more = true
	// It is asked for again once the list has come.
	v := pagetest.View(&page.Data{Ready: true, Seq: 2})
	p.Have, p.Came, p.Seq, p.At = true, v.Now, 2, v.Now
	for _, a := range []*page.Answer{&p.groups.dead.Answer, &p.groups.reasons.Answer, &p.groups.soon.Answer} {
		a.Have, a.Seq, a.At, a.Came = true, 2, v.Now.Add(-time.Second), v.Now.Add(-time.Second)
	}
	p.groups.soon.Seq = 1
	if q, ok := p.Want(v).(engine.JobsQuery); !ok || !q.Soonest {
		t.Errorf("after the list: %+v", q)
	}
	p.Got(v, block.NextQuery, nil, errors.New("not now"))
	if q := p.groups.wantNext(v, p); q != nil {
		t.Errorf("and after an error at once: %+v", q)
	}
}
