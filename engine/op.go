package engine

import "time"

// Op is a command's verb.
type Op string

// Commands of an operator.
const (
	OpTrigger Op = "trigger" // start a sync of an account
	OpCancel  Op = "cancel"  // a job; a sync job cancels its run
	OpRetry   Op = "retry"   // now, in queue order, through the limiter
	OpPause   Op = "pause"   // a queue
	OpResume  Op = "resume"
	OpFreeze  Op = "freeze" // a bucket until an instant, or cap it
	OpThaw    Op = "thaw"
	OpTrack   Op = "track"
	OpUntrack Op = "untrack"
	OpKey     Op = "key" // replace the API key
)

// OpPage lets those who are configured to be told hear a test: Command.Channel names
// one of them, "" = all. Receipt.Sample are the keys of the jobs that tell them, or, of
// a dry run, who would be told.
const OpPage Op = "page"

// OpShell writes down that a console runs a command of its user's own: Command.Own. The engine
// runs nothing.
const OpShell Op = "shell"

// OwnAsk is a command that a user has bound to a key of their console.
type OwnAsk struct {
	Name string `json:"name"`
	Run  string `json:"run"`          // the line that a shell reads there
	On   string `json:"on,omitempty"` // id of the row under the cursor
}

// Actor is who asked for something.
type Actor struct {
	User    string `json:"user"`
	Session string `json:"session,omitempty"`
	Via     string `json:"via"` // console, cli, socket, cron, engine
}

// Name is the actor in one word or two: the user, or the way that one without a name
// came; "" = the engine itself.
func (a Actor) Name() string {
	if a.User == "" && a.Via != "engine" {
		return a.Via
	}
	return a.User
}

// AuditEntry is one operator command that was carried out or refused.
type AuditEntry struct {
	Seq     uint64    `json:"seq"` // its number, which undo takes
	At      time.Time `json:"at"`
	By      Actor     `json:"by"`
	Op      Op        `json:"op"`
	Target  string    `json:"target"` // what it was about, in words: "job b41"
	Reason  string    `json:"reason,omitempty"`
	Result  string    `json:"result"`
	Matched int       `json:"matched"` // how many it was about
	Applied int       `json:"applied"` // how many of these it has changed

	// What it changed, with how it stood before and after.
	Moves []JobMove  `json:"moves,omitempty"`
	Queue *QueueMove `json:"queue,omitempty"`

	Schedule *ScheduleMove `json:"schedule,omitempty"`
}
