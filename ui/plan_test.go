package ui

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// planner answers dry runs of edits as the engine does: anything but a 61 can be read.
func planner(c engine.Command) (engine.Receipt, error) {
	switch {
	case c.Op != engine.OpEditSchedule:
		return engine.Receipt{Text: "done"}, nil
	case c.Expr == "61 * * * *":
		return engine.Receipt{}, engine.Problemf(engine.ErrInvalid, "use 0 to 59", `"61" is no minute`)
	}
	first := time.Date(2026, 1, 20, 18, 0, 0, 0, time.UTC)
	r := engine.Receipt{Matched: 1, Runs: []time.Time{first, first.Add(2 * time.Hour), first.Add(4 * time.Hour)}, Zone: c.Zone, Text: "edited", Undo: true, Audit: 41, Applied: 1}
	if r.Zone == "" {
		r.Zone = "UTC"
	}
	if c.DryRun {
		r.Applied, r.Undo = 0, false
	}
	return r, nil
}

// TestScheduleIsEdited: E opens the plan in force, the next runs follow what is typed
// before anything is changed, and z takes it back.
func TestScheduleIsEdited(t *testing.T) {
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.fake.Answer = planner
			d.press("1", "S", "j")
			d.wants("edited by ben, 26 h ago: a tournament", "config says @every 30m UTC")
			d.press("k", "E")
			d.wants("edit ingest.rank.daily", "0 3 * * * Asia/Seoul", "would run", "Wed 21 Jan 03:00", "Tue 20 Jan 18:00", "UTC")
			d.m.prompt.Set("")
			d.text("61 * * * *")
			d.wait(300 * time.Millisecond)
			d.wants(`"61" is no minute`, "0 to 59")
			d.press("enter")
			d.wants("it cannot be read, the reason stands above", `"61" is no minute`)
			d.m.prompt.Set("")
			d.text("0 */2 * * * Asia/Seoul now")
			d.wait(300 * time.Millisecond)
			d.wants("write a schedule and its zone")
			for range 4 {
				d.press("backspace")
			}
			d.wait(300 * time.Millisecond)
			d.wants("would run", "Wed 21 Jan 03:00", "Wed 21 Jan 05:00")
			for _, c := range d.fake.Did() {
				if !c.DryRun {
					t.Errorf("sent while it was typed: %+v", c)
				}
			}
			d.press("enter")
			if c := d.last(); c.DryRun || c.Op != engine.OpEditSchedule || c.Schedule != "ingest.rank.daily" || c.Expr != "0 */2 * * *" || c.Zone != "Asia/Seoul" {
				t.Errorf("sent %+v", c)
			}
			d.lacks("would run")
			d.press("z")
			if c := d.last(); c.Op != engine.OpUndo || c.Audit != 41 {
				t.Errorf("sent %+v", c)
			}
		})
	}
}

// TestScheduleEditIsTakenBack: an empty plan is the configuration's, esc changes nothing.
func TestScheduleEditIsTakenBack(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("S", "j", "E", "esc")
		d.lacks("would run")
		d.press("E")
		d.m.prompt.Set("")
		d.send(tick{})
		d.wants("empty takes the edit back: @every 30m UTC")
		d.press("enter")
		if c := d.last(); c.DryRun || c.Op != engine.OpEditSchedule || c.Expr != "" || c.Schedule != "ingest.summoner.latest" {
			t.Errorf("sent %+v", c)
		}
	})
}
