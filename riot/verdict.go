package riot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/riot/limit"
)

// verdict is what a status means. The code alone decides: only 200 guarantees JSON (portal, Response
// Codes), so that a body is read for its message and never for its meaning, but for the two below. What
// the engine then does about a reason is decided elsewhere; what operators group failures by is the class.
type verdict struct {
	reason Reason
	class  string
}

var verdicts = map[int]verdict{
	http.StatusNoContent:         {Malformed, ClassPayload},
	http.StatusBadRequest:        {BadRequest, ClassBadRequest},
	http.StatusUnauthorized:      {Denied401, ClassUnauthorized},
	http.StatusForbidden:         {Denied403, ClassForbidden},
	http.StatusNotFound:          {Missing, ClassMissing},
	http.StatusProxyAuthRequired: {Local, ClassLocal},
	http.StatusRequestTimeout:    {Timeout, ClassTimeout},
	http.StatusTooManyRequests:   {Throttled, ClassThrottledUnknown},
}

// families judge the codes that have no line of their own, by their first digit.
var families = map[int]verdict{
	1: {Malformed, ClassPayload}, 2: {Malformed, ClassPayload},
	3: {Transient, classRedirect},
	4: {BadRequest, ClassBadRequest},
	5: {Transient, ClassServer},
}

// badRequests are the 400s whose message matters: the job is not at fault, the key is.
var badRequests = []struct {
	text string
	verdict
}{
	{"exception decrypting", verdict{WrongProject, ClassWrongProject}},
	{"unknown apikey", verdict{Denied401, ClassUnauthorized}}, // developer-relations#1054
}

var throttles = map[limit.Kind]string{
	limit.Application: ClassThrottledApp,
	limit.Method:      ClassThrottledMethod,
	limit.Service:     ClassThrottledService,
}

// judge reads the verdict of an answer that is no 200: from the line of its code, or its family, or, for a
// code that nobody has defined, as a fault of the server's that may pass.
func judge(status int, message string) verdict {
	v, ok := verdicts[status]
	if !ok {
		v, ok = families[status/100]
	}
	if !ok {
		v = verdict{Transient, ClassServer}
	}
	if status != http.StatusBadRequest {
		return v
	}
	// Riot writes "Bad Request - Exception decrypting <puuid>": only the words in the middle are stable.
	for _, b := range badRequests {
		if strings.Contains(strings.ToLower(message), b.text) {
			return b.verdict
		}
	}
	return v
}

// maxErrorBody bounds what is looked at of a body that is not a 200's, in bytes.
const maxErrorBody = 4 << 10

// errorBody is the beginning of an answer that was refused, unpacked: an error page may be long, its first lines say
// what it is.
func errorBody(resp *http.Response) []byte {
	// So little waits for no place while it comes. Cut or broken, its start serves as well.
	b, _ := readBody(context.Background(), resp.Body, maxHeaderBytes)
	unpacking.take()
	defer unpacking.leave()
	defer b.release()
	_ = b.unpack(encodingOf(resp), maxHeaderBytes)
	return bytes.Clone(b.raw.Bytes()[:min(b.raw.Len(), maxErrorBody)])
}

// refused makes the error of an answer that is not a 200.
func (c *Client) refused(rq request, resp *http.Response, r limit.Receipt, rec *Call) *Error {
	raw := errorBody(resp)
	said := messageOf(raw)
	v := judge(resp.StatusCode, said)
	message := said
	switch {
	case said == "" && v.reason.Denied():
		v = verdict{Blocked, ClassBlocked}
		message = "something before Riot refuses this address: its answer is not Riot's, and says nothing about the key"
	case v.class == classRedirect:
		message = "a redirect, which is never followed: check the base URL and the network"
	case message == "":
		message = cmp.Or(http.StatusText(resp.StatusCode), "a status that nobody has defined")
	}
	e := c.newError(rq, v.reason, v.class, message)
	c.answered(e, resp)
	rec.Body = c.clean(string(raw))
	if said == "" {
		e.Excerpt = rec.Body
	}
	if v.reason == Throttled {
		e.throttled(r)
	}
	return e
}

// answered notes what an answer tells about itself: its status, and the trace id by which Riot finds it.
func (c *Client) answered(e *Error, resp *http.Response) {
	e.Status = resp.StatusCode
	e.TraceID = c.clean(resp.Header.Get("X-Riot-Edge-Trace-Id"))
}

// throttled takes over what the limiter made of a 429: its reading of Retry-After is the only one.
func (e *Error) throttled(r limit.Receipt) {
	if class, ok := throttles[r.Throttle]; ok {
		e.Class = class
	}
	e.RetryAt = r.RetryAt
	if e.RetryAt.IsZero() { // the scope waits for an event, not for an instant
		e.RetryAt = time.Now().Add(retryBlind)
	}
}

// retryBlind is when to ask again if not even the limiter knows.
const retryBlind = 5 * time.Second

// malformed makes the error of a 200 that is not what was asked for; fault completes "the answer ...".
func (c *Client) malformed(rq request, resp *http.Response, fault error, raw []byte) *Error {
	reason := Malformed
	// A class of its own is not needed: for operators both are a bad payload.
	if errors.Is(fault, errTooLarge) {
		reason = TooLarge
	}
	e := c.newError(rq, reason, ClassPayload, "the answer "+fault.Error())
	c.answered(e, resp)
	e.Excerpt = c.clean(string(raw[:min(len(raw), 4*maxText)]))
	e.err = fault
	return e
}

// broken makes the error of an exchange without a whole answer.
func (c *Client) broken(rq request, err error, wrote bool) *Error {
	v, message := c.verdictOf(err, wrote)
	e := c.newError(rq, v.reason, v.class, message)
	e.err = err
	return e
}

// verdictOf tells by what broke an exchange whether Riot can have counted the call. Before the request was
// written it cannot: that is this machine's trouble, and the permit is given back.
func (c *Client) verdictOf(err error, wrote bool) (verdict, string) {
	switch {
	case errors.Is(err, errNoKey):
		return verdict{NoKey, ClassNoKey}, err.Error()
	case errors.Is(err, errHost):
		return verdict{BadRequest, ClassBadRequest}, err.Error()
	case isUnread(err):
		return verdict{Transient, ClassUnread}, err.Error()
	case errors.Is(err, ErrTimeout) && wrote:
		return verdict{Timeout, ClassTimeout}, fmt.Sprintf("no whole answer within %v", c.timeout)
	case errors.Is(err, ErrTimeout):
		return verdict{Local, ClassLocal}, fmt.Sprintf("no connection within %v", c.timeout)
	case !wrote || isOffline(err):
		return verdict{Local, ClassLocal}, CannotReach + err.Error()
	case isTimeout(err):
		return verdict{Timeout, ClassTimeout}, "the connection timed out"
	}
	return verdict{Transient, classReset}, "the connection broke: " + err.Error()
}

// isOffline: this machine lost its network while the call was under way.
func isOffline(err error) bool {
	return slices.ContainsFunc(offline, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// isTimeout: the network gave up by itself, below our own deadline.
func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// messageOf is the sentence in Riot's usual error body; "" for any other body.
func messageOf(raw []byte) (message string) {
	s := scanner{buf: raw}
	s.members(member{"status", func() { s.members(member{"message", &message}) }})
	if s.end() != nil {
		return ""
	}
	return message
}
