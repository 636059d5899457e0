package ui

import (
	"context"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/chaos"
	"github.com/farsight-console/farsight/ui/uitest"
)

// vandal is a scripted Chaos.
type vandal struct {
	mu    sync.Mutex
	state chaos.State
	asked []chaos.Ask
	err   error
}

func (c *vandal) State() chaos.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *vandal) Inject(_ context.Context, ask chaos.Ask) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, ask)
	return "done as asked", c.err
}

func (c *vandal) last() chaos.Ask {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asked) == 0 {
		return chaos.Ask{}
	}
	return c.asked[len(c.asked)-1]
}

// broken is a panel in the middle of an outage.
func broken() *vandal {
	restart := &chaos.Question{Text: "Begin the demo anew?", Lines: []string{"Night Heron#DEMO stands at 300 of 879: too late to be killed at 134."}, Yes: "begin anew"}
	rows := []chaos.Row{
		{Name: "key expires", Expect: "all queues hold until a new key", Preset: true, About: "403 from now on: all queues hold, no try is used; any RGAPI-uuid will do as a new key"},
		{Name: "patch day", Expect: "10 min of 503, 500, slow answers", Preset: true, About: "10 minutes of 503, 500, slow answers and empty leagues: retries by the table, nothing lost"},
		{Name: "outage 2 min", Expect: "the breaker opens and probes", Preset: true, On: true, Told: "on", Until: uitest.Noon.Add(72 * time.Second), Hits: 41, Did: "5 retried, 36 held, 0 given up", About: "503 to everything: the breaker opens, one job at a time probes, no match is given up"},
		{Name: "restart at 134/879", Expect: "killed there, resumes there", Preset: true, About: "the engine is killed at 134 of 879 and started again: it resumes there, nothing twice", Sure: restart},
		{Name: "429 app", Expect: "the host waits, no try is used", About: "the whole host waits for Retry-After, no try is used"},
		{Name: "429 method", Expect: "the method waits, no try is used", Hits: 1, Did: "1 held, 0 given up", About: "that method waits for Retry-After, no try is used"},
		{Name: "429 service", Expect: "the method waits, no try is used", About: "that method backs off, no try is used"},
		{Name: "503", Expect: "retried by the table", On: true, Told: "5 %", Rate: 5, Hits: 12, Did: "9 retried, 2 held, 0 given up, 1 open", About: "a try is used, the next by the table; five in a row open the breaker"},
		{Name: "timeout", Expect: "10 s of silence, then retried", On: true, Told: "once", About: "no answer: the client gives up after 10 s, a try is used"},
		{Name: "slow", Expect: "3 s late, others go on", About: "3 s before the answer: others go on meanwhile"},
		{Name: "cut body", Expect: "not stored, retried", About: "the body ends half way: nothing of it is stored, a try is used"},
		{Name: "bad JSON", Expect: "not stored, retried", About: "a body that cannot be read: a try is used, its start is kept"},
		{Name: "404", Expect: "final at once, never retried", Hits: 2, Did: "2 given up", About: "a match that is gone: final at once, the run ends incomplete"},
		{Name: "key expiry", Expect: "held until a call proves the key", About: "401 to single calls: held until another call proves the key"},
		{Name: "clock skew", Expect: "waits go by our own clock", About: "Date is an hour off: waits go by our own clock"},
		{Name: "slow disk", Expect: "work waits, nothing is lost", Hits: 7, Did: "waited 2.8 s in all, nothing lost", About: "a commit takes 2 s (by rate: 400 ms): work waits, nothing is lost"},
		{Name: "worker crash", Expect: "retried, its stack is logged", About: "a handler panics: that try is used, its stack goes to the log"},
	}
	return &vandal{state: chaos.State{Seed: 7, Speed: 1, Rows: rows, Calls: 1204, Repeated: 1}}
}

// panel runs f with a demo whose panel is open, the cursor on 503.
func panel(t *testing.T, f func(d *desk, c *vandal)) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		opt, c := testOptions(), broken()
		opt.Chaos, opt.Demo = c, true
		d := open(t, uitest.Busy(), 120, 40, opt)
		d.press("X", "j", "j", "j", "j", "j", "j", "j")
		f(d, c)
	})
}

func TestChaosPanelShowsBothSides(t *testing.T) {
	panel(t, func(d *desk, _ *vandal) {
		d.wants("Chaos", "DEMO", "seed 7", "INJECTED", "WHAT THE ENGINE DID", "▌  503", "▲ 5 %", "9 retried, 2 held, 0 given up, 1 open",
			"▲ on 1m12", "36 held", "▲ once", "held until a call proves the key", "503: a try is used", "1,204 calls", "0 over the limits", "1 for a match delivered before", "WHAT HAPPENED")
		d.wait(2 * time.Second)
		d.wants("▲ on 1m10")
		d.press("esc", "esc", "esc", "esc")
		d.lacks("INJECTED")
	})
}

