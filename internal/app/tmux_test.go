package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/mattn/go-runewidth"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/api"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/ui"
	"github.com/farsight-console/farsight/ui/part"
	"github.com/farsight-console/farsight/ui/terminal"
)

// tmux is a server of its own with one window, in which a shell runs farsight as a
// person would.
type tmux struct {
	t    testing.TB
	dir  string
	w, h int
}

// tmuxConf makes tmux what a person's terminal is: it takes what a program copies
// (OSC 52), and shows all colours.
const tmuxConf = `set -g set-clipboard on
set -g status off
set -g remain-on-exit on
set -g default-terminal tmux-256color
set -s escape-time 0
set -as terminal-features ",*:RGB"
`

// tmuxScript runs farsight in a shell and says what state the terminal is in before
// and after. The shell reads the next line so that the window stays.
const tmuxScript = `cd %[1]q
set -m
stty -a > before
sh -c 'echo $$ > pid; exec "$@"' x %[2]s
code=$?
while [ $code = 147 ] || [ $code = 148 ]; do
  echo "it is stopped"
  read line
  fg > /dev/null
  code=$?
done
echo "ended with $code"
stty -a > after
echo "the shell goes on"
read line
`

// inTmux starts farsight with arguments in a window; the environment is clean but
// for env, whose TERM is that of the program.
func inTmux(t testing.TB, w, h int, env map[string]string, args ...string) *tmux {
	t.Helper()
	needed(t, "tmux")
	dir, err := os.MkdirTemp("", "fst") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	x := &tmux{t: t, dir: dir, w: w, h: h}
	words := []string{"env"}
	for name, value := range env {
		words = append(words, shellWord(name+"="+value))
	}
	words = append(words, shellWord(cmp.Or(env[binaryEnv], farsight(t))))
	for _, a := range args {
		words = append(words, shellWord(a))
	}
	x.write("conf", tmuxConf)
	x.write("script", fmt.Sprintf(tmuxScript, dir, strings.Join(words, " ")))
	t.Cleanup(x.close)
	x.run("new-session", "-d", "-x", strconv.Itoa(w), "-y", strconv.Itoa(h), "sh "+x.path("script"))
	return x
}

// binaryEnv is the program that inTmux runs instead of farsight.
const binaryEnv = "FARSIGHT_TEST_BINARY"

func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (x *tmux) path(name string) string { return filepath.Join(x.dir, name) }

func (x *tmux) write(name, text string) {
	x.t.Helper()
	if err := os.WriteFile(x.path(name), []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

func (x *tmux) read(name string) string {
	b, _ := os.ReadFile(x.path(name))
	return string(b)
}

// run is one tmux command.
func (x *tmux) run(args ...string) string {
	x.t.Helper()
	out, err := x.command(args...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (x *tmux) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", x.path("s"), "-f", x.path("conf")}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + x.dir, "TMPDIR=" + os.TempDir(), "USER=tester", "TZ=UTC", "LANG=C.UTF-8", "TERM=xterm-256color", scratch.Mark()}
	return cmd
}

// close ends the program in order, so that it cleans up after itself, and then the
// server.
func (x *tmux) close() {
	if pid := x.pid(); pid > 0 && x.read("after") == "" {
		_ = syscall.Kill(pid, syscall.SIGTERM)
		for end := time.Now().Add(time.Minute); x.read("after") == "" && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
	}
	_ = x.command("kill-server").Run()
	_ = os.RemoveAll(x.dir)
}

// pid is farsight's.
func (x *tmux) pid() int {
	n, _ := strconv.Atoi(strings.TrimSpace(x.read("pid")))
	return n
}

func (x *tmux) screen() string { x.t.Helper(); return x.run("capture-pane", "-p") }

// until waits for the screen to be as wanted, and gives it.
func (x *tmux) until(what string, ok func(screen string) bool) string {
	x.t.Helper()
	for end := time.Now().Add(patience); ; {
		looked := time.Now()
		s := x.screen()
		if ok(s) {
			return s
		}
		rest(looked)
		if time.Now().After(end) {
			x.t.Fatalf("%s was never on the screen:\n%s", what, s)
		}
	}
}

// rest waits between two looks that start a program each: they take no more than a tenth of a
// core, however many tests wait and however busy the machine is.
func rest(looked time.Time) { time.Sleep(max(20*time.Millisecond, 9*time.Since(looked))) }

func (x *tmux) shows(texts ...string) string {
	x.t.Helper()
	return x.until(strings.Join(texts, ", "), func(s string) bool { return containsAll(s, texts) })
}

// toldOf waits for a message. One that has faded before anybody looked is among all messages.
func (x *tmux) toldOf(texts ...string) {
	x.t.Helper()
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		looked := time.Now()
		if containsAll(x.screen(), texts) {
			return
		}
		rest(looked)
	}
	x.keys("M")
	x.shows(append(texts, "Messages")...)
	x.keys("Escape")
	x.until("the screen before", func(s string) bool { return !strings.Contains(s, "Messages") })
}

func containsAll(s string, texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(s, text) })
}

