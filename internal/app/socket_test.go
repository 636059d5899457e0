package app

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/riot/sim"
)

// serving starts a daemon on a directory and waits until it is ready.
func (s *simulator) serving(t testing.TB, dir string, env map[string]string, flags ...string) *child {
	t.Helper()
	c := command{args: append([]string{"serve", "--data-dir", dir}, flags...), env: s.env()}
	for k, v := range env {
		c.env[k] = v
	}
	p := c.start(t)
	p.says("farsight: ready: process " + strconv.Itoa(p.cmd.Process.Pid))
	return p
}

// slowly is a simulator on which a sync lasts as long as a test.
func slowly(t testing.TB, who sim.PlayerSpec) *simulator {
	return startSim(t, sim.Options{Seed: 1, Limits: limits("20:10"), Players: []sim.PlayerSpec{who}})
}

// watching collects what an attached console sees.
type watching struct {
	*api.Client
	updates chan engine.Update
}

func attached(t testing.TB, dir string) *watching {
	t.Helper()
	w := &watching{api.NewClient(controlSocket(dir)), make(chan engine.Update, 1000)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			for u := range w.Watch(ctx) {
				select {
				case w.updates <- u:
				case <-ctx.Done():
				}
			}
			time.Sleep(10 * time.Millisecond) // the screen waits longer
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		w.Close()
	})
	return w
}

// until takes updates until one is as wanted.
func (w *watching) until(t testing.TB, what string, ok func(engine.Update) bool) engine.Update {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case u := <-w.updates:
			if ok(u) {
				return u
			}
		case <-late:
			t.Fatalf("%s was never seen", what)
		}
	}
}

func (w *watching) note(t testing.TB, text string) engine.Note {
	t.Helper()
	var found engine.Note
	w.until(t, "a note of "+text, func(u engine.Update) bool {
		for _, n := range u.Notes {
			if strings.Contains(n.Text, text) {
				found = n
				return true
			}
		}
		return false
	})
	return found
}

// TestS1_11_TwoConsolesAndCommandsOnADaemon is the first show of issue 5: actions of
// one are seen by the others with their actor, kill -9 of the daemon loses nothing,
// and consoles come back by themselves.
func TestS1_11_TwoConsolesAndCommandsOnADaemon(t *testing.T) {
	t.Parallel()
	who := player("Two Consoles#SOCK", 600)
	s, dir := slowly(t, who), freshDir(t)
	d := s.serving(t, dir, nil)
	a, b := attached(t, dir), attached(t, dir)
	first := a.until(t, "a snapshot", func(u engine.Update) bool { return u.Snapshot })
	b.until(t, "a snapshot", func(u engine.Update) bool { return u.Snapshot })
	if first.Engine == nil || first.Engine.Boot == "" {
		t.Errorf("the snapshot holds no engine: %+v", first.Engine)
	}

	cli := func(args ...string) result {
		return command{args: append(args, "--data-dir", dir), env: map[string]string{"USER": "somebody-else"}}.asked(t)
	}
	cli("trigger", who.RiotID, "--platform", "euw1").wants(t, exitDone)
	n := a.note(t, "trigger: a sync of "+who.RiotID)
	if n.By.Via != "socket" || n.By.User == "" || n.By.User == "somebody-else" {
		t.Errorf("the note is by %+v, not by the peer's user", n.By)
	}
	b.note(t, "trigger: a sync")

	// Whoever acts, the others are told; a claim in the request is not believed.
	cli("pause", "ingest.rank.daily", "--reason", "a test").wants(t, exitDone)
	for _, w := range []*watching{a, b} {
		if n := w.note(t, "pause: queue ingest.rank.daily"); n.By.Via != "socket" || n.By.User == "somebody-else" {
			t.Errorf("the note is by %+v", n.By)
		}
	}

	// Lists and commands go through the same socket.
	var jobs int
	d.until("jobs", func() bool {
		jobs = strings.Count(cli("jobs", "--json").wants(t, exitDone).stdout, `"kind":"match.fetch"`)
		return jobs > 5
	})
	for _, args := range []string{"status --json", "accounts --json", "limits", "retries", "schedules", "matches", "queues", "audit --json"} {
		cli(words(args)...).wants(t, exitDone)
	}
	var dry engine.Receipt
	if err := json.Unmarshal([]byte(cli("cancel", "--queue", "ingest.summoner.full", "--dry-run", "--json").wants(t, exitDone).stdout), &dry); err != nil || dry.Would == 0 {
		t.Errorf("a dry run: %+v %v", dry, err)
	}
	oneSentence(t, cli("retry", "match:EUW1_404").wants(t, exitFailed).stderr, "match:EUW1_404")
	oneSentence(t, cli("pause", "no.such.queue").wants(t, exitUsage).stderr, "no.such.queue")
	if lines := strings.Count(cli("export", "jobs").wants(t, exitDone).stdout, "\n"); lines < jobs {
		t.Errorf("the export of a running engine has %d lines, of %d jobs", lines, jobs)
	}

	d.kill()
	oneSentence(t, cli("attach").wants(t, exitFailed).stderr, "no engine listens", "farsight serve")
	cli("status").wants(t, exitDone) // from the directory, in spite of the socket that was left
	s.serving(t, dir, nil)
	second := a.until(t, "a snapshot of the new engine", func(u engine.Update) bool {
		return u.Snapshot && u.Engine != nil && u.Engine.Boot != first.Engine.Boot
	})
	if len(second.Accounts) != 1 || !second.Accounts[0].Status.Open() {
		t.Errorf("the sync was lost: %+v", second.Accounts)
	}
	if !strings.Contains(cli("audit", "--json").wants(t, exitDone).stdout, `"via":"socket"`) {
		t.Error("the audit does not say by which way the commands came")
	}
}

