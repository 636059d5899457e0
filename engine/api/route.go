package api

import (
	"net/http"
)

// Route is one row of the table of routes: the document, the dispatch and the
// tests are all read from it.
type Route struct {
	Method, Path string
	Summary      string
	About        string // in the document, where the summary does not say it all
	Role         Role   // that it takes
	In, Out      any    // zero values of what goes in and out as JSON; nil = nothing
	Type         string
	Handle       Handler
	Query        []Param     // that its address may have; any other is refused
	Header       []Param     // that it reads besides those of HTTP itself
	Also         map[int]any // zero values of answers with another status than 200
}

// viewRoute is a route at which a viewer asks for a T.
func viewRoute[T any](path, summary string, of func(*Request) (T, error), query ...Param) Route {
	return route(http.MethodGet, path, summary, Viewer, of, query...)
}

// act is a route at which an operator posts an In, which may be left out, and gets an Out.
func act[In, Out any](path, summary string, do func(*Request, In) (Out, error)) Route {
	var none In
	r := route(http.MethodPost, path, summary, Operator, func(r *Request) (out Out, err error) {
		var in In
		if err := readInto(r, &in); err != nil {
			return out, err
		}
		return do(r, in)
	})
	r.In = none
	return r
}

// route is one that answers with a T as JSON, with the status 200 unless there is an error. A handler
// that says more, by headers or another status, is a Route's own.
func route[T any](
	method, path, summary string, role Role, of func(*Request) (T, error), query ...Param,
) Route {
	var none T
	return Route{
		Method: method, Path: path, Summary: summary, Role: role, Out: none, Type: typeJSON, Query: query,
		Handle: func(w http.ResponseWriter, r *Request) error {
			v, err := of(r)
			if err != nil {
				return err
			}
			return writeJSON(w, http.StatusOK, v)
		},
	}
}

// Param is a parameter of an address.
type Param struct{ Name, About string }

// Handler answers a request of a caller who may. Its error is written as a
// problem, unless something was written before.
type Handler func(w http.ResponseWriter, r *Request) error

// Request is a request with its caller and its body, read whole.
type Request struct {
	*http.Request
	Caller Caller
	Body   []byte
}