func (x *tmux) keys(keys ...string) {
	x.t.Helper()
	for _, k := range keys {
		x.run("send-keys", k)
	}
}

func (x *tmux) resize(w, h int) {
	x.t.Helper()
	x.w, x.h = w, h
	x.run("resize-window", "-x", strconv.Itoa(w), "-y", strconv.Itoa(h))
}

// ended waits for the shell, and holds the terminal to how it was before: its modes,
// the main screen without a trace of the console, the cursor.
func (x *tmux) ended(code int) string {
	x.t.Helper()
	s := x.shows("ended with "+strconv.Itoa(code), "the shell goes on")
	if before, after := x.read("before"), x.read("after"); before == "" || before != after {
		x.t.Errorf("the terminal's modes were\n%s\nand are\n%s", before, after)
	}
	if state := strings.TrimSpace(x.run("display-message", "-p", "#{alternate_on} #{cursor_flag} #{keypad_flag} #{mouse_any_flag}")); state != "0 1 0 0" {
		x.t.Errorf("alternate screen, cursor, keypad and mouse are %s, want 0 1 0 0", state)
	}
	if strings.Contains(s, "──") || strings.Contains(s, "FARSIGHT") {
		x.t.Errorf("the console is left on the main screen:\n%s", s)
	}
	return s
}

// aClock ends a line of the title: what stands before it did not push it away.
var aClock = regexp.MustCompile(`(?m)\d\d:\d\d *$`)

// whole reports whether a screen keeps to what every one does: as many lines as there are,
// none too long, the clock at its right end, the keys in its last line, and the hairline of
// each title going on to the margin, or to the rows of what stands beside it.
func (x *tmux) whole(s string) bool {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	wide := slices.ContainsFunc(lines, func(line string) bool { return runewidth.StringWidth(line) > x.w })
	if len(lines) != x.h || wide {
		return false
	}
	if x.w < 60 || x.h < 16 { // it says that it needs more
		return true
	}
	torn := slices.ContainsFunc(lines, func(line string) bool {
		line = strings.TrimRight(line, " ")
		_, beside, ruled := strings.Cut(line[max(strings.LastIndex(line, "──"), 0):], "──")
		return ruled && !strings.HasPrefix(beside, "   ") && runewidth.StringWidth(line) != x.w-part.Margin(x.w)
	})
	return !torn && aClock.MatchString(lines[0]+"\n"+lines[1]) && strings.Contains(lines[x.h-1], "quit")
}

// chosen is the name on the line that the cursor is on.
func chosen(s string) string {
	for line := range strings.Lines(s) {
		if _, rest, ok := strings.Cut(line, "▌"); ok {
			name, _, _ := strings.Cut(strings.TrimSpace(rest), "  ")
			return name
		}
	}
	return ""
}