func TestServe_TheSecondOneIsToldToAttach(t *testing.T) {
	t.Parallel()
	s, dir := slowly(t, player("Only One#SOCK", 5)), freshDir(t)
	p := s.serving(t, dir, nil)
	res := command{args: []string{"serve", "--data-dir", dir}, env: s.env()}.run(t).wants(t, exitHeld)
	oneSentence(t, res.stderr, strconv.Itoa(p.cmd.Process.Pid), "farsight attach")
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.wait().wants(t, exitDone)
	if _, err := os.Lstat(controlSocket(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

// systemd listens as it does, at a path that is short, and hears returns once it has been told
// something. Nobody who tells it waits for the test.
func systemd(t *testing.T) (path string, hears func(want string)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fs-sd")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	heard, done := &lockedBuffer{}, make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1000)
		for {
			n, err := l.Read(buf)
			if err != nil {
				return
			}
			_, _ = heard.Write(append(buf[:n:n], '\n'))
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		_ = os.RemoveAll(dir)
	})
	return path, func(want string) {
		t.Helper()
		eventually(t, "that systemd hears "+want, func() bool { return strings.Contains(heard.String(), want) })
	}
}

// TestServe_TellsSystemd: readiness, the watchdog and the end, one datagram each;
// SIGHUP takes over what it can and says what it cannot.
func TestServe_TellsSystemd(t *testing.T) {
	t.Parallel()
	s, dir := slowly(t, player("System D#SOCK", 5)), freshDir(t)
	path, hears := systemd(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := s.serving(t, dir, map[string]string{"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000000"})
	hears("READY=1")
	hears("WATCHDOG=1")
	w := attached(t, dir)
	w.until(t, "a snapshot", func(u engine.Update) bool { return u.Snapshot })
	_ = p.cmd.Process.Signal(syscall.SIGHUP)
	w.note(t, "reload: nothing has changed")
	conf := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(conf, []byte("viewers = \"4242\"\nsync_cooldown = \"1h\"\nlog_level = \"debug\"\nworker_concurrency = 7\ntheme = \"light\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGHUP)
	const taken = "reload: worker_concurrency, log_level, viewers taken over; theme changed: for consoles and commands that start from now on; sync_cooldown changed: restart to take over"
	w.note(t, taken)
	hears("RELOADING=1\nMONOTONIC_USEC=")
	hears("READY=1\nSTATUS=" + taken)
	p.until("the log saying so", func() bool {
		log, _ := os.ReadFile(filepath.Join(dir, "farsight.log"))
		return strings.Contains(string(log), taken)
	})
	// The environment's key goes first, so a new one in the file is not taken in silence.
	write(t, filepath.Join(dir, "riot.key"), keyOfFile+"\n")
	_ = p.cmd.Process.Signal(syscall.SIGHUP)
	w.note(t, "riot.key is another than that of RIOT_API_KEY, which goes first")
	if err := os.WriteFile(conf, []byte("viewers = \"no-such-user\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGHUP)
	if n := w.note(t, "nothing was changed"); n.Level != engine.LevelErr || !strings.Contains(n.Text, "no-such-user") {
		t.Errorf("%+v", n)
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	hears("STOPPING=1")
	p.wait().wants(t, exitDone)
}

// TestServe_NewKeyByFileAndSIGHUP starts without a key.
func TestServe_NewKeyByFileAndSIGHUP(t *testing.T) {
	t.Parallel()
	s, dir := slowly(t, player("Late Key#SOCK", 5)), freshDir(t)
	c := command{args: []string{"serve", "--data-dir", dir}, env: s.env()}
	delete(c.env, keyring.Env)
	p := c.start(t)
	p.says("there is no API key yet")
	w := attached(t, dir)
	u := w.until(t, "a snapshot", func(u engine.Update) bool { return u.Snapshot })
	if u.Engine.State != engine.EngineNoKey {
		t.Errorf("the engine is %s without a key", u.Engine.State)
	}
	if err := os.WriteFile(filepath.Join(dir, "riot.key"), []byte(canary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGHUP)
	w.until(t, "the key in use", func(u engine.Update) bool { return u.Engine != nil && u.Engine.Key != "" })
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.wait().wants(t, exitDone)
}

// onTerminal starts a command on a terminal of its own, whose session it leads.
func onTerminal(t testing.TB, args []string, env map[string]string, as ...func(*exec.Cmd)) (*child, *os.File, *lockedBuffer) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	// A read of what the library opens blocks, and its close waits for the read: until the minute turns.
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err := errors.Join(err, unix.SetNonblock(fd, true), master.Close()); err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "terminal")
	env["TERM"], env["NO_COLOR"], env["XDG_STATE_HOME"] = "xterm", "1", t.TempDir()
	c := command{args: args, env: env, as: func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		for _, change := range as {
			change(cmd)
		}
	}}
	p := c.start(t)
	tty.Close()
	seen := &lockedBuffer{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf, asked := make([]byte, 8192), false
		for {
			n, err := master.Read(buf)
			_, _ = seen.Write(buf[:n])
			// A terminal that is asked for its colours answers; the question may come in pieces.
			if !asked && strings.Contains(seen.String(), "\x1b]11;?") {
				asked = true
				_, _ = master.WriteString("\x1b]11;rgb:0000/0000/0000\x07")
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		master.Close()
		<-done
	})
	return p, master, seen
}

// onGlass is what stands on a terminal of onTerminal.
func onGlass(seen *lockedBuffer) func() string {
	g, fed := newGlass(120, 40, func(string) {}), 0
	return func() string {
		all := seen.String()
		_, _ = g.Write([]byte(all[fed:]))
		fed = len(all)
		return g.text()
	}
}

// TestConsole_TheEngineOutlivesItsTerminal: keep_running, the next console attaches,
// and a detached engine is a daemon.
func TestConsole_TheEngineOutlivesItsTerminal(t *testing.T) {
	t.Parallel()
	who := player("Keep Running#SOCK", 600)
	s, dir := slowly(t, who), freshDir(t)
	env := s.env()
	env["FARSIGHT_KEEP_RUNNING"] = "true"
	p, master, seen := onTerminal(t, []string{"--data-dir", dir}, env)
	screen := onGlass(seen)
	live := func() bool { return strings.Contains(screen(), "LIVE") } // an engine that still opens its directory has no socket
	p.until("the console", live)
	client := api.NewClient(controlSocket(dir))
	defer client.Close()
	var h api.Hello
	var err error
	p.until("the engine's socket", func() bool { h, err = client.Hello(t.Context()); return err == nil })
	if err != nil || h.PID != p.cmd.Process.Pid {
		t.Fatalf("the console's engine has no socket: %+v %v", h, err)
	}

	// A second one attaches, and asks nothing when it is left.
	p2, master2, seen2 := onTerminal(t, []string{"--data-dir", dir}, s.env())
	screen2 := onGlass(seen2)
	p2.until("the attached console", func() bool { return strings.Contains(screen2(), "LIVE") })
	_, _ = master2.WriteString("q")
	p2.wait().wants(t, exitDone)

	// The terminal of the first one goes away.
	master.Close()
	time.Sleep(200 * time.Millisecond)
	if h, err := client.Hello(t.Context()); err != nil || h.PID != p.cmd.Process.Pid {
		t.Fatalf("the engine has gone with its terminal: %+v %v", h, err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGHUP) // is a reload now
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.wait().wants(t, exitDone)

	// Without keep_running it stops in order.
	env["FARSIGHT_KEEP_RUNNING"] = "auto"
	p, master, seen = onTerminal(t, []string{"--data-dir", dir}, env)
	screen = onGlass(seen)
	p.until("the console", live)
	master.Close()
	p.wait()
	if _, err := client.Hello(t.Context()); !errors.Is(err, engine.ErrGone) {
		t.Errorf("an engine is left: %v", err)
	}

	// d hands the engine over to a daemon.
	p, master, seen = onTerminal(t, []string{"--data-dir", dir}, env)
	screen = onGlass(seen)
	p.until("the console", live)
	_, _ = master.WriteString("d")
	p.wait().wants(t, exitDone)
	h, err = client.Hello(t.Context())
	if err != nil || h.PID == p.cmd.Process.Pid {
		t.Fatalf("nobody has taken over: %+v %v", h, err)
	}
	t.Cleanup(func() { _ = syscall.Kill(h.PID, syscall.SIGKILL) })
	eventually(t, "that the operator is told", func() bool { return strings.Contains(seen.String(), "detached: process "+strconv.Itoa(h.PID)) })
	_ = syscall.Kill(h.PID, syscall.SIGTERM)
	eventually(t, "the end of the daemon", func() bool { return !running(h.PID) })
}

// TestConsole_DisconnectedAndBack: the attached console keeps what it shows, says
// that the engine has gone, and comes back.
func TestConsole_DisconnectedAndBack(t *testing.T) {
	t.Parallel()
	s, dir := slowly(t, player("Come Back#SOCK", 5)), freshDir(t)
	d := s.serving(t, dir, nil)
	p, master, seen := onTerminal(t, []string{"attach", controlSocket(dir)}, map[string]string{})
	screen := onGlass(seen)
	p.until("the console", func() bool { return strings.Contains(screen(), "LIVE") })
	d.kill()
	p.until("DISCONNECTED", func() bool { return containsAll(screen(), []string{"DISCONNECTED", "data as of"}) })
	s.serving(t, dir, nil)
	p.until("LIVE again", func() bool { s := screen(); return strings.Contains(s, "LIVE") && !strings.Contains(s, "DISCONNECTED") })
	_, _ = master.WriteString("q")
	p.wait().wants(t, exitDone)
}

// TestTeamSocket_AViewerMayNotAct uses real credentials: other users connect to the
// group's socket.
func TestTeamSocket_AViewerMayNotAct(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	s, dir := slowly(t, player("Team#SOCK", 5)), freshDir(t)
	team, err := os.MkdirTemp("", "fs-team")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(team)
	bin := filepath.Join(team, "farsight") // where everybody may run it
	raw, err := os.ReadFile(farsight(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(bin, raw, 0o755), os.Chmod(team, 0o755)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(team, "control.sock")
	p := s.serving(t, dir, map[string]string{
		"FARSIGHT_SOCKET_GROUP": "4200", "FARSIGHT_SOCKET_PATH": path, "FARSIGHT_VIEWERS": "4201, @4205", "FARSIGHT_OPERATORS": "4202 @4206",
	})
	// The path is where a data directory's socket would be, for the commands to find.
	as := func(uid uint32, args ...string) result {
		return command{args: append(args, "--data-dir", team), as: func(cmd *exec.Cmd) {
			cmd.Path, cmd.Args[0] = bin, bin
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: 4200, NoSetGroups: true}}
		}}.asked(t)
	}
	// One who enters by the group of the socket, and is known by another group.
	in := func(uid, gid uint32, args ...string) result {
		return command{args: append(args, "--data-dir", team), as: func(cmd *exec.Cmd) {
			cmd.Path, cmd.Args[0] = bin, bin
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid, Groups: []uint32{4200}}}
		}}.asked(t)
	}
	as(4201, "status").wants(t, exitDone)
	in(4207, 4205, "status").wants(t, exitDone)
	oneSentence(t, in(4207, 4205, "pause", "ingest.rank.daily").wants(t, exitFailed).stderr, "viewer", "operators")
	in(4208, 4206, "resume", "ingest.rank.daily").wants(t, exitDone)
	res := as(4201, "pause", "ingest.rank.daily").wants(t, exitFailed)
	oneSentence(t, res.stderr, "viewer", "operators")
	write(t, filepath.Join(team, "state.db"), "") // there is a store, as far as uid 4201 can tell
	for _, args := range []string{"backup", "prune", "prune --dry-run"} {
		oneSentence(t, as(4201, words(args)...).wants(t, exitFailed).stderr, "viewer", "operators")
	}
	as(4202, "pause", "ingest.rank.daily").wants(t, exitDone)
	oneSentence(t, as(4202, "backup", "--to", "/srv/elsewhere").wants(t, exitFailed).stderr, "only the owner", "leave it out")
	as(4202, "backup", "--no-payloads").wants(t, exitDone)
	oneSentence(t, as(4203, "status").wants(t, exitFailed).stderr, "uid 4203", "not let in")
	audit := command{args: []string{"audit", "--json", "--data-dir", dir}}.asked(t).wants(t, exitDone).stdout
	if !containsAll(audit, []string{"uid 4201, process ", "uid 4207, process ", `"user":"uid 4202"`, `"user":"uid 4208"`}) {
		t.Errorf("the audit does not name the credentials: %s", audit)
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.wait().wants(t, exitDone)
}
