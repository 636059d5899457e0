package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/keys"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestTimeCursorStepsThroughTheLastMinutes: counters, queues and bars are redrawn
// as they were, border and title name the instant, and . goes back to live.
func TestTimeCursorStepsThroughTheLastMinutes(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("5")
		d.wants("83/100")
		d.press("[")
		d.wants("f freezes the view first")
		d.press("f")
		d.wants("FROZEN 12:31:35", "[ ] step")
		d.press("[")
		d.wants("FROZEN 12:31:34, 1 s back", "82/100", "lists as of 12:31:35")
		d.press("{")
		d.wants("FROZEN 12:31:24, 11 s back", "72/100")
		d.press("]")
		d.wants("FROZEN 12:31:25", "73/100")
		d.press("1")
		d.wants("12,396") // ten calls fewer were stored
		d.press("}", "]")
		d.wants("this is where the view was frozen")
		d.press(".")
		d.wants("LIVE")
		d.lacks("FROZEN")
	})
}

// TestAFrozenWindowStandsWithItsChart: the state's row counts the window as it was then, also when it has ended since.
func TestAFrozenWindowStandsWithItsChart(t *testing.T) {
	busy(t, func(d *desk) {
		for i := range d.m.rows.Data.Limits.Buckets {
			b := &d.m.rows.Data.Limits.Buckets[i]
			b.Server, b.ServerAt, b.InFlight = b.Used, uitest.Noon, 0
		}
		d.press("f")
		d.wait(3 * time.Minute)
		if head := strings.Split(d.screen(), "\n")[1]; !strings.Contains(head, "83/100") {
			t.Errorf("the state's row: %s", head)
		}
	})
}

// TestTimeCursorEndsWhereTheRecordBegins: it stays on the oldest moment.
func TestTimeCursorEndsWhereTheRecordBegins(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("f")
		for range 35 {
			d.press("{")
		}
		d.wants("FROZEN 12:26:35", "there is no older record")
	})
}

// TestTimeCursorWithoutTheEngine: an engine that cannot tell leaves what this
// console saw by itself.
func TestTimeCursorWithoutTheEngine(t *testing.T) {
	busy(t, func(d *desk) {
		d.m.past = page.Past{}
		d.fake.Broken = errors.New("gone")
		row := *uitest.Busy().Update.Engine
		for i := range 5 {
			d.wait(time.Second)
			row.Stored = int64(20000 + i)
			d.send(engine.Update{Seq: uint64(5000 + i), Engine: &row})
		}
		d.press("f", "[", "[")
		d.wants("20,002")
		d.press("{")
		d.wants("20,000")
	})
}

// TestTimeCursorReadsTheRecordLate: a view that was frozen before the record had come says so, and asks for
// it until it comes.
func TestTimeCursorReadsTheRecordLate(t *testing.T) {
	busy(t, func(d *desk) {
		d.m.past = page.Past{}
		d.fake.Broken = errors.New("gone")
		d.press("f", "[")
		d.wants("the record of the last ten minutes is still being read")
		d.fake.Broken = nil
		d.wait(2 * page.ReloadEvery)
		d.press("[", "[")
		d.wants(" s back")
	})
}

// TestTimeCursorOfAQuietEngine: the last moment holds, however old it is.
func TestTimeCursorOfAQuietEngine(t *testing.T) {
	var p page.Past
	p.See(&page.Data{}, uitest.Noon.Add(-time.Hour))
	var c timeCursor
	c.stop(page.Data{}, p, uitest.Noon)
	if at, ok := c.reach(uitest.Noon.Add(-2 * page.PastSpan)); !ok || !at.Equal(uitest.Noon.Add(-page.PastSpan)) {
		t.Errorf("it goes back to %v, %v", at, ok)
	}
}

// TestRecorderMovesTheTimeCursor: the bars are those of the moment of the call
// under the cursor, and stepping moves that cursor.
func TestRecorderMovesTheTimeCursor(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("5", "f", "j", "j", "j")
		p := d.m.page().(page.Timed)
		at, ok := p.Instant(d.m.view(d.m.now()))
		if !ok || !at.Equal(d.m.since) {
			t.Fatalf("the call is of %v, the time cursor at %v", at, d.m.since)
		}
		d.wants("FROZEN " + at.In(uitest.Zone).Format("15:04:05"))
		d.press("{")
		then, _ := p.Instant(d.m.view(d.m.now()))
		if then.After(d.m.since) || d.m.since.Sub(then) > 2*time.Second {
			t.Errorf("the recorder stands on %v, the time cursor at %v", then, d.m.since)
		}
	})
}

func TestALiveFrameMakesNoTextOfAFrozenOne(t *testing.T) {
	busy(t, func(d *desk) {
		said := func() bool {
			_, is := d.m.said[saying{keys.On(d.m.page().Screen()), "{second back} {second on} step"}]
			return is
		}
		if said() {
			t.Error("nothing is frozen")
		}
		if d.press("f"); !said() {
			t.Error("it says something else now")
		}
	})
}

// TestFrozenActionsAreLive: what is done on a frozen, stepped view acts on the
// present and says so.
func TestFrozenActionsAreLive(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("f", "[", "[")
		jobs := uitest.Busy().Jobs
		moved := jobs[slices.IndexFunc(jobs, func(j engine.JobRow) bool { return j.ID == "j881" })]
		moved.Rev = 9
		d.send(engine.Update{Seq: 5000, Jobs: []engine.JobRow{moved}})
		d.wants("+1 changes")
		d.press("4", "r")
		d.wants("(live; the view is frozen)")
		if c := d.last(); c.Op != engine.OpRetry || c.IfRev != 9 {
			t.Errorf("sent %+v", c)
		}
	})
}

// TestWatchedAccountStaysOnEveryScreen (I-12).
func TestI12_WatchedAccountStaysOnEveryScreen(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("2")
		d.on("카인")
		d.press("w")
		for _, k := range []string{"1", "3", "5"} {
			d.press(k)
			d.wants("matches 134/879", "w unpins")
		}
		row := uitest.Busy().Update.Accounts[1]
		d.wait(15 * time.Second)
		row.Matches.Stored, row.Matches.Open = 141, 735
		d.send(engine.Update{Seq: 5001, Accounts: []engine.AccountRow{row}})
		d.wants("144/879", "40/min")
		row.Status, row.Matches.Stored, row.Matches.Open = engine.SyncCompleted, 876, 0
		d.send(engine.Update{Seq: 5002, Accounts: []engine.AccountRow{row}})
		d.wants("is complete: 879 matches, 3 could not be had")
		d.press("2", "w", "w")
		d.press("w")
		if strings.Count(d.screen(), "w unpins") > 1 {
			t.Error("two strips")
		}
	})
}