// TestTmux_ResizeAndCopy goes through all sizes and back in a real terminal: the
// screen is whole at each, the cursor stays on its account, and what is copied lands
// in the terminal's clipboard.
func TestTmux_ResizeAndCopy(t *testing.T) {
	t.Parallel()
	x := inTmux(t, 120, 40, nil, "demo")
	x.shows("1 Overview", "SYNCING", "? keys")
	x.keys("2")
	x.shows("ACCOUNTS ")
	x.keys("f") // a cursor at rest is on whatever stands first, which is another account when that one ends sooner
	first := chosen(x.until("an account", func(s string) bool { return strings.Contains(s, "FROZEN") && strings.Contains(chosen(s), "#") }))
	x.keys("j")
	name := chosen(x.until("a second account", func(s string) bool { return chosen(s) != first && strings.Contains(chosen(s), "#") }))
	x.keys("f")
	x.until("what happens", func(s string) bool { return !strings.Contains(s, "FROZEN") })
	for _, size := range []struct {
		w, h   int
		wants  []string
		cursor bool
	}{
		{80, 24, []string{"2 Accounts", "? keys"}, true},
		{60, 16, []string{"2 Accounts"}, true},
		{52, 14, []string{"needs 60x16, is 52x14", "running", "retrying"}, false},
		{200, 60, []string{"ACCOUNTS ", "? keys"}, true},
		{120, 40, []string{"ACCOUNTS ", "? keys"}, true},
	} {
		x.resize(size.w, size.h)
		s := x.until(fmt.Sprintf("%q at %dx%d", size.wants, size.w, size.h), func(s string) bool {
			return x.whole(s) && containsAll(s, size.wants) && strings.Contains(s, "DEMO") && (!size.cursor || chosen(s) != "")
		})
		if at := chosen(s); size.cursor && !strings.HasPrefix(name, strings.TrimSuffix(at, "…")) {
			t.Errorf("at %dx%d the cursor is on %q, not on %q", size.w, size.h, at, name)
		}
	}
	x.keys("y")
	x.shows("COPY")
	x.keys("Enter")
	var copied []byte
	x.until("the clipboard", func(string) bool {
		out, err := x.command("show-buffer").Output()
		copied = out
		return err == nil && len(out) > 0
	})
	x.toldOf(fmt.Sprintf("copied %d B", len(copied)), "OSC 52")
	x.keys("q")
	x.shows("Quit Farsight?", "▌n no")
	x.keys("y")
	x.ended(exitDone)
}

// TestTmux_SignalsLeaveTheTerminalSane: a plain kill and a hang-up of the process end
// the console in order, in whichever state it is.
func TestTmux_SignalsLeaveTheTerminalSane(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sig  syscall.Signal
		keys []string
		over string
	}{
		{syscall.SIGTERM, []string{"?"}, "KEYS of Overview"},
		{syscall.SIGHUP, []string{":"}, "COMMAND"},
		{syscall.SIGINT, []string{"t"}, "Name#TAG platform"},
	} {
		x := inTmux(t, 100, 30, nil, "demo")
		x.shows("1 Overview", "SYNCING")
		x.keys(c.keys...)
		x.shows(c.over)
		pid := x.pid()
		if pid <= 0 { // 0 is everybody here
			t.Fatal("the program's process is not known")
		}
		if err := syscall.Kill(pid, c.sig); err != nil {
			t.Fatal(err)
		}
		x.until("the end after "+c.sig.String(), func(s string) bool { return strings.Contains(s, "the shell goes on") })
		code, _ := strconv.Atoi(endedWith.FindStringSubmatch(x.screen())[1])
		x.ended(code)
		if code != exitDone && code != exitInterrupted {
			t.Errorf("%s gives the exit code %d", c.sig, code)
		}
	}
}

var endedWith = regexp.MustCompile(`ended with (\d+)`)

// TestTmux_Suspend: ctrl+z gives the terminal back to the shell as it was, fg paints
// the screen again.
func TestTmux_Suspend(t *testing.T) {
	t.Parallel()
	x := inTmux(t, 80, 24, nil, "demo")
	x.shows("1 Overview", "SYNCING")
	x.keys("C-z")
	x.shows("it is stopped")
	if state := strings.TrimSpace(x.run("display-message", "-p", "#{alternate_on} #{cursor_flag}")); state != "0 1" {
		t.Errorf("alternate screen and cursor are %s while it is stopped, want 0 1", state)
	}
	x.keys("Enter")
	x.until("the whole screen again", func(s string) bool { return x.whole(s) && containsAll(s, []string{"1 Overview", "SYNCING", "? keys"}) })
	x.keys("q")
	x.shows("Quit Farsight?")
	x.keys("y")
	x.ended(exitDone)
}

func init() { roles["falling"] = falling }

// fallsAfter is how long the console of the role falling draws what it was told at first.
const fallsAfter = time.Second

// fallen is a console in which something that cannot be is drawn.
type fallen struct{ engine.Console }

