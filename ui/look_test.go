package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/inspector"
	"github.com/farsight-console/farsight/ui/uitest"
)

// logged is an update with records of the log that follow the scene's.
func logged(from uint64, rows ...engine.LogRow) engine.Update {
	for i := range rows {
		rows[i].Seq, rows[i].At = from+uint64(i), uitest.Noon.Add(time.Duration(i+1)*time.Millisecond)
	}
	return engine.Update{Seq: 5000, Logs: rows}
}

func TestLogsFollowUntilTheCursorLeaves(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("8")
		d.wants("LOGS  FOLLOW  level≥info", "hold released", "✓ 0 dropped", "242 of 244", "ERR riot", "bucket=app:100:120 held=3")
		d.lacks("batch committed") // debug
		d.send(logged(245, engine.LogRow{Level: "warn", Area: "riot", Text: "the host answers again"}))
		d.wants("FOLLOW", "the host answers again", "▌12:31:35.001 WRN")
		d.press("k")
		d.wants("G follows")
		d.send(logged(246, engine.LogRow{Level: "info", Text: "one more"}))
		d.wants("▌12:31:35.000 INF", "one more") // the cursor keeps its record
		d.press("G")
		d.wants("FOLLOW", "▌12:31:35.001 INF")
		d.press("s")
		d.wants("level≥warn")
		d.lacks("hold released")
		d.press("s", "s")
		d.wait(3 * time.Second)
		d.wants("level≥debug", "batch committed")
		d.press("W", "Z")
		d.wants("wrap on", "time ago", " s ago   INF")
	})
}

// TestLogsFoldBursts: equal messages one after the other are told once, with how
// many there were; enter shows them.
func TestLogsFoldBursts(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("8")
		d.wants("… 212 similar lines in 4 s folded · enter expands", "… 23 similar lines")
		d.press("k", "k", "k", "enter")
		d.lacks("212 similar")
		d.wants("429 application", "… 23 similar lines")
		if n := strings.Count(d.screen(), "429 application"); n < 20 {
			t.Errorf("%d records of the burst are on the screen", n)
		}
		d.press("R")
		d.wait(3 * time.Second)
		d.wants("212 similar")
	})
}

func TestLogsStepThroughMatches(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("8", "N")
		d.wants("▌12:31:34.980 WRN")
		d.press("N")
		d.wants("▌12:31:34.771 ERR")
		d.press("n", "n")
		d.wants("▌12:31:10.000 WRN") // round at the end
		d.press("/")
		d.text("area:riot field:host=asia")
		d.press("enter")
		d.wants("/area:riot field:host=asia", "403 forbidden")
		d.lacks("503 service")
		d.press("esc", "esc")
		d.wants("503 service")
	})
}

func TestLogRecordOpensItsJob(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("8", "N", "enter")
		d.wants("RECORD 243", "2026-01-20 12:31:34.980 +09:00", "503 service unavailable", "try", "60s", "j881")
		d.press("enter")
		d.wants("match:KR_7214550881", "2 of 5 tries used")
	})
}

// TestARowOfTheLogHasTheClockAndTheRecordTheInstant: one that a record tells of is in the zone of its own time, in the list
// as short as that, on its own page whole.
func TestARowOfTheLogHasTheClockAndTheRecordTheInstant(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("8")
		d.send(logged(245, engine.LogRow{Level: "warn", Text: "held", Fields: []engine.LogField{{Key: "until", Value: "2026-01-20T03:32:05.123Z"}}}))
		d.wants("until=12:32:05 ")
		d.press("enter")
		d.wants("2026-01-20 12:32:05.123 +09:00")
	})
}

// TestLogsOfTheSelectedJob: L shows the log of the job under the cursor, from any
// list, in all levels.
func TestLogsOfTheSelectedJob(t *testing.T) {
	busy(t, func(d *desk) {
		for _, keys := range [][]string{{"3", "b"}, {"4"}, {"3", "enter"}} {
			d.press("esc", "esc", "1")
			d.press(keys...)
			d.press("L")
			d.wants("job:match:KR_7214550881", "level≥debug", "503 service unavailable")
			d.lacks("hold released")
		}
		d.press("esc", "esc", "1", "L")
		d.wants("job:timeline:KR_7214550641") // the call that leaves next
		d.press("1", "7", "L")
		d.wants("no job is selected on this screen: 8 shows the whole log")
	})
}

