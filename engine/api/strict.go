package api

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// strict reads exactly one JSON value. Whatever is not clearly what the caller meant is
// an error, because to guess would do harm: a field that this program does not know, or
// knows by another case, a field that is there twice ("dry_run" true, then false), text
// that is no UTF-8. The error says in words what is wrong.
func strict(raw []byte, into any) error {
	if !utf8.Valid(raw) {
		return errors.New("it is no UTF-8")
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return errors.New("it is empty")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(new(json.RawMessage)); err != nil { // its form alone, its depth too
		return noJSON(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows it")
	}
	w := walk{json.NewDecoder(bytes.NewReader(raw))}
	if err := w.value(shapeOf(reflect.TypeOf(into)), ""); err != nil {
		return err
	}
	return inWords(json.Unmarshal(raw, into))
}

func noJSON(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is no JSON: it ends too early")
	}
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("it is no JSON: %w (byte %d)", err, bad.Offset)
	}
	return fmt.Errorf("it is no JSON: %w", err)
}

// inWords says what json found wrong without the names of this program's types.
func inWords(err error) error {
	bad, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case bad.Field == "":
		return fmt.Errorf("it is %s, not %s", article(bad.Value), wordOf(bad.Type))
	}
	return fmt.Errorf("the field %q takes %s, not %s", bad.Field, wordOf(bad.Type), article(bad.Value))
}

// article goes before what json calls a value: "string", "number -1".
func article(value string) string {
	for _, a := range []string{"array", "object"} {
		if value == a {
			return "an " + a
		}
	}
	if value == "bool" {
		return "true or false"
	}
	return "a " + value
}

func wordOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0 on"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	}
	return "an object"
}

// shape is what may stand in a JSON value of a type. nil = anything.
type shape struct {
	fields map[string]*shape // of an object; nil = any name
	items  *shape            // of an array, or of an object with any name
}

// shapes are those of the types that were read, by type: a type may hold itself.
var shapes = struct {
	sync.Mutex
	of map[reflect.Type]*shape
}{of: map[reflect.Type]*shape{}}

func shapeOf(t reflect.Type) *shape {
	shapes.Lock()
	defer shapes.Unlock()
	return shapeIn(t)
}

func shapeIn(t reflect.Type) *shape {
	if known, ok := shapes.of[t]; ok {
		return known
	}
	p := reflect.PointerTo(t)
	if p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nil // it looks for itself
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeIn(t.Elem())
	case reflect.Slice, reflect.Array, reflect.Map:
		s := &shape{}
		shapes.of[t] = s
		s.items = shapeIn(t.Elem())
		return s
	case reflect.Struct:
		s := &shape{fields: map[string]*shape{}}
		shapes.of[t] = s
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && name != "-" && !(f.Anonymous && name == "") {
				if name == "" {
					name = f.Name
				}
				s.fields[name] = shapeIn(f.Type)
			}
		}
		return s
	}
	return nil
}

// walk goes through a JSON text of good form once, beside its type.
type walk struct{ *json.Decoder }

// value takes the next value; in names where it stands, for errors.
func (w walk) value(s *shape, in string) error {
	t, err := w.Token()
	switch {
	case err != nil:
		return noJSON(err)
	case t == json.Delim('['):
		return w.array(s, in)
	case t == json.Delim('{'):
		return w.object(s, in)
	}
	return nil
}

func (w walk) array(s *shape, in string) error {
	var items *shape
	if s != nil {
		items = s.items
	}
	for w.More() {
		if err := w.value(items, in); err != nil {
			return err
		}
	}
	return w.end()
}

func (w walk) object(s *shape, in string) error {
	seen := map[string]bool{}
	for w.More() {
		t, err := w.Token()
		if err != nil {
			return noJSON(err)
		}
		name, _ := t.(string) // else it would be of no good form
		inner, known := s.field(name)
		switch {
		case !known:
			return fmt.Errorf("there is no field %q", in+name)
		case seen[name]:
			return fmt.Errorf("the field %q is there twice", in+name)
		}
		seen[name] = true
		if err := w.value(inner, in+name+"."); err != nil {
			return err
		}
	}
	return w.end()
}

// end takes the bracket that closes what was read.
func (w walk) end() error {
	_, err := w.Token()
	return err
}

// field is the shape of an object's field; known is false when it has no such field.
func (s *shape) field(name string) (inner *shape, known bool) {
	switch {
	case s == nil:
		return nil, true
	case s.fields == nil:
		return s.items, true
	}
	inner, known = s.fields[name]
	return inner, known
}
