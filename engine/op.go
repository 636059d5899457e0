package engine

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
