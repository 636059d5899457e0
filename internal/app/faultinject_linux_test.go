package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// injector makes the file operations of a real process fail. The kernel asks it
// about each one (seccomp, user notification), so that the program under test is
// the one that is shipped, and nothing below it is left out: bbolt's writes and
// syncs, renames, new files, directories. It counts the operations on files below
// one directory, but for the log, and fails the nth of them with an error, and
// with forever all that follow.
type injector struct {
	dir     string
	nth     int
	forever bool
	errno   unix.Errno

	mu    sync.Mutex
	count int
	log   []string // what failed
	off   bool
}

// operations are the system calls that change files, and where their path or
// descriptor stands.
var operations = map[uint32]struct {
	name string
	path int // argument that is a path; -1 = the first is a descriptor
}{
	unix.SYS_PWRITE64: {"pwrite", -1}, unix.SYS_WRITE: {"write", -1},
	unix.SYS_FSYNC: {"fsync", -1}, unix.SYS_FDATASYNC: {"fdatasync", -1}, unix.SYS_FTRUNCATE: {"ftruncate", -1},
	unix.SYS_OPENAT: {"open", 1}, unix.SYS_MKDIRAT: {"mkdir", 1}, unix.SYS_UNLINKAT: {"unlink", 1},
	unix.SYS_RENAMEAT: {"rename", 1}, unix.SYS_LINKAT: {"link", 1},
}

// Environment of the shim, which sets the filter and becomes the program: one of the roles
// of this binary, or another binary.
const (
	execEnv     = "FARSIGHT_TEST_EXEC"
	nextRoleEnv = "FARSIGHT_TEST_NEXT_ROLE"
)

func init() { roles["faulty"] = becomeFaulty }

// noSeccomp is the shim's exit code where the kernel does not offer it.
const noSeccomp = 97

// shimSocket is the descriptor on which the shim hands over the kernel's end.
const shimSocket = 3

func becomeFaulty() int {
	runtime.LockOSThread() // two calls set the filter, and the first is about one thread
	listener, err := installFilter()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return noSeccomp
	}
	if err := unix.Sendmsg(shimSocket, []byte{1}, unix.UnixRights(listener), nil, 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return noSeccomp
	}
	_ = unix.Close(shimSocket)
	target, role := os.Getenv(execEnv), os.Getenv(nextRoleEnv)
	_ = os.Unsetenv(execEnv)
	_ = os.Unsetenv(nextRoleEnv)
	_ = os.Setenv(roleEnv, role)
	if role != "" {
		runtime.UnlockOSThread() // the filter is every thread's
		return roles[role]()
	}
	err = syscall.Exec(target, append([]string{target}, os.Args[1:]...), os.Environ())
	fmt.Fprintln(os.Stderr, err)
	return noSeccomp
}

// installFilter asks the kernel to report the operations of this process and of
// whatever it becomes.
func installFilter() (listener int, err error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	code := openFilter()
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC|unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH|
			unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return 0, fmt.Errorf("seccomp: %w", errno)
	}
	return int(fd), nil
}

// openFilter reports the operations, and an open only when it may write.
func openFilter() []unix.SockFilter {
	const number, flags = 0, 32 // where seccomp_data has the call and its third argument
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(what uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what}
	}
	code := []unix.SockFilter{load(number)}
	for nr := range operations {
		if nr == unix.SYS_OPENAT {
			continue
		}
		code = append(code, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jf: 1}, answer(unix.SECCOMP_RET_USER_NOTIF))
	}
	return append(code,
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_OPENAT, Jf: 3},
		load(flags),
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT, Jf: 1},
		answer(unix.SECCOMP_RET_USER_NOTIF),
		answer(unix.SECCOMP_RET_ALLOW))
}

