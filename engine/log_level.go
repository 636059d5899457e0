package engine

import (
	"slices"
	"strconv"
	"strings"
)

// logLevels are the levels of LogRow.Level, the least grave first.
var logLevels = []string{"debug", "info", "warn", "error"}

// LogLevels names the levels of log records, the least grave first.
func LogLevels() []string { return slices.Clone(logLevels) }

// LogRank orders levels of log records: 0 for debug up to 3 for error; -1 for a
// word that is none.
func LogRank(level string) int { return slices.Index(logLevels, level) }

// Check reports what is wrong with a query of the log, as a *Problem.
func (q LogsQuery) Check() error {
	if q.Level == "" || LogRank(q.Level) >= 0 {
		return nil
	}
	return Problemf(ErrInvalid, "use one of "+strings.Join(logLevels, ", "), "%q is no level of the log", q.Level)
}

// Fits reports whether the query asks for a record. Text is looked for without
// regard to case in the area, the text and the fields.
func (q LogsQuery) Fits(r LogRow) bool {
	if LogRank(r.Level) < LogRank(q.Level) || q.Job != "" && r.Job != q.Job {
		return false
	}
	if q.Text == "" {
		return true
	}
	want := strings.ToLower(q.Text)
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), want) }
	return has(r.Text) || has(r.Area) || slices.ContainsFunc(r.Fields, func(f LogField) bool {
		return has(f.Key + "=" + f.Value)
	})
}

// Line is what a record says, in one line: attempt ended job=17 err="no answer".
func (r LogRow) Line() string {
	var b strings.Builder
	b.WriteString(r.Text)
	if r.Job != "" {
		b.WriteString(" job=" + string(r.Job))
	}
	for _, f := range r.Fields {
		value := f.Value
		if value == "" || strings.ContainsAny(value, " \t\n\"") { // so that fields can be told apart
			value = strconv.Quote(value)
		}
		b.WriteString(" " + f.Key + "=" + value)
	}
	return b.String()
}
