package engine

import (
	"context"
	"errors"
	"fmt"
	"syscall"
)

// Sentinels for callers to test with errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict")    // changed since shown, or already running
	ErrRefused  = errors.New("refused")     // a rule says no
	ErrInvalid  = errors.New("invalid")     // the command or query makes no sense
	ErrUsedUp   = errors.New("used up")     // so much was allowed for a time, and no more
	ErrReadOnly = errors.New("read only")   // no engine runs here
	ErrBroken   = errors.New("broken")      // an invariant does not hold: the engine has stopped claiming
	ErrStale    = errors.New("stale write") // the revision has moved on: a late result
	// ErrUnreadable: one record is not what was written; the store and its neighbours are
	// sound. Any other error of a read means that the store itself failed.
	ErrUnreadable = errors.New("unreadable")
	ErrGone       = errors.New("not connected") // the engine behind a remote console does not answer
)

// WhyChanged is the Why of a refusal because a job is not as its caller was shown it.
const WhyChanged = "changed since shown"

// Problem is an error for a person: a code that scripts can test, one sentence,
// and what to do next.
type Problem struct {
	Code     error  // one of the sentinels
	Sentence string // what happened
	Do       string // what to do next; may be empty
	Job      JobID  // the job it is about, if any
	Why      string // the reason alone, for counts of what was skipped; may be empty
}

// Error is the sentence with what to do behind it, for commands and the log; a console shows the two
// apart.
func (p *Problem) Error() string {
	if p.Do == "" {
		return p.Sentence
	}
	return p.Sentence + ": " + p.Do
}

// Unwrap gives the code, so that errors.Is finds the sentinel.
func (p *Problem) Unwrap() error { return p.Code }

// Problemf makes a Problem of a sentence.
func Problemf(code error, do, format string, args ...any) *Problem {
	return &Problem{Code: code, Sentence: fmt.Sprintf(format, args...), Do: do}
}

// Reason is the problem in few words, for counts of what was skipped.
func (p *Problem) Reason() string {
	if p.Why != "" {
		return p.Why
	}
	return p.Sentence
}

// ProblemOf makes a Problem of what went wrong below: the code that it wraps, or a store
// that has no room or could not be read, in a directory or on a server.
func ProblemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	for _, code := range []error{ErrNotFound, ErrConflict, ErrRefused, ErrInvalid, ErrStale} {
		if errors.Is(err, code) {
			return Problemf(code, "", "%v", err)
		}
	}
	if errors.Is(err, context.Canceled) {
		return GivenUp()
	}
	if errors.Is(err, syscall.ENOSPC) {
		return Problemf(ErrBroken, "make room, or ask again later", "%v", err)
	}
	return Problemf(ErrBroken, "run `farsight check`", "what is stored could not be read: %v", err)
}

// GivenUp is what becomes of what nobody waits for any more.
func GivenUp() *Problem {
	return Problemf(ErrGone, "", "it was given up before it was done: whoever asked for it has gone")
}

// Guard runs the domain's code inside a transaction and turns its panic into the error that told makes of it, for the
// store must not be entered by an unwinding stack. A page that cannot be read panics on: it is the store's own affair.
func Guard(fn func() error, told func(panicked any) error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			panic(r)
		default:
			err = told(r)
		}
	}()
	return fn()
}
