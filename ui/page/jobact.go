package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/ui/part"
)

// Commands on one job, shared by every screen that has a job under its cursor.

// retryJob runs a job now. It sends the revision that was shown, so that a job
// which moved meanwhile is not touched.
func retryJob(v *View, j engine.JobRow) Effect {
	j = v.liveJob(j)
	return do(engine.Command{Op: engine.OpRetry, Job: j.ID, IfRev: j.Rev})
}

// cannotOn says why an operation on jobs has no effect on this one; "" = it has, or the
// action is none.
func cannotOn(a Action, j engine.JobRow) string {
	o := operation.Of(engine.Op(a))
	switch {
	case len(o.States) == 0 || slices.Contains(o.States, j.State):
		return ""
	case o.Only != "":
		return columns.JobKey(&j.Job) + " is " + columns.StateWord(&j.Job) + ": " + o.Only
	case j.State.Terminal():
		return columns.JobKey(&j.Job) + " has ended: it is " + columns.StateWord(&j.Job)
	case j.State == engine.Pending:
		return columns.JobKey(&j.Job) + " waits for other jobs: " + o.Does + " those"
	case j.State == engine.Available:
		return columns.JobKey(&j.Job) + " is AVAILABLE already: it runs as soon as a limit lets it"
	}
	return columns.JobKey(&j.Job) + " is " + columns.StateWord(&j.Job) + " already"
}

// cancelJob cancels a job: a waiting one at once, a running one or a whole sync
// after a question.
func cancelJob(v *View, j engine.JobRow) Effect {
	j = v.liveJob(j)
	e := do(engine.Command{Op: engine.OpCancel, Job: j.ID, IfRev: j.Rev})
	switch {
	case j.Kind == "account.sync":
		e.Confirm = &Confirm{
			Question: "Cancel this sync?",
			Lines:    []string{columns.JobKey(&j.Job) + " ends as CANCELLED. Matches that no other sync waits for are not fetched; what is stored stays."},
			Yes:      "cancel the sync",
		}
	case j.State == engine.Running:
		e.Confirm = &Confirm{
			Question: "Cancel a running job?",
			Lines:    []string{columns.JobKey(&j.Job) + " is on its try " + columns.Tries(&j, j.Tries) + ". Its call is given up and its answer thrown away."},
			Yes:      "cancel the job",
		}
	}
	return e
}

// cancelSync cancels the open run of an account.
func cancelSync(v *View, a engine.AccountRow) Effect {
	c := engine.Command{Op: engine.OpCancel, Job: a.Job, Account: a.ID}
	if j, ok := v.Live.Job(a.Job); ok {
		c.IfRev = j.Rev
	}
	e := do(c)
	left := "What is stored stays."
	if a.Matches.Open > 0 {
		left = human.Counted(a.Matches.Open, "match is", "matches are") + " not fetched unless another sync wants them. " + left
	}
	e.Confirm = &Confirm{
		Question: "Cancel the sync of " + a.RiotID + "?",
		Lines:    []string{fmt.Sprintf("It stands at %s.", part.Of(int64(a.Matches.Done()), int64(a.Matches.Total))), left},
		Yes:      "cancel the sync",
	}
	return e
}

func cannotCancelSync(a engine.AccountRow) string {
	if !a.Status.Open() {
		return a.RiotID + " is not syncing"
	}
	return ""
}

// freeCalls is what a sync may cost without a question.
const freeCalls = 100

// startSync starts a sync of a known account. What it costs is said first if that
// is much; of one that runs already the engine says so.
func startSync(a engine.AccountRow) Effect {
	return weighSync(do(engine.Command{Op: engine.OpTrigger, Account: a.ID, Sync: engine.SyncAsk{Platform: a.Platform}}), a.RiotID, a.Status.Open())
}

// SyncOf is a sync that was asked for by name.
func SyncOf(c engine.Command) Effect { return weighSync(do(c), c.Account, false) }