func (f fallen) Watch(ctx context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		for u := range f.Console.Watch(ctx) {
			if !yield(u) {
				return
			}
			break
		}
		time.Sleep(fallsAfter)
		panic("a row that cannot be")
	}
}

// falling is `farsight` with an engine at work and a console that falls: what main
// does in attended, but for the rows.
func falling() int {
	cmd := newRoot()
	cfg, err := configOf(cmd)
	if err == nil {
		var keys *keyring.Ring
		if keys, err = keyring.Load(cfg.KeyPath()); err == nil {
			err = fall(cfg, keys)
		}
	}
	fmt.Printf("the console: %v\n", err)
	if _, ok := errors.AsType[*terminal.Panic](err); ok {
		return exitFailed
	}
	return exitUsage
}

func fall(cfg config.Config, keys *keyring.Ring) error {
	p, err := open(cfg, role{keys: keys})
	if err != nil {
		return err
	}
	if err := p.listen(); err != nil {
		return err
	}
	ctx, done := context.WithCancel(context.Background())
	defer done()
	p.start(ctx, done)
	_, err = p.front.Do(ctx, engine.Command{
		Op: engine.OpTrigger, Account: os.Getenv("FALL_ACCOUNT"), By: operator("test"), Sync: engine.SyncAsk{Platform: "euw1"},
	})
	if err == nil {
		err = console{}.show(ctx, fallen{p.front}, ui.Options{Version: release, Embedded: true, Stack: p.logStack})
	}
	fmt.Println("the engine drained:", p.stop() == nil)
	return err
}

// TestP39_Tmux_PanicInTheConsole: the terminal is whole, the message comes after the
// screen was given back and names no stack, the engine has drained, and the next
// start goes on where it was.
func TestP39_Tmux_PanicInTheConsole(t *testing.T) {
	t.Parallel()
	who := player("Falls Over#TMUX", 30)
	s, dir := startSim(t, sim.Options{Seed: 1, Limits: limits("20:1"), Players: []sim.PlayerSpec{who}}), freshDir(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := s.env("FARSIGHT_DATA_DIR="+dir, "WORKER_CONCURRENCY=8", roleEnv+"=falling", binaryEnv+"="+self, "FALL_ACCOUNT="+who.RiotID)
	x := inTmux(t, 120, 40, env)
	screen := x.ended(exitFailed)
	for _, want := range []string{"the engine drained: true", "the console: the console failed: a row that cannot be"} {
		if !strings.Contains(strings.Join(strings.Fields(screen), " "), want) {
			t.Errorf("the main screen lacks %q:\n%s", want, screen)
		}
	}
	if strings.Contains(screen, "goroutine ") {
		t.Errorf("a stack was printed:\n%s", screen)
	}
	sum := s.sync(who.RiotID, dir).run(t).wants(t, exitDone)
	if !strings.Contains(sum.stdout, `"failed":0`) && !strings.Contains(sum.stdout, "completed") {
		t.Errorf("the sync after it: %s", tail(sum.stdout, 400))
	}
	if n := repeats(s); n > 8 {
		t.Errorf("%d calls were made again after a drain", n)
	}
}

// TestTmux_Terminals: whatever the terminal says it is, the console shows what it
// can, or lines; no colour where none is wanted, 7 bits where more cannot be shown.
func TestTmux_Terminals(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name          string
		env           map[string]string
		plain         bool
		ascii, colour bool
	}{
		{"tmux-256color", map[string]string{"TERM": "tmux-256color"}, false, false, true},
		{"linux", map[string]string{"TERM": "linux"}, false, true, true},
		{"vt100", map[string]string{"TERM": "vt100"}, false, true, false},
		{"dumb", map[string]string{"TERM": "dumb"}, true, false, false},
		{"LANG=C", map[string]string{"LANG": "C", "LC_ALL": "C"}, false, true, true},
		{"NO_COLOR=yes", map[string]string{"NO_COLOR": "yes"}, false, false, false},
		{"xterm-256color", map[string]string{"TERM": "xterm-256color"}, false, false, true}, // as the first does
		{"screen", map[string]string{"TERM": "screen"}, false, false, true},
	}
	for _, c := range cases[:len(cases)-scratch.Sized(2, 0)] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("infocmp"); err == nil && c.env["TERM"] != "" && exec.Command("infocmp", c.env["TERM"]).Run() != nil {
				t.Logf("this machine does not know the terminal %s", c.env["TERM"])
			}
			env := map[string]string{"LANG": "C.UTF-8"}
			for k, v := range c.env {
				env[k] = v
			}
			x := inTmux(t, 100, 30, env, "demo")
			if c.plain {
				s := ""
				eventually(t, "plain lines", func() bool {
					s = x.run("capture-pane", "-p", "-S", "-") // with those that have gone by
					// How it stands at the first look hangs on who was quicker, the console or the engine;
					// that the longest sync moves on comes to be told in any case.
					return containsAll(s, []string{"The engine is ", "Changes are told as they come", "\n>", "Night Heron#DEMO: ", " of 879 matches, "})
				})
				if strings.ContainsAny(s, "│╭") || strings.TrimSpace(x.run("display-message", "-p", "#{alternate_on}")) != "0" {
					t.Errorf("no plain lines:\n%s", s)
				}
				return
			}
			s := x.until("the whole screen", func(s string) bool { return x.whole(s) && containsAll(s, []string{"1 Overview", "SYNCING", "? keys"}) })
			if lines := strings.Contains(s, "───"); lines == c.ascii {
				t.Errorf("lines: %v, want ASCII: %v\n%s", lines, c.ascii, s)
			}
			if c.ascii && strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e }) {
				t.Errorf("more than 7 bits:\n%s", s)
			}
			if got := colours.MatchString(x.run("capture-pane", "-p", "-e")); got != c.colour {
				t.Errorf("colour: %v, want %v", got, c.colour)
			}
			x.keys("q")
			x.shows("Quit Farsight?")
			x.keys("y")
			x.ended(exitDone)
		})
	}
}

