package app

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/farsight-console/farsight/internal/scratch"
)

// stranger is a local user besides whoever runs the tests. The server of the tests
// knows it by a user list of its own; the machine's is not touched.
const (
	stranger    = "fsviewer"
	strangerUID = 4301
)

// sshServer is a real OpenSSH server on a loopback port, and what a client needs to
// get in.
type sshServer struct {
	t     testing.TB
	dir   string
	conf  string // of the client
	me    string // the user that runs the tests
	other bool   // stranger can log in, too
	log   lockedBuffer
}

// needed finds a program that a test talks to, as those of OpenSSH. Without it there
// is nothing to be proven; where changes are accepted that is an error.
func needed(t testing.TB, name string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin/", "/usr/local/sbin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("there is no %s here; .ci/run installs it", name)
	}
	t.Skipf("there is no %s here", name)
	return ""
}

// startSSHD runs a server until the test ends; lines are added to its configuration.
func startSSHD(t testing.TB, lines ...string) *sshServer {
	t.Helper()
	needed(t, "ssh")
	daemon, keygen := needed(t, "sshd"), needed(t, "ssh-keygen")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "fs-ssh-") // short, and another user can enter it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &sshServer{t: t, dir: dir, conf: filepath.Join(dir, "client.conf"), me: me.Username}
	for _, name := range []string{"host", "client"} {
		if out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(dir+"/client.pub", 0o644)); err != nil {
		t.Fatal(err)
	}
	wrap := s.ownFiles(*me)
	for tries := 5; !s.listens(wrap, daemon, freePort(t), lines); tries-- {
		if tries == 0 {
			t.Fatalf("sshd does not start: %s", s.log.String())
		}
	}
	return s
}

// configure writes what server and client have to know for a port.
func (s *sshServer) configure(port string, lines []string) {
	s.t.Helper()
	dir := s.dir
	s.write("server.conf", 0o644, append([]string{
		"Port " + port, "ListenAddress 127.0.0.1", "HostKey " + dir + "/host", "PidFile none", "UsePAM no", "StrictModes no",
		"PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password",
		"AuthorizedKeysFile " + dir + "/client.pub", "MaxStartups 100", "PrintMotd no", "PrintLastLog no",
	}, lines...)...)
	s.write("client.conf", 0o644,
		"Port "+port, "Hostname 127.0.0.1", "UserKnownHostsFile "+dir+"/known", "StrictHostKeyChecking accept-new",
		"IdentityFile "+dir+"/client", "IdentitiesOnly yes", "IdentityAgent none", "BatchMode yes", "LogLevel ERROR", "EscapeChar none")
}

func (s *sshServer) write(name string, mode os.FileMode, lines ...string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(strings.Join(lines, "\n")+"\n"), mode); err != nil {
		s.t.Fatal(err)
	}
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// listens starts the server on a port; false = somebody else has taken the port meanwhile.
func (s *sshServer) listens(wrap []string, daemon, port string, lines []string) bool {
	s.t.Helper()
	s.configure(port, lines)
	args := slices.Concat(wrap, []string{daemon, "-D", "-e", "-f", filepath.Join(s.dir, "server.conf")})
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = &s.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait()
	}()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-exited
	})
	for deadline := time.Now().Add(patience); !strings.Contains(s.log.String(), "listening on 127.0.0.1 port "+port); time.Sleep(10 * time.Millisecond) {
		select {
		case <-exited:
			return false
		default:
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("sshd does not listen: %s", s.log.String())
		}
	}
	return true
}

// ownFiles is a command that shows another command a view of the files in which there are
// two users, this one at home in the test's folder, and the empty folder that the server
// locks its helpers into; nil where that is not allowed, or not needed.
func (s *sshServer) ownFiles(me user.User) []string {
	if os.Geteuid() != 0 {
		return nil
	}
	if exec.Command("unshare", "-m", "true").Run() != nil {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // as the system's service does
			s.t.Fatal(err)
		}
		return nil
	}
	s.other = true
	home := filepath.Join(s.dir, "home")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, strangerUID, strangerUID)); err != nil {
		s.t.Fatal(err)
	}
	lines := []string{
		fmt.Sprintf("%s:x:%s:%s::%s:/bin/sh", me.Username, me.Uid, me.Gid, s.dir),
		fmt.Sprintf("%s:x:%d:%d::%s:/bin/sh", stranger, strangerUID, strangerUID, home),
		"sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin",
	}
	s.write("passwd", 0o644, lines...)
	s.write("shadow", 0o600, me.Username+":*:20000::::::", stranger+":*:20000::::::")
	script := fmt.Sprintf("mount -t tmpfs none /run && mkdir /run/sshd && mount --bind %[1]s/passwd /etc/passwd && mount --bind %[1]s/shadow /etc/shadow && exec \"$@\"", s.dir)
	return []string{"unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh"}
}

