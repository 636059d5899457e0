package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine/safe"
)

// Types of answers. A problem has a type of its own (RFC 9457): a program tells it from an answer before
// it reads the body, and [Client] tells it from what a proxy says by itself.
const (
	typeJSON    = "application/json"
	problemJSON = "application/problem+json"
	typeStream  = "application/x-ndjson"
)

// writeTimeout is how long a reader may take nothing before it is cut off.
const writeTimeout = 30 * time.Second

// writeJSON answers with a value. Text is as received; what could harm a terminal
// stands there as \uXXXX.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	raw, err := encode(v)
	if err != nil {
		return err
	}
	answer(w, status, typeJSON, raw)
	return nil
}

// writeTagged answers with a value and its tag, or with 304 to whoever has it already.
// The tag is of the text: it changes when anything in it does.
func writeTagged(w http.ResponseWriter, r *http.Request, v any) error {
	raw, err := encode(v)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache") // to be kept, and asked for again each time
	if has := r.Header["If-None-Match"]; hasToken(has, tag) || hasToken(has, "W/"+tag) || hasToken(has, "*") {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	answer(w, http.StatusOK, typeJSON, raw)
	return nil
}

// writeProblem answers with an error. One that cannot be written as JSON still has its status.
func writeProblem(w http.ResponseWriter, p Problem) {
	raw, err := encode(p)
	if err != nil {
		raw = []byte("{}")
	}
	answer(w, p.Status, problemJSON, raw)
}

// answer writes a whole body, as slowly as its reader takes it.
func answer(w http.ResponseWriter, status int, typ string, body []byte) {
	w.Header().Set("Content-Type", typ)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_ = writeSlowly(w, body) // whoever has gone needs no answer
}

// encode writes one line of JSON that is harmless to a terminal.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return safe.JSON(b.Bytes()), nil
}

// writePiece is how much a reader is given a writeTimeout for.
const writePiece = 64 << 10

// writeSlowly writes and flushes as slowly as the reader takes it, and gives it up
// when it has taken nothing for long. The deadline moves with each piece: a reader may take long over a
// whole body, but not over one piece of it.
func writeSlowly(w http.ResponseWriter, raw []byte) error {
	rc := http.NewResponseController(w)
	for len(raw) > 0 {
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // of a connection that has gone the write tells
		n := min(len(raw), writePiece)
		if _, err := w.Write(raw[:n]); err != nil {
			return err
		}
		raw = raw[n:]
	}
	return rc.Flush()
}

// hasToken looks for a word in a header that is a list.
func hasToken(values []string, word string) bool {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(part), word) {
				return true
			}
		}
	}
	return false
}
