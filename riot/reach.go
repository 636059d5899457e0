package riot

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
)

// Knock connects to an address, and shakes hands where it says so, within twice the time that a call has
// for each. No byte of a request is sent.
func Knock(ctx context.Context, at *url.URL) error {
	ctx, cancel := context.WithTimeout(ctx, 2*dialTimeout)
	defer cancel()
	// The usual port where the address names none.
	port := at.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[at.Scheme]
	}
	dial := (&net.Dialer{}).DialContext
	if at.Scheme == "https" {
		dial = (&tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12}}).DialContext
	}
	// A connection alone proves little where TLS is spoken: a captive portal takes it and then says nothing.
	conn, err := dial(ctx, "tcp", net.JoinHostPort(at.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}

// Reach knocks at a host as calls do: it makes none.
func (c *Client) Reach(ctx context.Context, host string) error {
	if c.own == nil {
		return nil // tests bring a way of their own, at which nothing can be knocked
	}
	req, err := http.NewRequest(http.MethodGet, c.base.expand(host), nil)
	if err != nil {
		return err
	}
	return Knock(ctx, req.URL)
}
