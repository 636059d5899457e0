package cli

import (
	"github.com/go-json-experiment/json"
	v1 "github.com/go-json-experiment/json/v1"

	"github.com/farsight-console/farsight/engine/safe"
)

// asPrinted encodes as encoding/json does, but for lists and maps of nothing: encoding/json
// writes null for nil, and a script that goes through the list would break only on the day
// when there is nothing in it.
var asPrinted = json.JoinOptions(
	v1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false), json.FormatNilMapAsNull(false),
)

// encoded is one value as a line of JSON, harmless to a terminal. A list of nothing is [].
func encoded(v any) ([]byte, error) {
	raw, err := json.Marshal(v, asPrinted)
	if err != nil {
		return nil, err
	}
	return append(safe.JSON(raw), '\n'), nil
}

// json prints one value on one line, harmless to a terminal. A list of nothing is [].
func (o Out) json(v any) error {
	line, err := encoded(v)
	if err != nil {
		return err
	}
	_, err = o.W.Write(line)
	return err
}

// lines prints one JSON line per value.
func lines[T any](o Out, values []T) error {
	for _, v := range values {
		if err := o.json(v); err != nil {
			return err
		}
	}
	return nil
}

// JSON prints one value on one line, harmless to a terminal.
func JSON(o Out, v any) error { return o.json(v) }

// Report prints what a command did: as JSON, or else as print writes it for people.
func Report[T any](o Out, r T, print func(T, Out) error) error {
	if o.JSON {
		return o.json(r)
	}
	return print(r, o)
}
