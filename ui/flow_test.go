package ui

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/screen/schedules"
	"github.com/farsight-console/farsight/ui/session"
	"github.com/farsight-console/farsight/ui/uitest"
)

// screen is what stands on the screen, without colour.
func (d *desk) screen() string { return ansi.Strip(d.m.frame) }

func (d *desk) wants(texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		if !strings.Contains(d.screen(), text) {
			d.t.Errorf("the screen lacks %q:\n%s", text, d.screen())
		}
	}
}

func (d *desk) lacks(texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		if strings.Contains(d.screen(), text) {
			d.t.Errorf("the screen has %q:\n%s", text, d.screen())
		}
	}
}

// last is the last command the engine was asked for.
func (d *desk) last() engine.Command {
	d.t.Helper()
	did := d.fake.Did()
	if len(did) == 0 {
		d.t.Fatal("no command was sent")
	}
	return did[len(did)-1]
}

func (d *desk) none() {
	d.t.Helper()
	if did := d.fake.Did(); len(did) > 0 {
		d.t.Errorf("sent %+v, want nothing", did)
	}
}

// busy runs f with a console on the busy scene.
func busy(t *testing.T, f func(d *desk)) {
	t.Helper()
	bubble(t, func(t *testing.T) { f(open(t, uitest.Busy(), 120, 40, testOptions())) })
}

func TestTriggerAsksForARiotID(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("t")
		d.wants("Name#TAG platform")
		d.text("Blue Crane")
		d.press("enter")
		d.wants("a Riot ID looks like Name#TAG")
		d.text("#KR1")
		d.press("enter")
		d.wants("say the platform too")
		d.none()
		d.text(" KR")
		d.press("enter")
		c := d.last()
		if c.Op != engine.OpTrigger || c.Account != "Blue Crane#KR1" || c.Sync.Platform != "kr" || c.By.User != "ana" || c.By.Via != "console" {
			t.Errorf("sent %+v", c)
		}
		d.wants("trigger accepted")
	})
}

// TestTriggerTakesTheUsualPlatform: what the configuration or a known account says of the
// platform need not be typed, and tab writes a known name to its end.
func TestTriggerTakesTheUsualPlatform(t *testing.T) {
	long(t)
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			opt := testOptions()
			opt.Platform = "eun1"
			d := open(t, uitest.Busy(), size[0], size[1], opt)
			sent := func(account, platform string) {
				t.Helper()
				if c := d.last(); c.Account != account || c.Sync.Platform != platform {
					t.Errorf("sent %+v, want %s on %s", c, account, platform)
				}
			}
			d.press("t")
			d.wants("its platform if that is not eun1")
			d.text("Nobody Knows#ONE")
			d.press("enter")
			sent("Nobody Knows#ONE", "eun1")
			d.press("t")
			d.text("winter w")
			d.press("tab", "enter")
			sent("winter wren#NA1", "na1")
			d.press("t")
			d.text("Nobody Knows#ONE kr")
			d.press("enter")
			sent("Nobody Knows#ONE", "kr")
			d.press(":")
			d.text("track Nobody Knows#TWO")
			d.press("enter")
			sent("Nobody Knows#TWO", "eun1")
			if c := d.last(); c.Op != engine.OpTrack {
				t.Errorf("sent %+v", c)
			}
		})
	}
}

func TestTriggerOfTheSelectedAccount(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("2", "G", "t")
		if c := d.last(); c.Op != engine.OpTrigger || c.Account != "a-quiet" || c.Sync.Platform != "eun1" {
			t.Errorf("sent %+v", c)
		}
	})
}

func TestTriggerOfARunningAccountIsAConflict(t *testing.T) {
	busy(t, func(d *desk) {
		d.fake.Answer = func(engine.Command) (engine.Receipt, error) {
			return engine.Receipt{}, engine.Problemf(engine.ErrConflict, "", "Blue Heron#KR1 is SYNCING already, worker 3")
		}
		d.press("2", "t")
		d.wants("▲ ", "Blue Heron#KR1 is SYNCING already, worker 3")
	})
}

func TestCancelOfASyncAsksFirst(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("2")
		d.on("카인")
		d.press("x")
		d.wants("Cancel the sync of 카인#KR1?", "134/879", "745 matches are not fetched")
		d.press("enter") // the default is no
		d.none()
		d.press("x", "y")
		if c := d.last(); c.Op != engine.OpCancel || c.Job != "s-kain" || c.Account != "a-kain" || c.IfRev != 3 {
			t.Errorf("sent %+v", c)
		}
	})
}

