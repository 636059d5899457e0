package api

import (
	"cmp"
	_ "embed"
	"errors"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// Document is the OpenAPI 3.1 description of the protocol.
//
//go:embed openapi.json
var Document []byte

// protocol are the routes of the console contract.
func (s *Server) protocol() []Route {
	find := Route{Method: http.MethodPost, Path: "/v1/find", Summary: "Ask a typed query", Role: Viewer, Type: typeJSON, Handle: s.find}
	find.About = "Ask one of the typed queries that a console asks; `type` says which. The answer has the same `type`."
	find.In, find.Out = question{}, reply{}
	return []Route{
		viewRoute("/v1/hello", "Who the engine is, and who you are to it", s.hello),
		{
			Method: http.MethodGet, Path: "/v1/watch", Role: Viewer, Out: frame{}, Type: typeStream, Handle: s.watch,
			Summary: "A snapshot, then merged updates, one frame a line, until you go",
			About: "A stream of frames, one JSON object a line: hello, a snapshot, " +
				"then merged updates at most ten times a second. A frame with nothing but its number says that the engine lives.",
		},
		find,
		{
			Method: http.MethodPost, Path: "/v1/do", Summary: "Carry out a command",
			About: "Carry out any command that an operator can give; `op` says which. " +
				"With `dry_run` nothing is done, and the receipt says what would be.",
			Role: Operator, In: engine.Command{}, Out: engine.Receipt{}, Type: typeJSON, Handle: s.do,
		},
		{
			Method: http.MethodPost, Path: "/v1/key", Summary: "Replace the API key",
			About: "Replace the API key, unless Riot, who is asked first, refuses the new one. " +
				"With `dry_run` Riot is only asked, without `key` about the key in use.",
			Role: Operator, In: keyChange{}, Out: engine.Receipt{}, Type: typeJSON, Handle: s.key,
		},
		{
			Method: http.MethodGet, Path: "/openapi.json", Summary: "This document",
			Role: Viewer, Type: typeJSON, Handle: document,
		},
	}
}

// guard lets only those callers through to a route who may, with a body of a form
// and a size that make sense. Who asks is found out before anything of the request is read, and whether
// they may after it: the audit tells which command a viewer has tried.
func (s *Server) guard(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := s.opt.Who(r)
		if err != nil {
			s.turnAway(route, caller, r, err)
			s.dismiss(w, r, err)
			return
		}
		if c, ok := r.Context().Value(connKey{}).(*limitedConn); ok {
			if err := c.letIn(); err != nil {
				w.Header().Set("Retry-After", "1")
				s.dismiss(w, r, err)
				return
			}
		}
		req := &Request{Request: r, Caller: caller}
		if err := checkQuery(route, r); err != nil {
			s.fail(w, r, err)
			return
		}
		if req.Body, err = s.readBody(w, r, route); err != nil {
			s.fail(w, r, err)
			return
		}
		if caller.Role < route.Role {
			s.fail(w, r, s.mayNot(route, req))
			return
		}
		if err := route.Handle(w, req); err != nil {
			s.fail(w, r, err)
		}
	})
}

// checkQuery refuses parameters that a route does not have: a misspelt one must not
// be a silent default.
func checkQuery(route Route, r *http.Request) error {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return engine.Problemf(engine.ErrInvalid, "see /openapi.json", "the parameters of %s cannot be read", r.URL.Path)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(route.Query, func(p Param) bool { return p.Name == name }) {
			known := make([]string, len(route.Query))
			for i, p := range route.Query {
				known[i] = p.Name
			}
			return engine.Problemf(engine.ErrInvalid, "it takes "+cmp.Or(strings.Join(known, ", "), "none"),
				"%s has no parameter %q", r.URL.Path, name)
		}
		if len(given[name]) > 1 {
			return engine.Problemf(engine.ErrInvalid, "give it once", "the parameter %q is given %d times", name,
				len(given[name]))
		}
	}
	return nil
}

