package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/farsight-console/farsight/engine"
)

// Bounds of one record: a stack is long, and what a server said may be anything.
const (
	maxValue  = 16 << 10 // bytes of a text or a value
	maxFields = 64
)

// levels are the words that zerolog writes, as ours.
var levels = map[string]string{
	"trace": "debug", "debug": "debug", "info": "info", "warn": "warn",
	"error": "error", "fatal": "error", "panic": "error",
}

// errNotARecord says that a line is no JSON object.
var errNotARecord = errors.New("not a log record")

// Decode reads one line of the log as zerolog writes it. A line that is none, such
// as one cut by a crash, comes back as text of level info, and ok is false.
func Decode(line []byte) (row engine.LogRow, ok bool) {
	line = bytes.TrimSpace(line)
	if err := decode(line, &row); err != nil {
		return engine.LogRow{Level: "info", Text: bounded(string(line))}, false
	}
	if row.Level == "" {
		row.Level = "info"
	}
	return row, true
}

// decode reads the members one by one and not into a map: fields keep the order in which they were
// logged.
func decode(line []byte, row *engine.LogRow) error {
	// {"level":"warn","job":"b41","attempt":2,"time":"…","message":"attempt failed"}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errNotARecord
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return errNotARecord
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return errNotARecord
		}
		take(row, key.(string), textOf(raw)) // keys of an object are strings, or Token has failed
	}
	if _, err := d.Token(); err != nil || d.More() {
		return errNotARecord
	}
	return nil
}

// take puts one member of the object where it belongs. What does not look like
// its name says stays a field: nothing is lost.
func take(row *engine.LogRow, key, value string) {
	switch key {
	case "level":
		if l, known := levels[value]; known {
			row.Level = l
			return
		}
	case "time":
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
			row.At = at
			return
		}
	case "message":
		row.Text = value
		return
	case "area":
		row.Area = value
		return
	case "job":
		row.Job = engine.JobID(value)
		return
	}
	if len(row.Fields) < maxFields {
		row.Fields = append(row.Fields, engine.LogField{Key: bounded(key), Value: value})
	}
}

// textOf is a JSON value as a person reads it: strings without their quotes.
func textOf(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return bounded(s)
	}
	return bounded(string(raw))
}

// bounded cuts a text at a rune.
func bounded(s string) string {
	if len(s) <= maxValue {
		return s
	}
	// Back to where a rune begins, at most three bytes.
	n := maxValue
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n]) + "…"
}