func TestCancelOfAWaitingJobActsAtOnce(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4", "j", "x")
		if c := d.last(); c.Op != engine.OpCancel || c.Job != "j902" || c.IfRev != 3 {
			t.Errorf("sent %+v", c)
		}
	})
}

func TestCancelOfARunningJobAsksFirst(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3", "/")
		d.text("running")
		d.press("enter", "x")
		d.wants("Cancel a running job?")
		d.none()
		d.press("esc")
		d.none()
	})
}

// TestRowsChangeOnlyByWatch: a retry is answered, but the row stays what the
// engine last said until the engine says otherwise.
func TestRowsChangeOnlyByWatch(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4", "r")
		if c := d.last(); c.Op != engine.OpRetry || c.Job != "j881" || c.IfRev != 3 {
			t.Errorf("sent %+v", c)
		}
		d.wants("KR_7214550881", "retry accepted")
		row, _ := d.m.rows.Data.Job("j881")
		row.State, row.Rev = engine.Running, 4
		d.send(engine.Update{Seq: 4712, Jobs: []engine.JobRow{row}})
		d.wants("(left)") // it stays under the cursor, greyed
		d.press("r")
		if n := len(d.fake.Did()); n != 1 {
			t.Errorf("a row that left took a command: %d sent", n)
		}
		d.wants("the retry has left this list: move the cursor first", "the chosen retry is not among the rows any more")
		d.press("y")
		d.wants("nothing under the cursor can be copied: move it to a row")
		d.press("j")
		d.lacks("(left)")
	})
}

func TestPauseAndResumeOfAQueue(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("p")
		if c := d.last(); c.Op != engine.OpPause || c.Queue != uitest.Full {
			t.Errorf("sent %+v", c)
		}
		d.press("tab", "p")
		d.wants("p pauses the queue of a call: tab to the departures")
		d.press("j", "j", "p") // the need "paused" resumes its queue
		if c := d.last(); c.Op != engine.OpResume || c.Queue != uitest.Report {
			t.Errorf("sent %+v", c)
		}
	})
}

func TestFreezeHoldsTheViewNotTheEngine(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4", "f")
		d.wants("FROZEN 12:31:35")
		row, _ := d.m.rows.Data.Job("j881")
		row.State, row.Rev = engine.Running, 9
		d.send(engine.Update{Seq: 4712, Jobs: []engine.JobRow{row}})
		d.wants("+1 changes", "KR_7214550881", " 0:12")
		d.wait(3 * time.Second)
		d.wants(" 0:12")
		d.press("r") // acts on the present, and says so
		if c := d.last(); c.Job != "j881" || c.IfRev != 9 {
			t.Errorf("sent %+v", c)
		}
		d.wants("live; the view is frozen")
		d.quiet()
		d.press(".")
		d.lacks("FROZEN", "(live")
	})
}

func TestFilterKeepsTheCursorAndClears(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("2", "/")
		d.text("na1")
		d.wants("Nightjar") // the letters have not come to rest
		d.wait(150 * time.Millisecond)
		d.wants("ACCOUNTS 1 of 6", "Winter Wren#NA1", "1 of 6")
		d.press("enter")
		d.lacks("Nightjar")
		d.press("esc", "esc")
		d.wants("Nightjar")
		d.press("/")
		d.text("zzz")
		d.press("enter")
		d.wants("0 of 6", "esc clears zzz")
	})
}

func TestHelpListsKeysAndRiotsNotice(t *testing.T) {
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.press("?")
			d.wants(helpTitle(size[0])+"Overview", "sync an account", "Farsight is not endorsed by Riot Games", "trademarks")
			d.press("esc")
			d.lacks(helpTitle(size[0]) + "Overview")
		})
	}
}

// TestResizeKeepsTheCursorByID goes through all classes and back.
func TestResizeKeepsTheCursorByID(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4", "j", "j", "j")
		for _, size := range [][2]int{{80, 24}, {60, 16}, {40, 10}, {200, 60}, {101, 31}, {120, 40}} {
			d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		}
		d.press("r")
		if c := d.last(); c.Job != "j911" {
			t.Errorf("the cursor is on %s, want j911", c.Job)
		}
	})
}

// TestNewRowsDoNotMoveTheCursor: jobs that become due before the selected one push
// it down the list, not out from under the cursor.
func TestNewRowsDoNotMoveTheCursor(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4", "j")
		rows := uitest.Many(5)
		for i := range rows {
			rows[i].Due = uitest.Noon.Add(time.Duration(i) * time.Second)
		}
		d.send(engine.Update{Seq: 4712, Jobs: rows})
		d.press("r")
		if c := d.last(); c.Job != "j902" {
			t.Errorf("retried %s, want j902", c.Job)
		}
	})
}

