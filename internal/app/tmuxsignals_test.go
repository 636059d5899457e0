package app

import (
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/farsight-console/farsight/ui/terminal"
)

// TestTmux_StoppedFromOutside: `kill -TSTP` gives the terminal back as ctrl+z does, and
// `kill -STOP`, which nothing can see coming, is painted over once it is over.
func TestTmux_StoppedFromOutside(t *testing.T) {
	t.Parallel()
	x := inTmux(t, 100, 30, nil, "demo")
	x.shows("1 Overview", "SYNCING")
	pid := x.pid()
	if pid <= 0 { // 0 is everybody here
		t.Fatal("the program's process is not known")
	}
	whole := func(s string) bool {
		return x.whole(s) && containsAll(s, []string{"1 Overview", "SYNCING", "? keys"})
	}
	if err := syscall.Kill(pid, syscall.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	x.shows("it is stopped")
	if state := strings.TrimSpace(x.run("display-message", "-p", "#{alternate_on} #{cursor_flag}")); state != "0 1" {
		t.Errorf("alternate screen and cursor are %s while it is stopped, want 0 1", state)
	}
	x.keys("Enter")
	x.until("the whole screen again", whole)

	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := func(s string) bool { // it is told where the cursor was: the text may go on in the next line
		return strings.Contains(strings.Join(strings.Fields(s), ""), "itisstopped")
	}
	x.until("the shell, over what was painted", stopped)
	x.keys("C-j") // the terminal still is as the console had it: enter is no end of a line there
	x.until("the whole screen after a stop that could not be seen", func(s string) bool { return whole(s) && !stopped(s) })
	x.keys("q")
	x.shows("Quit Farsight?")
	x.keys("y")
	x.ended(exitDone)
}

// TestTmux_SuspendWithoutAShell: where no shell could let the console go on, as in a
// container or a window of its own, ctrl+z says so and nothing stops.
func TestTmux_SuspendWithoutAShell(t *testing.T) {
	t.Parallel()
	p, master, seen := onTerminal(t, []string{"demo"}, map[string]string{"LANG": "C.UTF-8"})
	screen := onGlass(seen)
	shows := func(text string) {
		t.Helper()
		p.until(text, func() bool { return strings.Contains(screen(), text) })
	}
	shows("SYNCING")
	_, _ = master.WriteString("\x1a")
	_, _ = master.WriteString("M") // the message itself may have faded before it is looked for
	shows("Messages")
	shows("no shell with job control")
	_, _ = master.WriteString("1")
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	_, _ = master.WriteString("?") // it still answers
	shows("KEYS of Overview")
	_, _ = master.WriteString("?")
	p.until("the keys gone", func() bool { return !strings.Contains(screen(), "KEYS of Overview") })
	_, _ = master.WriteString("q")
	shows("Quit Farsight?")
	_, _ = master.WriteString("y")
	p.wait().wants(t, exitDone)
}

// TestNoTerminal: without a terminal the console is lines, from the first to the last,
// and the end of its input is its end.
func TestNoTerminal(t *testing.T) {
	t.Parallel()
	who := flowPlayer("Piped In#TTY", 4)
	s, dir := startSim(t, quick(who)), freshDir(t)
	c := command{args: []string{"--data-dir", dir}, env: s.env("TERM=xterm-256color")}
	in, typed := io.Pipe()
	c.as = func(cmd *exec.Cmd) { cmd.Stdin = in }
	p := c.start(t)
	go func() { <-p.exited; _ = in.Close() }() // nobody reads any more
	p.until("LIVE", func() bool {              // a start is OPENING first
		_, _ = io.WriteString(typed, "status\n")
		return strings.Contains(p.out.String(), "LIVE")
	})
	_, _ = io.WriteString(typed, "nonsense\nquit\n")
	_ = typed.Close()
	r := p.wait()
	r.wants(t, exitDone)
	if strings.Contains(r.stdout, "\x1b") || strings.ContainsAny(r.stdout, "│╭") {
		t.Errorf("it paints: %.300q", r.stdout)
	}
	for _, want := range []string{"help lists them", "LIVE", "nonsense"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("it does not say %q:\n%s", want, r.stdout)
		}
	}
}

// SIGQUIT and SIGABRT end the program at once, with what its goroutines do, and leave the terminal whole.
func TestB16a_QuitAndAbortLeaveTheTerminalWhole(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT} {
		p, master, seen := onTerminal(t, []string{"demo"}, map[string]string{"LANG": "C.UTF-8"})
		screen := onGlass(seen)
		p.until("the console", func() bool { return strings.Contains(screen(), "SYNCING") })
		if err := syscall.Kill(p.cmd.Process.Pid, sig); err != nil {
			t.Fatal(err)
		}
		p.wait().wants(t, exitUsage) // the runtime's own code is 2
		out := seen.String()
		p.until("the goroutines", func() bool { out = seen.String(); return strings.Contains(out, "goroutine ") })
		left := strings.LastIndex(out, "\x1b[?1049l")
		if left < strings.LastIndex(out, "\x1b[?1049h") || left > strings.Index(out, "goroutine ") || strings.LastIndex(out, "\x1b[?25h") < strings.LastIndex(out, "\x1b[?25l") {
			t.Errorf("%s leaves the screen on: …%.300q", sig, out[max(0, left):])
		}
		if terminal.Mend(master) {
			t.Errorf("%s leaves other modes", sig)
		}
	}
}

// What nobody can recover from, and SIGKILL, leave the terminal whole too; what the runtime said stands on the
// main screen.
func TestB16h_ACrashLeavesTheTerminalWhole(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGKILL} {
		// A terminal hangs up with the leader of its session, which is a shell elsewhere.
		p, master, seen := onTerminal(t, []string{"demo"}, map[string]string{"LANG": "C.UTF-8"}, func(cmd *exec.Cmd) { cmd.SysProcAttr.Setctty = false })
		screen := onGlass(seen)
		p.until("the console", func() bool { return strings.Contains(screen(), "SYNCING") })
		if err := syscall.Kill(p.cmd.Process.Pid, sig); err != nil {
			t.Fatal(err)
		}
		p.wait()
		whole := func() bool {
			out := seen.String()
			left := strings.LastIndex(out, "\x1b[?1049l")
			return left > strings.LastIndex(out, "\x1b[?1049h") && (sig == syscall.SIGKILL || strings.Contains(out[left:], "goroutine "))
		}
		for began := time.Now(); !whole(); time.Sleep(time.Millisecond) {
			if time.Since(began) > patience {
				t.Fatalf("%s leaves the screen on", sig)
			}
		}
		if terminal.Mend(master) {
			t.Errorf("%s leaves other modes", sig)
		}
	}
}
