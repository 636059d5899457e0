package ui

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/screen/jobs"
	"github.com/farsight-console/farsight/ui/screen/retries"
)

// shown is the job that the inspector on top shows.
func (d *desk) shown() engine.JobID {
	j, ok := d.m.page().(*inspector.Job)
	if !ok {
		d.t.Fatalf("%T is on top", d.m.page())
	}
	id, _ := j.SelectedJob(d.m.view(d.m.now()))
	return id
}

// TestBracketsGoToTheNeighbour: from a job, an account or a record, [ and ] open the
// one before and after it in the list it came from, whose cursor goes along. Frozen
// they step in time.
func TestBracketsGoToTheNeighbour(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4", "enter")
		first := d.shown()
		d.press("[")
		d.wants("this is the first one of its list")
		d.press("]")
		second := d.shown()
		d.press("]")
		third := d.shown()
		if first == second || second == third || first == third {
			t.Errorf("]: %s, %s, %s", first, second, third)
		}
		d.press("[")
		if d.shown() != second || len(d.m.stack) != 1 {
			t.Errorf("[: %s is not %s, %d pages", d.shown(), second, len(d.m.stack))
		}
		d.press("esc", "esc", "esc")
		if id, _ := d.m.page().(*retries.Screen).SelectedJob(d.m.view(d.m.now())); id != second {
			t.Errorf("the cursor of the list is on %s, not %s", id, second)
		}
		d.press("enter", "]", "]", "]", "]", "]", "]", "]", "]", "]", "]")
		d.wants("this is the last one of its list")

		d.press("f", "[")
		d.wants("FROZEN")
		d.lacks("this is the first one")
	})
	busy(t, func(d *desk) {
		d.press("2", "enter")
		d.wants("Accounts ▸ Blue Heron#KR1")
		d.press("]")
		d.wants("Accounts ▸ 카인#KR1")
		d.press("6", "[") // matches of it: a list of its own
		d.wants("f freezes the view first")
	})
	busy(t, func(d *desk) {
		d.press("8", "enter")
		d.wants("record 244")
		d.press("[")
		d.wants("record 243")
		d.press("]")
		d.wants("record 244")
		d.show(inspector.NewJob("j881")) // came from no list
		d.press("]")
		d.wants("f freezes the view first")
	})
}

// TestEnterShowsTheRawRecord: as the inspector's line of keys says.
func TestEnterShowsTheRawRecord(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4", "enter")
		d.wants("enter raw", "a account")
		d.press("enter")
		d.wants("RAW", `"id": "j881"`)
		d.press("esc")
		d.wants("policy match step 2")
	})
}

// TestAnUntouchedListStandsOnItsFirstRow: as long as nobody has moved the cursor it
// is on the first row, whatever comes and goes; a key acts on what was drawn when it
// was pressed, and from then on the row is kept.
func TestAnUntouchedListStandsOnItsFirstRow(t *testing.T) {
	at := func(d *desk) engine.JobID {
		id, _ := d.m.page().(*jobs.Screen).SelectedJob(d.m.view(d.m.now()))
		return id
	}
	gone := func(d *desk) {
		d.send(engine.Update{Seq: d.m.rows.Data.Seq + 1, Gone: []engine.JobID{at(d)}})
		d.wait(3 * time.Second)
	}
	onJobs := func(do func(d *desk)) {
		busy(t, func(d *desk) {
			d.press("3")
			d.fake.Scene.Jobs = nil // what has left is not on disk either
			do(d)
		})
	}
	onJobs(func(d *desk) {
		for range 3 {
			before := at(d)
			gone(d)
			d.lacks("(left)")
			if now := at(d); now == before || now == "" {
				t.Errorf("the cursor is still on %q", now)
			}
		}
	})
	onJobs(func(d *desk) {
		d.press("j", "k")
		gone(d)
		d.wants("(left)")
	})
	onJobs(func(d *desk) {
		first := at(d)
		d.press("enter", "esc", "esc") // looked at: it is kept
		gone(d)
		d.wants("(left)")
		d.press("j")
		if at(d) == first {
			t.Errorf("the cursor is still on %s", first)
		}
	})
}
