package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/farsight-console/farsight/engine/safe"
)

// record is one row as programs read it. Lists and exports write theirs here, so that a value
// looks the same in both:
//
//	{"job_id":"7","state":"completed","attempts":2,"cursor":"j812-5f3a9c01"}
//	7,completed,2,j812-5f3a9c01
type record []member

// member is one thing that is told of a row. Its name needs no escaping: it is a column's.
type member struct {
	name  string
	value any // a text, a number, a truth value, valid JSON, or nil: encoding it cannot fail
}

// ndjson is a record as a line of JSON, its members in their order, harmless to a terminal.
func (r record) ndjson() []byte {
	line := []byte{'{'}
	for i, m := range r {
		if i > 0 {
			line = append(line, ',')
		}
		// An object of the library's own would put its members in the order of their names.
		line = append(append(append(line, '"'), m.name...), '"', ':')
		raw, _ := json.Marshal(m.value)
		line = append(line, raw...)
	}
	return append(safe.JSON(append(line, '}')), '\n')
}

// csv is a record as a line of CSV: the values alone, none of which a spreadsheet takes for a
// formula.
func (r record) csv() []byte {
	cells := make([]string, len(r))
	for i, m := range r {
		cells[i] = safe.CSV(cell(m.value))
	}
	return csvLine(cells)
}

// csvLine quotes cells where they need it. Writing into memory cannot fail.
func csvLine(cells []string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(cells)
	w.Flush()
	return b.Bytes()
}

// cell is a value as a CSV file shows it; null is empty.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case *string: // of a column that can be null
		if v == nil {
			return ""
		}
		return *v
	case *bool: // likewise
		if v == nil {
			return ""
		}
		return strconv.FormatBool(*v)
	case float64: // as a whole number where it is one, and never as 1e+06
		return strconv.FormatFloat(v, 'f', -1, 64)
	case json.RawMessage:
		return string(v)
	}
	return fmt.Sprint(v)
}
