package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/screen/accounts"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestI2_CostBeforeASync: what is much is asked about in one line, with its calls, its
// end and what it delays; what is little is done at once.
func TestI2_CostBeforeASync(t *testing.T) {
	long(t)
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			bucket := "app:asia 100/120s"
			calls, atMost := 889, false
			d.fake.Answer = func(c engine.Command) (engine.Receipt, error) {
				if c.DryRun {
					cost := engine.Cost{Calls: calls, AtMost: atMost, Takes: 2 * time.Hour, Bucket: bucket, Calendar: uitest.Beside(d.fake.Scene.Update, calls, 2*time.Hour), Delays: []engine.Delay{
						{Schedule: "latest", At: uitest.Noon.Add(29 * time.Minute), By: 4 * time.Minute, Bucket: bucket},
						{Account: "a-kain", RiotID: "카인#KR1", By: 150 * time.Second, Bucket: bucket},
						{Account: "a-wren", RiotID: "Winter Wren#NA1", By: time.Second, Bucket: bucket},
					}}
					return engine.Receipt{Matched: 1, Cost: &cost, Text: "would make many calls"}, nil
				}
				return engine.Receipt{Applied: 1, Text: "the sync has begun"}, nil
			}
			d.press("2", "G", "t")
			d.reads("Sync ", "About 889 calls (asia's 2 min window), done about 14:31; delays the latest run of 13:00 by about 4 min, ", "#KR1 by about 2 min 30 s and 1 other sync by less.", "▌n no")
			d.lacks("would make many calls")
			d.wants("calls in line", "with this 889", "scheduled runs") // drawn into the calendar of the budget
			d.press("enter")
			if c := d.last(); !c.DryRun {
				t.Errorf("sent %+v without a yes", c)
			}
			d.press("t", "y")
			if c := d.last(); c.DryRun || c.Op != engine.OpTrigger || c.Account != "a-quiet" {
				t.Errorf("sent %+v", c)
			}
			calls, atMost = 2011, true // nobody has counted the games
			d.press("t")
			d.reads("At most 2,011 calls (asia's 2 min window), done by about 14:31; delays the latest run of 13:00 by up to 4 min, ", "#KR1 by up to 2 min 30 s and 1 other sync by less.", "▌n no")
			d.press("n")
			calls, atMost, bucket = 889, false, "" // of a host that was never asked
			d.press("t")
			d.reads("About 889 calls; when it is done, and what it delays, is not known before the first answer tells its limits.")
			d.press("n")
			calls = 12
			d.press("t")
			d.lacks("Sync Quiet")
			d.wants("the sync has begun")
			if c := d.last(); c.DryRun {
				t.Error("a short sync was not started")
			}
		})
	}
}

// TestI2_CostOfManySyncs: several are one act with one cost.
func TestI2_CostOfManySyncs(t *testing.T) {
	busy(t, func(d *desk) {
		d.fake.Scene.Cost = engine.Cost{Calls: 300, Takes: 3 * time.Minute, Bucket: "app:asia 100/120s", Unknown: "queue ingest.summoner.full is paused"}
		d.press(";")
		d.text("before the patch")
		d.press("enter", "2", "A", "t")
		d.reads("Sync 3 accounts?", "About 300 calls (asia's 2 min window), done about 12:34; what it delays is unknown: queue ingest.summoner.full is paused.", "Reason: before the patch")
		for _, c := range d.fake.Did() {
			if !c.DryRun {
				t.Errorf("sent %+v without a yes", c)
			}
		}
		n := len(d.fake.Did())
		d.press("y")
		did := d.fake.Did()[n:]
		if len(did) != 3 || slices.ContainsFunc(did, func(c engine.Command) bool { return c.DryRun || c.Reason != "before the patch" }) {
			t.Errorf("sent %+v", did)
		}
	})
}

// TestReasonGoesWithTheNextCommandOnly: whatever it is, by a key, after a question, or
// by the palette; never with one that comes a minute later.
func TestReasonGoesWithTheNextCommandOnly(t *testing.T) {
	busy(t, func(d *desk) {
		because := func(text string) {
			d.press(";")
			d.m.prompt.Set(text)
			d.press("enter")
		}
		because("deploy")
		d.wait(15 * time.Second)
		d.wants("what you do next is because: deploy", "; changes it")
		d.press("p")
		if c := d.last(); c.Op != engine.OpPause || c.Reason != "deploy" {
			t.Errorf("sent %+v", c)
		}
		d.press("tab", "j", "j", "p", "tab", "tab")
		if c := d.last(); c.Op != engine.OpResume || c.Reason != "" {
			t.Errorf("sent %+v", c)
		}
		d.press("2")
		d.on("카인")
		d.press("x", ";") // also while it is asked
		d.text("wrong account")
		d.press("enter")
		d.wants("Cancel the sync of 카인#KR1?", "Reason: wrong account")
		d.press("y")
		if c := d.last(); c.Op != engine.OpCancel || c.Reason != "wrong account" {
			t.Errorf("sent %+v", c)
		}
		d.line("pause " + string(uitest.Full) + " because the disk is slow")
		if c := d.last(); c.Op != engine.OpPause || c.Reason != "the disk is slow" {
			t.Errorf("sent %+v", c)
		}
		because("too late")
		d.wait(61 * time.Second)
		d.press("1", "g", "p")
		if c := d.last(); c.Reason != "" {
			t.Errorf("sent %+v", c)
		}
	})
}