func TestSizeClassesHaveHysteresis(t *testing.T) {
	busy(t, func(d *desk) {
		for _, step := range []struct {
			w    int
			want page.Size
		}{{120, page.M}, {99, page.M}, {98, page.M}, {97, page.S}, {100, page.S}, {101, page.S}, {102, page.M}, {160, page.M}, {162, page.L}, {158, page.L}, {157, page.M}, {60, page.S}, {200, page.L}} {
			d.send(tea.WindowSizeMsg{Width: step.w, Height: 40})
			if d.m.size != step.want {
				t.Errorf("at %d columns the class is %d, want %d", step.w, d.m.size, step.want)
			}
		}
	})
}

func TestQuitAsksWhileTheEngineWorks(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("q")
		d.wants("Quit Farsight?", "4 running jobs and 3 syncs")
		d.press("n")
		if d.quit {
			t.Fatal("no is no")
		}
		d.press("q", "y")
		if !d.quit {
			t.Error("yes does not quit")
		}
	})
	busy(t, func(d *desk) {
		d.press("ctrl+c", "ctrl+c")
		if !d.quit {
			t.Error("ctrl+c twice does not quit")
		}
	})
	bubble(t, func(t *testing.T) {
		opt := testOptions()
		opt.Embedded = false
		d := open(t, uitest.Busy(), 120, 40, opt)
		d.press("q")
		if !d.quit {
			t.Error("an attached console asks before it quits")
		}
	})
	bubble(t, func(t *testing.T) {
		opt, guest := testOptions(), false
		opt.Guest = func() bool { return guest }
		d := open(t, uitest.Busy(), 120, 40, opt)
		d.press("q")
		d.wants("Quit Farsight?")
		d.press("n")
		guest = true
		d.press("q")
		if !d.quit {
			t.Error("a guest asks before it quits")
		}
	})
}

func TestQClosesWhatWasOpenedFirst(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4", "enter")
		d.wants("Retries ▸ match:KR_7214550881", "2 of 5 tries used")
		d.press("q")
		d.wants("RETRIES 9 wait")
		if d.quit || d.m.over != nil {
			t.Error("q quits from a page that was opened")
		}
	})
}

// TestBrowseAnswersWithTheReason: without an engine the actions stay visible and
// say why they do nothing.
func TestBrowseAnswersWithTheReason(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Browse(), 120, 40, testOptions())
		d.wants("BROWSE", "no engine runs here")
		for _, k := range []string{"t", "K", "p"} {
			d.press(k)
			d.wants("no engine runs here, only stored data is shown")
		}
		d.press("2", "x")
		d.none()
	})
	bubble(t, func(t *testing.T) {
		opt := testOptions()
		opt.ReadOnly = true
		d := open(t, uitest.Busy(), 120, 40, opt)
		d.press("p")
		d.wants("READ ONLY", "this console is read only")
		d.none()
	})
}

// TestKeyIsNeverShown: a pasted key reaches the engine and no screen.
func TestKeyIsNeverShown(t *testing.T) {
	const key = "RGAPI-12345678-1234-1234-1234-1234567890ab"
	busy(t, func(d *desk) {
		d.press("K")
		d.send(tea.PasteMsg{Content: "  " + key + "\n"})
		d.lacks("RGAPI", "1234567890ab")
		d.press("enter")
		d.wants("Replace the API key?", "…7f3a is given up", "…90ab", "▌n no")
		d.lacks("RGAPI", "1234567890ab")
		d.none()
		d.press("y")
		if c := d.last(); c.Op != engine.OpKey || c.Key != key {
			t.Errorf("sent %s with a key of %d characters", c.Op, len(c.Key))
		}
		d.lacks("RGAPI", "1234567890ab")
	})
	busy(t, func(d *desk) {
		d.press("K")
		d.text("nonsense key")
		d.press("enter")
		d.wants("that is no API key")
		d.none()
	})
}

func TestPasteWithoutAPromptIsNoKeys(t *testing.T) {
	busy(t, func(d *desk) {
		d.send(tea.PasteMsg{Content: "xqpr"})
		d.none()
		d.wants("nothing takes text here")
	})
}

// TestDemoIsAlwaysVisible at every size, the smallest too.
func TestDemoIsAlwaysVisible(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 16}, {40, 8}} {
		bubble(t, func(t *testing.T) {
			opt := testOptions()
			opt.Demo = true
			d := open(t, uitest.Busy(), size[0], size[1], opt)
			for _, v := range views {
				d.press("1")
				v.open(d)
				d.wants("DEMO")
			}
			if d.m.View().WindowTitle != "Farsight DEMO" {
				t.Error("the window's title lacks DEMO")
			}
		})
	}
}

