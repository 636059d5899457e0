package sim

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"syscall"
	"time"
)

// RoundTripper serves requests in memory, with the same limits, latency and faults as a socket. It
// sleeps on timers only, so it runs inside testing/synctest bubbles, and it calls the httptrace hooks
// GetConn, WroteHeaders, WroteRequest and GotFirstResponseByte when a real transport would.
func (s *Sim) RoundTripper() http.RoundTripper { return roundTripper{s} }

type roundTripper struct{ sim *Sim }

func (t roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
	}
	ctx := r.Context()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	trace := httptrace.ContextClientTrace(ctx)
	if t.sim.unread(r.URL.Host) {
		return nil, errClosed
	}
	// Before the latency: a real transport has written the request when its way begins.
	wrote(trace, r.URL.Host)
	c, a := t.sim.handle(r, r.URL.Host)
	in, err := t.sim.receive(ctx, c, a)
	t.sim.logCall(c, a, len(in.body), ctx.Err() != nil)
	if err != nil {
		return nil, err
	}
	if a.closes {
		t.sim.stopReading(r.URL.Host, a)
	}
	// After the answer is settled: a fault that sends nothing has returned by now.
	if trace != nil && trace.GotFirstResponseByte != nil {
		trace.GotFirstResponseByte()
	}
	return t.response(r, a, in), nil
}

// incoming is what arrives of an answer's body.
type incoming struct {
	body       []byte
	length     int   // that was announced
	end        error // instead of io.EOF
	compressed bool
}

func wrote(trace *httptrace.ClientTrace, host string) {
	if trace == nil {
		return
	}
	if trace.GetConn != nil {
		trace.GetConn(host)
	}
	if trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
	if trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
}

// errReset is what a client sees when the peer resets the connection.
var errReset = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}

// errClosed is what a client sees that writes to a connection which the peer has closed.
var errClosed = &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}

// unread reports whether a call would go to a connection that is kept and closed already: one call is lost by it.
func (s *Sim) unread(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, kept := s.idle[host]
	delete(s.idle, host)
	return kept && time.Now().Before(until)
}

// stopReading is closeIdle without a network, for RoundTrip.
func (s *Sim) stopReading(host string, a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle[host] = time.Now().Add(s.scaled(a.pause))
}

// receive waits for the answer as its transfer says, and gives what arrives of it: of one that is cut, half the body.
func (s *Sim) receive(ctx context.Context, c *call, a *answer) (incoming, error) {
	switch a.transfer {
	// Until the client gives up; its own error says so.
	case silent:
		<-ctx.Done()
	case broken:
		return incoming{}, errReset
	}
	if err := context.Cause(ctx); err != nil {
		return incoming{}, err
	}
	body, compressed := a.wire(c)
	in := incoming{body, len(body), nil, compressed}
	if a.transfer == cut {
		in.body, in.end = body[:len(body)/2], io.ErrUnexpectedEOF
	}
	return in, nil
}

func (t roundTripper) response(r *http.Request, a *answer, in incoming) *http.Response {
	return &http.Response{
		Status: strconv.Itoa(a.status) + " " + http.StatusText(a.status), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.headers(in.compressed, in.length), Body: t.sim.reader(r.Context(), a, in),
		ContentLength: int64(in.length), Request: r,
	}
}

// pieces is how many parts a dripping body comes in.
const pieces = 16

// reader gives a body as its transfer says.
type reader struct {
	ctx   context.Context
	rest  []byte
	end   error         // instead of io.EOF
	step  int           // bytes at a time
	pause time.Duration // before each step; 0 = all at once
}

func (s *Sim) reader(ctx context.Context, a *answer, in incoming) *reader {
	r := &reader{ctx: ctx, rest: in.body, end: cmp.Or(in.end, io.EOF), step: len(in.body)/pieces + 1}
	if a.transfer == drip {
		r.pause = s.scaled(a.pause)
	}
	return r
}

// next gives the next bytes, at most so many. A client that hangs up once it has everything did not leave, so its context
// is asked before there is something to give, and not at the end.
func (r *reader) next(most int) ([]byte, error) {
	if len(r.rest) == 0 {
		return nil, r.end
	}
	// Waiting first: the first piece of a trickle is late as well.
	if r.pause > 0 {
		most = min(most, r.step)
		sleep(r.ctx, r.pause)
	}
	if err := context.Cause(r.ctx); err != nil {
		return nil, err
	}
	// A slice and no copy: the body belongs to this answer alone.
	b := r.rest[:min(most, len(r.rest))]
	r.rest = r.rest[len(b):]
	return b, nil
}

func (r *reader) Read(p []byte) (int, error) {
	b, err := r.next(len(p))
	return copy(p, b), err
}

func (r *reader) Close() error { return nil }
