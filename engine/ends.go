package engine

import "strconv"

// End is a job that has ended, or one whose end is taken back because it was opened again.
type End struct {
	Job      *Job // as it has ended, or had
	Count    int  // 1, or -1 for one that is taken back
	Attempts int  // charged ones, without those of an end before; those of a cancelled job count nowhere
}

// Ends tells from committed changes which jobs have ended, for all who count them: the
// metrics, the alerts and Prometheus count what the sums of days do. However a job ends, by
// its handler, an operator or its parent, it counts once, as long as it stays ended: one
// that is opened again is taken back at the instant at which it had ended. It remembers, by
// job, the attempts that an end has counted already.
type Ends map[JobID]TakenBack

// TakenBack is what a job had used when it was opened again.
type TakenBack struct {
	Attempts int `json:"attempts"` // over all rounds
	Counted  int `json:"counted"`  // of them with the end that was taken back
}

// maxTakenBack bounds what is remembered: beyond it a job counts with all its attempts.
const maxTakenBack = 10_000

// Of tells what a change means; ok is false for one that neither ends nor opens a job.
func (e Ends) Of(c *Change) (end End, ok bool) {
	switch {
	case c.Job == nil:
		return End{}, false
	case c.Ended != nil:
		n := e.attempts(c.Ended)
		if c.Ended.State == Cancelled { // its attempts are still to be counted
			return End{Job: c.Ended, Count: -1, Attempts: n}, true
		}
		if _, known := e[c.Ended.ID]; known || len(e) < maxTakenBack {
			e[c.Ended.ID] = TakenBack{Attempts: c.Ended.Tried(), Counted: n}
		}
		return End{Job: c.Ended, Count: -1, Attempts: n}, true
	case c.Job.State.Terminal() && !c.Before.Terminal():
		return End{Job: c.Job, Count: 1, Attempts: e.attempts(c.Job)}, true
	}
	return End{}, false
}

// attempts are those that belong to a job's end. One that ends without another attempt has
// its end back: an undo restored it.
func (e Ends) attempts(j *Job) int {
	switch s, reopened := e[j.ID]; {
	case !reopened:
		return j.Tried()
	case j.Tried() == s.Attempts:
		return s.Counted
	default:
		return j.Tried() - s.Attempts
	}
}

// statusOK is the status of an attempt that succeeded; of a call it is CallCompleted.
const statusOK = "ok"

// Ending names how an attempt of a job of a kind ended. told is false for one that was cut
// off: it says nothing about the other side.
func (a Attempt) Ending(kind Kind) (status string, told bool) {
	switch a.Verb {
	case VerbDone, VerbWait:
		if kind == KindCall {
			return string(CallCompleted), true
		}
		return statusOK, true
	case VerbInterrupted, VerbAbort:
		return "", false
	}
	switch {
	case a.Class != "":
		return string(a.Class), true
	case a.Status != 0:
		return strconv.Itoa(a.Status), true
	case a.Hold != HoldNone:
		return a.Hold.String(), true
	}
	return "error", true
}

// Missing reports whether an attempt ended with the answer that there is nothing to be had:
// a 404 that the retry table takes as final. It is no failure of either side. Where the
// table tries a 404 again it is one.
func (a Attempt) Missing() bool { return a.Verb == VerbFail && a.Class == "404" }

// Succeeded reports whether a status is that of an attempt that did what it should.
func Succeeded(status string) bool { return status == statusOK || status == string(CallCompleted) }

// KindsOf are the kinds of the jobs that the changes of one commit tell of: an attempt
// names its job alone, and its job moves in the same commit.
func KindsOf(changes []Change) map[JobID]Kind {
	kinds := map[JobID]Kind{}
	for i := range changes {
		if j := changes[i].Job; j != nil {
			kinds[j.ID] = j.Kind
		}
	}
	return kinds
}
