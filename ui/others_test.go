package ui

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// listed counts how often the list of jobs was asked for.
func (d *desk) listed() (n int) {
	for _, q := range d.fake.Asked() {
		if _, ok := q.(engine.JobsQuery); ok {
			n++
		}
	}
	return n
}

// noteBy is an update that tells of a command, and of nothing else: what was
// cancelled in line was no live row.
func noteBy(by engine.Actor) engine.Update {
	return engine.Update{Notes: []engine.Note{{Level: engine.LevelInfo, Text: "cancel job j950", By: by}}}
}

// TestS1_11_ACommandOfSomebodyElseIsReadAtOnce: the list that is seen is read anew in
// the moment in which the console is told of it, not at its next turn.
func TestS1_11_ACommandOfSomebodyElseIsReadAtOnce(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3", "b")
		d.wait(10 * time.Second)
		before := d.listed()
		d.send(noteBy(d.m.opt.By()))   // who sits here: the receipt has told
		d.send(noteBy(engine.Actor{})) // the engine's own
		if n := d.listed() - before; n != 0 {
			t.Errorf("read %d times for what nobody else did", n)
		}
		d.send(noteBy(engine.Actor{User: "bo", Via: "socket"}))
		if n := d.listed() - before; n != 1 {
			t.Errorf("read %d times in the moment it was told", n)
		}
		d.press("f")
		d.send(noteBy(engine.Actor{User: "bo", Via: "socket"}))
		d.wait(5 * time.Second)
		if n := d.listed() - before; n != 1 {
			t.Errorf("what is frozen was read: %d", n)
		}
	})
}

// A script that gives many commands makes a console read twice a second, and once more
// when it has ended: what is shown then is what there is.
func TestManyCommandsOfOthersAreReadTogether(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3", "b")
		d.wait(10 * time.Second)
		before := d.listed()
		for range 40 {
			d.send(noteBy(engine.Actor{User: "script", Via: "http"}))
			d.wait(50 * time.Millisecond)
		}
		if n := d.listed() - before; n < 4 || n > 5 {
			t.Errorf("read %d times in two seconds", n)
		}
		before = d.listed()
		d.send(noteBy(engine.Actor{User: "script", Via: "http"}))
		d.wait(othersEvery)
		if n := d.listed() - before; n != 1 {
			t.Errorf("read %d times after the last one", n)
		}
	})
}

// The inspector of a job that stands in line follows it too.
func TestTheInspectorFollowsWhatOthersDo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		scene := uitest.Busy()
		d := open(t, scene, 120, 40, testOptions())
		d.press("3", "/")
		d.text("KR_7214550953")
		d.press("enter", "enter")
		d.wait(5 * time.Second)
		d.wants("AVAILABLE")
		for i := range d.fake.Scene.Jobs {
			if j := &d.fake.Scene.Jobs[i]; j.Key == "match:KR_7214550953" {
				j.State, j.Rev, j.By = engine.Cancelled, j.Rev+1, "bo"
			}
		}
		d.send(noteBy(engine.Actor{User: "bo", Via: "socket"}))
		d.wants("CANCELLED", "asked for by bo")
	})
}

// TestTurnsAreReadTogether: what keeps the engine's calls is read anew as it turns, also right after a command of
// somebody else; however often it turns, lists are not read much oftener than for commands.
func TestTurnsAreReadTogether(t *testing.T) {
	busy(t, func(d *desk) {
		turn := func(by bool) {
			d.send(engine.Update{Queues: []engine.QueueRow{{QueueState: engine.QueueState{Name: "ingest.match", Paused: by}}}})
		}
		d.press("3", "b")
		d.wait(10 * time.Second)
		d.send(noteBy(engine.Actor{User: "bo", Via: "socket"}))
		before := d.listed()
		turn(true)
		if n := d.listed() - before; n != 1 {
			t.Errorf("read %d times in the moment of a turn", n)
		}
		before = d.listed()
		for i := range 40 {
			d.wait(50 * time.Millisecond)
			turn(i%2 > 0)
		}
		if n := d.listed() - before; n < 4 || n > 8 {
			t.Errorf("read %d times in two seconds", n)
		}
	})
}

// TestV1a_ATurnIsSeenOverASlowLine: the frame of a turn waits for what the engine foresees by then, but not for the answers of one
// question after the other.
func TestV1a_ATurnIsSeenOverASlowLine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.DevKey(20, uitest.Noon), 120, 40, testOptions())
		d.wait(10 * time.Second)
		s := uitest.DevKey(20, time.Now())
		s.Update.Snapshot, s.Update.Queues[0].Paused, s.Update.Engine.State = false, true, engine.EnginePaused
		uitest.Foresee(&s.Update)
		before, began, seen := d.screen(), time.Now(), time.Duration(0)
		d.fake.Scene = s
		d.each = func() {
			if seen == 0 && d.screen() != before {
				seen = time.Since(began)
			}
			time.Sleep(200 * time.Millisecond) // the way of a question
		}
		d.send(s.Update)
		if seen == 0 || seen > 400*time.Millisecond {
			t.Errorf("seen after %v", seen)
		}
	})
}
