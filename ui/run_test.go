package ui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/leak"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/ui/terminal"
	"github.com/farsight-console/farsight/ui/uitest"
)

func TestMain(m *testing.M) {
	// The runtime starts its signal goroutine once: it must not be born in a bubble.
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	signal.Stop(c)
	scratch.Lavish()
	leak.Main(m)
}

// patience is the ceiling for whatever is waited for in real time. It is no measurement:
// only a hang is that slow.
const patience = 3 * time.Minute

// screen120 is a real terminal of 120x40 whose screen is read by the test.
type screen120 struct {
	t           *testing.T
	master, tty *os.File
	before      *term.State

	mu   sync.Mutex
	seen bytes.Buffer
	done chan struct{}
}

func newTerminal(t *testing.T) *screen120 {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	x := &screen120{t: t, master: master, tty: tty, done: make(chan struct{})}
	if x.before, err = term.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	go x.read()
	t.Cleanup(x.close)
	return x
}

func (x *screen120) read() {
	defer close(x.done)
	buf := make([]byte, 4096)
	for {
		n, err := x.master.Read(buf)
		x.mu.Lock()
		x.seen.Write(buf[:n])
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (x *screen120) close() {
	_ = x.tty.Close()
	_ = x.master.Close()
	<-x.done
}

func (x *screen120) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen.String()
}

// await waits until the terminal has been sent a text.
func (x *screen120) await(text string) {
	x.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if strings.Contains(x.text(), text) {
			return
		}
	}
	x.t.Fatalf("the terminal was never sent %q", text)
}

func (x *screen120) options() Options {
	opt := testOptions()
	opt.Input, opt.Output = x.tty, x.tty
	return opt
}

// whole fails unless the terminal is as it was: its modes, the main screen, a
// cursor that shows.
func (x *screen120) whole() {
	x.t.Helper()
	x.await("\x1b[?1049l")
	x.await("\x1b[?25h")
	x.modesAsBefore()
	text := x.text()
	if strings.LastIndex(text, "\x1b[?1049h") > strings.LastIndex(text, "\x1b[?1049l") {
		x.t.Error("the alternate screen is still on")
	}
}

// modesAsBefore waits until the terminal's modes are what they were: a program that was
// given up on gives them back last.
func (x *screen120) modesAsBefore() {
	x.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		after, err := term.GetState(int(x.tty.Fd()))
		if err != nil {
			x.t.Fatal(err)
		}
		if *after == *x.before {
			return
		}
	}
	x.t.Error("the terminal's modes are not as they were")
}

// falls is a console whose rows make a screen panic.
type falls struct{ uitest.Fake }

func (f *falls) Watch(context.Context) iter.Seq[engine.Update] {
	return func(yield func(engine.Update) bool) {
		yield(f.Scene.Update)
		panic("a row that cannot be")
	}
}

// bad is a page that falls when it is drawn.
type bad struct{ tea.Model }

func (bad) Init() tea.Cmd                         { return nil }
func (b bad) Update(tea.Msg) (tea.Model, tea.Cmd) { return b, nil }
func (bad) View() tea.View                        { panic("a view that cannot be") }

// TestP39_PanicInTheViewRestoresTheTerminal: the error comes back to the caller,
// who drains the engine; nothing is printed over the screen.
func TestP39_PanicInTheViewRestoresTheTerminal(t *testing.T) {
	x := newTerminal(t)
	opt := x.options()
	var logged string
	opt.Stack = func(message, stack string) { logged = message + stack }
	printed := capture(t, func() {
		err := terminal.Run(t.Context(), bad{}, opt.terminal(), nil)
		if p, ok := errors.AsType[*terminal.Panic](err); !ok || !strings.Contains(p.Error(), "a view that cannot be") {
			t.Errorf("Run gave %v, want the panic", err)
		}
	})
	if printed != "" {
		t.Errorf("printed %q", printed)
	}
	if !strings.Contains(logged, "a view that cannot be") || !strings.Contains(logged, "guard") {
		t.Errorf("the stack was not handed on: %q", logged)
	}
	after, err := term.GetState(int(x.tty.Fd()))
	if err != nil || *after != *x.before {
		t.Errorf("the terminal's modes are not as they were (%v)", err)
	}
}

// TestP39_PanicInTheSessionRestoresTheTerminal: the same for the goroutine that
// reads rows, while the alternate screen is on.
func TestP39_PanicInTheSessionRestoresTheTerminal(t *testing.T) {
	x := newTerminal(t)
	f := &falls{}
	f.Scene = uitest.Busy()
	printed := capture(t, func() {
		err := Run(t.Context(), f, x.options())
		if _, ok := errors.AsType[*terminal.Panic](err); !ok {
			t.Errorf("Run gave %v, want the panic", err)
		}
	})
	if printed != "" {
		t.Errorf("printed %q", printed)
	}
	x.whole()
}

// capture returns what f writes to the process's own output.
func capture(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, errOut := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = w, w
	defer func() { os.Stdout, os.Stderr = out, errOut }()
	f()
	_ = w.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSignalsEndTheConsoleInOrder: a closed terminal and a plain kill leave it
// whole, and are no error.
func TestSignalsEndTheConsoleInOrder(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			x := newTerminal(t)
			end := make(chan error, 1)
			go func() { end <- Run(context.Background(), uitest.New(uitest.Busy()), x.options()) }()
			x.await("Blue Heron#KR1")
			if err := syscall.Kill(os.Getpid(), sig); err != nil {
				t.Fatal(err)
			}
			if err := <-end; err != nil {
				t.Errorf("Run gave %v", err)
			}
			x.whole()
		})
	}
}

