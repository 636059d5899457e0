package ui

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/screen/accounts"
	"github.com/farsight-console/farsight/ui/screen/audit"
	"github.com/farsight-console/farsight/ui/screen/chaospanel"
	"github.com/farsight-console/farsight/ui/screen/classes"
	"github.com/farsight-console/farsight/ui/screen/collections"
	"github.com/farsight-console/farsight/ui/screen/forensics"
	"github.com/farsight-console/farsight/ui/screen/members"
	"github.com/farsight-console/farsight/ui/screen/messages"
	"github.com/farsight-console/farsight/ui/screen/schedules"
	"github.com/farsight-console/farsight/ui/session"
	"github.com/farsight-console/farsight/ui/uitest"
)

// desk is a console on a scripted engine, driven without a terminal. It lives in
// a synctest bubble, at the instant of the scenes.
type desk struct {
	t    *testing.T
	fake *uitest.Fake
	m    *model
	quit bool
	home bool // keys are pressed by the names that they have as built in
	msgs chan tea.Msg
	each func() // looks at each frame; nil = nobody does
}

// noColor is the environment of a terminal without colour, truecolor of one with
// all of it.
func noColor(name string) string { return map[string]string{"NO_COLOR": "1", "TERM": "xterm"}[name] }
func trueColor(name string) string {
	return map[string]string{"COLORTERM": "truecolor", "TERM": "xterm"}[name]
}

func testOptions() Options {
	return Options{
		Seat: session.Seat{Getenv: noColor, Zone: uitest.Zone, Actor: engine.Actor{User: "ana"}}, Version: "0.1.0", Embedded: true,
		KeyForm: func(text string) error {
			if !strings.HasPrefix(strings.TrimSpace(text), "RGAPI-") {
				return errors.New("that is no API key")
			}
			return nil
		},
	}
}

// beside are the tests that run beside others already.
var beside sync.Map

// bubble runs f in a bubble whose clock stands at the scenes' instant. A test runs beside others, since a bubble shares
// nothing with its neighbours; a part of a test does not, for whoever began it may count what it did.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if _, was := beside.LoadOrStore(t, true); !was && !strings.Contains(t.Name(), "/") {
		t.Parallel()
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(uitest.Noon))
		f(t)
		time.Sleep(2 * time.Minute) // what waits for its time comes to its end
	})
}

// open makes a console of a size on a scene.
func open(t *testing.T, scene uitest.Scene, w, h int, opt Options) *desk {
	t.Helper()
	d := &desk{t: t, fake: uitest.New(scene), msgs: make(chan tea.Msg, 256)}
	d.m = newModel(d.fake, opt)
	d.run(d.m.Init())
	d.m.asking = true // so that one frame without the scene is drawn, not two
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	d.send(groundEnd{})
	d.send(scene.Update)
	return d
}

// send gives the model a message and carries out what it asks for, except what
// has to wait for time to pass.
func (d *desk) send(msg tea.Msg) {
	d.t.Helper()
	d.update(msg)
	for {
		synctest.Wait()
		select {
		case msg := <-d.msgs:
			d.take(msg)
		default:
			return
		}
	}
}

func (d *desk) take(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case tea.QuitMsg:
		d.quit = true
	case nil:
	default:
		if all, ok := sequence(msg); ok {
			d.run(tea.Batch(all...))
			return
		}
		d.update(msg)
	}
}

// update gives the model a message, and whoever looks at each frame its own.
func (d *desk) update(msg tea.Msg) {
	_, cmd := d.m.Update(msg)
	if d.each != nil {
		d.each()
	}
	d.run(cmd)
}

// sequence are the commands of a tea.Sequence, whose message has no name.
func sequence(msg tea.Msg) ([]tea.Cmd, bool) {
	v := reflect.ValueOf(msg)
	if v.Kind() != reflect.Slice || v.Type().Elem() != reflect.TypeFor[tea.Cmd]() {
		return nil, false
	}
	all := make([]tea.Cmd, v.Len())
	for i := range all {
		all[i] = v.Index(i).Interface().(tea.Cmd)
	}
	return all, true
}

func (d *desk) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		if msg := cmd(); msg != nil {
			d.msgs <- msg
		}
	}()
}

