package engine

import "testing"

// TestEnds_AReopenedJobCountsOnce: an end that is taken back takes its attempts along; the
// next one counts those since; an undo brings back what was counted.
func TestEnds_AReopenedJobCountsOnce(t *testing.T) {
	ends := Ends{}
	jobs, attempts := map[State]int{}, 0
	move := func(from, to Job) {
		t.Helper()
		c := Moved(&from, &to)
		e, ok := ends.Of(&c)
		if !ok {
			return
		}
		jobs[e.Job.State] += e.Count
		if e.Job.State != Cancelled {
			attempts += e.Count * e.Attempts
		}
	}
	at := func(s State, attempts int) Job { return Job{ID: "1", State: s, Attempts: attempts} }
	wants := func(when string, completed, discarded, cancelled, spent int) {
		t.Helper()
		if jobs[Completed] != completed || jobs[Discarded] != discarded || jobs[Cancelled] != cancelled || attempts != spent {
			t.Errorf("%s: %v with %d attempts", when, jobs, attempts)
		}
	}
	move(at(Running, 2), at(Retryable, 2))
	move(at(Retryable, 2), at(Cancelled, 2)) // by an operator, while it waited
	wants("cancelled", 0, 0, 1, 0)
	move(at(Cancelled, 2), at(Retryable, 2))
	wants("undone", 0, 0, 0, 0)
	move(at(Running, 5), at(Discarded, 5))
	wants("gave up", 0, 1, 0, 5)
	move(at(Discarded, 5), at(Available, 5))
	wants("opened again", 0, 0, 0, 0)
	move(at(Available, 5), at(Discarded, 5)) // an undo
	wants("undone", 0, 1, 0, 5)
	move(at(Discarded, 5), at(Available, 5))
	move(at(Running, 7), at(Completed, 7))
	wants("done at its second try", 1, 0, 0, 2)
	move(at(Completed, 7), at(Completed, 7))
	wants("as it was", 1, 0, 0, 2)
}

// TestS2_ASuccessfulCallIsCompleted: a call's status is named as the telephone's is.
func TestS2_ASuccessfulCallIsCompleted(t *testing.T) {
	a := Attempt{Number: 1, Verb: VerbDone}
	for kind, want := range map[Kind]string{KindCall: "completed", "match.fetch": "ok"} {
		if got, told := a.Ending(kind); got != want || !told || !Succeeded(got) {
			t.Errorf("%s: %q", kind, got)
		}
	}
}