func weighSync(e Effect, name string, open bool) Effect {
	if !open {
		e.Try, e.Free, e.Confirm = true, freeCalls, &Confirm{Question: "Sync " + name + "?", Yes: "sync it"}
	}
	return e
}

// track starts or ends the tracking of an account: tracked ones are kept fresh by
// the schedules. What is stored stays.
func track(a engine.AccountRow) Effect {
	op := engine.OpTrack
	if a.Tracked {
		op = engine.OpUntrack
	}
	return do(engine.Command{Op: op, Account: a.ID, Sync: engine.SyncAsk{Platform: a.Platform}})
}

// PurgeJobs deletes jobs that ended long ago, by the rule of the daily schedule.
func PurgeJobs() Effect {
	e := do(engine.Command{Op: engine.OpPrune})
	e.Try = true
	e.Confirm = &Confirm{
		Question: "Purge ended jobs?", Yes: "purge them", Word: "purge",
		Lines: []string{"Jobs that ended longer ago than the retention of jobs are deleted with their attempts, as the schedule does it. It cannot be taken back; matches and accounts stay."},
	}
	return e
}

// ForgetAccount deletes all that is stored of an account.
func ForgetAccount(a engine.AccountRow, reason string) Effect {
	e := do(engine.Command{Op: engine.OpForget, Account: a.ID, Reason: reason})
	e.Try = true
	e.Confirm = &Confirm{
		Question: "Delete all that is stored of " + a.RiotID + "?", Yes: "delete it", Word: a.RiotID,
		Lines: []string{"Its matches that no other account has, its jobs, reports and ranks go. It cannot be undone. " + Capital(engine.ForgetLeaves) + "."},
	}
	return e
}

// PlaceCall calls a number of a user's own.
func PlaceCall(ask engine.CallAsk) Effect {
	e := do(engine.Command{Op: engine.OpCall, Call: &ask})
	e.Try = true
	e.Confirm = &Confirm{Question: "Call " + engine.CutNumber(ask.To) + "?", Yes: "call it"}
	return e
}

// ActOn is what an action on a job asks for, or why it cannot be.
func ActOn(v *View, j engine.JobRow, a Action) (e Effect, why string) {
	if why := cannotOn(a, j); why != "" {
		return Effect{}, why
	}
	return actJob(v, j, a), ""
}

// actJob carries out what a key means on a job's row.
func actJob(v *View, j engine.JobRow, a Action) Effect {
	switch a {
	case Open:
		return Effect{Open: toJob(j.ID)}
	case Retry:
		return retryJob(v, j)
	case Cancel:
		return cancelJob(v, j)
	case Due:
		return rescheduleJob(v, j)
	case Force:
		return forceJob(v, j)
	}
	return Effect{}
}

// pauseQueue turns a queue's switch, as it stands now.
func pauseQueue(v *View, name engine.Queue) Effect {
	op := engine.OpPause
	if q, ok := v.Live.Queue(name); ok && q.Paused {
		op = engine.OpResume
	}
	return do(engine.Command{Op: op, Queue: name})
}

func named(j engine.JobRow, ok bool) (engine.JobID, string) {
	if !ok {
		return "", ""
	}
	return j.ID, columns.JobKey(&j.Job)
}

// forceJob runs a job past its limit of tries, or once more. It asks why: the
// reason stays with the job and in the audit.
func forceJob(v *View, j engine.JobRow) Effect {
	j = v.liveJob(j)
	return Effect{Text: &Text{
		Label: "force " + columns.JobKey(&j.Job), Ghost: "why? it is kept with the job",
		Read: func(text string, _ time.Time) (engine.Command, string) {
			why := strings.TrimSpace(text)
			if why == "" {
				return engine.Command{}, "say why: the reason stays with the job and in the audit"
			}
			return engine.Command{Op: engine.OpForce, Job: j.ID, IfRev: j.Rev, Reason: why}, ""
		},
	}}
}
