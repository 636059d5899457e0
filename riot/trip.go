package riot

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/farsight-console/farsight/riot/limit"
)

// Permit lets one call go; a *limit.Permit is one.
type Permit interface {
	Wrote()                                            // the request has been written: from here on Riot may count it
	FirstByte()                                        // the answer began: Riot has counted it by now
	Done(status int, header http.Header) limit.Receipt // answered
	Refund() limit.Receipt                             // never written: nothing was counted
	Lost() limit.Receipt                               // written, but never answered: assume that it was counted
}

// trip ties a permit to one exchange: whatever happens, the permit ends once, and hooks of the transport
// that come late (it writes and reads on goroutines of its own) touch it no more.
type trip struct {
	mu      sync.Mutex
	permit  Permit
	kept    bool // on a connection that has served another call
	dead    bool // the server had closed that connection: nothing was written
	wrote   bool
	began   bool
	ended   bool
	receipt limit.Receipt // once ended
}

// hooks tell the permit what the transport does. A write that failed midway counts as written: the server
// may have seen enough of it.
func (t *trip) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(got httptrace.GotConnInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.kept, t.dead = got.Reused, got.Reused && closeIfOver(got.Conn)
			// A request that stands in a full socket would be counted in a window that it was not meant for.
			if p, on := t.permit.(punctual); on {
				_ = got.Conn.SetWriteDeadline(p.WriteBy())
			}
		},
		WroteRequest:         func(httptrace.WroteRequestInfo) { t.markWrote() },
		GotFirstResponseByte: t.markFirstByte,
	}
}

// markWrote tells the permit once that the request is on its way.
func (t *trip) markWrote() {
	t.mu.Lock()
	defer t.mu.Unlock()
	// A hook that comes after the end belongs to a call that is settled: its permit may be used up.
	if !t.ended && !t.wrote && !t.dead {
		t.wrote = true
		t.permit.Wrote()
	}
}

// markFirstByte tells the permit once that the answer has begun, and before it that the request was written.
func (t *trip) markFirstByte() {
	t.markWrote()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended && !t.began {
		t.began = true
		t.permit.FirstByte()
	}
}

// unread reports whether an exchange on a kept connection that ended with an error was certainly not read:
// nothing went out on it, or its end had come before.
func (t *trip) unread(err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	failed, ok := errors.AsType[*net.OpError](err)
	switch {
	case t.dead, !t.wrote, ok && failed.Op == "write" && !failed.Timeout(): // a request is one write
		return true
	}
	// net/http knows these errors by their words alone: of an end that came before the request was begun.
	return strings.Contains(err.Error(), "server closed idle connection") ||
		strings.Contains(err.Error(), "readLoopPeekFailLocked")
}

// closeIfOver closes a kept connection on which something waits to be read, and reports whether it did. The
// server owes no answer on it, so that this is its end, or the word before.
func closeIfOver(conn net.Conn) (over bool) {
	switch c := conn.(type) {
	case *tls.Conn:
		return closeIfOver(c.NetConn())
	case *onTime:
		return closeIfOver(c.Conn)
	case syscall.Conn:
		raw, err := c.SyscallConn()
		if err != nil {
			return false
		}
		_ = raw.Control(func(fd uintptr) { over = readable(fd) })
	}
	if over {
		_ = conn.Close()
	}
	return over
}

// done ends the permit with an answer.
func (t *trip) done(status int, h http.Header) {
	t.markFirstByte() // transports of tests know no hooks
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.ended = true
		t.receipt = t.permit.Done(status, h)
	}
}

// endPermit ends the permit of an exchange without an answer, and reports whether the request had been
// written. After done it changes nothing.
func (t *trip) endPermit() (wrote bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return t.wrote
	}
	t.ended = true
	if t.wrote {
		t.receipt = t.permit.Lost()
	} else {
		t.receipt = t.permit.Refund()
	}
	return t.wrote
}

// punctual is a Permit whose call must not be written after an instant, since nobody would count it;
// the zero time = it may be written at any time.
type punctual interface{ WriteBy() time.Time }

// onTime is a connection that looks at the clock just before it writes. A deadline alone is kept by a
// timer, which may not have run yet in a process that has stood still.
type onTime struct {
	net.Conn
	by atomic.Pointer[time.Time]
}

func (c *onTime) SetWriteDeadline(t time.Time) error {
	// Kept beside the real deadline, for Write to look at.
	c.by.Store(&t)
	return c.Conn.SetWriteDeadline(t)
}

func (c *onTime) Write(b []byte) (int, error) {
	// Nothing is sent, and yet the permit ends as lost: to the transport a failed write is a written request.
	if by := c.by.Load(); by != nil && !by.IsZero() && !time.Now().Before(*by) {
		return 0, os.ErrDeadlineExceeded
	}
	return c.Conn.Write(b)
}

// dialer is what http.Transport opens connections by.
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// dialOnTime dials connections that do.
func dialOnTime(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &onTime{Conn: c}, nil
	}
}
