package filter

import (
	"fmt"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
)

// Error is a query that cannot be used, and where. It is an engine.ErrInvalid.
type Error struct {
	At, End  int // bytes of the query that are wrong; At == End at its end
	Cell     int // terminal cells before At
	Cells    int // terminal cells of the wrong part, at least 1
	Sentence string
	Do       string // what to write instead
}

// Error is one sentence that begins with the column, counted from 1:
//
//	column 1: there is no field "quue": write queue:…, or quote the term to look for it as text
func (e *Error) Error() string {
	s := fmt.Sprintf("column %d: %s", e.Cell+1, e.Sentence)
	if e.Do != "" {
		s += ": " + e.Do
	}
	return s
}

// Unwrap makes it an engine.ErrInvalid.
func (e *Error) Unwrap() error { return engine.ErrInvalid }

// wrong makes an error without cells: Parse adds them, since only it has the
// whole query.
func wrong(at, end int, do, format string, args ...any) *Error {
	return &Error{At: at, End: end, Do: do, Sentence: fmt.Sprintf(format, args...)}
}

// in places the error in its query. A query with control characters is drawn cleaned and so wider:
// whoever draws that measures the drawn text up to At instead.
func (e *Error) in(query string) *Error {
	e.At = min(max(e.At, 0), len(query))
	e.End = min(max(e.End, e.At), len(query))
	e.Cell = safe.Width(query[:e.At])
	e.Cells = max(safe.Width(query[e.At:e.End]), 1)
	return e
}