func TestLogsAskForOlderRecords(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Busy()
		for i := range 700 {
			s.Logs = append(s.Logs, engine.LogRow{Seq: uint64(245 + i), At: uitest.Noon.Add(-time.Duration(700-i) * time.Second), Level: "info", Text: fmt.Sprintf("line %c%d", 'a'+i%7, i%3)})
		}
		s.Update.Logs = nil
		d := open(t, s, 120, 40, testOptions())
		d.press("8")
		d.wants("500 of 944")
		d.press("g")
		d.wait(3 * time.Second)
		d.wants("942 of 944") // two are debug
	})
}

func TestLogsCountDrops(t *testing.T) {
	busy(t, func(d *desk) {
		row := *uitest.Busy().Update.Engine
		row.LogDrops = 1204
		d.send(engine.Update{Seq: 5001, Engine: &row})
		d.press("8")
		d.wants("▲ 1,204 dropped")
	})
}

// TestAlertsAreInTheTitleAndOnTheOverview: what fires is counted in the title and
// needs somebody on the overview; enter there shows its evidence.
func TestAlertsAreInTheTitleAndOnTheOverview(t *testing.T) {
	busy(t, func(d *desk) {
		d.wants("▲ 2 alerts", "▲ give-up share: 34 %")
		if n := strings.Count(d.screen(), "unexpected 429"); n != 1 { // the alert says it
			t.Errorf("the unexpected 429 is told %d times:\n%s", n, d.screen())
		}
		d.press("tab", "enter")
		d.wants("EVIDENCE 3", "now 34 %", "limit > 30 %", "match:KR_6011000003: 404")
		d.press("enter")
		d.wants("match:KR_6011000003", "DISCARDED")
		d.press("q", "j", "enter")
		d.wants("ONE MATCH TAKES")
		d.press("q", "j", "enter")
		d.wants("Jobs", string(uitest.Full))
	})
}

func TestAlertIsAcknowledgedAndSilenced(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("9")
		d.wants("2 firing · 1 pending · 1 acknowledged · 1 silenced", "△ PENDING", "fires in 4 m", "until 13:30:00 by op", "seen by ana", "34 %", "< 20 %")
		d.press("j", "a")
		if c := d.last(); c.Op != engine.OpAck || c.Alert != "429" {
			t.Errorf("sent %+v", c)
		}
		d.press("k", "S")
		d.wants("silence give-ups until")
		d.text("later")
		d.press("enter")
		d.wants("write until when: +30m")
		d.m.prompt.Set("+30m we know, the patch")
		d.press("enter")
		if c := d.last(); c.Op != engine.OpSilence || c.Alert != "give-ups" || !c.At.Equal(time.Now().Add(30*time.Minute)) || c.Reason != "we know, the patch" {
			t.Errorf("sent %+v", c)
		}
		n := len(d.fake.Did())
		d.press("j", "j", "a")
		d.wants("is PENDING: only a firing alert can be acknowledged")
		d.press("g", "space", "space", "space", "a") // the pending one is left out
		if did := d.fake.Did()[n:]; len(did) != 2 || did[0].Alert == did[1].Alert || did[0].Op != engine.OpAck || did[1].Op != engine.OpAck {
			t.Errorf("sent %+v", did)
		}
	})
}

// TestI11_AuditShowsAndTakesBack: who did what, what it changed, and the way back.
func TestI11_AuditShowsAndTakesBack(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("U")
		d.wants("AUDIT 5", "ana@console", "cancelled 2 of 3 jobs", "z undo", "undone")
		d.press("j", "z")
		d.wants("#8 has been taken back already")
		d.none()
		d.press("j", "enter")
		d.wants("COMMAND #7", "op@cli", "the account was merged", "j017", "↻ RETRYABLE", "⊘ CANCELLED", "due 12:32:35 → —")
		d.press("q", "z")
		d.wants("Take back cancel of 2 jobs?", "Only what nothing has happened to since")
		if c := d.last(); !c.DryRun || c.Op != engine.OpUndo || c.Audit != 7 {
			t.Errorf("sent %+v", c)
		}
		d.press("y")
		if c := d.last(); c.DryRun || c.Op != engine.OpUndo || c.Audit != 7 {
			t.Errorf("sent %+v", c)
		}
		d.press("j")
		d.wants("changed 1 queue, no job")
		d.press("enter")
		d.wants("report.weekly: open → paused", "it turned the switch of a queue")
		d.press("q", "/")
		d.text("who:op")
		d.press("enter")
		d.wants("AUDIT 2 of 5")
	})
}

