package ui

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/lists"
	"github.com/farsight-console/farsight/ui/uitest"
)

// rest lets the debounce of a filter pass.
func (d *desk) rest() { d.t.Helper(); d.wait(debounce + 10*time.Millisecond) }

// TestS0_8_UnfetchableMatchesAreHidden: matches that cannot be had are left out,
// the screen says how many, and one key shows them.
func TestS0_8_UnfetchableMatchesAreHidden(t *testing.T) {
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.press("6")
			d.wants("Matches of all accounts", "3 cannot be had and are hidden, H shows them", "STORED")
			d.lacks("GAVE UP")
			d.press("H")
			d.wait(3 * time.Second)
			d.wants("GAVE UP", "H hides")
			d.lacks("cannot be had and are hidden")
			d.press("H")
			d.wait(3 * time.Second)
			d.lacks("GAVE UP")
		})
	}
}

func TestMatchesGoThroughStates(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("2")
		d.on("카인")
		d.press("enter", "6")
		d.wants("Matches of 카인#KR1", "131 stored", "9 retrying", "3 gave up", "736 not fetched")
		d.press("s")
		d.wants("MATCHES 45 · stored")
		d.lacks("RETRYABLE")
		d.press("s", "s", "s")
		d.wait(3 * time.Second)
		d.wants("MATCHES 3 · gave up", "404 not")
		d.press("enter")
		d.wants("match:KR_72")
		d.press("q", "q")
		d.wants("ONE MATCH TAKES") // back on the account
		if q, ok := lastMatches(d); !ok || q.Account != "a-kain" || !q.All {
			t.Errorf("asked %+v", q)
		}
	})
}

func lastMatches(d *desk) (q engine.MatchesQuery, ok bool) {
	for _, asked := range d.fake.Asked() {
		if m, is := asked.(engine.MatchesQuery); is {
			q, ok = m, true
		}
	}
	return q, ok
}

// TestReportNamesItsCoverage: what a report was made of is always said.
func TestReportNamesItsCoverage(t *testing.T) {
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.press("7")
			d.wants("Blue Heron#KR1", "BY WEEKDAY", "PARTIAL", "from 131 of 134 matches 98 %", "Asia/Seoul", "Sat 20–21", "54.0 h")
			d.press("Z")
			d.wants("UTC+09:00")
			d.press("n")
			if size[0] >= 120 {
				d.wants(" 95 ")
			}
			d.press("up", "left")
			d.wants("Fri 19–20")
			d.press("]")
			d.wants("PLAY TIME of Nightjar#KR1", "the report is made when")
		})
	}
}

func TestFreezeOfABucket(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("5", "p")
		d.wants("tab to the buckets")
		d.press("tab", "p")
		d.wants("freeze asia app")
		for _, c := range []struct{ text, wrong string }{
			{"later", "say how long, then why"}, {"+10m", "say why behind it, as in +10m deploy"}, {"120% +1h x", "120% is no cap"}, {"until", "until when?"}, {"until 25:00 x", "25:00 is no time of day"}, {"+10 x", "+10 is no duration"},
		} {
			d.text(c.text)
			d.press("enter")
			d.wants(c.wrong)
			d.none()
			d.m.prompt.Set("")
		}
		d.text("60 % until 14:00 deploy of the site")
		d.press("enter")
		c := d.last()
		want := time.Date(2026, 1, 20, 14, 0, 0, 0, uitest.Zone)
		if c.Op != engine.OpFreeze || c.Bucket.Host != "asia" || c.Bucket.Method != "" || c.Bucket.Cap != 60 || !c.Bucket.Until.Equal(want) || c.Reason != "deploy of the site" {
			t.Errorf("sent %+v", c)
		}
	})
}

// TestFrozenBucketShowsItsEnd: the row says FROZEN, until when and why; p resumes.
func TestFrozenBucketShowsItsEnd(t *testing.T) {
	busy(t, func(d *desk) {
		limits := *uitest.Busy().Update.Limits
		limits.Buckets[0].BlockedBy, limits.Buckets[0].Blocked = "frozen", uitest.Noon.Add(time.Hour)
		limits.Buckets[0].Thaws, limits.Buckets[0].FreezeWhy = uitest.Noon.Add(time.Hour), "patch"
		limits.Buckets[1].BlockedBy = "frozen" // until somebody resumes it
		limits.Buckets[2].Cap, limits.Buckets[2].Thaws = 60, uitest.Noon.Add(5*time.Minute)
		d.send(engine.Update{Seq: 5000, Limits: &limits})
		d.press("5", "tab")
		d.wants("FROZEN", "patch, until 13:31", "until p resumes", "CAPPED", "60 %: until")
		d.press("p")
		if c := d.last(); c.Op != engine.OpThaw || c.Bucket.Host != "asia" {
			t.Errorf("sent %+v", c)
		}
	})
}