// TestContextEndsTheConsole: main stops the console as it stops everything else.
func TestContextEndsTheConsole(t *testing.T) {
	t.Parallel()
	x := newTerminal(t)
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error, 1)
	go func() { end <- Run(ctx, uitest.New(uitest.Busy()), x.options()) }()
	x.await("Blue Heron#KR1")
	cancel()
	if err := <-end; err != nil {
		t.Errorf("Run gave %v", err)
	}
	x.whole()
}

// TestSynchronizedOutputOverSSH: Bubble Tea does not ask for it where SSH_TTY is
// set, so the console does; and with NO_COLOR no colour is ever asked for.
func TestSynchronizedOutputOverSSH(t *testing.T) {
	x := newTerminal(t)
	opt := x.options()
	opt.Getenv = func(name string) string {
		return map[string]string{"SSH_TTY": "/dev/pts/1", "TERM": "xterm-256color", "NO_COLOR": "yes"}[name]
	}
	t.Setenv("SSH_TTY", "/dev/pts/1")
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error, 1)
	go func() { end <- Run(ctx, uitest.New(uitest.Busy()), opt) }()
	x.await("\x1b[?2026$p")
	x.await("Blue Heron#KR1")
	cancel()
	<-end
	text := x.text()
	for _, query := range []string{"\x1bP+q", "\x1b]11;?", "\x1b]10;?"} {
		if strings.Contains(text, query) {
			t.Errorf("sent the query %q", query)
		}
	}
	if strings.Contains(text, "38;2") || strings.Contains(text, "38;5") {
		t.Error("sent a colour")
	}
}

// TestFirstRunOffersThreeChoices goes through each of them.
func TestFirstRunOffersThreeChoices(t *testing.T) {
	const key = "RGAPI-12345678-1234-1234-1234-1234567890ab"
	first := FirstRun{DataDir: "/var/lib/farsight", Stored: 12406, KeyFrom: "RIOT_API_KEY and config.toml", KeyTo: "kept in memory"}
	press := func(m *welcome, keys ...string) {
		for _, k := range keys {
			msg, ok := special[k]
			if !ok {
				msg = tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
			}
			m.Update(msg)
		}
	}
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 16}, {20, 5}} {
		m := newWelcome(t.Context(), first, testOptions())
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		checkFrame(t, m.View().Content, size[0], size[1], false)
		press(m, "1")
		m.Update(tea.PasteMsg{Content: key})
		frame := m.View().Content
		checkFrame(t, frame, size[0], size[1], false)
		if strings.Contains(frame, "RGAPI") {
			t.Error("the key is shown")
		}
		press(m, "enter")
		if m.choice != ChooseKey || m.key != key {
			t.Errorf("chose %d", m.choice)
		}
	}
	for keys, want := range map[string]Choice{"2": ChooseDemo, "3": ChooseBrowse, "q": ChooseQuit} {
		m := newWelcome(t.Context(), first, testOptions())
		press(m, keys)
		if m.choice != want {
			t.Errorf("%s chose %d, want %d", keys, m.choice, want)
		}
	}
	bare := newWelcome(t.Context(), FirstRun{DataDir: "/var/lib/farsight", Bare: "nothing is stored yet: sync an account first"}, testOptions())
	bare.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	for _, keys := range [][]string{{"3"}, {"down", "down", "enter"}} {
		press(bare, append([]string{"up", "down"}, keys...)...)
		if bare.choice != ChooseQuit || !strings.Contains(bare.View().Content, "sync an account first") {
			t.Errorf("browsing nothing chose %d:\n%s", bare.choice, bare.View().Content)
		}
		press(bare, "down")
		if strings.Contains(bare.View().Content, "sync an account first") {
			t.Error("the sentence stays for another choice")
		}
	}
	first.Try = func(context.Context, string) (string, error) { return "the key works: 20:1,100:120", nil }
	tests := newWelcome(t.Context(), first, testOptions())
	tests.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
	press(tests, "1")
	tests.Update(tea.PasteMsg{Content: key})
	_, cmd := tests.Update(special["enter"])
	tests.Update(cmd())
	if tests.choice == ChooseKey || !strings.Contains(tests.View().Content, "20:1,100:120") {
		t.Error("what the test call learnt is not shown")
	}
	press(tests, "enter")
	if tests.choice != ChooseKey || tests.key != key {
		t.Errorf("chose %d", tests.choice)
	}
	for _, size := range [][2]int{{120, 40}, {60, 16}, {40, 12}} {
		m := newWelcome(t.Context(), first, testOptions())
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for _, want := range []string{"paste an API key", "demo", "browse stored data"} {
			if !strings.Contains(m.View().Content, want) {
				t.Errorf("%v lacks %q:\n%s", size, want, m.View().Content)
			}
		}
		press(m, "1", "x", "enter")
		for _, want := range []string{"API key •", "that is no API key"} {
			if !strings.Contains(ansi.Strip(m.View().Content), want) {
				t.Errorf("%v does not show %q while a key is typed:\n%s", size, want, m.View().Content)
			}
		}
	}
	m := newWelcome(t.Context(), first, testOptions())
	press(m, "1")
	m.Update(tea.PasteMsg{Content: "not a key"})
	press(m, "enter")
	if m.choice != ChooseQuit || !strings.Contains(m.wrong, "no API key") {
		t.Errorf("a bad key was taken: %q", m.wrong)
	}
}

// long leaves a test out of the run under the race detector, which is many times
// slower: the shorter tests go the same ways. The usual run has all of them.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: left out by -short")
	}
}
