package api

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel who connected.
func peerOf(c *net.UnixConn) (*peer, error) {
	var p peer
	err := onFD(c, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			p.UID, p.GID, p.PID = cred.Uid, cred.Gid, int(cred.Pid)
		}
		return err
	})
	return &p, err
}