func TestChaosKeys(t *testing.T) {
	panel(t, func(d *desk, c *vandal) {
		for _, step := range []struct {
			key  string
			want chaos.Ask
		}{
			{"enter", chaos.Ask{Name: "503", Once: true}},
			{"l", chaos.Ask{Name: "503", Rate: 10}},
			{"right", chaos.Ask{Name: "503", Rate: 10}},
			{"h", chaos.Ask{Name: "503", Rate: 2}},
			{"0", chaos.Ask{Off: true}},
		} {
			d.press(step.key)
			if got := c.last(); got != step.want {
				t := d.t
				t.Errorf("%s asks for %+v, want %+v", step.key, got, step.want)
			}
		}
		d.wants("done as asked")
		d.press("j", "h")
		d.wants("timeout has no rate: l gives it one")
		d.press("g", "l")
		d.wants("enter starts key expires: it takes no rate")
		d.press("j", "j", "enter") // the outage is on: it ends
		if got, want := c.last(), (chaos.Ask{Name: "outage 2 min", Off: true}); got != want {
			d.t.Errorf("enter on a running preset asks for %+v", got)
		}
		c.err = engine.Problemf(engine.ErrConflict, "wait a moment", "the engine is being started already")
		d.press("0")
		d.wants("▲ ", "the engine is being started already: wait a moment")
	})
}

func TestChaosAsksBeforeItBeginsAnew(t *testing.T) {
	panel(t, func(d *desk, c *vandal) {
		d.press("g", "j", "j", "j", "enter")
		d.wants("Begin the demo anew?", "300 of 879")
		d.press("n")
		if len(c.asked) > 0 {
			d.t.Errorf("no was taken for %+v", c.asked)
		}
		d.press("enter", "y")
		if got, want := c.last(), (chaos.Ask{Name: "restart at 134/879", Once: true}); got != want {
			d.t.Errorf("yes asks for %+v", got)
		}
	})
}

// TestChaosFromThePalette: `:chaos …` does what the keys do, from every screen.
func TestChaosFromThePalette(t *testing.T) {
	long(t)
	for line, want := range map[string]chaos.Ask{
		"503 once":        {Name: "503", Once: true},
		"slow":            {Name: "slow", Once: true},
		"429 method 7.5%": {Name: "429 method", Rate: 7.5},
		"bad json 3":      {Name: "bad JSON", Rate: 3},
		"slow disk off":   {Name: "slow disk", Off: true},
		"outage 2 min":    {Name: "outage 2 min", Once: true},
		"off":             {Off: true},
	} {
		panel(t, func(d *desk, c *vandal) {
			d.press("esc", "esc", "2", ":")
			d.text("chaos " + line)
			d.press("enter")
			if got := c.last(); got != want {
				d.t.Errorf("%q asks for %+v, want %+v", line, got, want)
			}
			d.wants("WHAT THE ENGINE DID")
		})
	}
	for line, wrong := range map[string]string{
		"earthquake":      "there is no such fault: use key expires, patch day",
		"503 sometimes":   `"sometimes" says not how often: use once, a rate such as 5%, or off`,
		"503 500%":        `says not how often`,
		"patch day 5%":    "patch day takes no rate",
		"restart at 7 5%": "there is no such fault",
	} {
		panel(t, func(d *desk, c *vandal) {
			d.press(":")
			d.text("chaos " + line)
			d.press("enter")
			d.wants(wrong)
			if len(c.asked) > 0 {
				d.t.Errorf("%q asks for %+v", line, c.asked)
			}
		})
	}
}

// TestChaosIsOnlyInTheDemo: without a simulator there is no panel and no word for it.
func TestChaosIsOnlyInTheDemo(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("X")
		d.wants("only the demo has a chaos panel")
		d.lacks("INJECTED")
		d.press(":")
		d.text("chaos")
		d.lacks("503 5%")
		d.text(" off")
		d.press("enter")
		d.wants("only the demo has a chaos panel")
	})
}

func TestChaosIsRefusedOnAReadOnlyConsole(t *testing.T) {
	bubble(t, func(t *testing.T) {
		opt, c := testOptions(), broken()
		opt.Chaos, opt.Demo, opt.ReadOnly = c, true, true
		d := open(t, uitest.Busy(), 120, 40, opt)
		d.press("X", "enter", "0", "l")
		d.wants("this console is read only", "INJECTED")
		if len(c.asked) > 0 {
			t.Errorf("asked for %+v", c.asked)
		}
	})
}

// TestChaosFramesHold: the panel keeps to every size, with any rows.
func TestChaosFramesHold(t *testing.T) {
	type step struct {
		w, h int
		rows []chaos.Row
		keys []string
	}
	var steps []step
	rapid.Check(t, func(t *rapid.T) {
		s := step{w: rapid.IntRange(1, 250).Draw(t, "w"), h: rapid.IntRange(1, 80).Draw(t, "h")}
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			s.rows = append(s.rows, chaos.Row{
				Name: rapid.String().Draw(t, "name"), On: rapid.Bool().Draw(t, "on"), Told: rapid.String().Draw(t, "told"),
				Hits: rapid.Int().Draw(t, "hits"), Did: rapid.String().Draw(t, "did"), About: rapid.String().Draw(t, "about"), Preset: rapid.Bool().Draw(t, "preset"),
			})
		}
		s.keys = rapid.SliceOfN(rapid.SampledFrom([]string{"j", "G", "pgdown", "g", "h", "l", "enter", "0", "?"}), 0, 3).Draw(t, "keys")
		steps = append(steps, s)
	})
	bubble(t, func(t *testing.T) {
		opt, c := testOptions(), broken()
		opt.Chaos, opt.Demo = c, true
		d := open(t, uitest.Hostile(), 80, 24, opt)
		d.press("X")
		for _, s := range steps {
			c.state.Rows = s.rows
			d.send(tea.WindowSizeMsg{Width: s.w, Height: s.h})
			d.press(s.keys...)
			checkFrame(t, d.m.frame, s.w, s.h, false)
			if d.m.over != nil {
				d.press("esc")
			}
		}
	})
}
