// Package apitest holds answers to an OpenAPI document. Only tests use it.
package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

type object = map[string]any

// Document is an OpenAPI 3.1 document.
type Document struct {
	whole object
	mux   *http.ServeMux
}

// New reads a document.
func New(raw []byte) (*Document, error) {
	d := &Document{mux: http.NewServeMux()}
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

// Fits checks the answer to a request: its status, and its body when that is JSON.
func (d *Document) Fits(method, path string, status int, body []byte) error {
	schema := any(object{"$ref": "#/components/schemas/Problem"})
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
	op, _ := at[strings.ToLower(method)].(object)
	responses, _ := op["responses"].(object)
	answer, ok := responses[fmt.Sprint(status)].(object)
	if !ok {
		return nil, fmt.Errorf("%s %s with status %d is not in the document", method, path, status)
	}
	content, _ := answer["content"].(object)
	return content, nil
}

// Value checks a decoded value against a schema, which may refer to those of the
// document. The schemas are checked as well, against JSON Schema 2020-12.
func (d *Document) Value(schema, v any) error {
	whole := maps.Clone(d.whole)
	whole["x-schema"] = schema
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("openapi.json", whole); err != nil {
		return err
	}
	s, err := c.Compile("openapi.json#/x-schema")
	if err != nil {
		return err
	}
	return s.Validate(v)
}