// TestTrackAndUntrack by key, on the list and on the account, and by name.
func TestTrackAndUntrack(t *testing.T) {
	busy(t, func(d *desk) {
		for _, a := range d.m.rows.Data.Accounts[:2] {
			want := map[bool]engine.Op{true: engine.OpUntrack, false: engine.OpTrack}[a.Tracked]
			d.show(accounts.NewAccount(a.ID))
			d.press("a")
			if c := d.last(); c.Op != want || c.Account != a.ID {
				t.Errorf("%s: sent %+v", a.RiotID, c)
			}
			d.press("esc")
		}
		d.press("esc", "2", "g", "a")
		if c := d.last(); c.Op != engine.OpTrack && c.Op != engine.OpUntrack || c.Account == "" {
			t.Errorf("sent %+v", c)
		}
		d.line("track New One#KR1 kr because a customer asks")
		if c := d.last(); c.Op != engine.OpTrack || c.Account != "New One#KR1" || c.Sync.Platform != "kr" || c.Reason != "a customer asks" {
			t.Errorf("sent %+v", c)
		}
	})
}

// TestPurgeTakesATypedWord: nothing short of the word does it.
func TestPurgeTakesATypedWord(t *testing.T) {
	busy(t, func(d *desk) {
		d.fake.Answer = func(c engine.Command) (engine.Receipt, error) {
			if c.DryRun {
				return engine.Receipt{Would: 12, Text: "12 completed and 0 failed jobs would be deleted, 0 are still needed"}, nil
			}
			return engine.Receipt{Applied: 12, Text: "12 completed and 0 failed jobs were deleted"}, nil
		}
		d.press("3", "D")
		d.reads("Purge ended jobs?", "12 completed and 0 failed jobs would be deleted", "type purge to go on", "cannot be taken")
		for _, keys := range [][]string{{"enter"}, {"y"}, {"enter"}, {"tab", "enter"}, {"left", "enter"}} {
			d.press(keys...)
			if c := d.last(); !c.DryRun {
				t.Fatalf("%v sent %+v", keys, c)
			}
		}
		d.press("esc")
		d.lacks("Purge ended jobs?")
		d.press("D")
		d.text("purge")
		d.press("enter")
		if c := d.last(); c.DryRun || c.Op != engine.OpPrune {
			t.Errorf("sent %+v", c)
		}
		d.wants("were deleted")
	})
}

// TestForgetTakesTheTypedName: what would go is said first, and nothing short of the
// account's name does it. On the narrowest screen no sentence of it is cut.
func TestForgetTakesTheTypedName(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 80, 24, testOptions())
		d.fake.Answer = func(c engine.Command) (engine.Receipt, error) {
			if c.DryRun {
				return engine.Receipt{Would: 1, Text: "7 matches (2 shared with other accounts stay) would be deleted"}, nil
			}
			f := engine.ForgetDone{Matches: 12_879, Jobs: 121_763, Reports: 12, Bytes: 1055 << 20}
			return engine.Receipt{Applied: 1, Forget: &f, Text: f.Text(false) + "; " + engine.ForgetLeaves}, nil
		}
		a := d.m.rows.Data.Accounts[0]
		d.line("forget Nobody#EUW")
		d.wants("there is no account Nobody#EUW")
		d.press("esc")
		d.line("forget " + a.RiotID + " because they asked")
		d.reads("Delete all that is stored of "+a.RiotID+"?", "7 matches (2 shared with other accounts stay) would be deleted", "type "+a.RiotID+" to go on", "cannot be undone", "farsight compact")
		d.text("yes")
		d.press("enter")
		if c := d.last(); !c.DryRun {
			t.Fatalf("sent %+v", c)
		}
		d.wants("type the word that is shown, or leave by esc")
		d.press("backspace", "backspace", "backspace")
		d.text(a.RiotID)
		d.press("enter")
		if c := d.last(); c.DryRun || c.Op != engine.OpForget || c.Account != a.ID || c.Reason != "they asked" {
			t.Errorf("sent %+v", c)
		}
		d.wants("12,879 matches, 121,763 jobs, 12 reports and 1.1 GB were deleted")
	})
}

