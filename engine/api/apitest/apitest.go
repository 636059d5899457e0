// Package apitest holds answers to an OpenAPI document. Only tests use it.
package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

type object = map[string]any

// Document is an OpenAPI 3.1 document.
type Document struct {
	whole object
	mux   *http.ServeMux

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by their text: to compile one takes longer than to use it
}

// New reads a document.
func New(raw []byte) (*Document, error) {
	d := &Document{mux: http.NewServeMux(), schemas: map[string]*jsonschema.Schema{}}
	if err := json.Unmarshal(raw, &d.whole); err != nil {
		return nil, err
	}
	paths, _ := d.whole["paths"].(object)
	for path, item := range paths {
		for method := range item.(object) {
			d.mux.HandleFunc(strings.ToUpper(method)+" "+path, func(http.ResponseWriter, *http.Request) {})
		}
	}
	return d, nil
}

// Fits checks the answer to a request: its status, and its body when that is JSON. An
// error must be among those that the document names for the route, if there is such a
// route, or one of HTTP itself.
func (d *Document) Fits(method, path string, status int, body []byte) error {
	schema := any(object{"$ref": "#/components/schemas/Problem"})
	if _, err := d.content(method, path, status); err != nil && d.has(method, path) && !ofHTTP[status] {
		return err
	}
	if status == http.StatusNotModified {
		return nil
	}
	if status < 300 {
		content, err := d.content(method, path, status)
		if err != nil {
			return err
		}
		whole, ok := content["application/json"].(object)
		if !ok {
			return nil // a stream, or metrics: not one JSON value
		}
		schema = whole["schema"]
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", method, path, err, body)
	}
	if err := d.Value(schema, v); err != nil {
		return fmt.Errorf("%s %s %d: %w", method, path, status, err)
	}
	return nil
}

// ofHTTP are the errors that any route may answer with, and that of an engine that has
// fallen.
var ofHTTP = map[int]bool{
	http.StatusExpectationFailed: true, http.StatusRequestHeaderFieldsTooLarge: true, http.StatusNotImplemented: true,
	http.StatusHTTPVersionNotSupported: true, http.StatusInternalServerError: true,
}

// has reports whether a request leads to a route.
func (d *Document) has(method, address string) bool {
	req, err := http.NewRequest(method, "http://localhost"+address, nil)
	if err != nil {
		return false
	}
	_, pattern := d.mux.Handler(req)
	return pattern != "" && path.Clean(req.URL.Path) == req.URL.Path
}

// content is what the document says that a request is answered with.
func (d *Document) content(method, path string, status int) (object, error) {
	path, _, _ = strings.Cut(path, "?")
	req, err := http.NewRequest(method, "http://localhost"+path, nil)
	if err != nil {
		return nil, err
	}
	_, pattern := d.mux.Handler(req)
	_, template, _ := strings.Cut(pattern, " ")
	paths, _ := d.whole["paths"].(object)
	at, _ := paths[template].(object)
	op, ok := at[strings.ToLower(method)].(object)
	if !ok && method == http.MethodHead {
		op, _ = at["get"].(object)
	}
	responses, _ := op["responses"].(object)
	answer, ok := responses[fmt.Sprint(status)].(object)
	if !ok {
		return nil, fmt.Errorf("%s %s with status %d is not in the document", method, path, status)
	}
	if ref, ok := answer["$ref"].(string); ok {
		components, _ := d.whole["components"].(object)
		shared, _ := components["responses"].(object)
		if answer, ok = shared[strings.TrimPrefix(ref, "#/components/responses/")].(object); !ok {
			return nil, fmt.Errorf("%s is not in the document", ref)
		}
	}
	content, _ := answer["content"].(object)
	return content, nil
}

// Value checks a decoded value against a schema, which may refer to those of the
// document. The schemas are checked as well, against JSON Schema 2020-12.
func (d *Document) Value(schema, v any) error {
	s, err := d.compiled(schema)
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func (d *Document) compiled(schema any) (*jsonschema.Schema, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[string(text)]; s != nil {
		return s, nil
	}
	whole := maps.Clone(d.whole)
	whole["x-schema"] = schema
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("openapi.json", whole); err != nil {
		return nil, err
	}
	s, err := c.Compile("openapi.json#/x-schema")
	if err == nil {
		d.schemas[string(text)] = s
	}
	return s, err
}
