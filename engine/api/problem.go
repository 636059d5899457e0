package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

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

// plainHead is what net/http puts behind the status line when it answers what is no
// request, before anything of ours has seen it. It writes the whole answer at once.
var plainHead = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// maxHeader is how many bytes the head of a request may have.
const maxHeader = 16 << 10

// maxPlainHead is within how many bytes it stands there.
const maxPlainHead = 256

// bareHead is the whole of what it answers to an expectation that it does not know.
var bareHead = []byte("HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\n")

// plainWords say what is wrong where net/http has only a number for it.
var plainWords = map[int]string{
	http.StatusBadRequest:                  "this is no HTTP request that can be read",
	http.StatusRequestHeaderFieldsTooLarge: fmt.Sprintf("the request's head has more than %d bytes", maxHeader),
	http.StatusNotImplemented: "the body comes in a transfer encoding that is not known: " +
		"use chunked, or Content-Length",
	http.StatusExpectationFailed: "the request's Expect is not known: use 100-continue, or leave it out",
}

// asProblem turns such an answer into a problem, like every other. ok is false for all
// else.
func asProblem(answer []byte) (problem []byte, ok bool) {
	// "HTTP/1.1 400 Bad Request: missing required Host header\r\nContent-Type: text/plain; …"
	line, _, ok := bytes.Cut(answer[:min(len(answer), maxPlainHead)], plainHead)
	if bytes.HasPrefix(answer, bareHead) {
		line, _, ok = bytes.Cut(answer, []byte("\r\n"))
	}
	if !ok || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return nil, false
	}
	code, said, _ := strings.Cut(string(line[len("HTTP/1.1 "):]), " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		return nil, false
	}
	// Behind the status there may be a reason, which says more than the table.
	why := plainWords[status]
	if _, reason, told := strings.Cut(said, ": "); told {
		why = reason
	}
	return wholeProblem(ProblemOf(faultf(status, engine.ErrInvalid, "", "%s", why)), ""), true
}

// wholeProblem is an answer with its head, for whom no request was read. more are
// headers, each with the end of its line.
func wholeProblem(p Problem, more string) []byte {
	body, err := encode(p)
	if err != nil {
		body = []byte("{}")
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\nContent-Type: %s\r\n"+
		"X-Content-Type-Options: nosniff\r\nContent-Length: %d\r\n%sConnection: close\r\n\r\n%s",
		p.Status, http.StatusText(p.Status), problemJSON, len(body), more, body)
}
