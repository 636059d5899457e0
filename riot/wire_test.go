package riot

import (
	"bufio"
	"bytes"
	stdgzip "compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/riot/route"
)

func withCause(t *testing.T, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(t.Context(), d, cause)
}

// TestHostileBodies: nothing of these is stored, and none costs more memory than the limit.
func TestHostileBodies(t *testing.T) {
	whole := packed(t, string(small(`"participants":[{}]`)))
	for name, c := range map[string]struct {
		rt     reply
		reason Reason
	}{
		"gzip bomb of 500 MB":       {say(200, bomb(t), "Content-Encoding", "gzip"), TooLarge},
		"one byte too many":         {say(200, strings.Repeat(" ", maxBody+1)), TooLarge},
		"one byte too many, packed": {say(200, packed(t, strings.Repeat(" ", maxBody+1)), "Content-Encoding", "gzip"), TooLarge},
		"truncated gzip":            {say(200, whole[:len(whole)-9], "Content-Encoding", "gzip"), Malformed},
		"gzip without checksum":     {say(200, whole[:len(whole)-8], "Content-Encoding", "gzip"), Malformed},
		"damaged gzip":              {say(200, whole[:len(whole)-2]+"xx", "Content-Encoding", "gzip"), Malformed},
		"garbage after gzip":        {say(200, whole+"garbage", "Content-Encoding", "gzip"), Malformed},
		"gzip that is none":         {say(200, "<html>", "Content-Encoding", "gzip"), Malformed},
		"gzip not announced":        {say(200, whole), Malformed},
		"another packing":           {say(200, "x", "Content-Encoding", "br"), Malformed},
		"empty":                     {say(200, ""), Malformed},
		"empty gzip":                {say(200, "", "Content-Encoding", "gzip"), Malformed},
		"html":                      {say(200, "<html>\x1b]0;x\x07</html>"), Malformed},
		"another match":             {say(200, strings.Replace(string(small("")), "EUW1_1", "EUW1_2", 1)), Malformed},
		"trailing garbage":          {say(200, string(small(""))+"{}"), Malformed},
		"nested deep":               {say(200, strings.Repeat("[", 1<<20)), Malformed},
	} {
		cl, b := client(t, c.rt)
		m, err := cl.Match(t.Context(), route.Europe, "EUW1_1")
		if e := wantError(t, err, c.reason, ClassPayload); e.Status != 200 {
			t.Errorf("%s: %+v", name, e)
		}
		if m.Body != nil || m.ID != "" {
			t.Errorf("%s: gave %+v", name, m)
		}
		b.wantEnd(t, "done")
	}
	cl, _ := client(t, say(200, string(small(""))+strings.Repeat(" ", maxBody-len(small("")))))
	if _, err := cl.Match(t.Context(), route.Europe, "EUW1_1"); err != nil {
		t.Errorf("a body of exactly the limit: %v", err)
	}
}

// bomb is half a megabyte of gzip that claims to be 500 MB: one block of zeros, repeated as members.
func bomb(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := stdgzip.NewWriter(&b)
	if _, err := w.Write(make([]byte, 1<<20)); err != nil || w.Close() != nil {
		t.Fatal("gzip")
	}
	return strings.Repeat(b.String(), 500)
}

// piped makes a transport of the real kind whose connections are pipes served by serve.
func piped(serve func(n int, conn net.Conn)) *http.Transport {
	tr := newTransport()
	var n atomic.Int32
	tr.DialContext = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go serve(int(n.Add(1)), theirs)
		return ours, nil
	}
	return tr
}

func onPipe(o *Options) { o.BaseURL = "http://127.0.0.1/{routing}" }

// readRequest takes one request off the wire.
func readRequest(conn net.Conn) *http.Request {
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return nil
	}
	return req
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"

// TestTimeoutCoversTheBody: 10 s from the first byte sent to the last one read.
func TestTimeoutCoversTheBody(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(conn net.Conn)
		end   string
	}{
		"no answer":         {func(net.Conn) {}, "lost"},
		"slow body":         {trickle, "done"},
		"stalled body":      {func(conn net.Conn) { _, _ = io.WriteString(conn, head+"{") }, "done"},
		"headers never end": {func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nX: ") }, "lost"},
	} {
		synctest.Test(t, func(t *testing.T) {
			tr := piped(func(_ int, conn net.Conn) {
				defer conn.Close()
				readRequest(conn)
				c.serve(conn)
				_, _ = io.Copy(io.Discard, conn) // until the client gives up
			})
			cl, b := client(t, tr, onPipe)
			sent := time.Now()
			_, err := cl.Match(t.Context(), route.Europe, "EUW1_1")
			wantError(t, err, Timeout, ClassTimeout)
			if took := time.Since(sent); took != defaultTimeout {
				t.Errorf("%s: gave up after %v", name, took)
			}
			b.wantEnd(t, c.end)
			tr.CloseIdleConnections()
			time.Sleep(2 * time.Second) // the server sees that we are gone
		})
	}
}

