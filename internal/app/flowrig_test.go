package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/internal/config"
	"github.com/farsight-console/farsight/internal/keyring"
	"github.com/farsight-console/farsight/internal/scratch"
	"github.com/farsight-console/farsight/riot"
	"github.com/farsight-console/farsight/riot/sim"
	"github.com/farsight-console/farsight/ui"
	"github.com/farsight-console/farsight/ui/session"
)

// The runtime starts its signal goroutine once: it must not be born in a bubble, where
// a console asks for signals.
func init() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	signal.Stop(c)
}

// flow is a whole Farsight in a bubble: engine, store and simulated Riot as they are,
// and consoles whose keys come as a terminal sends them.
type flow struct {
	t    *testing.T
	sim  *sim.Sim
	dir  string
	keys *keyring.Ring
	task *process
	env  map[string]string // besides what every flow has
}

// flowNoon is when the flows begin.
var flowNoon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// inFlow plays f on an engine with a simulated Riot, beside other tests.
func inFlow(t *testing.T, o sim.Options, f func(f *flow)) {
	t.Helper()
	t.Parallel()
	inFlowWith(t, o, nil, f)
}

// inFlowWith is inFlow with settings.
func inFlowWith(t *testing.T, o sim.Options, env map[string]string, f func(f *flow)) {
	t.Helper()
	dir := filepath.Join(scratch.Memory(t), "data")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(flowNoon))
		fl := &flow{t: t, sim: sim.New(o), dir: dir, env: env}
		key, err := riot.ParseKey(keyOfFile)
		if err != nil {
			t.Fatal(err)
		}
		fl.keys = keyring.Of(key, "a test", filepath.Join(dir, "riot.key"))
		fl.start()
		defer fl.stop()
		f(fl)
	})
	noTextIn(t, dir, keyOfFile)
}

