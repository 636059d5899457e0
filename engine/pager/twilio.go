package pager

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// DefaultBaseURL is where Twilio's API is.
const DefaultBaseURL = "https://api.twilio.com"

const (
	// ringFor is how long a line rings until nobody has answered. Most mailboxes
	// take over later.
	ringFor = 30 * time.Second
	// talkFor ends a call whose other side does not hang up, so that it is final
	// some day.
	talkFor = 2 * time.Minute
	// recentCalls is how many of the newest calls are looked through for a lost one.
	recentCalls = 50
)

// CallOptions say who calls whom, by which account.
type CallOptions struct {
	BaseURL string   // of Twilio's API; "" = DefaultBaseURL
	Account Secret   // the account's sid
	Token   Secret   // its auth token
	From    string   // a number of the account
	To      []string // who is called about alerts, in this order; none = nobody
	// Allow are the numbers that calls of users' own may go to; none = there are no such
	// calls. PerDay is how many of them may be asked for in a UTC day; 0 = DefaultPerDay.
	Allow  []string
	PerDay int
	// MachineDetection has the provider tell people from mailboxes: one that has answered counts as no
	// answer. Else it counts as told.
	MachineDetection bool
	Poll             time.Duration // between two looks at a call's status; 0 = DefaultPoll
}

// withDefaults fills in what was left open. Negative numbers count as left open.
func (o CallOptions) withDefaults() CallOptions {
	o.BaseURL, o.Poll, o.PerDay = cmp.Or(o.BaseURL, DefaultBaseURL), cmp.Or(max(o.Poll, 0),
		DefaultPoll), cmp.Or(max(o.PerDay, 0), DefaultPerDay)
	return o
}

// DefaultPerDay is how many calls users may ask for in a day.
const DefaultPerDay = 20

// DefaultPoll is the wait between two looks at a call's status.
const DefaultPoll = 3 * time.Second

