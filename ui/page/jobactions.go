package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/operation"
	"github.com/farsight-console/farsight/ui/part"
)

// Commands on one job, shared by every screen that has a job under its cursor.

// CannotOn says why an operation on jobs has no effect on this one; "" = it has, or the
// action is none.
func CannotOn(a Action, j engine.JobRow) string {
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
	j = v.LiveJob(j)
	e := Do(engine.Command{Op: engine.OpCancel, Job: j.ID, IfRev: j.Rev})
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

// CancelSync cancels the open run of an account.
func CancelSync(v *View, a engine.AccountRow) Effect {
	c := engine.Command{Op: engine.OpCancel, Job: a.Job, Account: a.ID}
	if j, ok := v.Live.Job(a.Job); ok {
		c.IfRev = j.Rev
	}
	e := Do(c)
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

// CannotCancelSync says why there is no sync of an account to cancel; "" = there is.
func CannotCancelSync(a engine.AccountRow) string {
	return human.If(!a.Status.Open(), a.RiotID+" is not syncing")
}

// StartSync starts a sync of a known account. Of one that runs already the engine says so.
func StartSync(a engine.AccountRow) Effect {
	c := engine.Command{Op: engine.OpTrigger, Account: a.ID, Sync: engine.SyncAsk{Platform: a.Platform}}
	if a.Status.Open() {
		return Do(c)
	}
	return Ask(c, a.RiotID)
}

// Ask is an operation after its question, if it has one; name is what it acts on.
func Ask(c engine.Command, name string) Effect {
	e, q := Do(c), operation.Of(c.Op).Ask
	if q.Text == "" {
		return e
	}
	e.Try, e.Free = true, q.Free
	e.Confirm = &Confirm{
		Question: strings.Replace(q.Text, "%s", name, 1), Yes: q.Yes,
		Lines: slices.Clone(q.Lines), Word: strings.Replace(q.Word, "%s", name, 1),
	}
	return e
}

// TrackAccount starts or ends the tracking of an account: tracked ones are kept fresh by
// the schedules. What is stored stays.
func TrackAccount(a engine.AccountRow) Effect {
	op := human.Either(a.Tracked, engine.OpUntrack, engine.OpTrack)
	return Do(engine.Command{Op: op, Account: a.ID, Sync: engine.SyncAsk{Platform: a.Platform}})
}

// SteerBucket resumes a bucket that is frozen or capped, and else asks until when
// and why it shall be. A host's windows are frozen together, and so are those of
// a method: that is how Riot counts them.
func SteerBucket(b engine.BucketRow) Effect {
	at := engine.Bucket{Host: b.Host, Method: b.Method}
	if b.Frozen() || b.Cap > 0 {
		return Do(engine.Command{Op: engine.OpThaw, Bucket: at})
	}
	return AskArg(engine.Command{Op: engine.OpFreeze, Bucket: at}, "freeze "+b.Host+" "+columns.Versionless(cmp.Or(b.Method, b.Kind)), "+10m or until 14:00, or a cap: 60% +10m; then why")
}

// ActOn is what an action on a job asks for, or why it cannot be.
func ActOn(v *View, j engine.JobRow, a Action) (e Effect, why string) {
	if why := CannotOn(a, j); why != "" {
		return Effect{}, why
	}
	return ActJob(v, j, a), ""
}

// ActJob carries out what a key means on a job's row.
func ActJob(v *View, j engine.JobRow, a Action) Effect {
	switch a {
	case Open:
		return Effect{Open: ToJob(j.ID)}
	case Cancel:
		return cancelJob(v, j)
	}
	j = v.LiveJob(j)
	c := engine.Command{Op: engine.Op(a), Job: j.ID, IfRev: j.Rev}
	switch {
	case a == Due:
		return AskArg(c, "run "+columns.JobKey(&j.Job)+" at", "+10m, 14:00 or now")
	case a == Force:
		return AskArg(c, "force "+columns.JobKey(&j.Job), "why? it is kept with the job")
	case operation.Of(c.Op).Target == operation.Job:
		return Ask(c, columns.JobKey(&j.Job))
	}
	return Effect{}
}

// PauseQueue turns a queue's switch, as it stands now.
func PauseQueue(v *View, name engine.Queue) Effect {
	op := engine.OpPause
	if q, ok := v.Live.Queue(name); ok && q.Paused {
		op = engine.OpResume
	}
	return Do(engine.Command{Op: op, Queue: name})
}

// Named is a job's id and how it is called, as a Jobber gives them; "" if there is no job.
func Named(j engine.JobRow, ok bool) (engine.JobID, string) {
	if !ok {
		return "", ""
	}
	return j.ID, columns.JobKey(&j.Job)
}