func TestMessagesOpenTheirJob(t *testing.T) {
	busy(t, func(d *desk) {
		d.send(engine.Update{Seq: 5002, Notes: []engine.Note{{Level: engine.LevelErr, Text: "match:KR_7214550881 gave up", Job: "j881"}}})
		d.press("M")
		d.wants("MESSAGES 2", "✗ ERROR  match:KR_7214550881 gave up", "✓ OK     Blue Heron#KR1 resumed")
		d.press("enter")
		d.wants("2 of 5 tries used")
		d.press("q", "j", "enter")
		d.wants("this message is about no job")
	})
}

// TestI6_RetryAnErrorClassWithACanary: the engine counts what it would retry and
// what that costs; what is confirmed is what it counted, one job first.
func TestI6_RetryAnErrorClassWithACanary(t *testing.T) {
	busy(t, func(d *desk) {
		frozen := &engine.Selection{IDs: []engine.JobID{"j881", "j910"}, Revs: []engine.Revision{3, 3}, AsOf: 4711}
		d.fake.Answer = func(c engine.Command) (engine.Receipt, error) {
			if c.DryRun {
				return engine.Receipt{Matched: 8, Would: 8, Select: frozen, Text: "would retry 8 of 8 jobs: about 8 calls in 10 s, paced by app:asia"}, nil
			}
			return engine.Receipt{Applied: 1, Text: "match:KR_7214550881 goes first; the other 7 follow when it has succeeded"}, nil
		}
		d.press("3", "#")
		d.wants("ERROR CLASSES 3 · 12 jobs whose last try failed", "67 %", "asia match", "503 unavailable", "# service unavailable", "8 jobs are tried again. The next goes in 12 s", "503 · 131 ms")
		d.press("r")
		id := uitest.Busy().Classes.Classes[0].ID
		if c := d.last(); !c.DryRun || !c.Canary || c.Op != engine.OpRetry || c.Select.Filter.Class != engine.Class(id) {
			t.Errorf("sent %+v", c)
		}
		d.wants("Retry the class 503?", "8 jobs, 8 waiting and 0 that gave up, such as match:KR_7214550881", "One of them goes first", "about 8 calls in 10 s, paced by app:asia")
		d.press("enter") // the default is no
		if len(d.fake.Did()) != 1 {
			t.Error("retried without a yes")
		}
		d.press("r", "y")
		if c := d.last(); c.DryRun || !c.Canary || c.Op != engine.OpRetry || c.Select != frozen {
			t.Errorf("sent %+v", c)
		}
		d.wants("goes first; the other 7 follow")
	})
}

// Where nothing fits any more there is no question whose yes would do nothing.
func TestI6_NoQuestionWhereNoJobFits(t *testing.T) {
	busy(t, func(d *desk) {
		d.fake.Answer = func(engine.Command) (engine.Receipt, error) {
			return engine.Receipt{Nothing: true, Text: "no job fits: nothing to do"}, nil
		}
		d.press("3", "#", "r")
		d.wants("no job fits: nothing to do")
		d.lacks("Retry the class")
		d.press("y")
		if did := d.fake.Did(); len(did) != 1 || !did[0].DryRun {
			t.Errorf("sent %+v", did)
		}
	})
}

func TestI6_ReclassOpensTheDead(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3", "#", "C")
		d.wants("none of its jobs gave up")
		d.none()
		d.press("j", "C")
		d.wants("Open the discarded jobs of class 404 again?", "3 that gave up")
		d.press("y")
		if c := d.last(); c.Op != engine.OpReclass || !c.Canary || c.DryRun {
			t.Errorf("sent %+v", c)
		}
		d.press("enter")
		d.wants("JOBS 1 · 404 not found asia match", "match:KR_6011000003", "LIMITS asia") // no void stands below the one row
		d.lacks("RETRYABLE")
		d.press("s")
		d.wants("this list is of jobs that failed with 404 not found asia match: esc goes back to all jobs")
	})
}

