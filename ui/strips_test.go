package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// rowOf is the first row of the screen that holds a text.
func (d *desk) rowOf(text string) string {
	d.t.Helper()
	for row := range strings.SplitSeq(d.screen(), "\n") {
		if strings.Contains(row, text) {
			return row
		}
	}
	d.t.Fatalf("no row holds %q:\n%s", text, d.screen())
	return ""
}

// TestLimitsShowWhatWas: each window has its course of the last minutes beside it, from the
// engine's own record, with holds and 429s; a frozen view shows that of its instant.
func TestLimitsShowWhatWas(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 200, 60, testOptions())
		d.press("5")
		d.wants("−2 min", "now", "+2 min", "known since 12:26:35")
		paces := d.rowOf("asia     app")
		if !strings.Contains(paces, "‖") || !strings.Contains(d.screen(), "429") {
			t.Errorf("the 429s are not shown: %s", paces)
		}
		if row := d.rowOf("match service"); strings.Count(row, "╌") < 20 {
			t.Errorf("the hold is not shown: %s", row)
		}
		if row := d.rowOf("1,600/1.6k"); !strings.Contains(row, "▇▇▇") || !strings.Contains(row, "███│╵12:31 free, 3 wait") {
			t.Errorf("what was counted, and when it is free: %s", row)
		}
		d.press("f", "{", "{", "{", "{", "{", "{")
		if row := d.rowOf("asia     app"); !strings.Contains(row, "23/100") || strings.Contains(row, "‖") {
			t.Errorf("the time cursor is not in the charts: %s", row)
		}
	})
}

// TestLimitsGoOn adds what is seen once the past is known, and asks the engine for its past
// only once.
func TestLimitsGoOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 200, 60, testOptions())
		d.press("5")
		for i := range 30 {
			d.wait(time.Second)
			row := *uitest.Busy().Update.Limits
			row.At = time.Now()
			d.send(engine.Update{Seq: uint64(6000 + i), Limits: &row})
		}
		if row := d.rowOf("1,600/1.6k"); !strings.Contains(row, "███████│") {
			t.Errorf("what was seen since is not there: %s", row)
		}
		n := 0
		for _, q := range d.fake.Asked() {
			if _, ok := q.(engine.MomentsQuery); ok {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the past was asked for %d times", n)
		}
	})
}

// TestReportNumbersAreMinutes: where an hour has no room for its digits, several share
// a column; no number stands for more than it says.
func TestReportNumbersAreMinutes(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {60, 16}, {120, 40}} {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.press("7", "n")
			row := d.rowOf("Sat ")
			sum := 0
			for _, word := range strings.Fields(row[strings.Index(row, "Sat ")+4:]) {
				n := 0
				for _, r := range word {
					if r < '0' || r > '9' {
						n = 0
						break
					}
					n = 10*n + int(r-'0')
				}
				sum += n
			}
			if sum < 860 || sum > 880 { // 14.5 h
				t.Errorf("the minutes of a day add up to %d: %s", sum, row)
			}
		})
	}
}

// TestLogsReadDebugAgain: debug records are not told by Watch; while the log is
// followed at that level it is read again, and left alone when the cursor is off.
func TestLogsReadDebugAgain(t *testing.T) {
	busy(t, func(d *desk) {
		asked := func() (n int) {
			for _, q := range d.fake.Asked() {
				if l, ok := q.(engine.LogsQuery); ok && l.Level == "debug" {
					n++
				}
			}
			return n
		}
		moves := func() {
			for i := range 6 {
				d.wait(time.Second)
				d.send(engine.Update{Seq: uint64(7000 + i)})
			}
		}
		d.press("8")
		moves()
		if n := asked(); n != 0 {
			d.t.Errorf("asked %d times for what nobody looks at", n)
		}
		d.press("s", "s", "s")
		moves()
		n := asked()
		if n < 2 || n > 4 {
			d.t.Errorf("asked %d times in 6 seconds", n)
		}
		d.press("k")
		moves()
		if asked() > n {
			d.t.Error("the list moves under the cursor")
		}
	})
}

// TestV6f_OnlyAFullWindowHasCallsWait: one with room says nothing over its chart, however many calls wait for another.
func TestV6f_OnlyAFullWindowHasCallsWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for text, scene := range map[string]uitest.Scene{"": uitest.DevKey(60, uitest.Noon), " free, 3 wait": uitest.Busy()} {
			d := open(t, scene, 200, 60, testOptions())
			d.press("5")
			if d.wants(text); text == "" {
				d.lacks(" free, ")
			}
		}
	})
}
