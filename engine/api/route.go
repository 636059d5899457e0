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