// config is what the engine runs with.
func (f *flow) config() config.Config {
	f.t.Helper()
	env := map[string]string{"FARSIGHT_DATA_DIR": f.dir, "BACKUP_EVERY": "0s", "SCHEDULE_ENABLE": "false", "FARSIGHT_LOG_LEVEL": "error", "CRON_TZ": "UTC"}
	maps.Copy(env, f.env)
	cfg, err := config.Load(config.Inputs{Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	if err != nil {
		f.t.Fatal(err)
	}
	return cfg
}

// start runs an engine on the directory.
func (f *flow) start() {
	f.t.Helper()
	p, err := open(f.config(), role{keys: f.keys, transport: f.sim.RoundTripper()})
	if err != nil {
		f.t.Fatal(err)
	}
	p.start(context.Background(), func() {})
	f.task = p
}

func (f *flow) stop() {
	f.t.Helper()
	if err := f.task.stop(); err != nil {
		f.t.Errorf("the engine stopped with: %v", err)
	}
}

// do is a command of somebody who is not on the screen.
func (f *flow) do(c engine.Command) engine.Receipt {
	f.t.Helper()
	c.By = engine.Actor{User: "script", Via: "cli"}
	r, err := f.task.front.Do(f.t.Context(), c)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// sync starts a sync of a player of the simulator.
func (f *flow) sync(p sim.PlayerSpec) {
	f.t.Helper()
	f.do(engine.Command{Op: engine.OpTrigger, Account: p.RiotID, Sync: engine.SyncAsk{Platform: string(p.Platform), Timelines: "none"}})
}

// job is a job as the store has it.
func (f *flow) job(key string) engine.JobDetail {
	f.t.Helper()
	return ask[engine.JobDetail](f.t, f.task.front, engine.JobQuery{Key: key})
}

// until lets time pass until ok, at most for span.
func (f *flow) until(what string, span time.Duration, ok func() bool) {
	f.t.Helper()
	synctest.Wait() // nothing is under way between what is seen and what is done about it
	for began := time.Now(); !ok(); synctest.Wait() {
		if time.Since(began) > span {
			f.t.Fatalf("%s: not within %s", what, span)
		}
		time.Sleep(betweenLooks(began))
	}
}

// betweenLooks is how long somebody waits before the next look who has waited since an instant: a look
// costs more than the hour in a bubble that it waits for.
func betweenLooks(since time.Time) time.Duration {
	return max(100*time.Millisecond, time.Since(since)/100)
}

// audited wants the newest entry of an op in the audit to be of an actor with a
// reason, and gives it.
func (f *flow) audited(op engine.Op, who, reason string) engine.AuditEntry {
	f.t.Helper()
	for _, e := range ask[engine.AuditPage](f.t, f.task.front, engine.AuditQuery{}).Entries {
		if e.Op != op {
			continue
		}
		if e.By.User != who || e.By.Via != "console" || e.Reason != reason {
			f.t.Errorf("the audit of %s names %+v, %q; want %s, %q", op, e.By, e.Reason, who, reason)
		}
		return e
	}
	f.t.Errorf("the audit has no %s", op)
	return engine.AuditEntry{}
}

// seat is a console before which somebody sits.
type seat struct {
	f     *flow
	who   string
	glass *glass
	keys  *io.PipeWriter
	end   context.CancelFunc
	done  chan struct{}
	err   error // of the console, once done

	mu     sync.Mutex
	copied []string // what was given to the clipboard
}

// sit opens a console of a size. Its terminal tells its size in band, as those do
// that know mode 2048.
func (f *flow) sit(who string, w, h int, change ...func(*ui.Options)) *seat {
	f.t.Helper()
	read, write := io.Pipe()
	s := &seat{f: f, who: who, keys: write, done: make(chan struct{})}
	s.glass = newGlass(w, h, func(answer string) { go func() { _, _ = write.Write([]byte(answer)) }() })
	opt := ui.Options{
		Version: "flow", Embedded: true, Seat: session.Seat{
			Zone: time.UTC, Actor: engine.Actor{User: who}, Input: read, Output: s,
			Getenv: func(name string) string { return map[string]string{"NO_COLOR": "1", "TERM": "xterm"}[name] },
		},
	}
	for _, c := range change {
		c(&opt)
	}
	var ctx context.Context
	ctx, s.end = context.WithCancel(f.t.Context())
	go func() {
		defer close(s.done)
		s.err = ui.Run(ctx, f.task.front, opt)
		_ = read.Close()
	}()
	s.turnOn(w, h)
	s.sees("LIVE")
	return s
}

// turnOn tells the terminal's size until something is painted: what is told before the
// program has begun is lost to its own first look, which finds no terminal.
func (s *seat) turnOn(w, h int) {
	s.f.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end) && strings.TrimSpace(s.glass.text()) == ""; time.Sleep(100 * time.Millisecond) {
		s.resize(w, h)
	}
}

// Write is the terminal: it keeps what is copied, and shows the rest.
func (s *seat) Write(p []byte) (int, error) {
	if _, text, ok := bytes.Cut(p, []byte("\x1b]52;c;")); ok {
		text, _, _ = bytes.Cut(text, []byte("\a"))
		raw, err := base64.StdEncoding.DecodeString(string(text))
		if err == nil {
			s.mu.Lock()
			s.copied = append(s.copied, string(raw))
			s.mu.Unlock()
		}
	}
	_, _ = s.glass.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), nil
}

// leave closes the console from outside.
func (s *seat) leave() {
	s.end()
	_ = s.keys.Close()
	<-s.done
}

func (s *seat) resize(w, h int) {
	s.glass.size(w, h)
	s.send(fmt.Sprintf("\x1b[48;%d;%d;0;0t", h, w))
}

// keyBytes are keys that are no letter, as a terminal sends them.
var keyBytes = map[string]string{
	"enter": "\r", "esc": "\x1b", "tab": "\t", "space": " ", "down": "\x1b[B", "up": "\x1b[A", "backspace": "\x7f", "ctrl+c": "\x03",
}

func (s *seat) send(text string) {
	s.f.t.Helper()
	sent := make(chan error, 1)
	go func() { _, err := io.WriteString(s.keys, text); sent <- err }()
	if err := <-sent; err != nil {
		s.f.t.Fatalf("the console of %s takes no keys: %v\n%s", s.who, err, s.glass.text())
	}
	time.Sleep(150 * time.Millisecond) // more than the console takes to paint
	synctest.Wait()
}

// press sends keys: names, or letters.
func (s *seat) press(keys ...string) {
	s.f.t.Helper()
	for _, k := range keys {
		if seq, ok := keyBytes[k]; ok {
			k = seq
		}
		s.send(k)
	}
}

// types sends a text and enter.
func (s *seat) types(text string) {
	s.f.t.Helper()
	s.send(text)
	s.press("enter")
}

// paste sends a text as a terminal pastes it.
func (s *seat) paste(text string) { s.f.t.Helper(); s.send("\x1b[200~" + text + "\x1b[201~") }

// sees waits until all texts are on the screen, at most half a minute, and gives it.
func (s *seat) sees(texts ...string) string {
	s.f.t.Helper()
	return s.seesWithin(30*time.Second, texts...)
}

func (s *seat) seesWithin(span time.Duration, texts ...string) string {
	s.f.t.Helper()
	for end := time.Now().Add(span); ; time.Sleep(100 * time.Millisecond) {
		synctest.Wait()
		screen := s.glass.text()
		if containsAll(screen, texts) {
			return screen
		}
		select {
		case <-s.done:
			s.f.t.Fatalf("the console of %s has ended: %v", s.who, s.err)
		default:
		}
		if time.Now().After(end) {
			s.f.t.Fatalf("%s never sees %q:\n%s", s.who, texts, screen)
		}
	}
}

// misses wants none of the texts on the screen, as soon as it has come to rest.
func (s *seat) misses(texts ...string) {
	s.f.t.Helper()
	time.Sleep(300 * time.Millisecond)
	synctest.Wait()
	for _, text := range texts {
		if screen := s.glass.text(); strings.Contains(screen, text) {
			s.f.t.Errorf("%s sees %q:\n%s", s.who, text, screen)
		}
	}
}

// loses waits until a text has gone from the screen.
func (s *seat) loses(text string) {
	s.f.t.Helper()
	synctest.Wait()
	for end := time.Now().Add(10 * time.Second); strings.Contains(s.glass.text(), text); synctest.Wait() {
		time.Sleep(100 * time.Millisecond)
		if time.Now().After(end) {
			s.f.t.Fatalf("%s still sees %q:\n%s", s.who, text, s.glass.text())
		}
	}
}

// line is the row of the screen with a text; "" = none.
func (s *seat) line(text string) string {
	for line := range strings.Lines(s.glass.text()) {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// clipboard is what was copied last.
func (s *seat) clipboard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.copied) == 0 {
		return ""
	}
	return s.copied[len(s.copied)-1]
}

// readFile is a file that a console wrote.
func (f *flow) readFile(path string) string {
	f.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		f.t.Error(err)
	}
	return string(b)
}
