package api

import (
	"net"

	"golang.org/x/sys/unix"
)

// solLocal is SOL_LOCAL of sys/un.h.
const solLocal = 0

// peerOf asks the kernel who connected. The process is not told.
func peerOf(c *net.UnixConn) (*peer, error) {
	var p peer
	err := onFD(c, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, solLocal, unix.LOCAL_PEERCRED)
		if err != nil {
			return err
		}
		p.UID = cred.Uid
		// The first one is the effective group (xucred).
		if cred.Ngroups > 0 {
			p.GID = cred.Groups[0]
		}
		return nil
	})
	return &p, err
}
