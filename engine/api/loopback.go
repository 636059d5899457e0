package api

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/user"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/regular"
)

// Without Unix sockets an engine listens on the loopback, where every user of the host may connect. In the socket's
// place lies a file that its owner alone can read: the address, and a secret. Each end proves to the other that it
// has read or written it, and none sends it:
//
//	console → engine   nonce
//	engine → console   nonce, proof("engine")
//	console → engine   process, proof("console", process)
//
// A proof is HMAC-SHA256 over its words and both nonces. What follows is the protocol as on a socket.

// secret is what both ends know.
type secret string

const nonceSize = 32

func (s secret) proof(of string, nonces []byte, pid ...byte) []byte {
	h := hmac.New(sha256.New, []byte(s))
	h.Write([]byte(of))
	h.Write(nonces)
	h.Write(pid)
	return h.Sum(nil)
}

// portFile is a listener whose file goes with it.
type portFile struct {
	net.Listener
	path   string
	text   string // of the file
	secret secret
	once   sync.Once
	err    error
}

// listenLoopback listens on 127.0.0.1 and tells it in the file at path, which it replaces: see [Listen].
func listenLoopback(path string) (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the control port: %w", err)
	}
	s := &portFile{Listener: l, path: path, secret: secret(rand.Text() + rand.Text())}
	s.text = l.Addr().String() + "\n" + string(s.secret) + "\n"
	if err := regular.Replace(path, []byte(s.text)); err != nil {
		return nil, errors.Join(fmt.Errorf("write the control port into %s: %w", path, err), l.Close())
	}
	return s, nil
}

// Accept implements net.Listener. Whoever connects has proved nothing yet: see provenConn.
func (l *portFile) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	p := &provenConn{Conn: c, secret: l.secret, peer: peer{UID: uint32(os.Geteuid())}}
	if me, err := user.Current(); err == nil {
		p.peer.once.Do(func() { p.peer.name = me.Username })
	}
	return p, nil
}

// Close removes the file first, if it is still this listener's.
func (l *portFile) Close() error {
	l.once.Do(func() {
		if now, err := os.ReadFile(l.path); err == nil && string(now) == l.text {
			l.err = os.Remove(l.path)
		}
		l.err = errors.Join(l.err, l.Listener.Close())
	})
	return l.err
}

// provenConn gives nothing to read before the other end has proved itself to be of the owner: nobody is asked for,
// placed or let in before.
type provenConn struct {
	net.Conn
	secret secret
	peer   peer
	once   sync.Once
	err    error
	proven atomic.Bool
}

// Read implements net.Conn. The proof is waited for as long as a request's head is.
func (c *provenConn) Read(b []byte) (int, error) {
	c.once.Do(func() { c.err = c.ask() })
	if c.err != nil {
		return 0, c.err
	}
	return c.Conn.Read(b)
}

// Write implements net.Conn. Whoever has proved nothing is not even refused in words.
func (c *provenConn) Write(b []byte) (int, error) {
	if !c.proven.Load() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// ask has the other end prove itself, and learns its process.
func (c *provenConn) ask() error {
	var nonces [2 * nonceSize]byte
	if _, err := io.ReadFull(c.Conn, nonces[:nonceSize]); err != nil {
		return err
	}
	_, _ = rand.Read(nonces[nonceSize:]) // it never fails
	if _, err := c.Conn.Write(append(nonces[nonceSize:], c.secret.proof("engine", nonces[:])...)); err != nil {
		return err
	}
	var shown [4 + sha256.Size]byte
	if _, err := io.ReadFull(c.Conn, shown[:]); err != nil {
		return err
	}
	pid, proof := shown[:4], shown[4:]
	if !hmac.Equal(proof, c.secret.proof("console", nonces[:], pid...)) {
		return errors.New("the other end does not know the secret")
	}
	c.peer.PID = int(binary.BigEndian.Uint32(pid))
	c.proven.Store(true)
	return nil
}

// prove proves to an engine that this process knows the secret, once the engine has.
func (s secret) prove(c net.Conn) error {
	if err := c.SetDeadline(time.Now().Add(dialTimeout)); err != nil {
		return err
	}
	var nonces [2 * nonceSize]byte
	_, _ = rand.Read(nonces[:nonceSize])
	if _, err := c.Write(nonces[:nonceSize]); err != nil {
		return err
	}
	var proof [sha256.Size]byte
	_, err := io.ReadFull(c, nonces[nonceSize:])
	if err == nil {
		_, err = io.ReadFull(c, proof[:])
	}
	if err != nil || !hmac.Equal(proof[:], s.proof("engine", nonces[:])) {
		// Its engine has died, and another program has the port.
		return engine.Problemf(engine.ErrGone, "start one with `farsight serve`",
			"not connected: what listens at %s is no engine of this data directory", c.RemoteAddr())
	}
	pid := binary.BigEndian.AppendUint32(nil, uint32(os.Getpid()))
	if _, err := c.Write(append(pid, s.proof("console", nonces[:], pid...)...)); err != nil {
		return err
	}
	return c.SetDeadline(time.Time{})
}

// maxPort bounds the file: an address and a secret of 52 characters.
const maxPort = 256

// dialLoopback connects to where the file at path leads. Nothing is proved yet.
func dialLoopback(path string) (net.Conn, secret, error) {
	f, info, err := regular.Open(path, regular.NoFollow)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	owner, _, known := regular.Owner(info)
	if regular.Others(info) != 0 || known && owner != os.Geteuid() && owner != 0 {
		return nil, "", engine.Problemf(engine.ErrRefused, "start the engine anew, which writes it anew",
			"the control port in %s is not told by this user alone", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxPort))
	if err != nil {
		return nil, "", err
	}
	to, rest, _ := strings.Cut(string(raw), "\n")
	key, end, whole := strings.Cut(rest, "\n")
	addr, err := netip.ParseAddrPort(to)
	if err != nil || !addr.Addr().IsLoopback() || !whole || end != "" || !printable(key) {
		return nil, "", engine.Problemf(engine.ErrBroken, "start the engine anew, which writes it anew",
			"%s tells no control port", path)
	}
	d := net.Dialer{Timeout: dialTimeout}
	c, err := d.Dial("tcp", addr.String())
	return c, secret(key), err
}
