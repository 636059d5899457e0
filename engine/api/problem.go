package api

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/farsight-console/farsight/engine"
)

// Problem is an error as it stands on the wire: problem details of RFC 9457, with
// what to do and the job as members of their own.
type Problem struct {
	Type   string `json:"type"`  // "urn:farsight:conflict"
	Title  string `json:"title"` // the code in words, the same for each of its type
	Status int    `json:"status"`
	Detail string `json:"detail"`       // what happened, in a sentence
	Do     string `json:"do,omitempty"` // what to do next
	Job    string `json:"job,omitempty"`
	Why    string `json:"why,omitempty"` // the reason alone
	// Receipt is what the command has counted before it failed.
	Receipt *engine.Receipt `json:"receipt,omitempty"`
}

// urn begins the type of every problem.
const urn = "urn:farsight:"

// codes are the sentinels with their words and the statuses they answer with. The first that fits is
// taken. A word once used stays: programs compare types with it.
var codes = []struct {
	code   error
	word   string
	status int
}{
	{engine.ErrNotFound, "not-found", http.StatusNotFound},
	{engine.ErrConflict, "conflict", http.StatusConflict},
	{engine.ErrStale, "stale", http.StatusConflict},
	{engine.ErrRefused, "refused", http.StatusForbidden},
	{engine.ErrUsedUp, "used-up", http.StatusTooManyRequests},
	{engine.ErrReadOnly, "read-only", http.StatusForbidden},
	{engine.ErrInvalid, "invalid", http.StatusBadRequest},
	{engine.ErrGone, "not-connected", http.StatusServiceUnavailable},
	{engine.ErrBroken, "broken", http.StatusInternalServerError},
}

// fault is an error that answers with a status of its own, where its code alone would give another.
type fault struct {
	status int
	*engine.Problem
}

// Unwrap gives the problem without its status.
func (f *fault) Unwrap() error { return f.Problem }

// faultf makes an error that answers with a status of its own. do may be empty. Where the status is that
// of the code, see codes, it is a plain Problem.
func faultf(status int, code error, do, format string, args ...any) error {
	return &fault{status, engine.Problemf(code, do, format, args...)}
}

// ProblemOf turns an error into what stands on the wire. One that is no Problem is
// a fault of ours: its text may hold anything, so it is not told.
func ProblemOf(err error) Problem {
	p, ok := errors.AsType[*engine.Problem](err)
	if !ok {
		p = engine.Problemf(engine.ErrBroken, "look into farsight.log", "the request failed inside the engine")
	}
	out := Problem{Type: urn + "broken", Title: engine.ErrBroken.Error(), Status: http.StatusInternalServerError,
		Detail: p.Sentence, Do: p.Do, Job: string(p.Job), Why: p.Why}
	// {"type":"urn:farsight:conflict","title":"conflict","status":409,"detail":"job b41: it is running",…}
	for _, c := range codes {
		if errors.Is(p.Code, c.code) {
			out.Type, out.Title, out.Status = urn+c.word, c.code.Error(), c.status
			break
		}
	}
	if f, ok := errors.AsType[*fault](err); ok {
		out.Status = f.status
	}
	return out
}

// AsError is the *engine.Problem again.
func (p Problem) AsError() *engine.Problem {
	out := &engine.Problem{Code: engine.ErrBroken, Sentence: p.Detail, Do: p.Do, Job: engine.JobID(p.Job), Why: p.Why}
	for _, c := range codes {
		// By its type and not its status, which several codes share.
		if p.Type == urn+c.word {
			out.Code = c.code
		}
	}
	return out
}

// readProblem reads the body of an answer that is not 200.
func readProblem(status int, body []byte) (Problem, *engine.Problem) {
	var p Problem
	if err := json.Unmarshal(body, &p); err != nil || p.Detail == "" {
		return p, engine.Problemf(engine.ErrBroken, "is it a Farsight engine of this version?",
			"the engine answered with status %d and no reason", status)
	}
	return p, p.AsError()
}

// short is what is told of a text that whoever is refused has chosen.
func short(text string) string { return text[:min(len(text), 200)] }
