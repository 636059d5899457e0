package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/session"
	"github.com/farsight-console/farsight/ui/terminal"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestDisconnectedCountsOn: since when, when it is tried next and how old the data
// is, as long as nothing comes.
func TestDisconnectedCountsOn(t *testing.T) {
	busy(t, func(d *desk) {
		d.wait(10 * time.Second) // the messages of the start have faded
		d.send(session.Lost{Again: time.Now().Add(3 * time.Second)})
		d.wants("DISCONNECTED 0:00", "next try 3 s", "data as of 12:31:35")
		d.wait(2 * time.Second)
		d.wants("DISCONNECTED 0:02", "next try 1 s")
		if row := strings.Split(d.screen(), "\n")[1]; !strings.Contains(row, "what is shown is as of 12:31:35") { // and not what it said last
			t.Errorf("row 2 is %q", row)
		}
		d.wait(10 * time.Second)
		d.send(session.Lost{Again: time.Now().Add(5 * time.Second)})
		d.wants("DISCONNECTED 0:12", "next try 5 s", "data as of 12:31:35")
		d.send(session.Lost{Again: time.Now().Add(5 * time.Second), Why: "the engine speaks protocol 2, this program 1"})
		d.wants("the engine speaks protocol 2, this program 1; next try 5 s", "data as of 12:31:35")
		d.send(uitest.Busy().Update)
		d.lacks("DISCONNECTED", "protocol")
		d.wait(10 * time.Second)
		d.send(session.Lost{Again: time.Now().Add(time.Second)})
		d.wants("the engine has gone; next try 1 s")
	})
}

// TestNoKeyActsWithoutAnEngine: what could be done about its state cannot be done now.
func TestNoKeyActsWithoutAnEngine(t *testing.T) {
	s := uitest.Busy()
	s.Update.Engine.State, s.Update.Engine.Why, s.Update.Engine.Key = engine.EngineNoKey, "Riot refuses the key", "…7f3a"
	bubble(t, func(t *testing.T) {
		d := open(t, s, 120, 40, testOptions())
		d.wants("K gives another key")
		d.send(session.Lost{Again: time.Now().Add(time.Hour)})
		d.lacks("K gives another key")
	})
}

// TestNothingRunsOnWithoutAnEngine: what is shown is as of the last that it said, also frozen.
func TestNothingRunsOnWithoutAnEngine(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3")
		d.wait(10 * time.Second)
		d.send(session.Lost{Again: time.Now().Add(time.Hour)})
		body := func() string { rows := strings.Split(d.screen(), "\n"); return strings.Join(rows[2:len(rows)-3], "\n") }
		before := body()
		if d.wait(30 * time.Second); body() != before {
			t.Errorf("half a minute later:\n%s\nbefore\n%s", body(), before)
		}
		d.press("f")
		if d.wants("FROZEN 12:31:45"); body() != before {
			t.Errorf("frozen:\n%s\nbefore\n%s", body(), before)
		}
	})
}

func TestStopwatch(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0:00", -time.Second: "0:00", 12 * time.Second: "0:12", 245 * time.Second: "4:05", time.Hour + 9*time.Second: "1:00:09",
	} {
		if got := human.Stopwatch(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

// TestActionsOfOthersAreShownWithTheirActor, and one's own are not told twice.
func TestActionsOfOthersAreShownWithTheirActor(t *testing.T) {
	busy(t, func(d *desk) {
		own, other := d.m.opt.By(), engine.Actor{User: "bo", Session: "process 9", Via: "socket"}
		d.send(engine.Update{Notes: []engine.Note{{Level: engine.LevelInfo, Text: "bo: cancel job j881", By: other}}})
		d.wants("bo: cancel job j881")
		d.press("esc")
		d.send(engine.Update{Notes: []engine.Note{{Level: engine.LevelInfo, Text: "ana: what she knows", By: own}}})
		d.lacks("what she knows")
	})
}

func TestDetach(t *testing.T) {
	for name, c := range map[string]struct {
		embedded, can  bool
		quit, detached bool
		guest          func() bool
	}{
		"own engine that can go on":    {true, true, true, true, nil},
		"own engine that ends with it": {true, false, false, false, nil},
		"attached":                     {false, false, true, false, nil},
		"looks on as a guest":          {true, true, true, false, func() bool { return true }},
		"a guest no more":              {true, true, true, true, func() bool { return false }},
	} {
		bubble(t, func(t *testing.T) {
			opt := testOptions()
			opt.Embedded, opt.CanDetach, opt.Guest = c.embedded, c.can, c.guest
			d := open(t, uitest.Busy(), 120, 40, opt)
			d.press("d")
			if d.quit != c.quit || d.m.detached != c.detached {
				t.Errorf("%s: quit %v, detached %v", name, d.quit, d.m.detached)
			}
			if err := d.m.leaving(nil); errors.Is(err, ErrDetached) != c.detached {
				t.Errorf("%s: Run gives %v", name, err)
			}
			if err := d.m.leaving(terminal.ErrHungUp); errors.Is(err, terminal.ErrHungUp) != c.can {
				t.Errorf("%s: a terminal that has gone gives %v", name, err)
			}
		})
	}
}
