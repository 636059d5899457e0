package api

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/farsight-console/farsight/engine"
)

// plainHead is what net/http puts behind the status line when it answers what is no
// request, before anything of ours has seen it. It writes the whole answer at once.
var plainHead = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// maxHeader is how many bytes the head of a request may have.
const maxHeader = 16 << 10

// maxPlainHead is within how many bytes it stands there.
const maxPlainHead = 256

// bareHead is the whole of what it answers to an expectation that it does not know.
var bareHead = []byte("HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\n")

// plainWords say what is wrong where net/http has only a number for it.
var plainWords = map[int]string{
	http.StatusBadRequest:                  "this is no HTTP request that can be read",
	http.StatusRequestHeaderFieldsTooLarge: fmt.Sprintf("the request's head has more than %d bytes", maxHeader),
	http.StatusNotImplemented: "the body comes in a transfer encoding that is not known: " +
		"use chunked, or Content-Length",
	http.StatusExpectationFailed: "the request's Expect is not known: use 100-continue, or leave it out",
}

// asProblem turns such an answer into a problem, like every other. ok is false for all
// else.
func asProblem(answer []byte) (problem []byte, ok bool) {
	// "HTTP/1.1 400 Bad Request: missing required Host header\r\nContent-Type: text/plain; …"
	line, _, ok := bytes.Cut(answer[:min(len(answer), maxPlainHead)], plainHead)
	if bytes.HasPrefix(answer, bareHead) {
		line, _, ok = bytes.Cut(answer, []byte("\r\n"))
	}
	if !ok || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return nil, false
	}
	code, said, _ := strings.Cut(string(line[len("HTTP/1.1 "):]), " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		return nil, false
	}
	// Behind the status there may be a reason, which says more than the table.
	why := plainWords[status]
	if _, reason, told := strings.Cut(said, ": "); told {
		why = reason
	}
	return wholeProblem(ProblemOf(faultf(status, engine.ErrInvalid, "", "%s", why)), ""), true
}

// wholeProblem is an answer with its head, for whom no request was read. more are
// headers, each with the end of its line.
func wholeProblem(p Problem, more string) []byte {
	body, err := encode(p)
	if err != nil {
		body = []byte("{}")
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\nContent-Type: %s\r\n"+
		"X-Content-Type-Options: nosniff\r\nContent-Length: %d\r\n%sConnection: close\r\n\r\n%s",
		p.Status, http.StatusText(p.Status), problemJSON, len(body), more, body)
}
