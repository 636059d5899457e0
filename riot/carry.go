package riot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"

	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// Carrier lets other processes with the same key make calls.
type Carrier interface {
	// Carries reports whether another one is there now, and whether this one makes none itself.
	Carries() (elsewhere, only bool)
	// Carry makes a call: an escaped path with its query at a host. begun says that Riot may have counted
	// it, whatever else there is to tell; ErrNotCarried: its answer will not come, and the call is made again.
	Carry(ctx context.Context, c Carried) (a *Answer, begun bool, err error)
}

// Carried is a call that another process makes.
type Carried struct {
	Host, Method, Path string // the path is escaped, and has the query
	Job                string
}

// Answer is Riot's answer as it came.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // packed as the header says
}

// ErrNotCarried says of a call that nobody made it, or that whoever did is gone.
var ErrNotCarried = errors.New("no other process has brought the answer")

// carried is the way of a call that another process makes.
type carried struct {
	by Carrier
	c  Carried
}

// RoundTrip implements http.RoundTripper.
func (w carried) RoundTrip(req *http.Request) (*http.Response, error) {
	a, begun, err := w.by.Carry(req.Context(), w.c)
	if begun {
		httptrace.ContextClientTrace(req.Context()).WroteRequest(httptrace.WroteRequestInfo{})
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: a.Status, Header: a.Header, Body: io.NopCloser(bytes.NewReader(a.Body)), Request: req}, nil
}

// ways are those in which a call is tried, one after the other.
func (c *Client) ways(rq request, path, job string) []http.RoundTripper {
	if c.carrier != nil {
		by := carried{c.carrier, Carried{Host: rq.host, Method: string(rq.method), Path: path, Job: job}}
		switch elsewhere, only := c.carrier.Carries(); {
		case only:
			return []http.RoundTripper{by, by}
		case elsewhere:
			return []http.RoundTripper{by, c.anew}
		}
	}
	if at, lost := c.lost.Load(rq.host); lost && time.Since(at.(time.Time)) < unkeptFor {
		return []http.RoundTripper{c.anew, c.anew}
	}
	return []http.RoundTripper{c.wire, c.anew}
}

// Relay makes a call that another process has let go, unless it would be written after an instant: the limits
// are that one's. wrote says that Riot may have counted it. The error is an *Error, or the cause of ctx.
func (c *Client) Relay(ctx context.Context, call Carried, by time.Time) (a *Answer, wrote bool, err error) {
	rq := request{host: call.Host, method: route.Method(call.Method)}
	req, err := c.requestTo(rq.host, call.Path)
	if err != nil {
		return nil, false, c.newError(rq, BadRequest, ClassBadRequest, err.Error())
	}
	for _, way := range []http.RoundTripper{c.wire, c.anew} {
		if a, wrote, err = c.relay(ctx, rq, req, way, by); !isUnread(err) {
			break
		}
	}
	return a, wrote, err
}

func (c *Client) relay(ctx context.Context, rq request, req *http.Request, way http.RoundTripper, by time.Time) (*Answer, bool, error) {
	t := &trip{permit: relayed(by)}
	timed, cancel := context.WithTimeoutCause(ctx, c.timeout, ErrTimeout)
	defer cancel()
	resp, err := way.RoundTrip(req.WithContext(httptrace.WithClientTrace(timed, t.hooks())))
	if err != nil {
		if t.kept && timed.Err() == nil && t.unread(err) {
			return nil, false, c.broken(rq, errUnread, false)
		}
		wrote := t.endPermit()
		return nil, wrote, c.cutShort(ctx, timed, rq, wrote, err)
	}
	defer discard(resp.Body)
	t.done(resp.StatusCode, resp.Header)
	// It lies in a table until the other process reads it: no key that a server echoes may be in it.
	resp.Header.Del("Set-Cookie")
	resp.Header.Del(headerKey)
	key := c.keys.Get()
	for _, values := range resp.Header {
		for i, v := range values {
			values[i] = key.Redact(v)
		}
	}
	if resp.StatusCode != http.StatusOK {
		body := []byte(key.Redact(string(errorBody(resp))))
		resp.Header.Del("Content-Encoding")
		return &Answer{resp.StatusCode, resp.Header, body}, true, nil
	}
	b, err := readBody(timed, resp.Body, maxBody)
	defer b.release()
	if err != nil && !errors.Is(err, errTooLarge) { // whoever reads it finds so too
		return nil, true, c.cutShort(ctx, timed, rq, true, err)
	}
	return &Answer{resp.StatusCode, resp.Header, bytes.Clone(b.wire.Bytes())}, true, nil
}

// relayed is the permit of a call that somebody else counts: the instant by which it must be written.
type relayed time.Time

func (p relayed) WriteBy() time.Time                       { return time.Time(p) }
func (relayed) Wrote()                                     {}
func (relayed) FirstByte()                                 {}
func (relayed) Done(int, http.Header) (none limit.Receipt) { return none }
func (relayed) Refund() (none limit.Receipt)               { return none }
func (relayed) Lost() (none limit.Receipt)                 { return none }
