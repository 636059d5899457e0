package riot

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/farsight-console/farsight/riot/route"
)

const (
	okStatus  = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"
	idle408   = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	severally = 40 // calls of a test
)

// leaving serves one call per connection, ends it in its way without a word about it, and tells.
func leaving(t *testing.T, secure *tls.Config, leave func(net.Conn)) (addr string, left chan bool) {
	t.Helper()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	left = make(chan bool, severally*3)
	var all sync.WaitGroup
	t.Cleanup(func() { _ = plain.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := plain.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				served := conn
				if secure != nil {
					served = tls.Server(conn, secure)
				}
				if _, err := http.ReadRequest(bufio.NewReader(served)); err == nil {
					_, _ = io.WriteString(served, okStatus)
					leave(served)
				}
				_ = served.Close()
				left <- true
			})
		}
	})
	return plain.Addr().String(), left
}

// TestB8_AKeptConnectionThatWasClosed: a call that met the end of its connection goes out again on another, and
// the limiter has let both go.
func TestB8_AKeptConnectionThatWasClosed(t *testing.T) {
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	bye := func(c net.Conn) { _, _ = io.WriteString(c, idle408) }
	for name, how := range map[string]struct {
		scheme string
		secure *tls.Config
		leave  func(net.Conn)
	}{
		"closed":     {"http", nil, func(net.Conn) {}},
		"reset":      {"http", nil, func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }},
		"408":        {"http", nil, bye},
		"TLS closed": {"https", srv.TLS, func(net.Conn) {}},
		"TLS 408":    {"https", srv.TLS, bye},
	} {
		t.Run(name, func(t *testing.T) {
			addr, left := leaving(t, how.secure, how.leave)
			c, b := client(t, nil, func(o *Options) { o.BaseURL = how.scheme + "://" + addr + "/{routing}" })
			for _, way := range []http.RoundTripper{c.wire, c.anew} {
				way.(wire).next.(*http.Transport).TLSClientConfig = srv.Client().Transport.(*http.Transport).TLSClientConfig
			}
			for i := range severally {
				if _, err := c.LeagueEntries(t.Context(), route.EUW1, "p"); err != nil {
					t.Fatalf("call %d: %v", i, err)
				}
				<-left // the connection has ended, and the transport may not have seen it yet
			}
			answered := 0
			for i, end := range b.ends(t) {
				switch class := b.calls[i].Class; {
				case class == "" && end == "done":
					answered++
				case class != ClassUnread:
					t.Errorf("call %d: class %q, permit %s", i, class, end)
				}
			}
			if answered != severally {
				t.Errorf("%d calls were answered", answered)
			}
		})
	}
}

// TestB8_AWordToAnIdleConnectionIsNoAnswer: the 408 comes with the answer before it, so that the next call, which
// waits for the connection, finds it there.
func TestB8_AWordToAnIdleConnectionIsNoAnswer(t *testing.T) {
	tr := piped(func(_ int, conn net.Conn) {
		defer conn.Close()
		if readRequest(conn) != nil {
			_, _ = io.WriteString(conn, okStatus+idle408)
		}
		_, _ = io.Copy(io.Discard, conn)
	})
	c, b := client(t, tr, onPipe)
	anew := tr.Clone()
	anew.DisableKeepAlives = true
	c.anew = wire{next: anew, keys: c.keys, base: c.base}
	var calls sync.WaitGroup
	for range severally {
		calls.Go(func() {
			if _, err := c.LeagueEntries(t.Context(), route.EUW1, "p"); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	b.ends(t)
	tr.CloseIdleConnections()
}

// TestB8_WhatMayHaveBeenReadIsNotRepeated: a server that reads the call and then hangs up may have counted it. It
// does so once: no further call of that host goes out on a connection that was kept.
func TestB8_WhatMayHaveBeenReadIsNotRepeated(t *testing.T) {
	var read atomic.Int32
	tr := piped(func(_ int, conn net.Conn) {
		defer conn.Close()
		in := bufio.NewReader(conn)
		for _, answer := range []string{okStatus, ""} {
			if _, err := http.ReadRequest(in); err == nil {
				read.Add(1)
			}
			_, _ = io.WriteString(conn, answer)
		}
	})
	c, b := client(t, tr, onPipe)
	anew := tr.Clone()
	anew.DisableKeepAlives = true
	c.anew = wire{next: anew, keys: c.keys, base: c.base}
	kept := make(chan error, severally) // a call that comes before the connection is free again has one of its own
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{PutIdleConn: func(err error) { kept <- err }})
	for i := range severally {
		_, err := c.LeagueEntries(ctx, route.EUW1, "p")
		switch {
		case i == 1:
			wantError(t, err, Transient, classReset)
		case err != nil:
			t.Fatalf("call %d: %v", i, err)
		case i == 0:
			if err := <-kept; err != nil {
				t.Fatal(err)
			}
		}
	}
	if ends := b.ends(t); ends[1] != "lost" || len(ends) != severally || read.Load() != severally {
		t.Errorf("%d calls were read, permits %v", read.Load(), ends)
	}
}
