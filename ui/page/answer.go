package page

import (
	"errors"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/part"
)

// Answer is what a page knows of the question it asks: whether it waits for an
// answer, of which version the one it has is, and what went wrong. Old answers
// stay on the screen until there is a newer one.
type Answer struct {
	Pending bool
	Have    bool
	Seq     uint64    // of the data when the last question was asked
	Own     uint64    // version of the one thing that it was about, see [Answer.DueFor]
	Acts    int       // View.Acts by then
	At      time.Time // of the last question
	Came    time.Time
	Err     error
}

// Due reports whether it is time to ask, and notes that it was asked. It is time at once for the
// first question, after a command of this console, whose effect the operator looks for, and after a
// command of somebody else, which the message line tells of. Else it is time only when the version
// has moved on, and not before ReloadEvery has passed.
func (a *Answer) Due(v *View, version uint64) bool {
	acted := v.Acts != a.Acts
	switch {
	case a.Pending, !v.Ready, a.Have && v.Frozen:
		return false
	case a.Have && a.Err == nil && version == a.Seq && !acted:
		return false
	case !a.At.IsZero() && v.Now.Sub(a.At) < ReloadEvery && !acted:
		return false
	}
	a.Pending, a.Seq, a.At, a.Acts = true, version, v.Now, v.Acts
	return true
}

// Ask is the question if it is due, see [Answer.Due]; nil = it is not.
func (a *Answer) Ask(v *View, version uint64, q engine.Query) engine.Query {
	if !a.Due(v, version) {
		return nil
	}
	return q
}

// DueFor is Due for an answer about one thing that has a version of its own. When that has moved
// on, it is asked for at once: one thing moves seldom, and the row beside it shows the new state
// already.
func (a *Answer) DueFor(v *View, own, version uint64) bool {
	at := a.At
	if own != a.Own {
		a.At = time.Time{}
	}
	if !a.Due(v, version) {
		a.At = at
		return false
	}
	a.Own = own
	return true
}

// Take notes that the answer came; false when it is an error.
func (a *Answer) Take(v *View, err error) bool {
	a.Pending, a.Err = false, err
	if err != nil {
		return false
	}
	a.Have = true
	if a.Came = a.Came.Add(1); v.Now.After(a.Came) { // two answers never have the same instant: lists are made anew by it
		a.Came = v.Now
	}
	return true
}

// Receive takes the answer to a question of kind Q and puts it into what it is kept in. It is false
// when the question is of another kind, as a page may ask several.
func Receive[Q engine.Query, A engine.Answer](a *Answer, v *View, q engine.Query, came engine.Answer, err error, into *A) bool {
	if _, ok := q.(Q); !ok {
		return false
	}
	if a.Take(v, err) {
		*into, _ = came.(A)
	}
	return true
}

// Forget makes the next question due at once; what is shown stays.
func (a *Answer) Forget() { a.Seq, a.At, a.Have = 0, time.Time{}, false }

// Loading reports whether the first answer has still to come. After an error it is false: that is
// told instead.
func (a *Answer) Loading() bool { return !a.Have && a.Err == nil }

// Absent says in the place of a list that it could not be read, or is on its way; "" = it
// is there.
func (a *Answer) Absent(v *View, what, loading string) string {
	switch {
	case !a.Have && a.Err != nil:
		return v.Failed(what)
	case a.Loading():
		return "loading " + loading + "…"
	}
	return ""
}

// Told says what is wrong with what is shown; "" = nothing.
func (a *Answer) Told(v *View) string {
	if a.Err == nil {
		return ""
	}
	text := Sentence(a.Err)
	if a.Have {
		text = "as of " + part.Clock(a.Came, v.Now) + ": " + text
	}
	return safe.Cut(safe.Text(text), 60)
}

// Sentence is an error as one sentence for a person.
func Sentence(err error) string {
	if p, ok := errors.AsType[*engine.Problem](err); ok {
		return p.Error()
	}
	return err.Error()
}

// Reload makes the page ask again at once.
func (a *Answer) Reload() { a.Forget() }

// MadeOf names the versions of what a list of jobs is made of.
type MadeOf struct {
	Version uint64
	Came    time.Time
}

// ReloadEvery is for how long a list that is read from disk stays as it is while the database moves
// on: to read it costs the engine more than it tells the operator.
const ReloadEvery = 2 * time.Second

// ListMost is how many jobs a list asks for at once.
const ListMost = 500

// Quiet is a page that asks the engine nothing: what it shows comes with Watch.
type Quiet struct{}

// Want implements Page.
func (Quiet) Want(*View) engine.Query { return nil }

// Got implements Page.
func (Quiet) Got(*View, engine.Query, engine.Answer, error) {}

// Tried turns what a dry run has told of a command into the lines of the question before
// it, and reports whether it costs so little that no question is needed: at most free
// calls; 0 = always ask. What is confirmed is what was counted, so the command is narrowed
// to the rows that the dry run has selected.
func Tried(c *engine.Command, r engine.Receipt, free int, now time.Time) (lines []string, unasked bool) {
	if r.Select != nil {
		c.Select = r.Select
	}
	if r.Text != "" && c.Op != engine.OpTrigger { // the line of the cost says it all
		text := r.Text
		if strings.HasPrefix(text, "would ") {
			text = Capital(text)
		}
		lines = append(lines, strings.TrimRight(text, ".")+".")
	}
	if line := costLine(*c, r, now); line != "" {
		lines = append(lines, line)
	}
	return lines, free > 0 && (r.Cost == nil || r.Cost.Calls <= free)
}

// costLine says in one line what a command will take before it is confirmed, as its dry
// run has told: the calls, when they are made, and what waits the longer for them, such as
// "About 889 calls (asia's 2 min window), done about 14:20; it delays nothing else." It is
// "" for one that takes no calls.
func costLine(command engine.Command, r engine.Receipt, now time.Time) string {
	c := r.Cost
	if c == nil || c.Calls == 0 {
		return ""
	}
	if c.Bucket == "" {
		return Capital(c.CallsText()) + "; when it is done, and what it delays, is not known before the first answer tells its limits."
	}
	line := c.DoneText(now)
	if r.Text == "" || command.Op == engine.OpTrigger { // else the engine has told the calls
		line = c.CallsText() + " (" + windowCalled(c.Bucket, false) + "), " + line
	}
	if delayed := c.Delayed(now); delayed != "" {
		line += "; " + delayed
	}
	return Capital(line) + "."
}
