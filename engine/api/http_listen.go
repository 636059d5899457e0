package api

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// HTTPConns is how many connections with the token the listener for programs lets be open.
const HTTPConns = 64

// ParseLoopback reads the address of a listener for programs: a loopback address,
// or localhost, with a port; 0 = any that is free. Everything else is refused: what
// the token protects is not encrypted on its way.
func ParseLoopback(text string) (netip.AddrPort, error) {
	var none netip.AddrPort
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return none, fmt.Errorf("%q is no address with a port: write one such as 127.0.0.1:7171", text)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return none, fmt.Errorf("%q is no port: write one such as 127.0.0.1:7171", port)
	}
	// As an address, so that it is the same one whatever the host's file of names says.
	if host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" || !ip.Unmap().IsLoopback() {
		return none, fmt.Errorf("%q is not this host alone: "+
			"write 127.0.0.1:%d, and let ssh or a proxy with TLS of your own carry it further",
			host, n)
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), nil
}

// ListenHTTP opens the listener for programs on a loopback address.
func ListenHTTP(text string) (net.Listener, error) {
	addr, err := ParseLoopback(text)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr.String())
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // the rest of it is the address once more
	}
	if err != nil {
		return nil, fmt.Errorf("listen for programs on %s: %w: choose another port, or 0 for any that is free", addr, err)
	}
	return l, nil
}

// HTTPHosts are the names by which a listener for programs may be called, and the
// origins that are its own. A page from elsewhere has another origin, and one that had its name changed
// to this address another host.
func HTTPHosts(l net.Listener) (hosts, origins []string) {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return []string{}, nil
	}
	hosts = []string{host, "localhost"}
	if host == "::1" {
		hosts = append(hosts, "[::1]") // as it stands without a port
	}
	for _, name := range []string{host, "localhost"} {
		origins = append(origins, "http://"+net.JoinHostPort(name, port))
	}
	return hosts, origins
}
