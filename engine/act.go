package engine

import "time"

// More commands of an operator.
const (
	OpForce      Op = "force"      // also what has completed or used up its tries; needs a reason
	OpReschedule Op = "reschedule" // a waiting job to Command.At
	OpReclass    Op = "reclass"    // discarded jobs of an error class become open again, with a new round
	OpUndo       Op = "undo"       // of the command with the audit number Command.Audit
)

// ConfirmAll is the word for Command.Confirm that lets a bulk command without any
// criterion act on everything (P-32).
const ConfirmAll = "all"

// Selection is the jobs that a bulk command acts on. It is frozen before it is
// confirmed: IDs are the jobs, Revs the revisions at which they were counted, and
// a job that has moved on since is skipped and told (P-31). A Filter in the place
// of IDs is counted and frozen by the command itself. Beside IDs it is what they
// were counted by: one of them that has moved on is acted on if it fits still.
type Selection struct {
	IDs    []JobID    `json:"ids,omitempty"`  // the jobs, each once
	Revs   []Revision `json:"revs,omitempty"` // of IDs, one each; none = any revision
	AsOf   uint64     `json:"as_of,omitempty"`
	Filter *JobFilter `json:"filter,omitempty"` // in place of IDs, or what they were counted by
	// Fits is Filter as a backend asks it, within its transaction; nil = it does not.
	Fits func(Job) bool `json:"-"`
}

// Rev is the revision at which the i-th job was counted; 0 = any.
func (s Selection) Rev(i int) Revision {
	if i < len(s.Revs) {
		return s.Revs[i]
	}
	return 0
}

// JobFilter picks jobs; all criteria must hold.
type JobFilter struct {
	States []State `json:"states,omitempty"` // none = those that the command is meant for
	Queue  Queue   `json:"queue,omitempty"`
	Kind   Kind    `json:"kind,omitempty"`
	Owner  string  `json:"owner,omitempty"` // account id
	Class  Class   `json:"class,omitempty"` // "5xx", or the ID of an ErrorClass
	Text   string  `json:"text,omitempty"`  // part of the key
}

// Empty reports whether the filter has no criterion at all.
func (f JobFilter) Empty() bool {
	return len(f.States) == 0 && f.Queue == "" && f.Kind == "" && f.Owner == "" && f.Class == "" && f.Text == ""
}

// JobStand is the part of a job that a command changes.
type JobStand struct {
	State    State     `json:"state"`
	Hold     Hold      `json:"hold,omitempty"`
	Due      time.Time `json:"due,omitzero"` // zero unless it waits for an instant, or did
	Front    bool      `json:"front,omitempty"`
	Phase    int       `json:"phase,omitempty"`
	Round    int       `json:"round"`
	Tries    int       `json:"tries"`
	Crashes  int       `json:"crashes,omitempty"`
	Finished time.Time `json:"finished,omitzero"` // zero unless it had ended
}

// StandOf takes a job's stand.
func StandOf(j Job) JobStand {
	return JobStand{
		State: j.State, Hold: j.Hold, Due: j.Due, Front: j.Front, Phase: j.Phase,
		Round: j.Round, Tries: j.Tries, Crashes: j.Crashes, Finished: j.Finished,
	}
}

// Put gives j this stand.
func (s JobStand) Put(j Job) Job {
	j.State, j.Hold, j.Due, j.Front, j.Phase = s.State, s.Hold, s.Due, s.Front, s.Phase
	j.Round, j.Tries, j.Crashes, j.Finished = s.Round, s.Tries, s.Crashes, s.Finished
	return j
}

// JobMove is what a command did to one job. Rev is the job's revision after it:
// as long as it stands, nothing has happened to the job since.
type JobMove struct {
	Job JobID `json:"job"`
	// With is the job whose cancel took this one along; "" = the command named it.
	With   JobID    `json:"with,omitempty"`
	Rev    Revision `json:"rev"`
	Before JobStand `json:"before"`
	After  JobStand `json:"after"`
}

// QueueMove is what a command did to a queue's pause switch.
type QueueMove struct {
	Before QueueState `json:"before"`
	After  QueueState `json:"after"`
}

// ClassesQuery asks for the error classes of jobs that failed last and are not
// completed; answered by ClassesAnswer.
type ClassesQuery struct {
	Queue Queue `json:"queue,omitempty"` // "" = all
}

// ClassesAnswer answers ClassesQuery, the largest class first.
type ClassesAnswer struct {
	Classes []ClassRow `json:"classes"`
	Jobs    int        `json:"jobs"` // of all classes
}

func (ClassesQuery) query() {}

// OpCall places a telephone call of a user's own, as Command.Call says: see CallAsk.
// Receipt.Job is its job; Joined says that the same was asked for before.
const OpCall Op = "call"

// CallAsk is a call of a user's own: one that no alert is behind.
type CallAsk struct {
	To  string `json:"to"`  // a number of the allow list: +4930123456
	Say string `json:"say"` // the text that is spoken
	// Language is that of the text, such as de-DE; "" = en-US, as alerts are told in.
	Language string `json:"language,omitempty"`
	// Key names the request, so that asking again calls nobody twice; "" = each is
	// another call.
	Key string `json:"idempotency_key,omitempty"`
}

// CutNumber shows the last digits of a telephone number: "…4567".
func CutNumber(n string) string {
	if len(n) <= 4 {
		return "…"
	}
	return "…" + n[len(n)-4:]
}
