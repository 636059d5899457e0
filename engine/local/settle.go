package local

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
)

// maxError bounds the error text that is stored, in bytes.
const maxError = 2 << 10

// ending is one attempt with its outcome: all that decides how its job goes on. A
// match that was answered with 503 on its second try, for instance, is job b41 with
// Tries 2, the outcome Retry(err).As("503") and the policy of matches.
type ending struct {
	job     engine.Job // as stored, running
	outcome engine.Outcome
	policy  engine.Policy
	now     time.Time        // wall clock
	took    time.Duration    // of the run, monotonic
	paced   time.Duration    // of the wait before it
	group   engine.GroupStat // Wait: the group as it stands
	bears   *engine.ChildPolicy
	stopped bool // the engine stopped, and that is why it ended
}

// verdict is what follows: the job's next value and the closed attempt.
type verdict struct {
	job     engine.Job
	attempt engine.Attempt
	reason  string // for the history
}

// verbs maps a verb to what it does to the job. It runs after the common part.
var verbs = map[engine.Verb]func(ending, *verdict){
	engine.VerbDone:   done,
	engine.VerbRetry:  retry,
	engine.VerbSnooze: snooze,
	engine.VerbFail:   fail,
	engine.VerbAbort:  abort,
	engine.VerbWait:   wait,
}

// decide maps an outcome to the job's next value. It depends on nothing else, reads no
// clock and no store: what becomes of an attempt can be tested as a table. A cancel
// that was asked for, and a stop of the engine, come before whatever the handler says.
func (v *verdict) decide(e ending) {
	*v = verdict{job: e.job, attempt: attemptOf(e)}
	j := &v.job
	j.Rev++
	j.Boot, j.Front, j.Crashes, j.Hold = "", false, 0, engine.HoldNone
	if e.outcome.Call.Bytes > 0 {
		j.Bytes = e.outcome.Call.Bytes
	}
	if e.outcome.Err != nil && !e.stopped && !e.job.CancelAsked {
		j.Class, j.LastError = v.attempt.Class, v.attempt.Err
	}
	switch verb, known := verbs[e.outcome.Verb]; {
	case e.job.CancelAsked:
		cancelled(e, v)
	case e.stopped:
		interrupt(e.now, v, "the engine stopped", e.job.Crashes)
	case !known:
		e.outcome = engine.Fail(fmt.Errorf("the handler of %s returned the unknown verb %d", j.Kind, e.outcome.Verb))
		v.attempt = attemptOf(e)
		fail(e, v)
	default:
		verb(e, v)
	}
}

// attemptOf closes the attempt. No duration in it is negative, and its parts add
// up to no more than the whole, whatever the clocks did (P-36).
func attemptOf(e ending) engine.Attempt {
	j, o := e.job, e.outcome
	took := max(e.took, 0)
	a := engine.Attempt{
		Number: j.Attempts, Round: j.Round, Try: j.Tries, Phase: j.Phase, Rev: j.Rev,
		Start: j.Started, End: j.Started.Add(took),
		Verb: o.Verb, Hold: o.Hold, Class: o.Class, External: o.Call.External, Status: o.Call.Status,
		Queued: queuedFor(j), Worker: j.Worker,
	}
	if j.CancelAsked {
		a.Rev-- // of the claim: the cancel bumped it
	}
	a.Paced = min(max(e.paced, 0), a.Queued)
	a.HTTP = min(max(o.Call.HTTP, 0), took)
	a.Limiter = min(max(o.Call.Limiter, 0), took-a.HTTP)
	if o.Err != nil {
		a.Err = cut(o.Err.Error())
		if a.Class == "" {
			a.Class = "error"
		}
	}
	return a
}

// queuedFor is the wait from the instant the job could have run to its claim.
func queuedFor(j engine.Job) time.Duration { return max(j.Started.Sub(couldRun(&j)), 0) }

// couldRun is from when on nothing but its turn kept a job.
func couldRun(j *engine.Job) time.Time {
	if j.Due.IsZero() {
		return j.Created
	}
	return j.Due
}

// done ends the job well.
func done(e ending, v *verdict) { end(v, engine.Completed, e.now, "") }

// fail ends the job for good: its error will not go away by trying again.
func fail(e ending, v *verdict) {
	v.job.AddFailure(atLeast(e.now))
	v.attempt.Decision = "permanent error"
	end(v, engine.Discarded, e.now, text(e.outcome.Err))
}

// abort ends the job as cancelled, by its own handler's word: there is nothing to do.
func abort(e ending, v *verdict) {
	v.attempt.Decision = "ended by its handler"
	end(v, engine.Cancelled, e.now, text(e.outcome.Err))
}

// cancelled: the operator's word came first, whatever the handler brings.
func cancelled(e ending, v *verdict) {
	v.attempt.Verb, v.attempt.Hold, v.attempt.Decision = engine.VerbAbort, engine.HoldNone, "cancelled while it ran"
	end(v, engine.Cancelled, e.now, "cancelled while it ran")
}

// end lets a job end: nothing is due any more, and no cancel is outstanding.
func end(v *verdict, s engine.State, now time.Time, reason string) {
	v.job.State, v.job.Finished, v.job.Due, v.reason = s, now, time.Time{}, reason
	v.job.CancelAsked = false
}

// retry charges the attempt. The failure is noted also where it is the last one. An instant of the
// outcome replaces that of the table, and does not save a job whose tries are used up.
func retry(e ending, v *verdict) {
	v.job.AddFailure(atLeast(e.now))
	due, ok := e.policy.Next(e.job.Tries, e.now)
	v.attempt.Decision = e.policy.Decision(e.job.Tries)
	if !ok {
		end(v, engine.Discarded, e.now, v.attempt.Decision)
		return
	}
	if !e.outcome.At.IsZero() {
		due, v.attempt.Decision = notBefore(e.outcome.At, e.now)
	}
	v.job.State, v.job.Due = engine.Retryable, atLeast(due)
	v.attempt.Next, v.reason = v.job.Due, v.attempt.Decision
}