// readBody reads what a route takes in, in time and not too much of it.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, route Route) ([]byte, error) {
	if route.In == nil {
		if r.ContentLength != 0 {
			return nil, engine.Problemf(engine.ErrInvalid, "", "%s takes no body", r.URL.Path)
		}
		return nil, nil
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, faultf(http.StatusUnsupportedMediaType, engine.ErrInvalid, "send Content-Type: "+typeJSON,
			"the body's type is %q", r.Header.Get("Content-Type"))
	}
	body, err := unpack(http.MaxBytesReader(w, r.Body, maxBody), r.Header.Get("Content-Encoding"))
	if err == nil { // else what is left of it may not take longer either
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	if _, ok := errors.AsType[*engine.Problem](err); ok {
		return nil, err
	}
	if _, big := errors.AsType[*http.MaxBytesError](err); big {
		return nil, faultf(http.StatusRequestEntityTooLarge, engine.ErrInvalid, "send it in parts",
			"the body has more than %d bytes", maxBody)
	}
	if err != nil {
		return nil, faultf(http.StatusRequestTimeout, engine.ErrInvalid, "", "the body did not arrive")
	}
	return body, nil
}

// isJSON takes the type with the charset that JSON has, if any is named.
func isJSON(header string) bool {
	t, params, err := mime.ParseMediaType(header)
	return err == nil && t == typeJSON && strings.EqualFold(cmp.Or(params["charset"], "utf-8"), "utf-8")
}

// helloTo is the engine as a caller is told of it, with what that caller may do.
func (s *Server) helloTo(c Caller) Hello {
	return Hello{Protocol: Protocol, Version: s.opt.Version, Dir: s.opt.Dir, PID: s.opt.PID, You: c.Actor, Role: c.Role}
}

func (s *Server) hello(r *Request) (Hello, error) { return s.helloTo(r.Caller), nil }

// The memory of Riot's JSON that is given out at once, in bytes: what an answer may take until it is written, and what
// all may, those included that their readers take slowly.
const (
	payloadMost  = 40 << 20
	payloadsMost = 2 * payloadMost
)

// find answers a question with an envelope of the same type.
func (s *Server) find(w http.ResponseWriter, r *Request) error {
	q, k, err := readQuestion(r.Body)
	if err != nil {
		return err
	}
	var held int64
	if _, large := q.(engine.PayloadQuery); large {
		if err := s.payloads.Acquire(r.Context(), payloadMost); err != nil {
			return err
		}
		held = payloadMost
		defer func() { s.payloads.Release(held) }()
	}
	a, err := s.opt.Console.Find(r.Context(), q)
	if err != nil {
		return err
	}
	raw, err := encode(told{Type: k.name, Answer: a})
	if err != nil {
		return err
	}
	// While it is read it takes what it is, no longer what it was made of.
	if rest := held - int64(cap(raw)); rest > 0 {
		held -= rest
		s.payloads.Release(rest)
	}
	answer(w, http.StatusOK, typeJSON, raw)
	return nil
}

// told is a reply whose answer is not encoded twice.
type told struct {
	Type   string        `json:"type"`
	Answer engine.Answer `json:"answer"`
}

// do carries out the command in a body.
func (s *Server) do(w http.ResponseWriter, r *Request) error {
	c, err := readCommand(r.Body)
	if err != nil {
		return err
	}
	return s.carryOut(w, r, c)
}

// key replaces the API key.
func (s *Server) key(w http.ResponseWriter, r *Request) error {
	var k keyChange
	if strict(r.Body, &k) != nil || k.Key == "" && !k.DryRun { // the error could hold the key
		return engine.Problemf(engine.ErrInvalid, "see /openapi.json", "the new key cannot be read")
	}
	return s.carryOut(w, r, engine.Command{Op: engine.OpKey, Key: k.Key, DryRun: k.DryRun, Reason: k.Reason})
}

// carryOut gives a command to the console in the name of its caller, whatever the
// command itself said. A problem has the receipt beside it where something was counted before the
// command failed.
func (s *Server) carryOut(w http.ResponseWriter, r *Request, c engine.Command) error {
	if err := s.mayNotName(r, c); err != nil {
		return err
	}
	c.By = r.Caller.Actor
	receipt, err := s.opt.Console.Do(r.Context(), c)
	if err == nil {
		return writeJSON(w, http.StatusOK, receipt)
	}
	// Of a command that failed in the middle, such as a prune that goes in steps.
	p := ProblemOf(err)
	if receipt.Matched > 0 || receipt.Text != "" {
		p.Receipt = &receipt
	}
	writeProblem(w, p)
	return nil
}

func document(w http.ResponseWriter, _ *Request) error {
	answer(w, http.StatusOK, typeJSON, Document)
	return nil
}
