package riot

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	headerKey      = "X-Riot-Token"
	maxHeaderBytes = 64 << 10
	dialTimeout    = 5 * time.Second
	idleTimeout    = 60 * time.Second // shorter than what Riot's edge allows, so that we are the ones who close
	maxIdle        = 64               // per host: the most workers there can be
	unkeptFor      = 10 * time.Minute // no connection of a host is kept after one broke under a call
)

// newTransport is the only way out. It speaks HTTP/1.1 alone: one call per connection, and no call is
// written twice behind the limiter's back, which HTTP/2 does when a server says goodbye.
func newTransport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTimeout,
		Protocols:              protocols,
		DisableCompression:     true, // we ask for gzip ourselves and keep the packed bytes
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConnsPerHost:    maxIdle,
		IdleConnTimeout:        idleTimeout,
	}
}

var (
	errHost  = errors.New("the address is not one of the configured API hosts: no call was made")
	errNoKey = errors.New("no API key is set: no call was made")
	// errUnread: nothing was written, or the server had ended the connection before it was.
	errUnread = errors.New("the server had closed the connection: the call was not read")
)

// wire is the last wrapper before the transport: it refuses foreign hosts and puts the key on a copy of
// the request, so that nobody above ever holds both.
type wire struct {
	next http.RoundTripper
	keys KeySource
	base base
}

func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if !w.base.allows(req.URL) {
		return nil, errHost
	}
	key := w.keys.Get()
	if key.IsZero() {
		return nil, errNoKey
	}
	// A copy: the request that is passed on to errors and traces must stay without the key.
	out := req.Clone(req.Context())
	out.Header.Set(headerKey, key.value())
	out.Body = nothing{}
	resp, err := w.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	// What comes back must not lead to the copy that holds the key.
	resp.Request = req
	return resp, nil
}

// nothing is an empty body that cannot be rewound. Nothing of it reaches the wire, but it keeps
// http.Transport from repeating a GET by itself when a kept connection turns out to be dead: the server
// may have counted the first one.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }
func (nothing) Close() error             { return nil }

// discard empties a little of what is left, so that the connection can be used again, and closes.
func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, maxHeaderBytes)
	_ = body.Close()
}
