package api

import (
	"context"
	"net"
)

// peerKey leads to the peer in a request's context.
type peerKey struct{}

// withPeer keeps the peer's credential with the connection. It is asked for once,
// when the connection comes in: it is that of the process which connected.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	// The server's listener wraps what it accepts.
	if l, ok := c.(*limitedConn); ok {
		c = l.Conn
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	p, err := peerOf(u)
	if err != nil {
		return ctx // Who refuses what it does not know
	}
	return context.WithValue(ctx, peerKey{}, p)
}

// onFD lets f look at the connection's descriptor.
func onFD(c *net.UnixConn, f func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}