func TestFilterWithAnErrorKeepsTheLastGoodResult(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3", "b", "/")
		d.text("state:ret")
		d.rest()
		d.wants("JOBS 9 of 23", "9 of 23")
		d.text(" stat:x")
		d.rest()
		d.wants("JOBS 9 of 23", `there is no field "stat"`, "/state:ret still")
		if bad := d.m.prompt.Bad; bad != len("state:ret ")+1 {
			t.Errorf("wrong from rune %d", bad)
		}
		d.press("enter")
		if d.m.prompt == nil {
			t.Fatal("enter took a filter that is wrong")
		}
		d.press("esc")
		d.wants("JOBS 9 of 23")
		d.press("esc", "esc") // the message, then the filter
		d.wants("JOBS 23")
	})
}

func TestFilterCompletes(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3", "b", "/")
		d.text("state:disc")
		d.press("tab")
		d.rest()
		d.wants("state:discarded", "JOBS 1 of 23")
	})
}

func TestSortAndColumns(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("2", "o", "enter")
		d.wants("sort: account ↑")
		if at, first := strings.Index(d.screen(), "Blue Heron"), strings.Index(d.screen(), "Winter Wren"); at > first {
			t.Error("not sorted by name")
		}
		d.press("O")
		d.wants("sort: account ↓")
		d.press("c", "j", "enter", "esc") // REGION
		d.press("W")
		d.lacks("REGION")
		d.press("W", "c", "j", "enter", "esc")
		d.press("l")
		d.wants("REGION")
	})
}

// TestBulkCancelNamesHiddenRows: marks are held by id; what the filter hides is
// named, the engine counts first, and what is confirmed is what it counted.
func TestBulkCancelNamesHiddenRows(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4", "space", "space", "/")
		d.text("902")
		d.press("enter")
		d.wants("2 marked")
		d.press("x")
		d.wants("Cancel 2 jobs (1 not in this filter)?", "Would cancel 2 jobs: about 2 calls")
		if c := d.last(); !c.DryRun || len(c.Select.IDs) != 2 || c.Select.Revs[0] != 3 {
			t.Errorf("sent %+v", c)
		}
		d.press("y")
		if c := d.last(); c.DryRun || c.Op != engine.OpCancel || len(c.Select.IDs) != 2 || c.Select.IDs[0] != "j881" {
			t.Errorf("sent %+v", c)
		}
		d.lacks("marked") // what was marked has been dealt with
		d.press("space")
		d.wants("1 marked")
		d.press("u")
		d.lacks("marked")
	})
}

func TestSchedules(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("S")
		d.wants("SCHEDULES 3", "ingest.rank.daily", "SCHEDULED", "PAUSED", "completed, 6 jobs", "skipped: the last", "next   Wed 21 Jan 03:00")
		d.press("j")
		d.wants("missed 4 from 09:15:00 to 10:00:00", "no engine ran")
		d.press("r")
		if c := d.last(); c.Op != engine.OpRunSchedule || c.Schedule != "ingest.summoner.latest" {
			t.Errorf("sent %+v", c)
		}
		d.press("p")
		if c := d.last(); c.Op != engine.OpPauseSchedule {
			t.Errorf("sent %+v", c)
		}
		d.press("j", "p")
		d.wants("paused by ana 2 h ago: moving the data directory")
		if c := d.last(); c.Op != engine.OpResumeSchedule || c.Schedule != "report.weekly" {
			t.Errorf("sent %+v", c)
		}
	})
}

func TestBulkRetryOfAFewActsAtOnce(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4", "space", "j", "v", "r")
		if c := d.last(); c.DryRun || c.Op != engine.OpRetry || len(c.Select.IDs) != 3 {
			t.Errorf("sent %+v", c)
		}
	})
}

func TestUndoTakesTheLastCommandBack(t *testing.T) {
	busy(t, func(d *desk) {
		d.fake.Answer = func(c engine.Command) (engine.Receipt, error) {
			return engine.Receipt{Applied: 1, Audit: 77, Undo: c.Op == engine.OpCancel, Text: string(c.Op) + " done"}, nil
		}
		d.press("z")
		d.wants("there is nothing to undo")
		d.none()
		d.press("4", "x")
		d.wants("z undo 10 s")
		if all := d.m.toasts.all; all[len(all)-1].Text != "cancel done" {
			t.Errorf("the list of messages outlasts the ten seconds: %q", all[len(all)-1].Text)
		}
		d.press("z")
		if c := d.last(); c.Op != engine.OpUndo || c.Audit != 77 {
			t.Errorf("sent %+v", c)
		}
		d.press("x")
		d.wait(11 * time.Second)
		n := len(d.fake.Did())
		d.press("z")
		if len(d.fake.Did()) != n {
			t.Error("undid after its time")
		}
	})
}

