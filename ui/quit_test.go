package ui

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestQuitSaysWhatItStops: only what there is, with the right words for one and many;
// nothing at work is no reason to ask.
func TestQuitSaysWhatItStops(t *testing.T) {
	for _, c := range []struct {
		running, open int
		demo          bool
		want          string
	}{
		{4, 3, true, "It stops 4 running jobs and 3 syncs. The demo's directory is removed: the next one begins anew."},
		{0, 1, true, "It stops 1 sync. The demo's directory is removed: the next one begins anew."},
		{4, 3, false, "It stops 4 running jobs and 3 syncs. All of it is kept and goes on at the next start."},
		{1, 1, false, "It stops 1 running job and 1 sync. All of it is kept and goes on at the next start."},
		{0, 2, false, "It stops 2 syncs. All of it is kept and goes on at the next start."},
		{0, 1, false, "It stops 1 sync. It is kept and goes on at the next start."},
		{1, 0, false, "It stops 1 running job. It is kept and goes on at the next start."},
	} {
		if got := stops(c.running, c.open, c.demo); got != c.want {
			t.Errorf("%d running, %d open: %s", c.running, c.open, got)
		}
	}
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Empty(), 120, 40, testOptions())
		d.press("q")
		if !d.quit {
			t.Error("asks though nothing is at work")
		}
	})
	busy(t, func(d *desk) {
		row := *uitest.Busy().Update.Engine
		row.InFlight = 0
		d.send(engine.Update{Seq: d.m.rows.Data.Seq + 1, Engine: &row})
		d.press("q")
		d.wants("It stops 3 syncs.")
		d.lacks("running job")
		d.press("n")
		row.Term = &engine.Term{Epoch: 6, Leader: "4711-9f3c on db-1"}
		d.send(engine.Update{Seq: d.m.rows.Data.Seq + 1, Engine: &row})
		d.press("q")
		d.wants("4711-9f3c on db-1 leads, in term 6: the work goes on.")
	})
}

// TestV3p_QuitSaysThatTheEngineGoesOn: where it does so without this console; a page above it is left first.
func TestV3p_QuitSaysThatTheEngineGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		opt := testOptions()
		opt.Embedded = false
		d := open(t, uitest.Busy(), 120, 40, opt)
		d.wants("q quit, engine goes on")
		d.press("enter")
		d.lacks("engine goes on")
		open(t, uitest.Busy(), 120, 40, testOptions()).lacks("engine goes on")
	})
}
