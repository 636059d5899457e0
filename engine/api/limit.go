package api

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// limitedListener lets so many connections be open at once. One more is told so
// and closed: to leave it waiting would look like an engine that hangs. A connection counts until it is
// closed, also one that has become a WebSocket and that net/http has forgotten.
type limitedListener struct {
	net.Listener
	most int64
	open atomic.Int64
}

// limitedConn gives its place back when it is closed.
type limitedConn struct {
	net.Conn
	once sync.Once
	left func()
}

// Close gives the place back once, however often it is called.
func (c *limitedConn) Close() error {
	c.once.Do(c.left)
	return c.Conn.Close()
}

// Write implements net.Conn. It turns the plain text with which net/http answers what is no request
// into a problem, see asProblem. It tells as many bytes as it was given: whoever wrote them knows of no
// others.
func (c *limitedConn) Write(b []byte) (int, error) {
	p, ok := asProblem(b)
	if !ok {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(p); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.most {
			return &limitedConn{Conn: c, left: func() { l.open.Add(-1) }}, nil
		}
		l.open.Add(-1)
		l.turnAway(c)
	}
}

// drainLook is between two looks of drain. Nobody tells when the last connection is closed.
const drainLook = 5 * time.Millisecond

// drain waits until every connection has been closed, those that are no HTTP any more
// too, of which the server knows nothing; but not for ever.
func (l *limitedListener) drain(most time.Duration) {
	for end := time.Now().Add(most); l.open.Load() > 0 && time.Now().Before(end); {
		time.Sleep(drainLook)
	}
}

// turnAway answers without reading. What it writes fits into the socket's buffer,
// so it does not wait.
func (l *limitedListener) turnAway(c net.Conn) {
	p := problemOf(faultf(http.StatusServiceUnavailable, engine.ErrRefused, "close some of them",
		"there are %d connections to this engine already, more are not taken", l.most))
	_ = c.SetDeadline(time.Now().Add(time.Second))
	_, _ = c.Write(wholeProblem(p, "Retry-After: 1\r\n"))
	_ = c.Close()
}
