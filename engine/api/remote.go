package api

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/regular"
)

// Remote says where an engine is that listens for programs, behind a proxy that speaks TLS.
type Remote struct {
	URL       string // https://farsight.example.com; http:// only for this host itself
	TokenFile string // what is in the engine's http.token; read anew for each request
	CAFile    string // certificates to trust besides the host's own, PEM; "" = none
}

// streamStart is how long the first frame of a stream may take: a proxy that holds
// streams back would show an empty console for ever.
const streamStart = 5 * time.Second

// NewRemote makes a client of an engine elsewhere. Errors: engine.ErrInvalid.
func NewRemote(r Remote) (*Client, error) {
	at, err := parseRemote(r.URL)
	if err != nil {
		return nil, err
	}
	if r.TokenFile == "" {
		return nil, engine.Problemf(engine.ErrInvalid,
			"copy http.token of the engine's data directory into a file of your own "+
				"and name it with --token-file or FARSIGHT_TOKEN_FILE",
			"%s asks for a token", at)
	}
	// Read for its faults alone: they are told when the program starts and not at its first request.
	if _, err := tokenOf(r.TokenFile); err != nil {
		return nil, err
	}
	// They too are read at the start; a certificate that was replaced since counts after a restart of
	// this program.
	roots, err := trusted(r.CAFile)
	if err != nil {
		return nil, err
	}
	return &Client{
		path: at, base: at, token: func() (string, error) { return tokenOf(r.TokenFile) },
		http: connecting(&http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
			DialContext: (&net.Dialer{Timeout: helloTimeout}).DialContext, TLSHandshakeTimeout: helloTimeout,
		}),
	}, nil
}

// parseRemote gives an address without the slash at its end. http:// is let pass to this host alone:
// the token would go over a network as it is.
func parseRemote(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", engine.Problemf(engine.ErrInvalid, "write one such as https://farsight.example.com",
			"%q is no address of an engine", text)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", engine.Problemf(engine.ErrInvalid, "write https://host alone; the token comes from --token-file",
			"the address of an engine holds more than a host and a path")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return "", engine.Problemf(engine.ErrRefused,
			"put a proxy with TLS in front of it and write https://, or go through ssh",
			"http://%s would send the token unencrypted", u.Host)
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// loopback reports whether a name or address is this host's own.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// tokenOf reads a token that somebody has put into a file of their own. A link is followed, unlike that
// of an engine's own token: the file is the user's to place.
func tokenOf(path string) (string, error) {
	text, err := regular.Secret(path, maxToken+2)
	if err == nil && !printable(text) {
		err = fmt.Errorf("%s holds no token", path)
	}
	if err != nil {
		return "", engine.Problemf(engine.ErrInvalid, "copy http.token of the engine's data directory there, for you alone",
			"the token cannot be read: %v", err)
	}
	return text, nil
}

// trusted are the host's own certificates and those of a file; nil = its own alone. Without a pool of
// the host the file's alone are trusted.
func trusted(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, engine.Problemf(engine.ErrInvalid, "", "the certificates cannot be read: %v", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(raw) {
		return nil, engine.Problemf(engine.ErrInvalid,
			"give it in PEM form, which begins with -----BEGIN CERTIFICATE-----", "%s holds no certificate", path)
	}
	return pool, nil
}

// certificateFault says what is wrong with the certificate of the other side; nil = it was not
// that.
func (c *Client) certificateFault(err error) error {
	say := func(do, what string) error {
		return engine.Problemf(engine.ErrRefused, do, "not connected: the certificate of %s %s", c.path, what)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return say("name its authority with --ca-file", "is signed by nobody whom this host trusts")
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return say("write the name that it is for", "is for another host")
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired {
			return say("renew it, and look at this host's clock", "has expired, or is not valid yet")
		}
		return say("", "cannot be used: "+e.Error())
	}
	// The first is how an answer in plain text reads to TLS, the second how net/http says it for HTTP.
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		return engine.Problemf(engine.ErrRefused, "is that the port of the proxy with TLS?",
			"not connected: %s does not speak TLS", c.path)
	}
	return nil
}

// proxyFault is the answer of something in front of the engine that is not the engine's; nil
// = it is.
func (c *Client) proxyFault(resp *http.Response) error {
	if c.token == nil || resp.Header.Get("Content-Type") == problemJSON {
		return nil
	}
	switch status := resp.StatusCode; {
	case status >= 300 && status < 400:
		return engine.Problemf(engine.ErrRefused, "write the address that it leads to",
			"%s leads elsewhere, and no redirect is followed", c.path)
	// So proxies say that nobody answers behind them; an engine's own 503 is a problem, see above.
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return engine.Problemf(engine.ErrGone, "",
			"not connected: the proxy of %s answers %d: no engine answers behind it", c.path, status)
	case status != http.StatusOK:
		return engine.Problemf(engine.ErrRefused, "look at the proxy's configuration: docs/http.md has one",
			"%s answers %d, and not as a Farsight engine does", c.path, status)
	}
	return nil
}

// Streams proves that updates come as they happen: a proxy may hold a stream back until it
// ends, which this one never does.
func (c *Client) Streams(ctx context.Context) error {
	if c.token == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, streamStart)
	defer cancel()
	req, err := c.request(ctx, http.MethodGet, "/v1/watch", nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err == nil {
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return c.refusal(resp, nil)
		}
		// A stream begins with hello at once: its first byte is all that is waited for.
		_, err = resp.Body.Read(make([]byte, 1))
	}
	// The error does not tell it: a proxy that sees the call given up may end the answer in order, and
	// that reads as io.EOF.
	if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil // what else is wrong, the console says
	}
	return engine.Problemf(engine.ErrRefused,
		"switch its buffering off: `proxy_buffering off` in nginx, `flush_interval -1` in caddy",
		"%s holds streams back: nothing came within %s", c.path, fmt.Sprintf("%.0f s", streamStart.Seconds()))
}

// refusal reads an answer that is no success. The receipt of a command that failed goes to out: it tells
// what was done before.
func (c *Client) refusal(resp *http.Response, out any) error {
	if err := c.proxyFault(resp); err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return c.gone("", err)
	}
	wire, p := readProblem(resp.StatusCode, body)
	if c.token != nil && resp.StatusCode == http.StatusMisdirectedRequest {
		p.Do = "let the proxy send the engine's own address as Host, such as 127.0.0.1:7171"
	}
	if receipt, ok := out.(*engine.Receipt); ok && wire.Receipt != nil {
		*receipt = *wire.Receipt
	}
	return p
}
