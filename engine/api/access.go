package api

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/farsight-console/farsight/engine"
)

// Rule lets one user or group in.
type Rule struct {
	ID    uint32
	Group bool
}

// ParseRules reads a list such as "ana, 1001, @ops, @27": users by name or uid,
// groups with an @ before the name or gid.
func ParseRules(text string) ([]Rule, error) {
	var out []Rule
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, group := strings.CutPrefix(word, "@")
		id, err := lookUp(name, group)
		if err != nil {
			return nil, err
		}
		out = append(out, Rule{ID: id, Group: group})
	}
	return out, nil
}

// GroupID is the number of a group, by its name or number.
func GroupID(name string) (uint32, error) { return lookUp(name, true) }

// lookUp gives the number of a user or group of this host. A word of digits is the number itself,
// whoever has it or nobody does: a container may lack the names.
func lookUp(name string, group bool) (uint32, error) {
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(n), nil
	}
	what, id := "user", ""
	if group {
		what = "group"
		if g, err := user.LookupGroup(name); err == nil {
			id = g.Gid
		}
	} else if u, err := user.Lookup(name); err == nil {
		id = u.Uid
	}
	n, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("there is no %s %q on this host: write its name or number, groups with an @", what, name)
	}
	return uint32(n), nil
}

// Access says who may do what on a socket. The owner of the engine and root may
// do everything.
type Access struct {
	Owner     uint32
	Viewers   []Rule
	Operators []Rule
}

// role is what a peer may do. Its groups are asked for only when a rule names one.
func (a Access) role(p *peer) Role {
	switch {
	case a.owns(p), p.fits(a.Operators):
		return Operator
	case p.fits(a.Viewers):
		return Viewer
	}
	return Stranger
}

// owns reports whether the peer is the owner of the engine, or root, whom no rule could keep out.
func (a Access) owns(p *peer) bool { return p.UID == a.Owner || p.UID == 0 }

// peer is the other end of a connection, as the kernel knows it.
type peer struct {
	UID, GID uint32
	PID      int // 0 = the kernel does not tell
	// Groups of the user; nil = those of the host's user database, when they are
	// needed.
	Groups func() []uint32

	// The name costs a look into the host's user database, which may ask a server: once for each
	// connection is enough.
	once sync.Once
	name string
}

// fits reports whether a rule names the peer's user, or one of its groups.
func (p *peer) fits(rules []Rule) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool {
		if !r.Group {
			return r.ID == p.UID
		}
		return r.ID == p.GID || slices.Contains(p.groups(), r.ID)
	})
}

// groups are those of the peer's user. The kernel tells one group of a peer and not the others, so that
// they are looked up by the user; nobody of whom that cannot be done is in any.
func (p *peer) groups() []uint32 {
	if p.Groups != nil {
		return p.Groups()
	}
	// The database of now and not of the login: who has been added to a group need not log in again.
	u, err := user.LookupId(strconv.FormatUint(uint64(p.UID), 10))
	if err != nil {
		return nil
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil
	}
	var out []uint32
	for _, id := range ids {
		if n, err := strconv.ParseUint(id, 10, 32); err == nil {
			out = append(out, uint32(n))
		}
	}
	return out
}

// user is the name of the peer's user, looked up once for each connection.
func (p *peer) user() string {
	p.once.Do(func() {
		p.name = fmt.Sprintf("uid %d", p.UID)
		if u, err := user.LookupId(strconv.FormatUint(uint64(p.UID), 10)); err == nil && u.Username != "" {
			p.name = u.Username
		}
	})
	return p.name
}

// where names the peer by what the kernel knows, for whoever reads a refusal: a name may be anybody's.
func (p *peer) where() string {
	if p.PID == 0 {
		return fmt.Sprintf("uid %d", p.UID)
	}
	return fmt.Sprintf("uid %d, process %d", p.UID, p.PID)
}

// actor is how the peer stands in the audit: ana, by the socket, of process 4711.
func (p *peer) actor() engine.Actor {
	a := engine.Actor{User: p.user(), Via: "socket"}
	if p.PID != 0 {
		a.Session = fmt.Sprintf("process %d", p.PID)
	}
	return a
}

// Door is the Who of a socket. Its Access can be replaced while it serves.
type Door struct{ access atomic.Pointer[Access] }

// NewDoor makes a door with its first rules.
func NewDoor(a Access) *Door {
	d := &Door{}
	d.Set(a)
	return d
}

// Set replaces the rules, for open connections too.
func (d *Door) Set(a Access) { d.access.Store(&a) }

// Who tells the caller by the credential of the connection's peer.
func (d *Door) Who(r *http.Request) (Caller, error) {
	p, ok := r.Context().Value(peerKey{}).(*peer)
	if !ok {
		return Caller{}, engine.Problemf(engine.ErrRefused, "",
			"the kernel does not tell who is at the other end of this connection")
	}
	rules := d.access.Load()
	// The rules are read once per request: a change of the configuration counts from the next one on.
	c := Caller{Actor: p.actor(), Role: rules.role(p), Own: rules.owns(p), Where: p.where()}
	if c.Role == Stranger {
		return c, engine.Problemf(engine.ErrRefused,
			"ask the owner of the engine to name you in `viewers` or `operators`",
			"%s (%s) is not let in here", c.Actor.User, c.Where)
	}
	return c, nil
}

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