// wait lets time pass, with everything that happens meanwhile.
func (d *desk) wait(span time.Duration) {
	end := time.Now().Add(span)
	for time.Now().Before(end) {
		time.Sleep(min(100*time.Millisecond, time.Until(end)))
		synctest.Wait()
		for more := true; more; {
			select {
			case msg := <-d.msgs:
				d.take(msg)
				synctest.Wait()
			default:
				more = false
			}
		}
	}
}

// keys that are not letters.
var special = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "down": {Code: tea.KeyDown}, "up": {Code: tea.KeyUp},
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+z": {Code: 'z', Mod: tea.ModCtrl}, "ctrl+e": {Code: 'e', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl}, "ctrl+p": {Code: 'p', Mod: tea.ModCtrl}, "space": {Code: tea.KeySpace, Text: " "},
	"backspace": {Code: tea.KeyBackspace}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
}

// press types keys: names of special ones, or single letters.
func (d *desk) press(pressed ...string) {
	d.t.Helper()
	for _, k := range pressed {
		if at := keys.On(d.m.page().Screen()); d.home && d.m.over == nil && d.m.prompt == nil {
			if act, ok := keys.Builtin.Meaning(at, k); ok {
				k = d.m.keys.First(at, act)
			}
		}
		msg, ok := special[k]
		if !ok {
			msg = tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		}
		d.send(msg)
	}
}

// on goes down a list to the row that holds a text.
func (d *desk) on(text string) {
	d.t.Helper()
	for range d.m.h {
		for line := range strings.Lines(d.screen()) {
			if _, row, under := strings.Cut(line, "▌"); under && strings.Contains(row, text) {
				return
			}
		}
		d.press("j")
	}
	d.t.Fatalf("no row with %q:\n%s", text, d.screen())
}

// text types letters one by one. Nobody looks before the last one: until then nothing is drawn.
func (d *desk) text(s string) {
	d.t.Helper()
	for rest := s; rest != ""; {
		_, n := utf8.DecodeRuneInString(rest)
		letter := rest[:n]
		rest = rest[n:]
		d.m.asking = rest != "" && d.each == nil
		d.press(letter)
	}
}

// views are all screens, with the keys that lead there from the first one.
var views = []struct {
	name string
	open func(d *desk)
}{
	{"overview", func(*desk) {}},
	{"accounts", func(d *desk) { d.press("2") }},
	{"jobs", func(d *desk) { d.press("3") }},
	{"flat", func(d *desk) { d.press("3", "b") }},
	{"retries", func(d *desk) { d.press("4") }},
	{"limits", func(d *desk) { d.press("5") }},
	{"matches", func(d *desk) { d.press("6") }},
	{"reports", func(d *desk) { d.press("7") }},
	{"account", func(d *desk) { d.show(accounts.NewAccount("a-kain")) }},
	{"schedules", func(d *desk) { d.show(schedules.New()) }},
	{"job", func(d *desk) { d.show(inspector.NewJob("j881")) }},
	{"logs", func(d *desk) { d.press("8") }},
	{"alerts", func(d *desk) { d.press("9") }},
	{"audit", func(d *desk) { d.show(audit.New()); d.send(tick{}) }},
	{"messages", func(d *desk) { d.show(messages.New()) }},
	{"classes", func(d *desk) { d.show(classes.New("")) }},
	{"forensics", func(d *desk) { d.show(forensics.New(29)) }},
	{"record", func(d *desk) { d.press("8", "enter") }},
	{"evidence", func(d *desk) { d.press("9", "enter") }},
	{"entry", func(d *desk) { d.show(audit.New()); d.press("j", "enter") }},
	{"members", func(d *desk) { d.show(members.New()) }},
	{"collections", func(d *desk) { d.show(collections.New()) }},
	{"collection", func(d *desk) { d.show(collections.NewOne("kr-solo-master+")) }},
	{"chaos", func(d *desk) { d.m.opt.Chaos = broken(); d.show(chaospanel.New()) }},
}

// show opens a page on top of the screen.
func (d *desk) show(p page.Page) {
	d.m.stack = append(d.m.stack, p)
	d.send(tick{})
}
