//go:build !linux && !darwin && !freebsd

package api

import (
	"errors"
	"net"
)

// peerOf is unknown here, so nobody is let in.
func peerOf(*net.UnixConn) (*peer, error) {
	return nil, errors.New("this system does not tell who is at the other end of a socket")
}