// TestForcePastTheLimitWithReason: a job whose tries are used up runs once more,
// but not without a reason.
func TestForcePastTheLimitWithReason(t *testing.T) {
	busy(t, func(d *desk) {
		d.show(inspector.NewJob("j003"))
		d.press("!")
		d.wants("force match:KR_6011000003")
		d.press("enter")
		d.wants("say why: the reason stays with the job")
		d.none()
		d.text("Riot says it is there now")
		d.press("enter")
		if c := d.last(); c.Op != engine.OpForce || c.Job != "j003" || c.IfRev != 3 || c.Reason != "Riot says it is there now" {
			t.Errorf("sent %+v", c)
		}
		n := len(d.fake.Did())
		d.show(inspector.NewJob("j777"))
		d.press("!")
		d.wants("the match is RUNNING already")
		if len(d.fake.Did()) != n {
			t.Error("forced a running job")
		}
	})
}

// TestI1_ReasonsSayWhatHoldsHowMany: jobs that do not run are grouped by the one
// reason that each has, with when it ends.
func TestI1_ReasonsSayWhatHoldsHowMany(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3")
		d.wants("733 AVAILABLE", "9 RETRYABLE", "back off after 503 ×8, 500 ×1", "429 application", "1 PENDING", "the last goes in 41 s")
		d.toMore()
		d.press("enter")
		d.wants("JOBS 6 · in line", "match:KR_7214550950", "asia 83/100 used")
		d.lacks("RUNNING")
	})
}

// TestI9_From429ToItsJobAndBack: a 429 of the flight recorder shows our counts
// beside the server's and opens its job; the job finds its call again.
func TestI9_From429ToItsJobAndBack(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("5", "/")
		d.text("status:429")
		d.press("enter", "enter")
		d.wants("RATE LIMIT HIT", "91/100", "+9", "full at the server, not by our count", "another process uses this key", "others with this key", "its clock is 1.30 s behind ours")
		d.press("c")
		d.wants("FLIGHT RECORDER 40 calls", "▌  12:31:21.480  429")
		d.press("q", "enter")
		d.wants("match:KR_7214550777")
		d.press("q", "q")
		d.wants("/status:429")
		d.show(inspector.NewJob("j881"))
		d.press("c")
		d.wants("▌  12:30:56.180  503", "KR_7214550881")
		d.press("enter")
		d.wants("2 of 5 tries used")
	})
}

func TestPaletteReachesTheSideScreens(t *testing.T) {
	long(t)
	busy(t, func(d *desk) {
		for line, want := range map[string]string{
			"audit": "AUDIT 5", "messages": "MESSAGES 1", "error classes": "ERROR CLASSES 3", "logs area:limiter": "/area:limiter", "alerts state:firing": "ALERTS 2 of 8",
		} {
			d.press("esc", "esc", "1")
			d.line(line)
			d.wants(want)
		}
	})
}

// TestReadOnlyRefusesOnTheSideScreens: looking is free, changing is not.
func TestReadOnlyRefusesOnTheSideScreens(t *testing.T) {
	bubble(t, func(t *testing.T) {
		opt := testOptions()
		opt.ReadOnly = true
		d := open(t, uitest.Busy(), 120, 40, opt)
		for _, keys := range [][]string{{"9", "a"}, {"9", "S"}, {"U", "j", "j", "z"}, {"3", "#", "r"}, {"3", "!"}} {
			d.press("esc", "1")
			d.press(keys...)
			d.wants("this console is read only")
		}
		d.none()
	})
}

// TestAQuietAlertSaysWhatToDoIfItFires: else it reads as if something went on.
func TestAQuietAlertSaysWhatToDoIfItFires(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.Busy()
		for i := range s.Update.Alerts {
			s.Update.Alerts[i].Next = "see Limits"
		}
		d := open(t, s, 120, 40, testOptions())
		d.press("9", "G")
		d.wants("next     if it fires: see Limits")
		d.press("enter")
		d.wants("next, if it fires: see Limits")
		d.press("esc")
		d.press("g")
		d.wants("next     see Limits")
	})
}
