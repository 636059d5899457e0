package riot

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"time"
)

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