// formOfSID is what may stand in an address.
var formOfSID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]{8,64}$`) })

// twilio is the part of Twilio's Calls API that is used (Voice API, Call resource,
// version 2010-04-01).
type twilio struct {
	client *client
	opt    CallOptions
}

// callResource is a call as the API gives it.
type callResource struct {
	SID     string `json:"sid"`
	Status  string `json:"status"`
	To      string `json:"to"`
	From    string `json:"from"`
	Created string `json:"date_created"` // RFC 2822
	// By says who has answered, where MachineDetection was asked for: human, machine_start …, fax, unknown.
	By string `json:"answered_by"`
}

// refusal is the API's error body.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// reasons are codes of refusals that no other attempt will mend (Twilio, Error and
// Warning Dictionary). Whatever else is refused is "refused".
var reasons = map[int]string{
	20003: reasonCredentials,
	21205: reasonInvalid, 21211: reasonInvalid, 21217: reasonInvalid, 21401: reasonInvalid, 13224: reasonInvalid,
	21214: "unallocated",
	21215: reasonBlocked, 21216: reasonBlocked, 21219: reasonBlocked, 13227: reasonBlocked,
}

// Reasons within "failed".
const (
	reasonNetwork     = "network"     // no connection, or no answer
	reasonServer      = "server"      // 5xx
	reasonCredentials = "credentials" // account or token
	reasonInvalid     = "invalid-number"
	reasonBlocked     = "blocked"
	reasonRefused     = "refused"
)

// apiError is an answer that is no call.
type apiError struct {
	reason string
	until  time.Time // 429: not before
	// open says that a call may have been placed all the same.
	open bool
	err  error
}

func (e *apiError) Error() string { return e.err.Error() }
func (e *apiError) Unwrap() error { return e.err }

// create places a call that speaks the TwiML document. Errors are *apiError, or
// the context's cause: then a call may have been placed.
func (t *twilio) create(ctx context.Context, to, twiml string) (callResource, error) {
	form := url.Values{
		"To": {to}, "From": {t.opt.From}, "Twiml": {twiml},
		"Timeout": {seconds(ringFor)}, "TimeLimit": {seconds(talkFor)},
	}
	if t.opt.MachineDetection {
		form.Set("MachineDetection", "Enable")
	}
	c, err := t.one(ctx, http.MethodPost, "/Calls.json", form)
	if err == nil && !formOfSID().MatchString(c.SID) {
		return c, &apiError{reason: reasonServer, open: true,
			err: errors.New("the call was taken, but its sid cannot be read")}
	}
	return c, err
}

// status reads one call.
func (t *twilio) status(ctx context.Context, sid string) (callResource, error) {
	return t.one(ctx, http.MethodGet, "/Calls/"+sid+".json", nil)
}

// hangUp ends a call that nobody has answered yet; one under way goes on. It gives how the call stands.
func (t *twilio) hangUp(ctx context.Context, sid string) (callResource, error) {
	return t.one(ctx, http.MethodPost, "/Calls/"+sid+".json", url.Values{"Status": {string(engine.CallCanceled)}})
}

// end is how an ended call ended. A mailbox that answered counts as no answer, where Twilio was asked to tell
// a mailbox from a person.
func (c callResource) end() engine.CallEnd {
	end := engine.CallEnd{Status: engine.CallStatus(c.Status)}
	if end.Status == engine.CallCompleted && (strings.HasPrefix(c.By, "machine") || c.By == "fax") {
		end.Status, end.Reason = engine.CallNoAnswer, "mailbox"
	}
	return end
}

// newest lists the newest calls to a number, newest first.
func (t *twilio) newest(ctx context.Context, to string) ([]callResource, error) {
	q := url.Values{"To": {to}, "From": {t.opt.From}, "PageSize": {strconv.Itoa(recentCalls)}}
	a, err := t.ask(ctx, http.MethodGet, "/Calls.json?"+q.Encode(), nil)
	if err != nil {
		return nil, err
	}
	var page struct {
		Calls []callResource `json:"calls"`
	}
	if err := json.Unmarshal(a.body, &page); err != nil {
		return nil, &apiError{reason: reasonServer, err: errors.New("the list of calls cannot be read")}
	}
	return page.Calls, nil
}

// one makes a request that is answered with one call. An answer that cannot be read leaves it open
// whether a call was placed.
func (t *twilio) one(ctx context.Context, method, path string, form url.Values) (c callResource, err error) {
	a, err := t.ask(ctx, method, path, form)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(a.body, &c); err != nil {
		return c, &apiError{reason: reasonServer, open: true, err: errors.New("the answer is no call that can be read")}
	}
	return c, nil
}

// ask makes one request of the account. Errors are *apiError, or the context's cause.
func (t *twilio) ask(ctx context.Context, method, path string, form url.Values) (answer, error) {
	address := strings.TrimRight(t.opt.BaseURL, "/") + "/2010-04-01/Accounts/" +
		url.PathEscape(t.opt.Account.value()) + path
	req, err := http.NewRequest(method, address, bytes.NewBufferString(form.Encode()))
	if err != nil {
		return answer{}, &apiError{reason: reasonRefused,
			err: errors.New("the base URL of the calls API makes no address")}
	}
	req.SetBasicAuth(t.opt.Account.value(), t.opt.Token.value())
	req.Header.Set("Accept", "application/json")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	a, err := t.client.do(ctx, req)
	if wire, ok := errors.AsType[*wireError](err); ok {
		return a, &apiError{reason: reasonNetwork, open: wire.sent, err: wire}
	}
	if err != nil {
		return a, err
	}
	return a, t.judge(a)
}

// judge tells the answers that are no success. The code of the error body says more than the status;
// after a 5xx a call may have been placed all the same.
func (t *twilio) judge(a answer) error {
	if a.status >= 200 && a.status < 300 {
		return nil
	}
	var said refusal
	_ = json.Unmarshal(a.body, &said) // a body of another form is shown as it is
	e := &apiError{reason: reasons[said.Code], err: t.client.says(a)}
	if said.Message != "" {
		e.err = fmt.Errorf("refused with %d, code %d: %s", a.status, said.Code, t.client.clean(said.Message))
	}
	switch {
	case a.status == http.StatusTooManyRequests:
		e.until = a.retryAfter(time.Now())
	case a.status >= 500:
		e.reason, e.open = reasonServer, true
	case e.reason != "":
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
		e.reason = reasonCredentials
	default:
		e.reason = reasonRefused
	}
	return e
}

// seconds is a duration as the API takes it.
func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

// created is when the API says that the call was made; zero when it does not.
func (c callResource) created() time.Time {
	at, err := time.Parse(time.RFC1123Z, c.Created)
	if err != nil {
		return time.Time{}
	}
	return at
}