// start runs a command whose file operations the injector decides about. A
// command that has a role runs the test binary.
func (i *injector) start(t testing.TB, c command) *child {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.env = with(c.env, nextRoleEnv+"="+c.env[roleEnv], execEnv+"="+farsight(t), roleEnv+"=faulty")
	c.as = func(cmd *exec.Cmd) { cmd.Path, cmd.ExtraFiles = self, []*os.File{theirs} }
	p := c.start(t)
	_ = theirs.Close()
	listener, err := receive(ours)
	if err != nil {
		<-p.exited
		if p.code == noSeccomp && os.Getenv("CI") == "" {
			t.Skipf("no file operation can be made to fail here: %s", p.err.String())
		}
		t.Fatalf("the shim ended with %d: %v %s", p.code, err, p.err.String())
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		i.supervise(listener)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-done
	})
	return p
}

// receive takes the kernel's end from the shim.
func receive(from *os.File) (*os.File, error) {
	raw, err := from.SyscallConn()
	if err != nil {
		return nil, err
	}
	oob, n := make([]byte, unix.CmsgSpace(4)), 0
	var got error
	err = raw.Read(func(fd uintptr) bool {
		var bytes int
		bytes, n, _, _, got = unix.Recvmsg(int(fd), make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
		if got == nil && bytes == 0 {
			got = io.ErrUnexpectedEOF
		}
		return !errors.Is(got, unix.EAGAIN)
	})
	if err = errors.Join(err, got); err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) == 0 {
		return nil, fmt.Errorf("no descriptor came: %v", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("no descriptor came: %v", err)
	}
	return os.NewFile(uintptr(fds[0]), "listener"), nil
}

// The kernel's structures (linux/seccomp.h).
type (
	notification struct {
		id         uint64
		pid, flags uint32
		nr         int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	verdictOn struct {
		id    uint64
		val   int64
		errno int32
		flags uint32
	}
)

// supervise answers until nobody asks any more.
func (i *injector) supervise(listener *os.File) {
	defer listener.Close()
	fd := int(listener.Fd())
	for {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 1000)
		if errors.Is(err, unix.EINTR) || err == nil && n == 0 {
			continue
		}
		if err != nil || poll[0].Revents&unix.POLLIN == 0 {
			return
		}
		var ask notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&ask))); errno != 0 {
			continue // whoever asked has ended
		}
		say := verdictOn{id: ask.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if errno := i.judge(&ask); errno != 0 {
			say.flags, say.errno = 0, -int32(errno)
		}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&say)))
	}
}

// judge counts one operation; not 0 = it fails.
func (i *injector) judge(ask *notification) unix.Errno {
	op := operations[uint32(ask.nr)]
	path := pathOf(ask, op.path)
	if !strings.HasPrefix(path, i.dir+"/") && path != i.dir || filepath.Base(path) == "farsight.log" {
		return 0
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count++
	if i.off || i.nth == 0 || i.count < i.nth || i.count > i.nth && !i.forever {
		return 0
	}
	i.log = append(i.log, op.name+" "+strings.TrimPrefix(path, i.dir))
	return i.errno
}

func pathOf(ask *notification, arg int) string {
	if arg < 0 {
		path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", ask.pid, ask.args[0]))
		return strings.TrimSuffix(path, " (deleted)")
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", ask.pid))
	if err != nil {
		return ""
	}
	defer mem.Close()
	text := make([]byte, 512)
	n, _ := mem.ReadAt(text, int64(ask.args[arg]))
	name, _, _ := bytes.Cut(text[:n], []byte{0})
	return string(name)
}

// lift lets everything succeed from now on.
func (i *injector) lift() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.off = true
}

// arm makes the operations fail from now on.
func (i *injector) arm(errno unix.Errno) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.nth, i.forever, i.errno = i.count+1, true, errno
}

// failed tells what was made to fail.
func (i *injector) failed() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]string(nil), i.log...)
}

// failures waits until some operations have failed.
func (i *injector) failures(p *child, n int) {
	p.t.Helper()
	p.until(fmt.Sprint(n, " failures"), func() bool { return len(i.failed()) >= n })
}