func TestTinyScreenSaysWhatItNeeds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 52, 14, testOptions())
		d.wants("LIVE", "asia 83/100", "running 4", "retrying 9", "alerts 2", "needs 60x16, is 52x14")
	})
}

// Keys work below the least size, so what they ask is said there too.
func TestTinyScreenSaysWhatIsAsked(t *testing.T) {
	for keys, want := range map[string][]string{
		"q":         {"Quit Farsight?", "y quit", "n no", "needs 60x16"},
		"3 D":       {"Purge ended jobs?", "type purge to go on", "once the word is typed"},
		"t":         {"sync Name#TAG", "accept", "needs 60x16"},
		"t a enter": {"a Riot ID looks like Name#TAG", "needs 60x16"},
		": k r":     {"kr", "run", "needs 60x16"},
		"T":         {"NO_COLOR is set"},
		"3 o":       {"SORT BY", "JOB", "choose"},
		"?":         {"needs a larger window", "close"},
	} {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), 52, 14, testOptions())
			d.press(strings.Fields(keys)...)
			d.wants(want...)
			checkFrame(t, d.m.frame, 52, 14, false)
		})
	}
}

func TestMessagesFadeAndErrorsStay(t *testing.T) {
	busy(t, func(d *desk) {
		d.wants("resumed at 290/300")
		d.wait(5 * time.Second)
		d.lacks("resumed at 290/300")
		d.send(engine.Update{Notes: []engine.Note{{Level: engine.LevelErr, Text: "disk full"}, {Level: engine.LevelInfo, Text: "hello"}}})
		d.wants("hello", "(+1)")
		d.wait(time.Minute)
		d.wants("disk full")
		d.press("esc")
		d.lacks("disk full")
		d.press("M")
		d.wants("Messages", "disk full", "hello", "resumed at 290/300")
	})
}

func TestLostEngineIsSaid(t *testing.T) {
	busy(t, func(d *desk) {
		d.wait(5 * time.Second)
		d.send(session.Lost{})
		d.wants("DISCONNECTED", "data as of 12:31:35", "Blue Heron")
		d.press("p")
		d.wants("not connected")
		d.none()
		d.send(uitest.Busy().Update)
		d.lacks("DISCONNECTED")
	})
}

func TestFailedQueryIsSaidAndOldRowsStay(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3")
		d.wants("KR_7214550881")
		d.fake.Broken = engine.Problemf(engine.ErrBroken, "", "the disk does not answer")
		d.press("R")
		d.wants("the disk does not answer", "KR_7214550881")
	})
}

// TestIdleScreenIsSilent: between two minutes an idle screen is drawn the same,
// and nothing wakes it more often than it changes.
func TestIdleScreenIsSilent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Empty(), 120, 40, testOptions())
		d.wait(3 * time.Second) // the list's reload
		frame, wake := d.m.frame, d.m.wake
		if want := uitest.Noon.Truncate(time.Minute).Add(time.Minute); !wake.Equal(want) {
			t.Errorf("the next wake is at %v, want the next minute %v", wake, want)
		}
		d.wait(20 * time.Second)
		if d.m.frame != frame {
			t.Error("the frame changed within the minute")
		}
		d.wait(10 * time.Second)
		if d.m.frame == frame {
			t.Error("the minute did not change the clock")
		}
	})
}

// TestCountdownTicks: digits move once a second while they are visible.
func TestCountdownTicks(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4")
		d.wants(" 0:12")
		d.wait(1100 * time.Millisecond)
		d.wants(" 0:11")
		d.lacks(" 0:12")
	})
}

func TestETAIsARangeFromTheEngine(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("2")
		d.wants("~16–19 min")
	})
}

func TestJobOpensFromACallAndBack(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("5", "enter")
		d.wants("Limits ▸ match:KR_7214550881", "policy match step 2", "then it is given up")
		d.press("a") // its account
		d.wants("카인#KR1", "745 left of 879", "131 stored", "9 retrying", "3 gave up", "736 to come")
		d.press("esc", "esc", "esc")
		d.wants("FLIGHT RECORDER")
	})
}

