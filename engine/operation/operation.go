// Package operation says what an operator can do: one table, which the console's keys and
// lines, the commands, completion, the engine itself and the audit read.
package operation

import (
	"context"
	"slices"
	"strings"

	"github.com/farsight-console/farsight/engine"
)

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
	// run carries it out, or with DryRun says what it would do.
	run func(*Operator, context.Context, engine.Command) (engine.Receipt, error)
	// About names what it is about, in the audit, where the command names nothing.
	About string
}

// table is filled by init: what carries an operation out reads the words of it here.
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

// OnJobs are the operations on jobs.
func OnJobs() []Operation {
	return slices.DeleteFunc(slices.Clone(table), func(o Operation) bool { return len(o.States) == 0 })
}

// Undoable reports whether an entry is of an operation that can be taken back, and has
// changed something. Whether it still can be, what it has changed decides.
func Undoable(e engine.AuditEntry) bool {
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
