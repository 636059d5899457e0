package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Outcome is the only thing a handler returns: one value with one verb, so that
// control flow is never hidden in an error.
type Outcome struct {
	Verb  Verb
	Class Class
	Err   error
	At    time.Time // Retry, Snooze: not before; zero = by the policy's table
	Hold  Hold      // Snooze: why
	Group int       // Wait: the group to wait for

	// Commit writes the handler's domain rows, and may insert jobs, in the same
	// transaction as the state move. Done and Wait only: on other backends only
	// these two share a transaction.
	Commit func(Tx) error

	// What the attempt cost and met, for its history.
	Call CallStat
}

// CallStat is what one attempt did on the wire.
type CallStat struct {
	Calls    int // those made to find out what works included
	Status   int
	External string
	Limiter  time.Duration
	HTTP     time.Duration
	Bytes    int // of a whole answer that was good, as they arrived
}

// Done ends the job well. commit may be nil.
func Done(commit func(Tx) error) Outcome { return Outcome{Verb: VerbDone, Commit: commit} }

// Retry charges the attempt; the job runs again by its policy's table, or is
// discarded when the attempts are used up.
func Retry(err error) Outcome { return Outcome{Verb: VerbRetry, Err: err} }

// Snooze sends the job back uncharged until an instant.
func Snooze(until time.Time, why Hold, err error) Outcome {
	return Outcome{Verb: VerbSnooze, At: until, Hold: why, Err: err}
}

// Fail discards the job at once: the error is permanent.
func Fail(err error) Outcome { return Outcome{Verb: VerbFail, Err: err} }

// Abort ends the job as cancelled, by the handler's own decision.
func Abort(err error) Outcome { return Outcome{Verb: VerbAbort, Err: err} }

// Wait runs the job again, one phase later, when nothing of the group is open.
// Commit inserts the children (Spec.Parents names the group); a group that is
// settled already, or has no children, lets the job go on at once.
func Wait(group int, commit func(Tx) error) Outcome {
	return Outcome{Verb: VerbWait, Group: group, Commit: commit}
}

// As names the outcome's error class.
func (o Outcome) As(c Class) Outcome { o.Class = c; return o }

// With adds what the attempt did on the wire.
func (o Outcome) With(c CallStat) Outcome { o.Call = c; return o }

// Run is what a handler sees of its job: the claimed job and the summaries of
// its groups. Beat says that the work goes on; waiting for a permit beats by
// itself. Named tells the id that the other side has given to the attempt, so that
// the job is found by it before the attempt has ended.
type Run struct {
	Job    Job
	Groups []GroupStat
	Beat   func()
	Named  func(external string)
	Policy Policy // that counts the job's attempts
}

// LastTry reports whether this is the last attempt of a round that began with
// others: when it fails, the job is given up.
func (r Run) LastTry() bool { return r.Policy.Max > 1 && r.Job.Tries == r.Policy.Max }

// Group gives the summary of the job's own group n; an empty one if it has none.
func (r Run) Group(n int) GroupStat {
	for _, g := range r.Groups {
		if g.Group == n {
			return g
		}
	}
	return GroupStat{GroupID: GroupID{Parent: r.Job.ID, Group: n}}
}

// Handler does one attempt of a job. It may run more than once for one job: it
// must be idempotent.
type Handler func(ctx context.Context, r Run) Outcome

// KindSpec is what a backend must know of a kind.
type KindSpec struct {
	Kind   Kind
	Policy string // default retry policy
	// Timeout is of one attempt, from its start or last Beat: waiting for a permit beats, so that it
	// does not count; 0 = none.
	Timeout time.Duration
	Stuck   time.Duration // without a beat for this long: rescued; 0 = DefaultStuck
	Handler Handler
	// Children says how many dead children the kind's jobs bear; nil = any number.
	Children *ChildPolicy
	// OnMove writes the domain's side of a state move, in its transaction. It is
	// called for every move of the kind's jobs, whoever caused it. nil = nothing.
	// o counts when the move ends an attempt (before is running): its Verb is the
	// one that was carried out, which a cancel or a stop may have put in the place
	// of the handler's.
	OnMove func(tx Tx, before, after Job, o Outcome) error
	// OnUndo takes OnMove's place where a command on the job is taken back: what OnMove
	// wrote for it is to be as before. nil = OnMove does that.
	OnUndo func(tx Tx, before, after Job) error
}

// ChildPolicy says what dead children do to the job that waits for them. A group
// always settles: nobody waits for the dead (P-18).
type ChildPolicy struct {
	// MaxDead children may be dead when the group has settled; with more the job is
	// discarded, class "children", and does not go on. -1 = any number.
	MaxDead int
}

// ClassChildren is the class of a job with too many dead children.
const ClassChildren Class = "children"

// TooMany says in words that a settled group has too many dead children; "" if it
// has not.
func (p *ChildPolicy) TooMany(g GroupStat) string {
	if p == nil || p.MaxDead < 0 || g.Dead <= p.MaxDead {
		return ""
	}
	return fmt.Sprintf("%d of %d jobs that it waited for gave up, at most %d may", g.Dead, g.Total, p.MaxDead)
}

// DefaultStuck is how long a running job may be silent before it is rescued.
const DefaultStuck = 10 * time.Minute

// Tx joins domain rows, new jobs and the state move in one transaction. It is
// opaque: domain stores take it and know what it is.
type Tx interface {
	// Enqueue inserts jobs. A key held by a live job is not an error: see Enqueued.
	Enqueue(...Spec) ([]Enqueued, error)
	// Parents lists the groups that wait for the job, with each parent as it is.
	Parents(JobID) ([]Parent, error)
	// Emit adds a change that is published after the commit, and never before.
	Emit(Change)
}

// Parent is a job that waits for another, and by which group.
type Parent struct {
	Group int
	Job   Job
}

// Admission says whether a job's call may go now. Whoever admits jobs and the
// backend that asks share it.
type Admission struct {
	OK     bool
	Until  time.Time // ask again then; zero = when something has changed
	Reason string    // "app:europe 97/100"
}

// Causes of a cancelled context, for context.Cause.
var (
	ErrShutdown  = errors.New("the engine is stopping")
	ErrCancelled = errors.New("cancelled by the operator")
	ErrRescued   = errors.New("rescued: no sign of life")
)
