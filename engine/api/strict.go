package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"
)

// strictly refuses what encoding/json guesses at: a field that this program does not know,
// or knows by another case, a field that is there twice ("dry_run" true, then false), text
// that is no UTF-8. For the rest, values mean what they mean to encoding/json, which wrote
// the other side's: a time.Duration is a number of nanoseconds.
var strictly = json.JoinOptions(v1.DefaultOptionsV1(), v1.ReportErrorsWithLegacySemantics(false),
	json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(false),
	jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))

// strict reads exactly one JSON value. Whatever is not clearly what the caller meant is an
// error, because to guess would do harm. The error says in words what is wrong, without
// the names of this program's types.
func strict(raw []byte, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return errors.New("it is empty")
	}
	err := json.Unmarshal(raw, into, strictly)
	// The library has two kinds of faults: of the text, and of a value that does not fit its field.
	if bad, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return formFault(bad, raw)
	}
	if bad, ok := errors.AsType[*json.SemanticError](err); ok {
		return valueFault(bad)
	}
	return err
}

// formFault says what is wrong with the text, whatever it was meant to say.
func formFault(bad *jsontext.SyntacticError, raw []byte) error {
	switch {
	case errors.Is(bad, jsontext.ErrDuplicateName):
		return fmt.Errorf("the field %q is there twice", dotted(bad.JSONPointer))
	case errors.Is(bad, io.ErrUnexpectedEOF):
		return errors.New("it is no JSON: it ends too early")
	case strings.Contains(bad.Error(), "UTF-8"):
		return errors.New("it is no UTF-8")
	// What stands before the fault is a whole value, so that the fault is what follows it.
	case jsontext.Value(raw[:bad.ByteOffset]).IsValid():
		return errors.New("something follows it")
	}
	return fmt.Errorf("it is no JSON: %w (byte %d)", bad.Err, bad.ByteOffset)
}

// valueFault says which field cannot hold what was written. "the field "sync.count" takes a whole
// number, not a string".
func valueFault(bad *json.SemanticError) error {
	name := dotted(bad.JSONPointer)
	_, isNumber := errors.AsType[*strconv.NumError](bad.Err)
	isNumber = isNumber || errors.Is(bad.Err, strconv.ErrRange) || errors.Is(bad.Err, strconv.ErrSyntax)
	switch {
	case errors.Is(bad.Err, json.ErrUnknownName):
		return fmt.Errorf("there is no field %q", name)
	case bad.Err != nil && !isNumber:
		return bad.Err // of a type that reads itself, in its own words
	case name == "":
		return fmt.Errorf("it is %s, not %s", valueWord(bad), typeWord(bad.GoType))
	}
	return fmt.Errorf("the field %q takes %s, not %s", name, typeWord(bad.GoType), valueWord(bad))
}

// dotted is the path of a field as people write it: /sync/count is sync.count.
func dotted(p jsontext.Pointer) string {
	var names []string
	for name := range p.Tokens() {
		names = append(names, name)
	}
	return strings.Join(names, ".")
}

// valueWord is what stood in the text: "a string", "a number -1".
func valueWord(bad *json.SemanticError) string {
	switch bad.JSONKind {
	case '[':
		return "an array"
	case '{':
		return "an object"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a string"
	case '0':
		return strings.TrimSpace("a number " + string(bad.JSONValue))
	}
	return "null"
}

// typeWord is what a type of this program takes.
func typeWord(t reflect.Type) string {
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