func TestRescheduleOfAJob(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("4", "@")
		d.text("soon")
		d.press("enter")
		d.wants("write when")
		d.m.prompt.Set("+10m")
		d.press("enter")
		if c := d.last(); c.Op != engine.OpReschedule || c.Job != "j881" || !c.At.Equal(time.Now().Add(10*time.Minute)) || c.IfRev != 3 {
			t.Errorf("sent %+v", c)
		}
	})
}

func TestExportWritesANewFileOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.csv")
	busy(t, func(d *desk) {
		for _, told := range []string{"wrote 23 rows to", "exists already"} {
			d.press("3", "e")
			d.m.prompt.Set(path)
			d.press("enter")
			d.wants(told)
		}
	})
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 24 || rows[0][0] != "JOB" || rows[1][0] != "match:KR_7214550881" {
		t.Errorf("%d rows, %v: %q", len(rows), err, rows[:min(len(rows), 2)])
	}
}

func TestCopyOfRows(t *testing.T) {
	busy(t, func(d *desk) {
		d.press("3", "b")
		v := d.m.view(d.m.now())
		_, rows := d.m.page().(lists.Exporter).Export(v, true)
		if len(rows) != 2 || !strings.HasPrefix(tabbed(rows[1:]), "match:KR_7214550881\tingest.summoner.full\t") {
			t.Errorf("copies %q", rows)
		}
		d.press("y")
		d.wants("COPY", "id", "row", "JSON", "curl", "command", "time due", "2026-01-20T12:31:47.000+09:00 (KST)")
		d.press("j", "enter")
		d.wants("copied", "OSC 52")
		d.m.copyText(strings.Repeat("x", maxCopy+1))
		d.send(tick{})
		d.wants("too much for a clipboard")
	})
}

func TestThemePickerShowsEachAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		opt := testOptions()
		opt.Getenv, opt.Theme = trueColor, "dark"
		d := open(t, uitest.Busy(), 120, 40, opt)
		d.press("T", "j")
		if d.m.theme.Name != "light" {
			t.Errorf("shows %s", d.m.theme.Name)
		}
		d.press("esc")
		if d.m.theme.Name != "dark" {
			t.Errorf("esc leaves %s", d.m.theme.Name)
		}
		d.press("T", "j", "enter")
		if d.m.theme.Name != "light" || d.m.over != nil {
			t.Errorf("enter chose %s", d.m.theme.Name)
		}
	})
}

// What a list cannot do or could not read is said where its rows would be, or by the key.
func TestListsSayWhatIsMissing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Empty(), 80, 24, testOptions())
		d.press("3", "space")
		d.wants("there is no row to mark")
		d.none()
		d = open(t, uitest.Busy(), 80, 24, testOptions())
		d.fake.Broken = errors.New("no space left on device")
		d.press("6")
		d.wants("✗ ERROR  the matches could not be read; tried again by itself, R at once", "no space left on device")
	})
}

// In a narrow window the column of a wrong filter goes before what is wrong with it: the
// text is marked there anyway.
func TestWrongFilterInANarrowWindow(t *testing.T) {
	for w, want := range map[int]string{80: " state is never", 200: "column 7: state is never"} {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), w, 24, testOptions())
			d.press("3", "/")
			d.text("state:foo")
			d.wait(debounce)
			d.wants(want)
			if w == 80 {
				d.lacks("column 7")
			}
		})
	}
}

// The palette takes the id of a job as the audit prints it.
func TestPaletteTakesABareJobID(t *testing.T) {
	for _, id := range []string{"j881", "#j881"} {
		busy(t, func(d *desk) {
			d.press(":")
			d.text(id)
			d.press("enter")
			d.wants("match:KR_7214550881", "2 of 5 tries used")
			d.lacks("nothing fits")
		})
	}
}

// A verb with its argument is not in the palette's list, but enter runs it.
func TestPaletteSaysThatAVerbRuns(t *testing.T) {
	busy(t, func(d *desk) {
		d.press(":")
		d.text("undo 41")
		d.wants("enter runs it: undo the number of a command")
		d.press("esc", ":")
		d.text("xyzzy 41")
		d.wants("nothing fits")
	})
}