// TestPaletteCallsANumber: with the text as it was typed, after the engine has said what
// it would do; what cannot be read, or may not be called, calls nobody.
func TestPaletteCallsANumber(t *testing.T) {
	long(t)
	busy(t, func(d *desk) {
		d.fake.Answer = func(c engine.Command) (engine.Receipt, error) {
			switch {
			case c.Call.To == "+12025550199":
				return engine.Receipt{}, engine.Problemf(engine.ErrRefused, "add it to call_numbers", "…0199 is not among the numbers that may be called")
			case c.DryRun:
				return engine.Receipt{Matched: 1, Would: 1, Text: "would call …0143: call 1 of 5 today"}, nil
			}
			return engine.Receipt{Applied: 1, Text: "calls …0143"}, nil
		}
		d.line("call +12025550143")
		d.reads("write a number with its country and what to say")
		d.press("esc")
		d.none()
		d.line("call +12025550199 Hello.")
		d.reads("not among the numbers that may be called")
		d.line("call +12025550143 Come home because it is late.")
		d.reads("Call …0143?", "Would call …0143: call 1 of 5 today")
		if c := d.last(); !c.DryRun {
			t.Fatalf("sent %+v", c)
		}
		d.press("y")
		if c := d.last(); c.DryRun || c.Op != engine.OpCall || *c.Call != (engine.CallAsk{To: "+12025550143", Say: "Come home because it is late."}) {
			t.Errorf("sent %+v", c)
		}
		d.wants("calls …0143")
	})
}

// TestResetIsNotAConsoles: whoever sees a console is told which command it is.
func TestResetIsNotAConsoles(t *testing.T) {
	busy(t, func(d *desk) {
		d.line("reset")
		d.wants("end the engine first, then run `farsight reset`")
		d.none()
	})
}

// TestForgetIsRefusedOnAReadOnlyConsole: the palette asks the engine for nothing.
func TestForgetIsRefusedOnAReadOnlyConsole(t *testing.T) {
	bubble(t, func(t *testing.T) {
		opt := testOptions()
		opt.ReadOnly = true
		d := open(t, uitest.Busy(), 120, 40, opt)
		d.line("forget " + d.m.rows.Data.Accounts[0].RiotID)
		d.wants("this console is read only")
		d.lacks("Delete all")
		d.none()
	})
}

// TestOrdersOfThePalette: what a line of the palette asks the engine for, and what is
// said of one that is wrong.
func TestOrdersOfThePalette(t *testing.T) {
	long(t)
	for _, c := range []struct {
		line, wrong string
		fits        func(engine.Command) bool
	}{
		{"resume report.weekly", "", func(c engine.Command) bool { return c.Op == engine.OpResume && c.Queue == uitest.Report }},
		{"pause nothing", "name a queue: ", nil},
		{"force job:match:KR_7214550881 because it is urgent", "", func(c engine.Command) bool {
			return c.Op == engine.OpForce && c.Job == "j881" && c.IfRev == 3 && c.Reason == "it is urgent"
		}},
		{"force j003 because it is there now", "", func(c engine.Command) bool { return c.Op == engine.OpForce && c.Job == "j003" && c.IfRev == 0 }},
		{"force j003", "say why", nil},
		{"reschedule match:KR_7214550881 +10m", "", func(c engine.Command) bool {
			return c.Op == engine.OpReschedule && c.Job == "j881" && c.At.Equal(uitest.Noon.Add(10*time.Minute))
		}},
		{"reschedule match:KR_7214550881 later", "write when", nil},
		{"freeze asia 60% +10m because the site is deployed", "", func(c engine.Command) bool {
			return c.Op == engine.OpFreeze && c.Bucket.Host == "asia" && c.Bucket.Cap == 60 && c.Reason == "the site is deployed" && c.Bucket.Until.Equal(uitest.Noon.Add(10*time.Minute))
		}},
		{"freeze asia +10m", "say why", nil},
		{"freeze mars +10m why", "no limit of the host mars is known", nil},
		{"thaw asia", "", func(c engine.Command) bool { return c.Op == engine.OpThaw && c.Bucket.Host == "asia" }},
		{"untrack 카인#KR1", "", func(c engine.Command) bool { return c.Op == engine.OpUntrack && c.Account == "a-kain" }},
		{"untrack nobody", "a Riot ID looks like Name#TAG", nil},
	} {
		busy(t, func(d *desk) {
			d.line(c.line)
			if c.wrong != "" {
				d.wants(c.wrong)
				d.none()
				return
			}
			if got := d.last(); !c.fits(got) {
				t.Errorf("%s: sent %+v", c.line, got)
			}
		})
	}
}

