package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/operation"
)

// Time an engine may take for an answer before it counts as gone.
const (
	findTimeout  = 30 * time.Second
	doTimeout    = 2 * time.Minute // a command on a hundred thousand jobs takes its time
	helloTimeout = 5 * time.Second
	maxAnswer    = 256 << 20 // bytes of an answer or a frame
)

var _ engine.Console = (*Client)(nil)

// Client is the console of an engine in another process. Several goroutines may use it. Each call is a
// request of its own; Watch has a connection of its own.
type Client struct {
	path string // the socket's file, or the URL: what messages call the engine
	http *http.Client
	base string // what each address begins with: "http://farsight"
	// token is shown to an engine that listens for programs; nil = the kernel tells who asks.
	token func() (string, error)
	// you is what the engine has called this client last; nil = it was not asked yet.
	you atomic.Pointer[engine.Actor]
}

// NewClient makes a client of the engine behind a socket. It connects when it is
// asked something. Close it. The address is a name that a server behind a socket takes for its own;
// nobody looks it up.
func NewClient(path string) *Client {
	return &Client{path: path, base: "http://farsight", http: connecting(&http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return dialTrusted(path) },
	})}
}

// connecting is a client of HTTP over a transport, with the bounds of ours. Idle connections are given
// up well before a server of ours closes them, lest a command be written into one that is just being
// closed. No redirect is followed: it could lead a token elsewhere.
func connecting(t *http.Transport) *http.Client {
	t.MaxIdleConnsPerHost, t.IdleConnTimeout = 2, idleTimeout/2
	t.DisableCompression, t.MaxResponseHeaderBytes = true, 64<<10
	return &http.Client{Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Close gives the idle connections up.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Hello asks who the engine is. engine.ErrGone when there is none, *engine.Problem
// with another code when it does not let this process in.
func (c *Client) Hello(ctx context.Context) (h Hello, err error) {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	if err := c.call(ctx, http.MethodGet, "/v1/hello", nil, &h); err != nil {
		return h, err
	}
	// It is asked before anything else, so that what follows is never misread.
	if h.Protocol != Protocol {
		return h, engine.Problemf(engine.ErrRefused, "use the farsight of that version",
			"the engine (Farsight %s) speaks protocol %d, this program %d", h.Version, h.Protocol, Protocol)
	}
	c.you.Store(&h.You)
	return h, nil
}

// Is reports whether an actor is this client, as the engine has named it.
func (c *Client) Is(by engine.Actor) bool {
	you := c.you.Load()
	return you != nil && *you == by
}

// Find implements engine.Console.
func (c *Client) Find(ctx context.Context, q engine.Query) (engine.Answer, error) {
	env, k, err := ask(q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	var reply reply
	if err := c.call(ctx, http.MethodPost, "/v1/find", env, &reply); err != nil {
		return nil, err
	}
	a, err := k.got(reply.Answer)
	if err != nil {
		return nil, engine.Problemf(engine.ErrBroken, "is the engine of the same version?",
			"the answer to %s cannot be read: %v", k.name, err)
	}
	return a, nil
}

// Settings are those that the engine runs with, secrets cut. Errors are *engine.Problem;
// engine.ErrNotFound of an engine that does not tell them.
func (c *Client) Settings(ctx context.Context) ([]engine.Setting, error) {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	var out Settings
	err := c.call(ctx, http.MethodGet, "/v1/config", nil, &out)
	return out.Settings, err
}

// Do implements engine.Console. Who asks is told by the kernel: c.By is not sent. An API key goes by
// its own route. After engine.ErrGone nobody knows whether the command was carried out.
func (c *Client) Do(ctx context.Context, cmd engine.Command) (r engine.Receipt, err error) {
	// Of a slow one an engine that dies ends the wait, and a caller that leaves ends it.
	if !operation.Of(cmd.Op).Slow {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, doTimeout)
		defer cancel()
	}
	if cmd.Op == engine.OpKey {
		err = c.call(ctx, http.MethodPost, "/v1/key", keyChange{Key: cmd.Key, DryRun: cmd.DryRun, Reason: cmd.Reason}, &r)
		return r, err
	}
	cmd.By = engine.Actor{}
	if len(cmd.Lines) > linesAtOnce {
		return c.doParts(ctx, cmd)
	}
	err = c.call(ctx, http.MethodPost, "/v1/do", cmd, &r)
	return r, err
}

// request makes a request with a body of JSON, packed where it is large, and shows the token where the
// engine asks for one. The token is read anew each time: it may have been replaced.
func (c *Client) request(ctx context.Context, method, path string, in any) (*http.Request, error) {
	var body io.Reader
	isPacked := false
	if in != nil {
		raw, err := json.Marshal(in)
		if isPacked = len(raw) >= packFrom; isPacked {
			raw = pack(raw)
		}
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", typeJSON)
	}
	if isPacked {
		req.Header.Set("Content-Encoding", packed)
	}
	if c.token != nil {
		token, err := c.token()
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if path == "/v1/find" {
		// A question may be asked twice: over a connection that the engine before has
		// left behind it is. The empty value is not sent.
		req.Header["Idempotency-Key"] = nil
	}
	return req, nil
}

// call makes one request. Errors are *engine.Problem; beside one, out may hold what the command had done
// before it failed. An answer is read to its end, up to maxAnswer, so that the connection can be used
// again.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	req, err := c.request(ctx, method, path, in)
	if p, ok := errors.AsType[*engine.Problem](err); ok {
		return p
	}
	if err != nil {
		return engine.Problemf(engine.ErrInvalid, "", "%v", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.gone(path, err)
	}
	defer resp.Body.Close()
	// Routes of the protocol answer 200 or a problem; nothing that this client asks is accepted for later.
	if resp.StatusCode != http.StatusOK {
		return c.refusal(resp, out)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return c.gone(path, err)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return engine.Problemf(engine.ErrBroken, "is it a Farsight engine of this version?",
			"the answer of %s cannot be read: %v", c.path, err)
	}
	return nil
}

// gone says in words why nobody answered a request for a path. What to do depends on the path: a
// question can be asked again, a command may have been carried out.
func (c *Client) gone(path string, err error) error {
	if errors.Is(err, context.Canceled) {
		return engine.Problemf(engine.ErrGone, "", "the request was given up: %v", context.Canceled)
	}
	if p, ok := errors.AsType[*engine.Problem](err); ok {
		return p
	}
	if fault := c.certificateFault(err); fault != nil {
		return fault
	}
	// Until the connection stands nothing was sent, so that nothing can have been carried out.
	op, dialing := errors.AsType[*net.OpError](err)
	dialing = dialing && op.Op == "dial"
	do := "look whether it was done"
	if path == "/v1/hello" || path == "/v1/find" {
		do = "try again; if it stays so, it is no Farsight engine that listens there, or one that hangs"
	}
	switch {
	case c.token != nil && errors.Is(err, connRefused):
		return engine.Problemf(engine.ErrGone, "look whether its proxy runs", "not connected: nothing listens at %s", c.path)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, connRefused):
		return engine.Problemf(engine.ErrGone, "start one with `farsight serve`",
			"not connected: no engine listens on %s", c.path)
	case errors.Is(err, fs.ErrPermission):
		return engine.Problemf(engine.ErrRefused, "ask its owner for a `socket_group`",
			"not connected: %s does not let this user in", c.path)
	case dialing:
		return engine.Problemf(engine.ErrGone, "", "not connected: %s: %v", c.path, op.Err)
	case errors.Is(err, context.DeadlineExceeded):
		return engine.Problemf(engine.ErrGone, do, "the engine behind %s has not answered in time", c.path)
	}
	return engine.Problemf(engine.ErrGone, do, "the engine behind %s has gone before it answered", c.path)
}

// linesAtOnce is how many lines of a list go into one request, whose body is bounded by maxBody: a line
// such as "Name#TAG,euw1,friends" has at most some 200 bytes.
const linesAtOnce = 4000

// doParts carries a long list out in parts, one after the other, and adds them up.
// What was done before a part failed stays done; the list may be given again.
func (c *Client) doParts(ctx context.Context, whole engine.Command) (sum engine.Receipt, err error) {
	first := true
	for lines := range slices.Chunk(whole.Lines, linesAtOnce) {
		part, r := whole, engine.Receipt{}
		part.Lines = lines
		if err := c.call(ctx, http.MethodPost, "/v1/do", part, &r); err != nil {
			return sum, err
		}
		if first {
			sum, first = r, false
			continue
		}
		add(&sum, r)
	}
	sum.Text = fmt.Sprintf("%d of %d lines", sum.Applied, sum.Matched)
	return sum, nil
}

// add adds the receipt of one part to the sum. The audit's number is that of the last part.
func add(sum *engine.Receipt, r engine.Receipt) {
	sum.Seq, sum.Audit = max(sum.Seq, r.Seq), r.Audit
	sum.Matched, sum.Applied, sum.Would = sum.Matched+r.Matched, sum.Applied+r.Applied, sum.Would+r.Would
	sum.Rejects = append(sum.Rejects, r.Rejects...)
	if sum.Skipped == nil {
		sum.Skipped = map[string]int{}
	}
	for why, n := range r.Skipped {
		sum.Skipped[why] += n
	}
	// The sum's cost is that of the first receipt, which its caller may still hold: it is not changed.
	if r.Cost != nil && sum.Cost != nil {
		total := *sum.Cost
		total.Calls, total.Takes = total.Calls+r.Cost.Calls, total.Takes+r.Cost.Takes
		total.AtMost = total.AtMost || r.Cost.AtMost
		sum.Cost = &total
	}
}
