package engine

import (
	"encoding/json"
	"time"
)

type (
	// JobID names a job for ever. It is opaque: bbolt uses a sequence, another
	// backend may use anything that sorts.
	JobID string
	// Kind says which handler runs a job.
	Kind string
	// Queue is a named lane with its own pause switch.
	Queue string
	// Revision is the fencing token of a job: every claim and every operator
	// write bumps it, so a late writer and a stale console are both told apart.
	Revision uint64
	// Class is the fingerprint of an error: "429.app", "503", "timeout", "404".
	Class string
	// Priority orders jobs of one lane: lower runs first.
	Priority uint8
)

// Priorities, first to last.
const (
	PriorityOperator Priority = 1 + iota // asked for by a person, just now
	PriorityHigh                         // what players see first: lists and matches
	PriorityNormal
	PriorityLow // timelines
)

// Spec is a job not yet inserted.
type Spec struct {
	Kind     Kind
	Queue    Queue
	Args     json.RawMessage
	Key      string   // uniqueness: one live job per key; "" = none
	Lock     string   // at most one running job per lock; "" = none
	Owner    string   // whose work it is, for fair shares: an account id; "" = nobody's
	Priority Priority // 0 = PriorityNormal
	RunAt    time.Time
	Policy   string // name of a retry policy; "" = the kind's own
	// Parents are the groups that wait for this job. A spec whose key is held by
	// a live job adds its parents to that job instead of inserting a second one.
	Parents []GroupID
}

// GroupID names one group of children: a parent job has several, numbered.
type GroupID struct {
	Parent JobID
	Group  int
}

// Enqueued is the answer to one Spec.
type Enqueued struct {
	ID        JobID
	Duplicate bool // a live job holds the key; ID is that job
	State     State
}

// Job is a stored unit of work, as its last committed transaction left it.
type Job struct {
	ID       JobID
	Rev      Revision
	Kind     Kind
	Queue    Queue
	Key      string
	Lock     string
	Owner    string
	Args     json.RawMessage
	Priority Priority
	Policy   string

	State State
	Hold  Hold      // why a scheduled job was sent back uncharged; HoldNone otherwise
	Due   time.Time // not before this instant, while scheduled or retryable
	Front bool      // first in its line: it was sent back through no fault of its own
	Phase int       // how often it has waited for children and gone on

	Round    int // begins at 1; an operator's retry and each phase open a new one
	Tries    int // charged attempts of this round, the running one included
	Attempts int // charged attempts of all rounds, the running one included
	Holds    int // attempts that were sent back uncharged
	Crashes  int // interruptions in a row; three make it suspect

	HasParents  bool
	Group       int // the group it waits for, while pending; then the last one it waited for
	CancelAsked bool
	Boot        string // the process that runs it, while running

	Class     Class  // of the last failure
	LastError string // as received; clean it at the exit
	Created   time.Time
	Started   time.Time // of the running or last attempt
	Finished  time.Time // when it became terminal
}

// ShouldRetry reports whether the engine will try j again by itself (S2-5).
func (j Job) ShouldRetry() bool { return j.State == Retryable }

// NextRetryAt is the instant of the next try; zero if and only if ShouldRetry
// is false (S2-5).
func (j Job) NextRetryAt() time.Time {
	if !j.ShouldRetry() {
		return time.Time{}
	}
	return j.Due
}

// Suspect reports whether j was running at three crashes in a row: such a job
// goes to the end of the line and runs alone.
func (j Job) Suspect() bool { return j.Crashes >= SuspectAfter }

// SuspectAfter interruptions in a row make a job suspect; as many again, while
// it ran alone, discard it with class "crash".
const SuspectAfter = 3

// Attempt is one run of a job, kept for ever. A run that was sent back uncharged
// is kept among the holds instead, with the same fields.
type Attempt struct {
	Number   int // 1, 2, … over all rounds; 0 for a hold
	Round    int
	Try      int // within its round
	Phase    int
	Rev      Revision
	Start    time.Time
	End      time.Time // zero while it runs
	Verb     Verb
	Hold     Hold
	Class    Class
	Err      string
	External string // the id the other side gave this attempt: Riot's trace id
	Status   int    // of the answer; 0 = none
	// Queued is the wait from the instant it was due to its claim; Paced is the
	// part of it at the head of the line, where only the limiter held it. Limiter
	// is the part of the run spent waiting for a permit, HTTP the part on the wire.
	Queued, Paced, Limiter, HTTP time.Duration
	Next                         time.Time // when the decision says it runs again
	Decision                     string    // the formula of Next, for people: "policy match step 1: 30s"
}

// Mark is how a child stands in a group.
type Mark uint8

// Marks of a child.
const (
	MarkOpen     Mark = iota
	MarkRetrying      // still open, has failed at least once
	MarkDone
	MarkDead
	MarkCancelled
)

// Settled reports whether the child will not move by itself any more.
func (m Mark) Settled() bool { return m >= MarkDone }

// MarkOf gives the mark that a job's state puts on its groups.
func MarkOf(s State) Mark {
	switch s {
	case Completed:
		return MarkDone
	case Discarded:
		return MarkDead
	case Cancelled:
		return MarkCancelled
	case Retryable:
		return MarkRetrying
	}
	return MarkOpen
}

// GroupStat is the summary of one group: a cache of its marks, written in the
// same transaction, which a recount must equal.
type GroupStat struct {
	GroupID
	Total, Open, Retrying, Done, Dead, Cancelled int // Retrying is part of Open
	Calls, Throttled                             int // Riot calls made, and 429s among them
}

// Settled reports whether nothing is open. A group of no children is settled.
func (g GroupStat) Settled() bool { return g.Open == 0 }
