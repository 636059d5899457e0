package columns

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/filter"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/table"
	"github.com/farsight-console/farsight/themes"
)

type call = engine.CallRow

// Calls is what is told of a call in the flight recorder. A call without an answer has no
// status: status:none.
//
//	TIME      STATUS  HOST    METHOD       TARGET           TOOK    PACED   FOR THE WINDOW
//	12:31:02  200     europe  match.match  EUW1_7214550881  118 ms  1.06 s  app:europe 100/120s
var Calls = catalogue(filter.Options{
	Free:  []string{"status", "host", "method", "target", "job", "class", "by"},
	Fuzzy: []string{"method", "target"},
	Age:   "ms", When: "at",
},
	known("status", "of the answer: 429, 5xx, none", func(r *call) int { return r.Status }).
		head("STATUS", table.Words, 7, 7).cell(func(_ Pen, r *call) table.Cell { return StatusCell(r) }),
	name("class", "fingerprint of the failure: 429.app, timeout", func(r *call) engine.Class { return r.Class }),
	name("host", "europe, kr", func(r *call) string { return r.Host }).as("region", "route").
		head("HOST", table.Words, 8, 8).drop(5),
	name("method", "", func(r *call) string { return r.Method }).head("METHOD", table.Words, 14, 18).drop(4).
		says(func(r *call) string { return Versionless(r.Method) }),
	prose("target", "match id or PUUID", func(r *call) string { return r.Target }).as("match").
		head("TARGET", table.ID, 13, 15),
	name("job", "id of the job that made it", func(r *call) engine.JobID { return r.Job }),
	span("ms", "how long it took; milliseconds unless a unit is given", func(r *call) time.Duration { return r.Took }).
		as("took").bare(time.Millisecond).
		head("TOOK", table.Number, 7, 7).says(func(r *call) string { return human.Millis(r.Took) }),
	span("paced", "how long the limiter kept it", func(r *call) time.Duration { return r.Paced }).
		head("PACED", table.Number, 6, 7).cell(pacedCell),
	prose("by", "the limit that kept it", func(r *call) string { return r.PacedBy }).as("paced_by").
		head("FOR THE WINDOW", table.Words, 18, 18).drop(3).colour(themes.Dim).says(func(r *call) string { return engine.LimitWords(r.PacedBy) }),
	span("retry_after", "as the answer asked", func(r *call) time.Duration { return r.RetryAfter }).as("ra").
		unknown(func(r *call) bool { return r.RetryAfter <= 0 }),
	past("at", "when it was answered", func(r *call) time.Time { return r.At }).as("time").
		head("TIME", table.Words, 12, 12),
	age("age", "since it was answered", func(r *call) time.Time { return r.At }),
	yesNo("unforeseen", "a 429 that our limiter did not expect", func(r *call) bool { return r.Unforeseen }),
	shown[call]("app").head("APP COUNT", table.Words, 12, 12).drop(6).colour(themes.Dim).
		says(func(r *call) string { return byWindow(r.App) }),
	shown[call]("method_count").head("METHOD COUNT", table.Words, 12, 12).drop(7).colour(themes.Dim).
		says(func(r *call) string { return byWindow(r.MethodUsed) }),
	shown[call]("note").head("NOTE", table.Sentence, 20, 24).flex(1).drop(2).
		cell(func(_ Pen, r *call) table.Cell { return NoteCell(r) }),
)

// CallList are the columns of the flight recorder.
var CallList = Calls.Pick("at status host method target ms paced by app method_count note")

// StatusCell is how a call ended: its status, or why there was none.
func StatusCell(c *call) table.Cell {
	switch {
	case c.Status == 200:
		return table.As(themes.OK, "200")
	case c.Status == 0:
		return table.As(themes.Err, cmp.Or(string(c.Class), "none"))
	case c.Status == 429:
		return table.As(themes.Warn, "429")
	}
	return table.As(themes.Err, strconv.Itoa(c.Status))
}

// pacedCell says how long the limiter kept the call.
func pacedCell(_ Pen, c *call) table.Cell {
	if c.Paced <= 0 {
		return table.As(themes.Dim, human.None)
	}
	return table.As(themes.Dim, human.Secs(c.Paced))
}

// NoteCell says what is unusual about a call. What should not happen goes before what was to be
// expected.
func NoteCell(c *call) table.Cell {
	switch {
	case c.Early > 0:
		return table.As(themes.Err, human.Dur(c.Early)+" early: "+throttle(c))
	case c.Status == 429 && c.Unforeseen:
		return table.As(themes.Err, "unexpected: "+throttle(c))
	case c.Status == 429:
		return table.As(themes.Warn, throttle(c))
	case c.Proof:
		return table.As(themes.Dim, "asks if it works")
	case c.Status != 200 && c.Class != classServer && string(c.Class) != StatusCell(c).Text:
		return table.As(themes.Dim, Answer(c.Class, ""))
	}
	return table.Plain("")
}

// classServer is the class of every 5xx: it adds nothing to the status.
const classServer engine.Class = "5xx"

// throttle says of a 429 what refused it, and for how long: "application, Retry-After 8 s".
func throttle(c *call) string {
	kind := strings.TrimPrefix(string(c.Class), "429.")
	if c.RetryAfter > 0 {
		return kind + ", Retry-After " + human.Dur(c.RetryAfter)
	}
	return kind
}

// byWindow is a count header with its windows from the shortest to the longest: Riot's order
// differs from answer to answer. What is no count header stays as it is. "100:120,20:1" is told as
// "20:1,100:120".
func byWindow(header string) string {
	if !strings.Contains(header, ",") {
		return header
	}
	parts := strings.Split(header, ",")
	span := func(part string) int {
		_, seconds, _ := strings.Cut(part, ":")
		n, _ := strconv.Atoi(strings.TrimSpace(seconds))
		return n
	}
	slices.SortStableFunc(parts, func(a, b string) int { return span(a) - span(b) })
	return strings.Join(parts, ",")
}

// answerWords say what a status means in the room of a narrow column; the other statuses are told as
// they came.
var answerWords = map[int]string{
	400: "bad request", 401: "no key", 403: "refused", 404: "not found", 408: "timeout", 429: "rate limit",
	500: "internal", 502: "bad gateway", 503: "unavailable", 504: "gateway timeout",
}

// classWords say what went wrong where there was no status, or beside it.
var classWords = map[engine.Class]string{
	"timeout": "timeout", "bad_payload": "broken body", "local": "no network", "storage": "disk",
	"401.key": "refused", "403.key": "refused", "403.page": "a web page", "400.decrypt": "other project's id", "key.missing": "no key",
	"429.app": "429 application", "429.method": "429 method", "429.service": "429 service",
}

// Answer is what came of a call in two words: 503 unavailable, timeout. What has no such words
// is told as it was received. It reads "riot: match-v5.match on europe: status 503: …" as well as an
// error of ours, whose class tells what it is.
func Answer(class engine.Class, err string) string {
	if strings.HasPrefix(string(class), "429.") { // whose limit it is about
		return cmp.Or(classWords[class], "429 "+answerWords[429])
	}
	said := InShort(err)
	status, _, _ := strings.Cut(strings.Replace(said, ":", " ", 1), " ")
	if n, ok := statusOf(status); ok && answerWords[n] != "" {
		return status + " " + answerWords[n]
	}
	return cmp.Or(classWords[class], said, string(class), "failed")
}

// statusOf reads a status of HTTP.
func statusOf(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 100 && n < 600
}

// LastAnswer is what came of a job's last try.
func LastAnswer(j *engine.Job) string { return Answer(j.Class, j.LastError) }
