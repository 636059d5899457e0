package riot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/farsight-console/farsight/riot/limit"
	"github.com/farsight-console/farsight/riot/route"
)

// defaultTimeout is how long one exchange may take, from the first byte sent to the last one read.
// Answers of several seconds happen; the wait for the limiter is not part of it.
const defaultTimeout = 10 * time.Second

// Limiter hands out permits. Acquire returns when the call may go, or the cause of ctx. The client ends each
// permit exactly once.
type Limiter interface {
	Acquire(ctx context.Context, r limit.Request) (Permit, error)
}

// LimitedBy is the limiter of this process.
func LimitedBy(l *limit.Limiter) Limiter { return inProcess{l} }

type inProcess struct{ limiter *limit.Limiter }

func (i inProcess) Acquire(ctx context.Context, r limit.Request) (Permit, error) {
	return i.limiter.Acquire(ctx, r)
}

// Options are what a Client is made of.
type Options struct {
	Keys      KeySource         // required; read for each call, so that a key can be replaced at any time
	Limiter   Limiter           // required
	BaseURL   string            // may hold {routing}; empty: Riot's hosts
	Timeout   time.Duration     // 0: defaultTimeout
	UserAgent string            // honest: the product and its version; empty: "farsight"
	Transport http.RoundTripper // for tests; nil: the hardened one
	// Punctual says that permits have a WriteBy() time.Time, after which their call is not written; the
	// zero time sets no end.
	Punctual bool
	Carrier  Carrier    // nil: all calls are made here
	OnCall   func(Call) // told of each exchange once it ended; must not block
}

// Client calls Riot's API. It is safe for concurrent use, keeps no goroutine, and never retries what Riot may
// have read.
type Client struct {
	base    base
	wire    http.RoundTripper
	anew    http.RoundTripper // wire on a connection that was never used
	own     *http.Transport   // nil in tests that bring theirs
	keys    KeySource
	acquire func(context.Context, limit.Request) (Permit, error)
	timeout time.Duration
	agent   string
	onCall  func(Call)
	carrier Carrier
	lost    *sync.Map // host → time.Time at which a kept connection of it broke under a call
}

// New checks the options and makes a Client. The error is one sentence about the first fault.
func New(o Options) (*Client, error) {
	base, err := parseBase(o.BaseURL)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Keys == nil || o.Limiter == nil:
		return nil, errors.New("a Riot client needs a key source and a limiter")
	case o.Timeout < 0:
		return nil, fmt.Errorf("the HTTP timeout must be positive, not %v", o.Timeout)
	case strings.ContainsFunc(o.UserAgent, func(r rune) bool { return r < ' ' || r > '~' }):
		return nil, fmt.Errorf("the user agent %q must be plain ASCII", o.UserAgent)
	}
	// Everything is checked by now: from here on nothing can fail.
	c := &Client{
		base: base, keys: o.Keys, timeout: o.Timeout, agent: o.UserAgent,
		onCall: o.OnCall, acquire: o.Limiter.Acquire, carrier: o.Carrier,
		lost: new(sync.Map),
	}
	if c.timeout == 0 {
		c.timeout = defaultTimeout
	}
	if c.agent == "" {
		c.agent = "farsight"
	}
	next, anew := o.Transport, o.Transport
	if next == nil {
		c.own = newTransport()
		// Only the connections of our own transport can refuse a late write.
		if o.Punctual {
			c.own.DialContext = dialOnTime(c.own.DialContext)
		}
		unkept := c.own.Clone()
		unkept.DisableKeepAlives = true
		next, anew = c.own, unkept
	}
	c.wire = wire{next: next, keys: o.Keys, base: base}
	c.anew = wire{next: anew, keys: o.Keys, base: base}
	return c, nil
}

// CloseIdle closes connections that no call uses: after a suspend, a change of network, and at the end.
func (c *Client) CloseIdle() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// request is one call before it is made.
type request struct {
	host   string
	method route.Method
	params []string // of the method's template
	query  url.Values
	target string            // for the recorder
	use    func(*body) error // takes the JSON of a 200; its error completes the sentence "the answer ..."
}

// do is the path of every call: address, permit, exchange, record.
func (c *Client) do(ctx context.Context, rq request) error {
	path, err := rq.path()
	var req *http.Request
	if err == nil {
		req, err = c.requestTo(rq.host, path)
	}
	if err != nil {
		return c.newError(rq, BadRequest, ClassBadRequest, err.Error())
	}
	// Asked before the limiter is: a call that cannot be made must not take a place in the buckets.
	if c.keys.Get().IsZero() {
		return c.broken(rq, errNoKey, false)
	}
	// The wait in the limiter is part neither of the timeout nor of the latency that is recorded.
	owner := jobOf(ctx)
	for _, way := range c.ways(rq, path, owner.id) {
		var p Permit
		p, err = c.acquire(ctx, limit.Request{
			Host: rq.host, Method: string(rq.method), Job: owner.id, Priority: owner.priority,
		})
		if err != nil {
			return c.notAdmitted(ctx, rq, err)
		}
		rec := Call{At: time.Now(), Target: rq.target, Proof: ctx.Value(proofKey{}) != nil}
		_, rec.Carried = way.(carried)
		err = c.exchange(ctx, rq, req, way, p, &rec)
		c.record(rec, err)
		if !isUnread(err) { // which no connection that was never used gives
			return err
		}
	}
	return err
}

