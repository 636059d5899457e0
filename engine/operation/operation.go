// Package operation says what an operator can do: one table, which the console's keys and
// lines, the commands, completion, the engine itself and the audit read.
//
// The table stands in table.go, one entry per operation; what carries an entry out is a method of
// [Operator] in the file of what it acts on. A new operation is one entry and one method. [Operator.Do]
// is the one way in: it runs the entry's method, writes the audit and tells every console.
//
// An operation refuses before it changes anything, with an *engine.Problem that says what to do; with
// DryRun it changes nothing and says what it would. What it acts on is an interface of operator.go that
// its caller fills, so that the package sees neither a store nor a limiter of its own.
package operation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
)

// Target is a kind of thing that an operation acts on.
type Target uint8

// Targets.
const (
	Nothing Target = iota
	Job
	Class // of errors
	Queue
	Bucket
	Account // by its Riot ID, whether it is stored or not
	Stored  // an account that is
	Schedule
	Alert
	Entry // of the audit
	Number
	Ladders // tiers and platforms, as a collection asks for them
)

// Arg is what an operation needs besides its target.
type Arg uint8

// Arguments.
const (
	NoArg Arg = iota
	Why       // a reason, which stays with the job
	When      // an instant: +10m, 14:00, now
	Share     // of a limit and until when: 60% +10m, or until 14:00; and why
	Plan      // of a schedule: 0 */2 * * * Asia/Seoul
	Say       // words to be spoken
)

// Line is how a line of the palette asks for an operation: "reschedule job:KEY +10m".
type Line struct {
	Word string // "" = the operation's own
	Args string
	Hint string // of the palette; "" = Args; where there are none, what the palette calls it
}

// Question is asked before an operation that cannot be taken back, or costs much: what the
// engine says that it would do is told with it. %s stands for the target.
type Question struct {
	Text, Yes string
	Lines     []string
	Word      string // to be typed; "" = yes is enough
	Free      int    // what costs at most so many calls needs no question
}

// Operation is one thing that an operator can do.
type Operation struct {
	Op engine.Op
	// Does and Did say it in a sentence: "would reschedule 3 jobs", "rescheduled 3 of 4
	// jobs".
	Does, Did string
	// States are those of the jobs on which it has an effect; none = it is not about jobs.
	States []engine.State
	// ByName are the ones of States that a selection has to name: the jobs of an account
	// that shall run again are not those that somebody has cancelled.
	ByName []engine.State
	// Only says which jobs it is for, to whoever asks for another.
	Only string
	// Starts says that it lets jobs run: while no engine does, the next one carries it out.
	// Calls says that each of these jobs makes a call, so that it has a cost.
	Starts, Calls bool
	Canary        bool // one job may go first, the rest when it has succeeded
	Undo          bool // it can be taken back while nothing else has happened to what it changed
	Slow          bool // it takes as long as the store is large
	// Target is what it acts on, Arg what else it needs, Line how the console's lines ask
	// for it; no Line.Help = they do not. Ask is the question before it is carried out.
	Target Target
	Arg    Arg
	Needs  string // said where Arg lacks or cannot be read
	Line   Line
	Ask    Question
	// Short, Long and Example are the help of its command, which follows from Target and Arg; without
	// Short it has none, or one that its Target and Arg do not describe.
	Short, Long, Example string
	// run carries it out, or with DryRun says what it would do.
	run func(*Operator, context.Context, engine.Command) (engine.Receipt, error)
	// About names what it is about, in the audit, where the command names nothing.
	About string
}

// table is filled by init: what carries an operation out reads the words of it here. As a literal it
// would be a cycle that the compiler refuses.
var table []Operation

// Picks are the states in which a selection that names none finds jobs.
func (o Operation) Picks() []engine.State {
	return slices.DeleteFunc(slices.Clone(o.States), func(s engine.State) bool { return slices.Contains(o.ByName, s) })
}

// verb is its word without what it acts on: pause-schedule is pause.
func (o Operation) verb() string {
	verb, _, _ := strings.Cut(string(o.Op), "-")
	return verb
}

// Of is what is known of an operation; of an unknown one, its word alone.
func Of(op engine.Op) Operation {
	if i := slices.IndexFunc(table, func(o Operation) bool { return o.Op == op }); i >= 0 {
		return table[i]
	}
	return Operation{Op: op}
}

// Word is what a line begins with that asks for it.
func (o Operation) Word() string { return cmp.Or(o.Line.Word, string(o.Op)) }

// Lines are the operations that the palette's lines ask for.
func Lines() []Operation { return those(func(o Operation) bool { return o.Line != Line{} }) }

// Commands are the operations whose commands follow from their targets and arguments.
func Commands() []Operation { return those(func(o Operation) bool { return o.Short != "" }) }

// those are the operations that fit, in the table's order.
func those(fits func(Operation) bool) (out []Operation) {
	for _, o := range table {
		if fits(o) {
			out = append(out, o)
		}
	}
	return out
}

// refuse is how an operation says no before it has changed anything: of which kind that is, what to do
// instead, and why.
func refuse(code error, do, why string, args ...any) (engine.Receipt, error) {
	return engine.Receipt{}, engine.Problemf(code, do, why, args...)
}

// undoable reports whether an entry is of an operation that can be taken back, and has
// changed something. Jobs that have moved on since are left out by the undo itself.
func undoable(e engine.AuditEntry) bool {
	return Of(e.Op).Undo && (len(e.Moves) > 0 || e.Queue != nil || e.Schedule != nil)
}

// UndoWords are the words of all that can be taken back: "cancel, pause or edit". last
// stands before the last one.
func UndoWords(last string) string {
	var words []string
	for _, o := range table {
		if o.Undo && !slices.Contains(words, o.verb()) {
			words = append(words, o.verb())
		}
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
