package columns

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
)

// answerWords say what a status means in the room of a narrow column; the other statuses are told as
// they came.
var answerWords = map[int]string{
	400: "bad request", 401: "no key", 403: "refused", 404: "not found", 408: "timeout", 429: "rate limit",
	500: "internal", 502: "bad gateway", 503: "unavailable", 504: "gateway timeout",
}

// classWords say what went wrong where there was no status.
var classWords = map[engine.Class]string{
	"timeout": "timeout", "bad_payload": "broken body", "local": "no network", "storage": "disk",
	"429.app": "429 rate limit", "429.service": "429 service",
}

// Answer is what came of a call in two words: 503 unavailable, timeout. What has no such words
// is told as it was received. It reads "riot: match-v5.match on europe: status 503: …" as well as an
// error of ours, whose class tells what it is.
func Answer(class engine.Class, err string) string {
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