// colours are SGR sequences that set one; bold, reverse and underline are none.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*\\b(3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]")

// TestP34_Tmux_AStalledReaderSlowsNobody: nobody reads what the console writes, from
// its first frame on; the engine in the same process stores all the same at the pace
// of its limits, and the console is there again when somebody reads.
func TestP34_Tmux_AStalledReaderSlowsNobody(t *testing.T) {
	t.Parallel()
	who := player("Nobody Looks#TMUX", 120)
	s, dir := startSim(t, sim.Options{Seed: 1, Limits: limits("200:1"), Players: []sim.PlayerSpec{who}}), freshDir(t)
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	defer master.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 60, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	c := command{args: []string{"--data-dir", dir}, env: s.env("TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8")}
	c.as = func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	p := c.start(t)
	_ = tty.Close()
	cli := func(args ...string) result { return command{args: append(args, "--data-dir", dir)}.run(t) }
	client := api.NewClient(controlSocket(dir))
	defer client.Close()
	p.until("the engine's socket", func() bool { _, err := client.Hello(t.Context()); return err == nil })
	cli("trigger", who.RiotID, "--platform", "euw1").wants(t, exitDone)
	wanted := len(s.MatchIDs(who.RiotID))
	p.until("all matches while nobody reads", func() bool {
		return strings.Contains(cli("accounts", "--json").wants(t, exitDone).stdout, `"status":"completed"`)
	})
	if n := strings.Count(cli("matches", "--json").wants(t, exitDone).stdout, `"status":"success"`); n != wanted {
		t.Errorf("%d of %d matches are stored", n, wanted)
	}
	if v := s.Stats().Violations; v != 0 {
		t.Errorf("%d violations of the limits", v)
	}

	g := newGlass(200, 60, func(answer string) { _, _ = master.WriteString(answer) })
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			_, _ = g.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	p.until("the console again", func() bool {
		return containsAll(g.text(), []string{"FARSIGHT", "● LIVE", "? keys", "NEEDS YOU"})
	})
	_, _ = master.WriteString("2")
	p.until("an answer to a key", func() bool { return containsAll(g.text(), []string{"ACCOUNTS ", who.RiotID, "DONE"}) })
	_, _ = master.WriteString("q")
	p.until("the question", func() bool {
		select {
		case <-p.exited:
			return true
		default:
			return strings.Contains(g.text(), "Quit Farsight?")
		}
	})
	_, _ = master.WriteString("y")
	p.wait().wants(t, exitDone)
	<-read
}