// trickle sends a byte each second: every read makes progress, the whole never comes.
func trickle(conn net.Conn) {
	_, err := io.WriteString(conn, head)
	for err == nil {
		time.Sleep(time.Second)
		_, err = io.WriteString(conn, " ")
	}
}

// TestStopWhileTheAnswerIsAwaited: the caller gets its cause at once, and the call counts as made.
func TestStopWhileTheAnswerIsAwaited(t *testing.T) {
	errStop := errors.New("shutdown")
	synctest.Test(t, func(t *testing.T) {
		tr := piped(func(_ int, conn net.Conn) {
			defer conn.Close()
			readRequest(conn)
			_, _ = io.Copy(io.Discard, conn)
		})
		cl, b := client(t, tr, onPipe)
		ctx, cancel := withCause(t, time.Second, errStop)
		defer cancel()
		sent := time.Now()
		_, err := cl.Match(ctx, route.Europe, "EUW1_1")
		if !errors.Is(err, errStop) || time.Since(sent) != time.Second {
			t.Errorf("%v after %v", err, time.Since(sent))
		}
		b.wantEnd(t, "lost")
		if len(b.calls) != 1 || b.calls[0].Class != ClassStopped {
			t.Errorf("recorded as %+v", b.calls)
		}
		tr.CloseIdleConnections()
		synctest.Wait()
	})
}

// TestBrokenConnections: what was never written is given back, what was written is counted.
func TestBrokenConnections(t *testing.T) {
	refused := errors.Join(syscall.ECONNREFUSED)
	dial := func(err error) http.RoundTripper {
		tr := newTransport()
		tr.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, err }
		return tr
	}
	broken := func(serve func(net.Conn)) http.RoundTripper {
		return piped(func(_ int, conn net.Conn) { readRequest(conn); serve(conn); conn.Close() })
	}
	for name, c := range map[string]struct {
		rt     http.RoundTripper
		reason Reason
		class  string
		end    string
	}{
		"refused":      {dial(refused), Local, ClassLocal, "refund"},
		"no such host": {dial(&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}), Local, ClassLocal, "refund"},
		"no network":   {dial(syscall.ENETUNREACH), Local, ClassLocal, "refund"},
		"closed":       {broken(func(net.Conn) {}), Transient, classReset, "lost"},
		"no HTTP":      {broken(func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-x\r\n\r\n") }), Transient, classReset, "lost"},
		"headers too big": {broken(func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 2*maxHeaderBytes))
		}), Transient, classReset, "lost"},
		"half a body": {broken(func(c net.Conn) { _, _ = io.WriteString(c, head+"{") }), Transient, classReset, "done"},
	} {
		cl, b := client(t, c.rt, onPipe)
		_, err := cl.Match(t.Context(), route.Europe, "EUW1_1")
		if e := wantError(t, err, c.reason, c.class); strings.Contains(e.Error(), "/lol/") {
			t.Errorf("%s: the address is in %v", name, e)
		}
		b.wantEnd(t, c.end)
	}
	synctest.Test(t, func(t *testing.T) {
		tr := newTransport()
		tr.DialContext = func(context.Context, string, string) (net.Conn, error) {
			time.Sleep(time.Minute)
			return nil, syscall.ETIMEDOUT
		}
		cl, b := client(t, tr, onPipe)
		_, err := cl.Match(t.Context(), route.Europe, "EUW1_1")
		wantError(t, err, Local, ClassLocal)
		b.wantEnd(t, "refund")
		time.Sleep(time.Minute) // the transport lets a dial end by itself
	})
}

// TestPanicEndsThePermit: the limiter must not wait for a call that is no more.
func TestPanicEndsThePermit(t *testing.T) {
	cl, b := client(t, reply(func(*http.Request) (*http.Response, error) { panic("transport") }))
	func() {
		defer func() { _ = recover() }()
		_, _ = cl.Status(t.Context(), route.EUW1)
	}()
	b.wantEnd(t, "refund")
}

// TestNothingIsSentTwice: http.Transport repeats a GET by itself when a kept connection dies, although the
// server may have counted it. Ours must not.
func TestNothingIsSentTwice(t *testing.T) {
	var requests atomic.Int32
	tr := piped(func(_ int, conn net.Conn) {
		defer conn.Close()
		r := bufio.NewReader(conn)
		for answered := false; ; answered = true {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			requests.Add(1)
			if body, _ := io.ReadAll(req.Body); len(body) > 0 || len(req.TransferEncoding) > 0 || req.Header.Get("Content-Length") != "" {
				t.Errorf("the GET has a body: %q %v", body, req.Header)
			}
			if answered {
				return // close the kept connection on the second request
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n"+`{"id":"EUW1"}`)
		}
	})
	cl, b := client(t, tr, onPipe)
	if _, err := cl.Status(t.Context(), route.EUW1); err != nil {
		t.Fatal(err)
	}
	_, err := cl.Status(t.Context(), route.EUW1)
	wantError(t, err, Transient, classReset)
	if requests.Load() != 2 {
		t.Errorf("%d requests for 2 calls", requests.Load())
	}
	b.wantEnd(t, "done", "lost")
	tr.CloseIdleConnections()
}

// TestRedirectIsNotFollowed: the key goes to no other host, and to the same one not twice.
func TestRedirectIsNotFollowed(t *testing.T) {
	var stolen atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen.Add(1) }))
	defer thief.Close()
	var asked atomic.Int32
	riot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, thief.URL+r.URL.Path, http.StatusFound)
	}))
	defer riot.Close()
	cl, b := client(t, nil, func(o *Options) { o.BaseURL = riot.URL + "/{routing}" })
	_, err := cl.Status(t.Context(), route.EUW1)
	wantError(t, err, Transient, classRedirect)
	if stolen.Load() != 0 || asked.Load() != 1 {
		t.Errorf("%d requests at the thief, %d at home", stolen.Load(), asked.Load())
	}
	b.wantEnd(t, "done")
}

