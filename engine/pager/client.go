package pager

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
)

// Bounds of one HTTP call.
const (
	callTimeout    = 10 * time.Second // its body included
	dialTimeout    = 5 * time.Second
	maxBody        = 1 << 20 // of an answer; more of it is not read
	maxHeaderBytes = 64 << 10
	maxShown       = 200 // cells of an answer's body in an error
)

// errHost refuses an address that nobody has configured.
var errHost = errors.New("the address is not one of the configured hosts: no call was made")

// client makes HTTP calls to configured hosts only. It follows no redirect, which
// could lead a token elsewhere, and uses no proxy of the environment.
type client struct {
	http    *http.Client
	hosts   []string // scheme://host[:port]
	secrets []Secret // cut out of whatever an answer says
	numbers []string // to their last digits
}

// newClient makes a client that calls the hosts of these addresses. The error does not hold the
// address.
func newClient(transport http.RoundTripper, secrets []Secret, addresses ...string) (*client, error) {
	c := &client{secrets: secrets, http: &http.Client{
		Transport: transport, Timeout: callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for _, a := range addresses {
		u, err := ParseURL(a)
		if err != nil {
			return nil, err
		}
		c.hosts = append(c.hosts, origin(u))
	}
	return c, nil
}

// newTransport is hardened against writing a request twice: for a call that would be two.
func newTransport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // HTTP/2 writes a call twice when a server says goodbye
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTimeout,
		Protocols:              protocols,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableKeepAlives:      true, // calls are rare, and a dead kept connection would have one written twice
	}
}

// ParseURL reads an address to which something is sent: https, or http on this
// host. The error does not hold the address, which may be a secret.
func ParseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("write a whole address such as https://example.org/hook, without a user in it")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, errors.New("http is taken on this host only: write https")
	}
	return u, nil
}

// loopback reports whether a name or address is this host's own.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// origin is what of an address must be configured.
func origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// wireError is a call without an answer that counts.
type wireError struct {
	what string // in words, without address or secret
	// sent says that the request may have reached the other side.
	sent bool
}

func (e *wireError) Error() string { return e.what }

// do makes one call. The error is a *wireError, or the cause of the context.
func (c *client) do(ctx context.Context, req *http.Request) (answer, error) {
	if !slices.Contains(c.hosts, origin(req.URL)) {
		return answer{}, &wireError{what: errHost.Error()}
	}
	resp, err := c.http.Do(req.WithContext(ctx))
	if err != nil {
		return answer{}, c.failed(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return answer{}, c.failed(ctx, err)
	}
	if len(body) > maxBody {
		return answer{}, &wireError{what: fmt.Sprintf("the answer is larger than %d bytes", maxBody), sent: true}
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: body}, nil
}

// failed tells why a call brought no answer, without the address, which
// *url.Error puts in front.
func (c *client) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	op, ok := errors.AsType[*net.OpError](err)
	return &wireError{what: c.clean(err.Error()), sent: !ok || op.Op != "dial"}
}

// clean makes a text from outside fit to be stored and shown.
func (c *client) clean(s string) string {
	for _, secret := range c.secrets {
		s = secret.redact(s)
	}
	for _, n := range c.numbers { // with its plus sign and without
		s = strings.ReplaceAll(strings.ReplaceAll(s, n, engine.CutNumber(n)), strings.TrimPrefix(n, "+"),
			engine.CutNumber(n))
	}
	return safe.CutEnd(safe.Text(s), maxShown, "…")
}

// says is an answer in words.
func (c *client) says(a answer) error {
	if said := c.clean(string(a.body)); said != "" {
		return fmt.Errorf("the answer was %d: %s", a.status, said)
	}
	return fmt.Errorf("the answer was %d", a.status)
}

// maxRetryAfter bounds what a receiver may ask for: an alert that comes a day late is none.
const maxRetryAfter = 5 * time.Minute

// retryAfter is when to ask again after a 429, by its header, but at most maxRetryAfter from now.
func (a answer) retryAfter(now time.Time) time.Time {
	const usual = 30 * time.Second
	v := a.header.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil && n >= 0 {
		return now.Add(time.Duration(min(n, int(maxRetryAfter/time.Second))) * time.Second)
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return now.Add(min(at.Sub(now), maxRetryAfter))
	}
	return now.Add(usual)
}
