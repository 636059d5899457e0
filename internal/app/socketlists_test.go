package app

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/farsight-console/farsight/engine/api"
)

// TestServe_EveryListGoesThroughItsSocket: what can be asked is asked of the engine
// that holds the directory; an export follows it.
func TestServe_EveryListGoesThroughItsSocket(t *testing.T) {
	t.Parallel()
	who := player("Ask Me#SOCK", 6)
	s, dir := startSim(t, quick(who)), freshDir(t)
	d := s.serving(t, dir, nil)
	cli := func(args ...string) result { return command{args: append(args, "--data-dir", dir)}.asked(t) }
	follow := command{args: []string{"export", "matches", "--follow", "--data-dir", dir}}.start(t)
	cli("trigger", who.RiotID, "--platform", "euw1").wants(t, exitDone)
	d.until("the report", func() bool {
		return strings.Contains(cli("reports", "--json").wants(t, exitDone).stdout, `"matches":6`)
	})
	if text := cli("reports", who.RiotID).wants(t, exitDone).stdout; !strings.Contains(text, "in 6 of 6 matches") || !strings.Contains(text, "\nSun  ") {
		t.Error(text)
	}
	oneSentence(t, cli("reports", "Nobody#X").wants(t, exitFailed).stderr, "Nobody#X")
	for _, args := range []string{"audit --json", "forensics", "alerts --json", "metrics --json", "joblog --json", "logs --last 5", "doctor --json", "freshness --json", "ranks", "jobs --classes"} {
		args := words(args)
		if args[0] == "ranks" {
			args = append(args, who.RiotID)
		}
		cli(args...).wants(t, exitDone)
	}
	follow.until("the export of what is fetched meanwhile", func() bool { return strings.Count(follow.out.String(), `"status":"success"`) >= 6 })
	_ = follow.cmd.Process.Signal(syscall.SIGINT)
	if res := follow.wait().wants(t, exitInterrupted); !strings.Contains(res.stderr, "--after ") {
		t.Errorf("the end of the export names no cursor: %s", res.stderr)
	}

	// What the engine runs with is what it was started with, whatever this process has.
	other := command{args: []string{"config", "--json", "--data-dir", dir}, env: map[string]string{"SYNC_COOLDOWN": "77m"}}
	if text := other.asked(t).wants(t, exitDone).stdout; !strings.Contains(text, s.addr) || strings.Contains(text, "77m") {
		t.Errorf("the engine's settings are %s", text)
	}

	// At rest the same question is answered from the directory.
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.wait().wants(t, exitDone)
	if !strings.Contains(cli("reports", "--json").wants(t, exitDone).stdout, `"matches":6`) {
		t.Error("the report is not found without an engine")
	}
	if text := cli("jobs", "--all", "--json").wants(t, exitDone).stdout; !strings.Contains(text, `"state":"completed"`) || strings.Contains(text, `"why"`) {
		t.Errorf("a job that has ended waits for something: %s", text)
	}
	if text := other.asked(t).wants(t, exitDone).stdout; !strings.Contains(text, "77m") {
		t.Errorf("without an engine config shows %s", text)
	}
}

// TestConsole_ThePlainOneLeavesItsEngineBehind: lines end with their terminal, the
// engine does not.
func TestConsole_ThePlainOneLeavesItsEngineBehind(t *testing.T) {
	t.Parallel()
	s, dir := slowly(t, player("Plain Keep#SOCK", 20)), freshDir(t)
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	env := s.env("FARSIGHT_KEEP_RUNNING=true", "TERM=xterm")
	p := command{args: []string{"--plain", "--data-dir", dir}, env: env, as: func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}}.start(t)
	tty.Close()
	client := api.NewClient(controlSocket(dir))
	defer client.Close()
	p.until("the socket", func() bool { _, err := client.Hello(t.Context()); return err == nil })
	buf := make([]byte, 100)
	if _, err := master.Read(buf); err != nil { // the console speaks
		t.Fatal(err)
	}
	master.Close()
	p.until("the daemon's answer to SIGHUP", func() bool {
		_ = p.cmd.Process.Signal(syscall.SIGHUP)
		return strings.Contains(command{args: []string{"logs", "--data-dir", dir}}.asked(t).stdout, "reload: nothing has changed")
	})
	if h, err := client.Hello(t.Context()); err != nil || h.PID != p.cmd.Process.Pid {
		t.Fatalf("the engine has gone with its lines: %+v %v", h, err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.wait().wants(t, exitDone)
}
