package engine

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrorClass is the fingerprint of a failure (I-6): its class, where it happened,
// and the shape of its message, without the numbers and names that differ from
// job to job.
type ErrorClass struct {
	Class  Class  `json:"class"`
	Method string `json:"method,omitempty"`
	Host   string `json:"host,omitempty"`
	Shape  string `json:"shape,omitempty"`
}

// ClassRow is one error class with the jobs in it.
type ClassRow struct {
	ErrorClass
	ID      string    `json:"id"`               // for --class and JobFilter.Class
	Jobs    int       `json:"jobs"`             // Waiting and Dead together
	Waiting int       `json:"waiting"`          // of Jobs: live ones, which will run again
	Dead    int       `json:"dead"`             // of Jobs: discarded
	Share   float64   `json:"share"`            // of all failed jobs, 0 to 1
	First   time.Time `json:"first,omitzero"`   // the earliest of their last attempts
	Last    time.Time `json:"last,omitzero"`    // the latest of them
	Sample  []string  `json:"sample,omitempty"` // a few jobs, by key or id
	Error   string    `json:"error"`            // of the latest one, as received
	Latest  JobID     `json:"latest,omitempty"` // the job of the latest one
	// Lately are the failures of its jobs in the past hour by classStep, the oldest first.
	Lately []int `json:"lately"`
}

// classStep and ClassSteps are the steps of ClassRow.Lately.
const (
	classStep  = 2 * time.Minute
	ClassSteps = 30
)

// Failed counts a failure of one of the class's jobs, if it was in the past hour.
func (r *ClassRow) Failed(at, now time.Time) {
	if r.Lately == nil {
		r.Lately = make([]int, ClassSteps)
	}
	step := ClassSteps - 1 - int(now.Truncate(classStep).Sub(at.Truncate(classStep))/classStep)
	if step >= 0 && step < ClassSteps {
		r.Lately[step]++
	}
}

// classSep parts the class from the hash in an ID: no class contains it.
const classSep = ":"

// ID is short, printable and stable: "503:1f2e3d4c".
func (c ErrorClass) ID() string {
	h := fnv.New32a()
	for _, part := range []string{c.Method, c.Host, c.Shape} {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return fmt.Sprintf("%s%s%08x", c.Class, classSep, h.Sum32())
}

// Fits reports whether an error class is meant by what a person named: a class
// such as "5xx", or an ID.
func (c ErrorClass) Fits(named Class) bool {
	if strings.Contains(string(named), classSep) {
		return c.ID() == string(named)
	}
	return c.Class == named
}

// ClassOf fingerprints the last failure of a job. lane is where its calls go, as
// an admitter names it: "europe/match-v5.match"; "" = nobody knows.
func ClassOf(j Job, lane string) ErrorClass {
	host, method, _ := strings.Cut(strings.TrimSuffix(lane, "+"), "/")
	if method == "" {
		method = string(j.Kind)
	}
	return ErrorClass{Class: j.Class, Method: method, Host: host, Shape: Shape(j.LastError)}
}

// maxShape bounds a shape, in runes.
const maxShape = 120

// Shape is a message without what differs from one job to the next: words with a
// digit become "#", quoted text becomes "…".
func Shape(message string) string {
	var b strings.Builder
	quoted := false
	for i, part := range strings.Split(message, `"`) {
		quoted = i%2 == 1
		if quoted {
			b.WriteString(`"…"`)
			continue
		}
		b.WriteString(withoutNumbers(part))
	}
	return firstRunes(b.String(), maxShape)
}

// withoutNumbers puts # in the place of each word with a digit, so that errors that differ by a match,
// a time or a count are one. Spaces at the ends stay: the part stands between two quotes.
func withoutNumbers(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		if strings.ContainsAny(w, "0123456789") {
			words[i] = "#"
		}
	}
	joined := strings.Join(words, " ")
	if joined != "" && strings.HasPrefix(s, " ") {
		joined = " " + joined
	}
	if joined != "" && strings.HasSuffix(s, " ") {
		joined += " "
	}
	return joined
}

// firstRunes cuts a text to n runes.
func firstRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}