// sshTerminal is a console that somebody has opened through ssh, as they see it.
type sshTerminal struct {
	*child // the ssh client
	*glass
	server *sshServer
	master *os.File
	pid    int // of what runs at the other end
}

// open is `ssh -t user@host env … farsight args` on a terminal of the given size.
func (s *sshServer) open(w, h int, user string, env []string, args ...string) *sshTerminal {
	s.t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		s.t.Skip("no terminals here: ", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		s.t.Fatal(err)
	}
	c := s.command(append([]string{"-t"}, s.remote(user, env, args)...), map[string]string{"TERM": "xterm-256color"})
	c.as = andThen(c.as, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	})
	x := &sshTerminal{server: s, master: master, glass: newGlass(w, h, func(answer string) { _, _ = master.WriteString(answer) })}
	x.child = c.start(s.t)
	tty.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 8192)
		for {
			n, err := master.Read(buf)
			_, _ = x.glass.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	s.t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		master.Close()
		<-done
	})
	x.until("the program at the other end", func() bool {
		if m := regexp.MustCompile(`at process (\d+)\r`).FindStringSubmatch(x.first()); m != nil {
			x.pid, _ = strconv.Atoi(m[1])
		}
		return x.pid > 0
	})
	if x.pid == 0 {
		s.t.Fatalf("ssh has ended: %s\nserver: %s", x.first(), s.log.String())
	}
	return x
}

// remote is the end of ssh's command line: where to, and a command that tells its
// process id and becomes farsight.
func (s *sshServer) remote(user string, env, args []string) []string {
	if user == "" {
		user = s.me
	}
	env = append([]string{scratch.Mark(), "XDG_STATE_HOME=" + s.dir + "/state", "XDG_CONFIG_HOME=" + s.dir + "/config"}, env...)
	return []string{user + "@farsight-test", "echo at process $$; exec env " + strings.Join(env, " ") + " " + farsight(s.t) + " " + strings.Join(args, " ")}
}

// command is a run of ssh.
func (s *sshServer) command(args []string, env map[string]string) command {
	return command{env: env, as: func(cmd *exec.Cmd) {
		cmd.Path = needed(s.t, "ssh")
		cmd.Args = append([]string{"ssh", "-F", s.conf}, args...)
	}}
}

func andThen(first, then func(*exec.Cmd)) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		first(cmd)
		then(cmd)
	}
}

// waits waits for something to become true.
func (x *sshTerminal) waits(what string, ok func() bool) {
	x.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			x.t.Fatalf("%s: not seen; the screen is\n%s\nunknown sequences: %q\nserver: %s", what, x.text(), x.strange, tail(x.server.log.String(), 500))
		}
	}
}

// shows waits until all of it is on the screen at once.
func (x *sshTerminal) shows(texts ...string) {
	x.t.Helper()
	x.waits(fmt.Sprintf("%q on the screen", texts), func() bool {
		screen := x.text()
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
	})
}

func (x *sshTerminal) press(keys string) {
	x.t.Helper()
	if _, err := x.master.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// resize is a window that its user drags.
func (x *sshTerminal) resize(w, h int) {
	x.t.Helper()
	x.size(w, h)
	if err := pty.Setsize(x.master, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		x.t.Fatal(err)
	}
}

// toldOf waits for a message. One that has faded before anybody looked is among all messages.
func (x *sshTerminal) toldOf(texts ...string) {
	x.t.Helper()
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if containsAll(x.text(), texts) {
			return
		}
	}
	x.press("M")
	x.shows(append(texts, "Messages")...)
	x.press("\x1b")
	x.waits("the screen before", func() bool { return !strings.Contains(x.text(), "Messages") })
}

// goes waits until a process at the other end has ended.
func (x *sshTerminal) goes(pid int) {
	x.t.Helper()
	x.waits(fmt.Sprintf("the end of process %d at the other end", pid), func() bool { return !running(pid) })
}

// session is the process of the server that this terminal hangs on.
func (x *sshTerminal) session() int {
	x.t.Helper()
	out, err := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(x.pid)).Output()
	pid, convErr := strconv.Atoi(strings.TrimSpace(string(out)))
	if err := errors.Join(err, convErr); err != nil || pid <= 1 {
		x.t.Fatalf("whose child is %d? %v", x.pid, err)
	}
	return pid
}
