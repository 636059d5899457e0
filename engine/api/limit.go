package api

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// limitedListener bounds the connections that are open at once, of each user of the host apart, so that
// none can keep others out; whom the kernel does not name (by TCP) are one. Those whose caller was let
// in have places of their own. The others wait for theirs, and where too many do, the oldest is closed:
// it had the longest time to send a head. A connection counts until it is closed, also one that has
// become a WebSocket and that net/http has forgotten.
type limitedListener struct {
	net.Listener
	peer func(net.Conn) *peer // nil = unknown
	most int                  // of each kind, for each user

	mu    sync.Mutex
	open  int
	users map[int64]*places // by uid; unknownUID = the kernel does not name one
}

const unknownUID = -1

// places are those of one user.
type places struct {
	waiting []*limitedConn // to be let in, the oldest first
	inside  int
}

// limitedConn gives its place back when it is closed.
type limitedConn struct {
	net.Conn
	of    *limitedListener
	peer  *peer
	uid   int64
	state connState // guarded by of.mu
}

type connState uint8

const (
	connWaiting connState = iota
	connInside
	connLeft
)

// connKey leads to a request's limitedConn.
type connKey struct{}

// letIn gives the connection of a caller who was let in one of the places for those. The error is for
// one that finds none.
func (c *limitedConn) letIn() error {
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.state != connWaiting {
		return nil
	}
	mine := l.users[c.uid]
	if mine.inside == l.most {
		return faultf(http.StatusServiceUnavailable, engine.ErrRefused, "close some of them",
			"there are %d connections to this engine already, more are not taken", l.most)
	}
	l.vacate(c)
	mine.inside++
	c.state = connInside
	return nil
}

// vacate takes a connection out of its place. l.mu is held.
func (l *limitedListener) vacate(c *limitedConn) {
	mine := l.users[c.uid]
	switch c.state {
	case connWaiting:
		mine.waiting = slices.DeleteFunc(mine.waiting, func(o *limitedConn) bool { return o == c })
	case connInside:
		mine.inside--
	}
}

// Close gives the place back once, however often it is called.
func (c *limitedConn) Close() error {
	l := c.of
	l.mu.Lock()
	if c.state != connLeft {
		l.vacate(c)
		c.state = connLeft
		l.open--
		if mine := l.users[c.uid]; mine.inside == 0 && len(mine.waiting) == 0 {
			delete(l.users, c.uid)
		}
	}
	l.mu.Unlock()
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
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	one := &limitedConn{Conn: c, of: l, peer: l.peer(c), uid: unknownUID}
	if one.peer != nil {
		one.uid = int64(one.peer.UID)
	}
	if oldest := l.admit(one); oldest != nil {
		// What it writes fits into the socket's buffer, so it does not wait.
		p := ProblemOf(faultf(http.StatusServiceUnavailable, engine.ErrRefused, "send the request at once",
			"%d connections have come since this one, which has not shown whose it is", oldest.of.most))
		_ = oldest.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = oldest.Conn.Write(wholeProblem(p, "Retry-After: 1\r\n"))
		_ = oldest.Close()
	}
	return one, nil
}

// admit lets a new connection wait to be let in. Where that is one too many it gives the oldest that waits.
func (l *limitedListener) admit(one *limitedConn) (oldest *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users[one.uid] == nil {
		l.users[one.uid] = &places{}
	}
	mine := l.users[one.uid]
	mine.waiting = append(mine.waiting, one)
	l.open++
	if len(mine.waiting) > l.most {
		return mine.waiting[0]
	}
	return nil
}

// drainLook is between two looks of drain. Nobody tells when the last connection is closed.
const drainLook = 5 * time.Millisecond

func (l *limitedListener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}
