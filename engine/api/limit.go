package api

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// limitedListener lets so many connections be open at once. One more is told so
// and closed: to leave it waiting would look like an engine that hangs.
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

func (c *limitedConn) Close() error {
	c.once.Do(c.left)
	return c.Conn.Close()
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

// turnAway answers without reading. What it writes fits into the socket's buffer,
// so it does not wait.
func (l *limitedListener) turnAway(c net.Conn) {
	p := problemOf(Faultf(http.StatusServiceUnavailable, engine.ErrRefused, "close some of them",
		"there are %d connections to this engine already, more are not taken", l.most))
	body, _ := json.Marshal(p)
	_ = c.SetDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = fmt.Fprintf(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", problemJSON, len(body), body)
	_ = c.Close()
}
