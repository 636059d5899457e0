package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/regular"
)

// SocketName is the socket's name in a data directory.
const SocketName = "control.sock"

// maxSocketPath is how long a path the kernels take: 104 bytes on macOS, 108 on
// Linux, with the zero at its end.
const maxSocketPath = 103

// bindMask guards the umask, which belongs to the whole process.
var bindMask sync.Mutex

// Listen opens a control socket, mode 0600; with a group (-1 = none) it is 0660
// and the group's. Call it only while the lock of the data directory is held: that
// proves a socket without a listener to be left over from a process that has died,
// and it is removed. A path that somebody listens on, or that is no socket, is an
// error. Where there are no such sockets it is listenLoopback, and there is no group.
func Listen(path string, group int) (net.Listener, error) {
	if !unixSockets {
		return listenLoopback(path)
	}
	if err := clear(path); err != nil {
		return nil, err
	}
	short, release, err := shorten(path)
	if err != nil {
		return nil, err
	}
	l, err := bind(short)
	if err != nil {
		release()
		return nil, fmt.Errorf("open the control socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false) // by its own name, and only if it is still ours
	// The file is remembered by what it is: a socket that another process has put there meanwhile is
	// not ours to remove.
	s := &socket{UnixListener: l, path: path, release: release}
	if s.is, err = os.Lstat(path); err == nil && group >= 0 {
		err = errors.Join(os.Lchown(path, -1, group), os.Chmod(path, 0o660))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the control socket %s: %w", path, err), s.Close())
	}
	return s, nil
}

// bind makes the socket. The mask keeps everybody else out from its first moment:
// a chmod afterwards would leave a gap.
func bind(path string) (*net.UnixListener, error) {
	bindMask.Lock()
	defer bindMask.Unlock()
	// 0o177 leaves 0600. The umask is the process's: files that other goroutines make meanwhile are as
	// private.
	old := umask(0o177)
	defer umask(old)
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}

// clear removes a socket that nobody listens on. Only a refused connection proves that nobody listens:
// a full queue of one who does answers otherwise.
func clear(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at the control socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is no socket: move it away, the control socket belongs there", path)
	}
	c, err := dial(path)
	if err == nil {
		return errors.Join(fmt.Errorf("somebody listens on %s already: give the engines different sockets", path), c.Close())
	}
	if !errors.Is(err, connRefused) {
		return fmt.Errorf("look at the control socket %s: %w", path, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove the socket that a process has left: %w", err)
	}
	return nil
}

// dialTimeout is for a socket whose listener does not come to accept.
const dialTimeout = 2 * time.Second

// dial connects to a socket, by a shorter name where its own is too long, or to where a file in its place leads.
func dial(path string) (net.Conn, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		c, _, err := dialLoopback(path)
		return c, err
	}
	short, release, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer release()
	d := net.Dialer{Timeout: dialTimeout}
	return d.Dial("unix", short)
}

// dialTrusted is dial of a socket whose engine may be told what is typed, a key included.
func dialTrusted(path string) (net.Conn, error) {
	if info, err := os.Stat(path); !unixSockets || err == nil && info.Mode().IsRegular() {
		c, secret, err := dialLoopback(path)
		if err != nil {
			return nil, err
		}
		if err := secret.prove(c); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		return c, nil
	}
	c, err := dial(path)
	if err != nil {
		return nil, err
	}
	groups, _ := os.Getgroups() // an error: none but its own
	groups = append(groups, os.Getegid())
	info, err := os.Stat(path)
	who, peerErr := peerOf(c.(*net.UnixConn))
	if err = errors.Join(err, peerErr); err == nil && !believed(who.UID, os.Geteuid(), info, groups) {
		err = engine.Problemf(engine.ErrRefused, "attach as that user, such as by `sudo -u`, or let it set a `socket_group` that you are in",
			"user %d listens on %s, which is not you", who.UID, path)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// believed reports whether the user who listens on a socket is this one, the system's, or one who shares it with a
// group of this user's and nobody else.
func believed(who uint32, me int, socket fs.FileInfo, groups []int) bool {
	owner, group, known := regular.Owner(socket)
	shared := known && owner == int(who) && socket.Mode().Perm() == 0o660 && slices.Contains(groups, group)
	return int(who) == me || who == 0 || shared
}

// Listens reports whether a process has a socket, whether or not it answers.
func Listens(path string) bool {
	c, err := dial(path)
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// shorten gives a path that fits into a socket's address. A longer one is reached
// through its open folder where the system has names for those. release must be called when the short
// name is not used any more; until then the folder is open.
func shorten(path string) (short string, release func(), err error) {
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	// /proc/self/fd/7/control.sock; macOS has no such names
	short = fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path))
	if _, err := os.Stat(filepath.Dir(short)); err != nil || len(short) > maxSocketPath {
		return "", nil, errors.Join(dir.Close(), fmt.Errorf(
			"the path %s is too long for a socket: at most %d bytes, use a shorter data directory", path, maxSocketPath))
	}
	return short, func() { _ = dir.Close() }, nil
}

// socket is a listener whose file goes with it.
type socket struct {
	*net.UnixListener
	path    string
	is      os.FileInfo
	release func()
	once    sync.Once
	err     error
}

// Close removes the file first, so that nobody finds a socket without a listener.
func (s *socket) Close() error {
	s.once.Do(func() {
		if now, err := os.Lstat(s.path); err == nil && s.is != nil && os.SameFile(now, s.is) {
			s.err = os.Remove(s.path)
		}
		s.err = errors.Join(s.err, s.UnixListener.Close())
		s.release()
	})
	return s.err
}
