package api

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel who connected.
func peerOf(c *net.UnixConn) (*peer, error) {
	var p peer
	err := onFD(c, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err != nil {
			return err
		}
		p.UID = cred.Uid
		groups := cred.Groups[:min(max(int(cred.Ngroups), 0), len(cred.Groups))]
		// The first one is the effective group (xucred).
		if len(groups) > 0 {
			p.GID = groups[0]
		}
		if pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID); err == nil {
			p.PID = pid
		}
		return nil
	})
	return &p, err
}