// TestV9c_EarlierFiltersComeBack: ↑ brings back what was typed into a filter before, also after a
// restart, and ↓ what is newer.
func TestV9c_EarlierFiltersComeBack(t *testing.T) {
	state := filepath.Join(t.TempDir(), "farsight", "console.json")
	start := func(use func(d *desk)) {
		bubble(t, func(t *testing.T) {
			opt := testOptions()
			opt.Mine = LoadMine([]string{t.TempDir()}, state)
			use(open(t, uitest.Busy(), 120, 40, opt))
		})
	}
	start(func(d *desk) {
		d.press("2", "/", "heron", "enter", "esc", "/", "kr1", "enter", "esc")
		d.press("3", "/", "up")
		d.wants("/ kr1")
		d.press("up")
		d.wants("/ heron")
		d.press("down", "down")
		d.lacks("/ heron", "/ kr1")
		d.press("esc", "5")
	})
	start(func(d *desk) {
		d.press("2", "/", "up", "up")
		d.wants("/ heron")
	})
}

// TestV9d_EscLeavesThePage: a message closes itself, and does not take the esc that is meant for the
// page; an error, which stays, goes with it.
func TestV9d_EscLeavesThePage(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3", "enter")
		for _, level := range []engine.Level{engine.LevelErr, engine.LevelWarn} {
			d.send(engine.Update{Seq: d.m.rows.Data.Seq + 1, Notes: []engine.Note{{At: d.m.now(), Level: level, Text: "told as " + string(level)}}})
		}
		d.press("esc")
		if len(d.m.stack) > 0 {
			t.Error("esc has not left the page")
		}
		d.wants("told as warn")
		d.quiet()
		d.lacks("told as")
	})
}

// TestV9e_OtherLettersAreAnswered: a key of another script does nothing, and says what is needed.
func TestV9e_OtherLettersAreAnswered(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("ㅂ", "ㅂ")
		d.wants("keys need Latin letters: switch the input method")
		d.lacks("(+2)") // one more is of the scene
	})
}

// TestV9f_CommandLineIsCopied: y offers the command line that shows what is under the cursor.
func TestV9f_CommandLineIsCopied(t *testing.T) {
	busy(t, func(d *desk) {
		for screen, want := range map[string]string{"2": "farsight accounts 'id:a-kain'", "3": "farsight jobs 'id:", "6": "farsight matches 'id:"} {
			if d.press(screen); screen == "2" {
				d.on("카인")
			}
			at := slices.IndexFunc(d.m.copies(d.m.now()), func(c page.Copy) bool { return c.Name == "command" && strings.HasPrefix(c.Text, want) })
			if at < 0 {
				t.Errorf("screen %s offers no %q: %v", screen, want, d.m.copies(d.m.now()))
			}
		}
	})
}

// TestFreezeHidesNoRow: what a frozen view says of itself stands in no row of the page.
func TestFreezeHidesNoRow(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Demo(), size[0], size[1], testOptions())
			d.press("1", "b", "b") // what came at the start is no news any more
			d.wait(20 * time.Second)
			last := func() string {
				rows := strings.Split(ansi.Strip(d.m.frame), "\n")
				return rows[size[1]-2-page.Btoi(size[1] >= 30)-1]
			}
			was := last()
			d.press("f")
			d.wants("FROZEN 12:31:55", "[ ] step")
			if got := last(); got != was || strings.TrimSpace(got) == "" {
				t.Errorf("the last row of the page is %q, and was %q", got, was)
			}
		})
	}
}

// TestAScheduleThatNeverRanSaysSo: it has no last run that could have made a job.
func TestAScheduleThatNeverRanSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		scene := uitest.Busy()
		for i := range scene.Plans {
			scene.Plans[i].Last = engine.ScheduleTick{}
		}
		d := open(t, scene, 120, 40, testOptions())
		d.show(schedules.New())
		d.press("enter")
		d.wants("it never ran")
	})
}

// TestTheSmallestReportSaysWhose: beside the map of the hours there is room for one row.
func TestTheSmallestReportSaysWhose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 60, 16, testOptions())
		d.press("7")
		d.wants("Blue Heron#KR1   ▲ PARTIAL", "BY WEEKDAY", "Sun") // a message names the player too
	})
}

// TestASmallScreenHasTheNextRuns of all schedules where the axis of their runs has no room.
func TestASmallScreenHasTheNextRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		scene := uitest.Busy()
		plan := scene.Plans[0]
		scene.Plans = nil
		for _, name := range []string{"latest", "rank.daily", "report.weekly", "sweep", "prune", "compact"} {
			plan.Name = name
			scene.Plans = append(scene.Plans, plan)
		}
		d := open(t, scene, 80, 24, testOptions())
		d.show(schedules.New())
		d.wants("each day at 03:00 · Asia/Seoul", "NEXT RUNS of all schedules", "21 Jan 03:00")
	})
}
