package overview

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestV3l_FiguresNeverTouch: a longer one moves those behind it.
func TestV3l_FiguresNeverTouch(t *testing.T) {
	v := pagetest.View(&page.Data{Engine: engine.EngineRow{Stored: 12406, Failed: 3, Retrying: 26, Meter: engine.Meter{CallsPerMin: 46}}})
	v.Size = page.S
	for n, want := range map[int]string{
		7:      " 46 calls/min   12.4k stored  7 in line      26 retrying   3 gave up   0 × 429",
		123456: " 46 calls/min   12.4k stored  123,456 in line  26 retrying  3 gave up  0 × 429",
	} {
		v.Queues = []engine.QueueRow{{Counts: map[engine.State]int{engine.Available: n}}}
		if got := strings.TrimRight(ansi.Strip(totalRows(v, &charts.Timetable{}, nil, 80)[0]), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestV3o_AtRestTheBoardSaysWhatComes: each of what recurs once, and nothing that is fetched where nobody is tracked.
func TestV3o_AtRestTheBoardSaysWhatComes(t *testing.T) {
	v := pagetest.View(&page.Data{Accounts: []engine.AccountRow{{ID: "a", Tracked: true}}})
	at := func(d time.Duration) time.Time { return v.Now.Truncate(time.Hour).Add(d) }
	table := &charts.Timetable{Runs: []charts.Run{{Name: "latest", At: at(time.Hour)}, {Name: "sweep", At: at(77 * time.Minute)},
		{Name: "latest", At: at(2 * time.Hour)}, {Name: "mat", At: at(24 * time.Hour)}}}
	told := func(w int) string { return strings.TrimRight(ansi.Strip(New().follows(v, table, w)), " ") }
	want := " next by itself: new matches at 13:00, failed matches again at 13:17"
	if got := told(80); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := told(120); got != want+", mat at Wed 21 Jan 12:00" {
		t.Errorf("where there is room: %q", got)
	}
	v.Accounts[0].Tracked = false
	if got := told(60); got != " next by itself: failed matches again at 13:17" {
		t.Errorf("nobody is tracked: %q", got)
	}
	if v.Engine.State = engine.EngineNoKey; told(60) != "" {
		t.Errorf("without a key: %q", told(60))
	}
}

// TestALongCauseIsCutWithASign: and says what somebody can do below it.
// TestANoteEndsBeforeTheNext: the note below a figure does not reach the next one, which a longer figure has moved.
func TestANoteEndsBeforeTheNext(t *testing.T) {
	v := pagetest.View(&page.Data{Engine: engine.EngineRow{Stored: 123456, Failed: 3, Retrying: 123456789}})
	v.Size = page.M
	rows := totalRows(v, &charts.Timetable{}, nil, 98)
	top, low := []rune(ansi.Strip(rows[1])), []rune(ansi.Strip(rows[2]))
	if at := strings.Index(string(top), "0 × 429"); at < 2 || string(low[at-2:at]) != "  " {
		t.Errorf("at %d:\n%s\n%s", at, string(top), string(low))
	}
}

func TestALongCauseIsCutWithASign(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true, Engine: engine.EngineRow{State: engine.EngineNoKey, Why: strings.Repeat("a long reason ", 20), Key: "…7f3a"}})
	v.Size = page.S
	v.Limits.KeyRefused, v.Limits.KeyAsks = v.Now.Add(-time.Minute), v.Now.Add(time.Minute)
	s := New().cause(v, &charts.Timetable{}, 78, tallDigits)
	rows := strings.Split(ansi.Strip(strings.Join(s.Rows, "\n")), "\n")
	if !strings.HasSuffix(strings.TrimRight(rows[1], " "), "…") || !strings.Contains(rows[2], "one call asks at "+v.Clock(v.Limits.KeyAsks)+"; ") {
		t.Errorf("%q", rows)
	}
	if want := "since " + v.Clock(v.Limits.KeyRefused); s.Note != want {
		t.Errorf("%q, want %q", s.Note, want)
	}
}

// TestWhatItIsLosesClauses: where all of it has no room its first is told, and no more than has.
func TestWhatItIsLosesClauses(t *testing.T) {
	v := pagetest.View(&page.Data{})
	v.Size = page.M
	for w, want := range map[int]string{200: "explains ", 98: "lists them ", 60: "from Riot to your disk "} {
		if got := ansi.Strip(totalRows(v, &charts.Timetable{}, nil, w)[0]); !strings.Contains(got, want) {
			t.Errorf("on %d cells: %q", w, got)
		}
	}
}

// TestWhenAnAccountEndedIsNotCut: its state stands nearer on 100 columns.
func TestWhenAnAccountEndedIsNotCut(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	v.Accounts = []engine.AccountRow{{ID: "a", RiotID: "Ash#EUW", Status: engine.SyncCompleted, LastSync: v.Now.Add(-12 * time.Minute)}}
	s := New().arrivalsBlock(v, 33, 3)
	if len(s.Rows) != 1 || !strings.Contains(ansi.Strip(s.Rows[0]), "12 min ago") {
		t.Errorf("%q", s.Rows)
	}
}
