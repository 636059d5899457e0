package ui

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// The tour says one key after the other, goes on when that key is pressed and never
// takes one.
func TestTourGoesOnWithItsKeys(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 120, 40, testOptions())
		d.quiet()
		d.lacks("/10  press")
		d.line("tour")
		d.wants("1/10  press 3: what waits")
		d.press("4")
		d.wants("1/10", "RETRIES 9 wait")
		d.press("3")
		d.wants("2/10  press enter:")
		for _, key := range []string{"enter", "5", "f", "[", ".", "2"} {
			d.press(key)
		}
		d.wants("8/10  press t:")
		d.press("t", "esc", ":", "esc")
		d.wants("10/10  press ?:")
		d.press("?")
		d.wants("that was all: :tour goes round again")
		d.press("esc", "1")
		d.lacks("/10  press")
		d.line("tour")
		d.wants("1/10")
		d.line("end the tour")
		d.lacks("/10  press")
	})
}

// The tour is seen whatever else is shown: a message, a prompt, a dialog, an engine that
// does not run.
func TestTourIsAlwaysSeen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 80, 24, testOptions())
		d.quiet()
		d.line("tour")
		const first, second = "1/10  press 3: what waits", "2/10  press enter:"
		d.wants(first)
		d.send(engine.Update{Seq: d.m.rows.Data.Seq + 1, Notes: []engine.Note{{At: d.m.now(), Level: engine.LevelWarn, Text: "something has happened"}}})
		d.wants("something has happened", first)
		d.press("3")
		d.wants("something has happened", second)
		d.press("/")
		d.wants(second)
		d.press("esc", "q")
		d.wants("Quit Farsight?", second)
		d.press("n")
		row := *uitest.Busy().Update.Engine
		row.State, row.Pace = engine.EngineAPIDown, "europe does not answer"
		d.send(engine.Update{Seq: d.m.rows.Data.Seq + 1, Engine: &row})
		d.quiet()
		d.wants("europe does not answer", second)
	})
}

// Somebody who never used the console is told for five minutes where to begin.
func TestNewcomersAreToldWhereToBegin(t *testing.T) {
	state := filepath.Join(t.TempDir(), "farsight", "console.json")
	start := func(use func(d *desk)) {
		bubble(t, func(t *testing.T) {
			opt := testOptions()
			opt.Mine = LoadMine([]string{t.TempDir()}, state)
			use(open(t, uitest.Busy(), 80, 24, opt))
		})
	}
	start(func(d *desk) {
		d.quiet()
		d.wants("try: t sync · 5 limits · ? keys · :tour")
		time.Sleep(5 * time.Minute)
		d.send(tick{})
		d.lacks("try: t sync")
		d.press("2", "O") // something worth remembering
	})
	start(func(d *desk) {
		d.quiet()
		d.lacks("try: t sync")
	})
}

// quiet waits until the message line is free.
func (d *desk) quiet() {
	time.Sleep(20 * time.Second)
	d.send(tick{})
}