// TestSuspendNeedsAShell: where nobody could let a stopped console go on, ctrl+z says
// so instead.
func TestSuspendNeedsAShell(t *testing.T) {
	for _, shell := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			opt := testOptions()
			opt.CanSuspend = func() bool { return shell }
			d := open(t, uitest.Busy(), 120, 40, opt)
			d.press("ctrl+z")
			if said := strings.Contains(d.screen(), "no shell with job control started this console"); said == shell {
				t.Errorf("with a shell %v it says so: %v", shell, said)
			}
		})
	}
}

// click is the left button at the first place where a text stands.
func (d *desk) click(text string) {
	d.t.Helper()
	for y, row := range strings.Split(d.screen(), "\n") {
		if at := strings.Index(row, text); at >= 0 {
			x := safe.Width(row[:at])
			d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
			return
		}
	}
	d.t.Fatalf("there is no %q to click on:\n%s", text, d.screen())
}

// TestMouse: off at first; a click selects, sorts, switches and closes; the wheel moves
// once for all its notches.
func TestMouse(t *testing.T) {
	busy(t, func(d *desk) {
		if d.m.View().MouseMode != tea.MouseModeNone {
			t.Error("the mouse is on from the start")
		}
		d.press("m")
		if d.m.View().MouseMode != tea.MouseModeCellMotion {
			t.Error("m does not turn it on")
		}
		d.click("2 Accounts")
		if d.m.tab != page.ScreenAccounts {
			t.Error("a click on its tab does not open a screen")
		}
		d.click("Winter Wren")
		if line := d.underCursor(); !strings.Contains(line, "Winter Wren") {
			t.Errorf("the cursor is on %s", line)
		}
		d.click("ACCOUNT ")
		d.wants("sort: account ↑")
		if line := d.underCursor(); !strings.Contains(line, "Winter Wren") {
			t.Errorf("sorting moved the cursor to %s", line)
		}
		d.press("g")
		first := d.underCursor()
		for range 5 {
			d.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
		}
		if line := d.underCursor(); line != first {
			t.Errorf("moved before the wheel rests, to %s", line)
		}
		d.wait(wheelRest + 10*time.Millisecond)
		if line := d.underCursor(); line == first {
			t.Error("the wheel moves nothing")
		}
		d.press("?")
		d.wants("KEYS of Accounts")
		d.send(tea.MouseClickMsg{X: 1, Y: 38, Button: tea.MouseLeft})
		d.lacks("KEYS of Accounts")
		d.press("o")
		d.click("ETA") // the menu has no such line, the list behind it has
		d.lacks("SORT BY")
		d.none()
		d.press("m")
		if d.m.View().MouseMode != tea.MouseModeNone {
			t.Error("m does not turn it off")
		}
	})
	busy(t, func(d *desk) {
		d.press("m", "5")
		d.click("1,600/1.6k") // in the other pane
		if line := d.underCursor(); !strings.Contains(line, "1,600/1.6k") {
			t.Errorf("the cursor is on %s", line)
		}
	})
}

// The list shows what a command did with its answer, not when it would be read again:
// nobody is told by Watch of a job that merely stood in line.
func TestTheEffectOfACommandIsSeenAtOnce(t *testing.T) {
	scene := uitest.Busy()
	for i := range scene.Jobs {
		if j := &scene.Jobs[i]; j.State == engine.Available {
			j.Key = "stands-in-line"
			scene.Jobs = []engine.JobRow{*j}
			break
		}
	}
	scene.Update.Jobs = nil
	bubble(t, func(t *testing.T) {
		opt := testOptions()
		opt.SSH = true
		d := open(t, scene, 120, 40, opt)
		d.fake.Answer = func(c engine.Command) (engine.Receipt, error) {
			d.fake.Scene.Jobs = nil
			return engine.Receipt{Job: c.Job, Matched: 1, Applied: 1, Text: "job is cancelled"}, nil
		}
		d.press("3")
		d.wants("stands-in-line", "AVAILABLE")
		d.wait(50 * time.Millisecond)
		at := time.Now()
		d.press("x")
		if took := time.Since(at); took > 0 {
			t.Errorf("%v passed", took)
		}
		d.wants("job is cancelled", "every job has ended")
		if row := d.rowWith("stands-in-line"); !strings.Contains(row, "(left)") { // it stays where it stood, marked, until the list moves
			t.Errorf("%q", row)
		}
	})
}
