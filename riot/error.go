package riot

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/farsight-console/farsight/riot/route"
)

// Reason says what a failed call means for the one who made it. The zero Reason is never used.
type Reason uint8

// The reasons. What the engine does about each stands in engine/traffic/outcome.go.
const (
	Throttled    Reason = iota + 1 // 429: not before RetryAt
	Transient                      // 5xx, or the connection broke after the request was written
	Timeout                        // no whole answer in time; Riot may have counted the call
	Local                          // DNS, dial, TLS, proxy, no network: the request never left
	Missing                        // 404
	BadRequest                     // 400, 405, 415 and the like: asking again will not help
	WrongProject                   // 400 "Exception decrypting": a PUUID of another API project, or none at all
	Denied401                      // the key is unknown or malformed
	Denied403                      // the key is expired or blocked, or the path is refused: see Client.Probe
	Blocked                        // 401 or 403 that Riot did not write: a firewall before it; says nothing of the key
	NoKey                          // no key is set: no call was made
	Malformed                      // a 200 whose body is not what was asked for
	TooLarge                       // a 200 whose body is beyond maxBody
)

// reasonNames are shown to operators and written to logs.
var reasonNames = [...]string{
	Throttled: "throttled", Transient: "transient", Timeout: "timeout", Local: "local", Missing: "missing",
	BadRequest: "bad request", WrongProject: "wrong project", Denied401: "denied", Denied403: "denied", Blocked: "blocked",
	NoKey: "no key", Malformed: "malformed", TooLarge: "too large",
}

func (r Reason) String() string {
	if int(r) < len(reasonNames) && reasonNames[r] != "" {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Denied reports whether the key is what stands in the way: nothing may be charged and no call made until
// it is known to work, or was replaced.
func (r Reason) Denied() bool { return r == Denied401 || r == Denied403 || r == NoKey }

// Classes name a failure more finely than its reason; they are what operators filter and group by.
const (
	ClassThrottledApp     = "429.app"
	ClassThrottledMethod  = "429.method"
	ClassThrottledService = "429.service"
	ClassThrottledUnknown = "429.unknown"
	ClassServer           = "5xx"
	classReset            = "reset"
	classRedirect         = "3xx"
	ClassTimeout          = "timeout"
	ClassLocal            = "local"
	ClassMissing          = "404"
	ClassBadRequest       = "400"
	ClassWrongProject     = "400.decrypt"
	ClassUnauthorized     = "401.key"
	ClassForbidden        = "403.key"  // the engine makes it 403.path when a probe shows that the key works
	ClassBlocked          = "403.page" // likewise
	ClassNoKey            = "key.missing"
	ClassPayload          = "bad_payload"
	ClassStopped          = "stopped" // in records only: the caller ended the call
	ClassUnread           = "unread"  // in records only: the connection was closed before, the call is made again
)

// maxText bounds Message and Excerpt, in characters.
const maxText = 200

// Error is a call that did not bring what was asked for.
type Error struct {
	Reason  Reason
	Status  int          // of the answer; 0 when there was none
	Class   string       // one of the Class constants
	RetryAt time.Time    // Throttled only: not before this instant
	Host    string       // routing value: "europe"
	Method  route.Method // what was called
	Message string       // one sentence, of Riot or of ours: no control characters, at most 200 characters
	Excerpt string       // start of a body that could not be used, cleaned likewise
	TraceID string       // X-Riot-Edge-Trace-Id, when Riot sent one

	err error
}

// Error says what was tried, where, and what came back.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "riot: %s on %s: ", e.Method, e.Host)
	// A 200 is left out: what was wrong with such an answer is its body.
	if e.Status != 0 && e.Status != 200 {
		fmt.Fprintf(&b, "status %d: ", e.Status)
	}
	b.WriteString(e.Message)
	return b.String()
}

// Unwrap is the network error below, if any.
func (e *Error) Unwrap() error { return e.err }

// newError fills what every error of a call has.
func (c *Client) newError(rq request, r Reason, class, message string) *Error {
	return &Error{Reason: r, Class: class, Host: rq.host, Method: rq.method, Message: c.clean(message)}
}

// CannotReach begins the message of a call that did not leave this machine, before what it met.
const CannotReach = "cannot reach the server: "

// clean is clean without the current key: a server may echo it, and not every key looks like Riot's.
func (c *Client) clean(s string) string { return clean(c.keys.Get().Redact(s)) }

// clean makes foreign text fit for one line: no key, no control or invisible characters, one space for
// each run of white space, at most maxText characters. It bounds what is kept; what a terminal may be
// shown is decided at the exits.
func clean(s string) string {
	var b strings.Builder
	space, n := false, 0
	// Keys first: white space that is folded in the middle of one would hide it from Redact.
	for _, r := range Redact(s) {
		switch {
		case unicode.IsSpace(r):
			space = n > 0
			continue
		case !unicode.IsPrint(r):
			r = unicode.ReplacementChar
		}
		if n >= maxText-2 {
			b.WriteRune('…')
			break
		}
		if space {
			b.WriteByte(' ')
			n++
		}
		space = false
		b.WriteRune(r)
		n++
	}
	return b.String()
}
