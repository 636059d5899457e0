package api

import (
	"context"
	"net"
)

// peerKey leads to the peer in a request's context.
type peerKey struct{}

// withConn keeps the connection and its peer's credential with its requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	l := c.(*limitedConn) // by the server's own listener
	ctx = context.WithValue(ctx, connKey{}, l)
	if l.peer == nil {
		return ctx // Who refuses what it does not know
	}
	return context.WithValue(ctx, peerKey{}, l.peer)
}

// connPeer asks the kernel for a connection's credential, once, when it comes in: it is that of the
// process which connected. nil = it is not told.
func connPeer(c net.Conn) *peer {
	if p, ok := c.(*provenConn); ok {
		return &p.peer
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil
	}
	p, err := peerOf(u)
	if err != nil {
		return nil
	}
	return p
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