// isUnread reports whether a call is to be made again, at once.
func isUnread(err error) bool { return errors.Is(err, errUnread) || errors.Is(err, ErrNotCarried) }

// path is the escaped path of a request with its query.
func (rq request) path() (string, error) {
	// The path is escaped already; escaping it again would answer 404 for every name with a space.
	path, err := rq.method.Path(rq.params...)
	if err != nil {
		return "", fmt.Errorf("%w: no call was made", err)
	}
	if len(rq.query) > 0 {
		path += "?" + rq.query.Encode()
	}
	return path, nil
}

// requestTo builds the request of a path at a host without its key.
func (c *Client) requestTo(host, path string) (*http.Request, error) {
	if !route.Serves(host) {
		return nil, fmt.Errorf("%q is not a host of the Riot API: no call was made", cut(host, 40))
	}
	// The error of NewRequest repeats the address, which may be anything that was configured: it is not passed on.
	req, err := http.NewRequest(http.MethodGet, c.base.expand(host)+path, nil)
	if err != nil {
		return nil, errors.New("the address of the call cannot be built: check the base URL")
	}
	req.Header.Set("Accept", "application/json")
	// Asked for by ourselves, so that net/http leaves the body packed: it is stored as it came.
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("User-Agent", c.agent)
	return req, nil
}

// ErrTimeout tells the client's own deadline from the end of the caller's context.
var ErrTimeout = errors.New("no whole answer in time")

// exchange writes the request and reads the answer. The permit ends in here, on every way out.
func (c *Client) exchange(ctx context.Context, rq request, req *http.Request, way http.RoundTripper, p Permit,
	rec *Call) error {
	t := &trip{permit: p}
	defer func() { // also after a panic below: the limiter must not wait for ever
		t.endPermit()
		rec.Receipt = t.receipt
	}()
	// A cause of its own tells our deadline from one that the caller has set.
	timed, cancel := context.WithTimeoutCause(ctx, c.timeout, ErrTimeout)
	defer cancel()
	resp, err := way.RoundTrip(req.WithContext(httptrace.WithClientTrace(timed, t.hooks())))
	if err != nil {
		switch {
		case errors.Is(err, ErrNotCarried):
			return c.broken(rq, err, t.endPermit())
		case !t.kept || timed.Err() != nil:
		case t.unread(err):
			err = errUnread
		default: // it may have been read; the host's other kept connections may lose their calls as well
			c.lost.Store(rq.host, time.Now())
		}
		return c.cutShort(ctx, timed, rq, t.endPermit(), err)
	}
	defer discard(resp.Body)
	// The permit ends with the headers: until it does, its places count as in flight.
	t.done(resp.StatusCode, resp.Header)
	c.observe(rec, resp)
	// What a server says to a connection that it has waited on for too long, not to this call.
	if resp.StatusCode == http.StatusRequestTimeout && t.kept {
		return c.broken(rq, errUnread, true)
	}
	if resp.StatusCode != http.StatusOK {
		return c.refused(rq, resp, t.receipt, rec)
	}
	encoding, limit := encodingOf(resp), int64(maxBody)
	if encoding != "" {
		limit = maxPacked
	}
	// b holds what was read even where err is set: an excerpt of it goes into the error.
	b, err := readBody(timed, resp.Body, limit)
	defer b.release()
	rec.Latency, rec.Bytes = time.Since(rec.At), b.wire.Len()
	switch {
	case err == nil:
		unpacking.take()
		defer unpacking.leave()
		if err = b.unpack(encoding, maxBody); err == nil {
			err = rq.use(&b)
		}
	case !errors.Is(err, errTooLarge):
		return c.cutShort(ctx, timed, rq, true, err)
	}
	if err != nil {
		return c.malformed(rq, resp, err, b.raw.Bytes())
	}
	return nil
}

// encodingOf is "gzip", or "" of a body that came as it is.
func encodingOf(resp *http.Response) string {
	return strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
}

// cutShort judges an exchange that brought no answer.
func (c *Client) cutShort(ctx, timed context.Context, rq request, wrote bool, err error) error {
	// Whoever ended the call need not be told that it also took too long.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(context.Cause(timed), ErrTimeout) {
		err = ErrTimeout
	}
	return c.broken(rq, err, wrote)
}

// notAdmitted passes on why the limiter gave no permit.
func (c *Client) notAdmitted(ctx context.Context, rq request, err error) error {
	if ctx.Err() != nil {
		return err // the cause, and which bucket was waited for
	}
	e := c.newError(rq, Throttled, ClassThrottledUnknown, "the limiter gave no permit: "+err.Error())
	e.err, e.RetryAt = err, time.Now().Add(retryBlind)
	return e
}

// record hands the exchange to the flight recorder.
func (c *Client) record(rec Call, err error) {
	if c.onCall == nil {
		return
	}
	// No body was read to its end: the call lasted until it failed.
	if rec.Latency == 0 {
		rec.Latency = time.Since(rec.At)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		rec.Class = e.Class
	} else if err != nil {
		rec.Class = ClassStopped
	}
	c.onCall(rec)
}
