package sim

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"
)

// plain is the body without compression.
func (a *answer) plain() []byte {
	if a.gz == nil {
		return a.body
	}
	zr, err := gzip.NewReader(bytes.NewReader(a.gz))
	if err != nil {
		return a.body
	}
	raw, err := io.ReadAll(zr)
	if err != nil {
		return a.body
	}
	return raw
}

// wire is the body as it is sent to c, and whether that is gzip.
func (a *answer) wire(c *call) (body []byte, compressed bool) {
	switch {
	case !c.gzip:
		return a.plain(), false
	// As Riot's edge does: a small answer is not worth packing. A huge one is a fault that is meant to come plain.
	case a.gz == nil && len(a.body) > 1024 && len(a.body) < 1<<20:
		return compress(a.body), true
	case a.gz != nil:
		return a.gz, true
	}
	return a.body, false
}

// set adds a header.
func (a *answer) set(name, value string) {
	if a.header == nil {
		a.header = map[string]string{}
	}
	a.header[name] = value
}

// headers is the full set for a body of n bytes.
func (a *answer) headers(compressed bool, n int) http.Header {
	h := http.Header{}
	for name, value := range a.header {
		h.Set(name, value)
	}
	h.Set("Date", time.Now().Add(a.skew).UTC().Format(http.TimeFormat))
	// Twice, as recorded: a client that keeps one value of a name loses the other.
	h.Add("Vary", "Origin")
	h.Add("Vary", "accept-encoding")
	if compressed {
		h.Set("Content-Encoding", "gzip")
	}
	// Of what is sent in full: of a body that is cut the announced length is the whole one.
	h.Set("Content-Length", strconv.Itoa(n))
	return h
}

// transfer says how an answer's bytes travel.
type transfer uint8

const (
	whole  transfer = iota
	cut             // half of the body, then the connection ends
	drip            // small pieces with pauses
	broken          // no answer, the connection breaks
	silent          // no answer at all
)

// answer is what the simulator says to one call.
type answer struct {
	status     int
	header     map[string]string // beside the rate limit headers
	body       []byte            // plain, unless gz is set
	gz         []byte            // the compressed form, for those who take it
	transfer   transfer
	pause      time.Duration // between the pieces of a drip; before a kept connection closes
	closes     bool          // the connection is kept, and not read any more
	farewell   string        // written before it closes
	delay      time.Duration // before the answer, beside the latency
	noHeaders  bool          // no rate limit headers
	retryAfter string        // header; empty: none
	limitType  string        // X-Rate-Limit-Type of a 429; empty: none
	skew       time.Duration // of the Date header
}

const textJSON = "application/json;charset=utf-8"

// textAnswer is an answer of JSON that is written already.
func textAnswer(status int, body string) *answer {
	return &answer{status: status, body: []byte(body), header: map[string]string{"Content-Type": textJSON}}
}

// jsonAnswer fills a JSON text, by fmt; strings are quoted. Only what JSON demands is escaped: hostile runes reach the
// client as Riot would send them.
func jsonAnswer(status int, format string, values ...any) *answer {
	return textAnswer(status, jsonText(format, values...))
}

func jsonText(format string, values ...any) string {
	for i, v := range values {
		if text, ok := v.(string); ok {
			values[i], _ = jsontext.AppendQuote([]byte(nil), text) // what is no UTF-8 becomes U+FFFD
		}
	}
	return fmt.Sprintf(format, values...)
}

// statusAnswer is an error in Riot's form: {"status":{"message":"Data not found","status_code":404}}.
func statusAnswer(status int, message string) *answer {
	return jsonAnswer(status, `{"status":{"message":%s,"status_code":%d}}`, message, status)
}
