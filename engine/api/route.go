package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/farsight-console/farsight/engine/safe"
)

const (
	typeJSON    = "application/json"
	problemJSON = "application/problem+json"
	typeStream  = "application/x-ndjson"
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

// WriteJSON answers with a value. Text is as received; what could harm a terminal
// stands there as \uXXXX.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	raw, err := encode(v)
	if err != nil {
		return err
	}
	answer(w, status, typeJSON, raw)
	return nil
}

// writeTagged answers with a value and its tag, or with 304 to whoever has it already.
// The tag is of the text: it changes when anything in it does.
func writeTagged(w http.ResponseWriter, r *Request, v any) error {
	raw, err := encode(v)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache") // to be kept, and asked for again each time
	if has := r.Header["If-None-Match"]; hasToken(has, tag) || hasToken(has, "W/"+tag) || hasToken(has, "*") {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	answer(w, http.StatusOK, typeJSON, raw)
	return nil
}

func writeProblem(w http.ResponseWriter, p Problem) {
	raw, err := encode(p)
	if err != nil {
		raw = []byte("{}")
	}
	answer(w, p.Status, problemJSON, raw)
}

// answer writes a whole body, as slowly as its reader takes it.
func answer(w http.ResponseWriter, status int, typ string, body []byte) {
	w.Header().Set("Content-Type", typ)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_ = writeSlowly(w, body) // whoever has gone needs no answer
}

// encode writes one line of JSON that is harmless to a terminal.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return safe.JSON(b.Bytes()), nil
}