// TestForeignHostGetsNothing: the last wrapper refuses what the address builder can never make.
func TestForeignHostGetsNothing(t *testing.T) {
	cl, _ := client(t, reply(func(*http.Request) (*http.Response, error) { t.Error("a call went out"); return nil, io.EOF }))
	for _, address := range []string{"https://evil.example/", "http://euw1.api.riotgames.com/", "https://euw1.api.riotgames.com.evil.example/", "https://euw1.api.riotgames.com:444/", "https://xx9.api.riotgames.com/"} {
		req, _ := http.NewRequest("GET", address, nil)
		if _, err := cl.wire.RoundTrip(req); !errors.Is(err, errHost) || req.Header.Get(headerKey) != "" {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestTransportIsHardened holds what a hostile or broken server may not do to the client.
func TestTransportIsHardened(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	tr := newTransport()
	if tr.Proxy != nil || tr.TLSClientConfig.MinVersion != tls.VersionTLS12 || tr.TLSClientConfig.InsecureSkipVerify ||
		tr.MaxResponseHeaderBytes != 64<<10 || !tr.DisableCompression || tr.Protocols.HTTP2() || !tr.Protocols.HTTP1() {
		t.Errorf("%+v", tr)
	}
}

// TestSelfSignedServerGetsNoKey: verification is on.
func TestSelfSignedServerGetsNoKey(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	defer server.Close()
	cl, b := client(t, nil, func(o *Options) { o.BaseURL = server.URL })
	_, err := cl.Status(t.Context(), route.EUW1)
	wantError(t, err, Local, ClassLocal)
	if asked.Load() != 0 {
		t.Error("the key went to a server nobody vouches for")
	}
	b.wantEnd(t, "refund")
}

// TestOverTheWire: gzip, keep-alive and the record, with a real server and the real transport.
func TestOverTheWire(t *testing.T) {
	body := packed(t, string(small(`"gameDuration":9,"gameEndTimestamp":1,"participants":[{}]`)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/europe/lol/match/v5/matches/EUW1_1" || r.Header.Get(headerKey) != canary {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("X-App-Rate-Limit-Count", "1:1,1:120")
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	cl, b := client(t, nil, func(o *Options) { o.BaseURL = server.URL + "/{routing}" })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			m, err := cl.Match(t.Context(), route.Europe, "EUW1_1")
			if err != nil || string(m.Body) != body || m.Aborted {
				t.Errorf("%v %+v", err, m)
			}
		})
	}
	wg.Wait()
	for i, p := range b.permits {
		if got := strings.Join(p.log, ", "); got != "wrote, first byte, done" {
			t.Errorf("permit %d: %s", i, got)
		}
	}
	for _, call := range b.calls {
		if call.Status != 200 || call.AppCount != "1:1,1:120" || call.Bytes != len(body) || call.Target != "EUW1_1" || call.Latency <= 0 || call.Class != "" {
			t.Errorf("recorded as %+v", call)
		}
	}
}

// All headers of an answer are kept for an operator to read, but those that hold a secret, and no more
// of them, and no longer, than a screen is for.
func TestHeadersOfAnAnswerAreKept(t *testing.T) {
	cl, _ := client(t, nil)
	h := http.Header{}
	h.Set("X-App-Rate-Limit-Count", "1:1,1:120")
	h.Set("Server", "edge \x1b[31m"+canary)
	h.Set("Set-Cookie", "session=1")
	h.Set(headerKey, canary)
	h["X-Twice"] = []string{"a", "b"}
	got := strings.Join(cl.headersOf(h), "\n")
	if want := "X-App-Rate-Limit-Count: 1:1,1:120\nX-Twice: a\nX-Twice: b"; !strings.HasSuffix(got, want) || !strings.HasPrefix(got, "Server: edge ") {
		t.Errorf("kept:\n%s", got)
	}
	if strings.Contains(got, canary) || strings.Contains(got, "session") || strings.ContainsRune(got, 0x1b) {
		t.Errorf("kept what must not be: %q", got)
	}
	for i := range 3 * maxHeaders {
		h.Set(fmt.Sprint("X-More-", i), strings.Repeat("x", 10_000))
	}
	list := cl.headersOf(h)
	if len(list) != maxHeaders+1 || len(strings.Join(list, "")) > (maxHeaders+1)*(2*maxText+10) {
		t.Errorf("%d headers of %d bytes", len(list), len(strings.Join(list, "")))
	}
}
