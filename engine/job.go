package engine

import (
	"encoding/json"
	"time"

	"github.com/farsight-console/farsight/engine/human"
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
	// Class is the fingerprint of an error: "429.app", "5xx", "timeout", "404".
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
	By       string // who asks for it, see Job.By; "" = the engine
	// Parents are the groups that wait for this job. A spec whose key is held by
	// a live job adds its parents to that job instead of inserting a second one.
	Parents []GroupID
}

// GroupID names one group of children: a parent job has several, numbered.
type GroupID struct {
	Parent JobID `json:"parent"`
	Group  int   `json:"group"`
}

// Enqueued is the answer to one Spec.
type Enqueued struct {
	ID        JobID
	Duplicate bool // a live job holds the key; ID is that job
	State     State
}

// Job is a stored unit of work, as its last committed transaction left it.
type Job struct {
	ID       JobID           `json:"id"`
	Rev      Revision        `json:"rev"` // rises with each claim and each command
	Kind     Kind            `json:"kind"`
	Queue    Queue           `json:"queue"`
	Key      string          `json:"key,omitempty"`
	Lock     string          `json:"lock,omitempty"`
	Owner    string          `json:"owner,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Priority Priority        `json:"priority"`
	Policy   string          `json:"policy,omitempty"`

	State State     `json:"state"`
	Hold  Hold      `json:"hold,omitempty"`  // why a scheduled job was sent back uncharged; HoldNone otherwise
	Due   time.Time `json:"due,omitzero"`    // not before this instant, while scheduled or retryable
	Front bool      `json:"front,omitempty"` // first in its line: it was sent back through no fault of its own
	Phase int       `json:"phase"`           // how often it has waited for children and gone on

	Round    int `json:"round"`             // begins at 1; an operator's retry and each phase open a new one
	Tries    int `json:"tries"`             // charged attempts of this round, the running one included
	Attempts int `json:"attempts"`          // charged attempts of all rounds, the running one included
	Holds    int `json:"holds"`             // attempts that were sent back uncharged
	Crashes  int `json:"crashes,omitempty"` // interruptions in a row; three make it suspect

	HasParents bool `json:"has_parents,omitempty"`
	// the group it waits for, while pending; then the last one it waited for
	Group       int    `json:"group,omitempty"`
	CancelAsked bool   `json:"cancel_asked,omitempty"`
	Boot        string `json:"boot,omitempty"` // the process that runs it, while running
	// Worker is the number, from 1, of the worker that has its running or last attempt
	// in hand, in the process of that attempt; 0 = it was never tried.
	Worker int `json:"worker,omitempty"`
	// By is the user or the schedule that asked for it, or that gave the last command on
	// it; "" = the engine. What the engine does with it by itself changes nothing.
	By string `json:"by,omitempty"`
	// Bytes are those of the last answer that brought something, as it arrived: of a
	// match or a timeline they are its stored payload's; 0 = there was none.
	Bytes int `json:"bytes,omitempty"`

	Class     Class     `json:"class,omitempty"`      // of the last failure
	LastError string    `json:"last_error,omitempty"` // as received; clean it at the exit
	Created   time.Time `json:"created,omitzero"`     // when it was inserted
	Started   time.Time `json:"started,omitzero"`     // of the running or last attempt
	Finished  time.Time `json:"finished,omitzero"`    // when it became terminal
	// Failed is when its charged attempts failed, the oldest first: the latest KeptFailures.
	Failed []time.Time `json:"failed_at,omitempty"`
}

// KeptFailures is how many instants a job keeps in Failed: more than a round has tries by
// the tables that ship.
const KeptFailures = 8

// AddFailure notes that an attempt of j has failed. Other copies of j keep what they have.
func (j *Job) AddFailure(at time.Time) {
	kept := j.Failed[max(len(j.Failed)-KeptFailures+1, 0):]
	j.Failed = append(kept[:len(kept):len(kept)], at)
}

// Tried is how many attempts j has had over all rounds. A sync that waits for its matches and goes on is
// still at the attempt that it was at: only one that fails is followed by another.
func (j *Job) Tried() int {
	if j.Phase > 0 && j.Tries == 0 { // it goes on, and is not claimed yet
		return j.Attempts - j.Phase + 1
	}
	return j.Attempts - j.Phase
}

// ShouldRetry reports whether the engine will try j again by itself (S2-5).
func (j *Job) ShouldRetry() bool { return j.State == Retryable }

// NextRetryAt is the instant of the next try; zero if and only if ShouldRetry
// is false (S2-5).
func (j *Job) NextRetryAt() time.Time {
	if !j.ShouldRetry() {
		return time.Time{}
	}
	return j.Due
}

// ByEngine stands for nobody where a list tells who asked for a job.
const ByEngine = "engine"

// Asker is who asked for j: By, or ByEngine.
func (j *Job) Asker() string {
	if j.By == "" {
		return ByEngine
	}
	return j.By
}

// Suspect reports whether j was running at three crashes in a row: such a job
// goes to the end of the line and runs alone.
func (j *Job) Suspect() bool { return j.Crashes >= SuspectAfter }

// SuspectAfter interruptions in a row make a job suspect; as many again, while
// it ran alone, discard it with class "crash".
const SuspectAfter = 3

// Attempt is one run of a job, kept for ever. A run that was sent back uncharged
// is kept among the holds instead, with the same fields.
type Attempt struct {
	Number   int       `json:"number"` // 1, 2, … over all rounds; 0 for a hold
	Round    int       `json:"round"`
	Try      int       `json:"try"` // within its round
	Phase    int       `json:"phase"`
	Rev      Revision  `json:"rev"`
	Start    time.Time `json:"start,omitzero"`
	End      time.Time `json:"end,omitzero"` // zero while it runs
	Verb     Verb      `json:"verb"`
	Hold     Hold      `json:"hold,omitempty"`
	Class    Class     `json:"class,omitempty"`
	Err      string    `json:"err,omitempty"`
	External string    `json:"external,omitempty"` // the id the other side gave this attempt: Riot's trace id
	Status   int       `json:"status,omitempty"`   // of the answer; 0 = none
	// Queued is the wait from the instant it was due to its claim; Paced is the
	// part of it at the head of the line, where only the limiter held it. Limiter
	// is the part of the run spent waiting for a permit, HTTP the part on the wire.
	Queued   time.Duration `json:"queued_ns"`
	Paced    time.Duration `json:"paced_ns"`
	Limiter  time.Duration `json:"limiter_ns"`
	HTTP     time.Duration `json:"http_ns"`
	Next     time.Time     `json:"next,omitzero"`      // when the decision says it runs again
	Decision string        `json:"decision,omitempty"` // the formula of Next, for people: "policy match step 1: 30 s"
	Worker   int           `json:"worker,omitempty"`   // that had it in hand, see Job.Worker
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
	Total     int `json:"total"` // children of the group
	Open      int `json:"open"`
	Retrying  int `json:"retrying"` // part of Open
	Done      int `json:"done"`
	Dead      int `json:"dead"` // discarded
	Cancelled int `json:"cancelled"`
	Calls     int `json:"calls"`     // Riot calls made
	Throttled int `json:"throttled"` // 429s among them
}

// Settled reports whether nothing is open. A group of no children is settled.
func (g GroupStat) Settled() bool { return g.Open == 0 }

// Verb is what a handler decided.
type Verb uint8

// Verbs of an Outcome. VerbInterrupted is never returned by a handler: it stands
// in the history of an attempt that a crash or a drain ended.
const (
	VerbDone Verb = iota
	VerbRetry
	VerbSnooze
	VerbFail
	VerbAbort
	VerbWait
	VerbInterrupted
)

var verbNames = [...]string{"done", "retry", "snooze", "fail", "abort", "wait", "interrupted"}

// String is the verb's word, as the history of a job shows it.
func (v Verb) String() string { return human.WordOf(verbNames[:], "verb", v) }

// MarshalText writes the verb's word.
func (v Verb) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the verb's word.
func (v *Verb) UnmarshalText(b []byte) error { return human.ReadWord(verbNames[:], "verb", b, v) }
