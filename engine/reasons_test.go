package engine

import "testing"

// Jobs that wait for one reason are one group, whatever their places, tries and limits of the
// moment; those in another state are another one.
func TestI1_JobsAreGroupedByStateAndReason(t *testing.T) {
	inLine := func(place int, why string) JobRow {
		return JobRow{Job: Job{State: Available}, Place: place, Why: why}
	}
	failed := func(class Class, tries int) JobRow {
		return JobRow{Job: Job{State: Retryable, Class: class, Tries: tries}, Why: NextTry(tries)}
	}
	paused := func(s State) JobRow {
		return JobRow{Job: Job{State: s}, Why: "queue paused by ana", Stand: StandPaused, Place: 1}
	}
	var all Reasons
	for _, j := range []JobRow{
		inLine(2, "2nd in line"), inLine(1, "app:asia 97/100"), inLine(0, FarBack), inLine(0, StartsNow), inLine(0, FarBack+": app:asia held by a 429 (service)"),
		failed("503", 1), failed("503", 2), failed("timeout", 1),
		paused(Available), paused(Retryable),
		{Job: Job{State: Available}, Why: "lock of #7"},
		{Job: Job{State: Running}}, {Job: Job{State: Discarded}},
	} {
		if r, ok := ReasonOf(j); ok {
			all.Add(r)
		}
	}
	want := map[string]int{"app:asia 97/100": 5, "backs off after 503": 2, "backs off after timeout": 1, "queue paused by ana": 2, "lock of #7": 1}
	got := map[string]int{}
	for _, r := range all.Rows() {
		got[r.Text] += r.Jobs
	}
	if rows := all.Rows(); len(rows) != 6 || rows[0].Jobs != 5 || rows[0].First.Place != 1 {
		t.Errorf("%d groups, the largest %+v", len(rows), rows[0])
	}
	for text, n := range want {
		if got[text] != n {
			t.Errorf("%q: %d jobs, want %d", text, got[text], n)
		}
	}
}