// snooze takes the charge back and keeps the run among the holds.
func snooze(e ending, v *verdict) {
	uncharge(v)
	due, decision := notBefore(e.outcome.At, e.now)
	if e.outcome.At.IsZero() {
		due, decision = byTable(e.policy, v.job.Tries, e.now)
	}
	v.job.State, v.job.Hold, v.job.Due = engine.Scheduled, e.outcome.Hold, atLeast(due)
	v.attempt.Next, v.attempt.Decision = v.job.Due, decision
	v.reason = e.outcome.Hold.Reason()
}

// wait lets the job sleep until its group is settled; a settled one lets it go on
// at once.
func wait(e ending, v *verdict) {
	v.job.Group = e.outcome.Group
	v.job.State, v.job.Due = engine.Pending, time.Time{}
	v.attempt.Decision = "waits for " + human.Counted(e.group.Open, "job", "jobs")
	switch many := e.bears.TooMany(e.group); {
	case !e.group.Settled():
	case many != "":
		v.job, v.attempt.Decision = orphaned(v.job, many, e.now), many
	default:
		v.job = goOn(v.job, e.now)
		v.attempt.Decision = "no job that it waited for is left: goes on"
	}
	v.reason = v.attempt.Decision
}

// goOn opens the next phase: a new round of attempts.
func goOn(j engine.Job, now time.Time) engine.Job {
	j.State, j.Due = engine.Available, now
	j.Phase++
	return newRound(j)
}

// newRound lets attempts be counted from one again.
func newRound(j engine.Job) engine.Job {
	j.Round++
	j.Tries = 0
	return j
}

// interrupt puts a job back that ended through no fault of its own: the charge is
// taken back, and it is first in its line. crashes is added to its interruptions
// in a row; a drain is none. A suspect is not first: it goes to the end and runs alone.
func interrupt(now time.Time, v *verdict, why string, crashes int) {
	uncharge(v)
	j := &v.job
	v.attempt.Verb, v.attempt.Hold, v.attempt.Decision = engine.VerbInterrupted, engine.HoldNone, why
	v.reason = "interrupted: " + why
	j.Boot, j.Hold = "", engine.HoldNone
	j.Crashes = crashes
	if crashes >= 2*engine.SuspectAfter {
		j.Class, j.LastError = "crash", fmt.Sprintf("interrupted %d times in a row: %s", crashes, why)
		end(v, engine.Discarded, now, j.LastError)
		return
	}
	j.State, j.Front, j.Due = engine.Available, !j.Suspect(), now
}

// interrupted is the verdict on an attempt whose handler is gone, deaf or never
// began. A rescue and an orphan count as a crash, a drain does not.
func interrupted(j engine.Job, why string, cause engine.Cause, now time.Time) verdict {
	e := ending{job: j, now: atLeast(now), took: now.Sub(j.Started)}
	v := verdict{job: j, attempt: attemptOf(e)}
	v.job.Rev++
	v.job.Boot, v.job.Front = "", false
	if j.CancelAsked {
		cancelled(e, &v)
		return v
	}
	crashes := j.Crashes
	if cause == engine.ByRescue {
		crashes++
	}
	interrupt(e.now, &v, why, crashes)
	return v
}

// uncharge moves the attempt to the holds and restores the counts. The claim has charged it; a hold has
// no number of its own.
func uncharge(v *verdict) {
	v.job.Tries = max(v.job.Tries-1, 0)
	v.job.Attempts = max(v.job.Attempts-1, 0)
	v.job.Holds++
	v.attempt.Number = 0
}

// notBefore bounds an instant that an answer asked for to [now, now+MaxDelay].
func notBefore(at, now time.Time) (time.Time, string) {
	wait := at.Sub(now)
	switch {
	case wait > engine.MaxDelay:
		return now.Add(engine.MaxDelay), fmt.Sprintf("the answer asked for %s: capped at %s", human.Span(wait),
			human.Span(engine.MaxDelay))
	case wait < 0:
		return now, "the answer's instant has passed"
	}
	return at, "the answer asked for " + human.Span(wait)
}

// byTable is the wait of the step that has been reached; past its end, the last
// one, since nothing is charged.
func byTable(p engine.Policy, tries int, now time.Time) (time.Time, string) {
	step := min(max(tries, 1), max(p.Max-1, 1))
	due, ok := p.Next(step, now)
	if !ok {
		return now.Add(time.Minute), "no table: 1m"
	}
	return due, p.Decision(step)
}

// atLeast rounds an instant up to the millisecond that the store keeps: nothing
// may start before the instant that was promised.
func atLeast(t time.Time) time.Time {
	t = t.Round(0).UTC()
	if ms := t.Truncate(time.Millisecond); ms.Before(t) {
		return ms.Add(time.Millisecond)
	}
	return t
}

// text is an error as it is stored; "" for none.
func text(err error) string {
	if err == nil {
		return ""
	}
	return cut(err.Error())
}

// cut bounds what is stored of an error, in bytes: a server may answer with a whole page. It may end
// inside of a letter, which every exit cleans.
func cut(s string) string {
	if len(s) <= maxError {
		return s
	}
	return s[:maxError] + "…"
}

// orphaned ends a job that has lost too many children.
func orphaned(j engine.Job, why string, now time.Time) engine.Job {
	j.State, j.Finished, j.Due = engine.Discarded, now, time.Time{}
	j.Class, j.LastError = engine.ClassChildren, why
	return j
}
