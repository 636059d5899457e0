package ui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestWeeklyReport: s shows the weeks of all accounts, four side by side where
// there is room, and says what is not all there.
func TestWeeklyReport(t *testing.T) {
	for _, size := range append([][2]int{{160, 50}, {60, 16}}, sizes...) {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.press("7", "s")
			d.wants("Week 12 Jan to 18 Jan 2026", "PARTIAL", "5 of 6 accounts", "41 games")
			if size[0] >= 160 {
				for range 3 {
					d.send(tick{})
				}
				d.wants("Week 22 Dec to 28 Dec 2025", "6.8 h", "its last sync failed")
				if size[0] == 200 {
					compare(t, "weekly-200x60", d.screen())
				}
			}
			checkFrame(t, d.m.frame, size[0], size[1], false)
			d.press("]")
			d.wants("this is the newest week")
			d.wait(3 * time.Second)
			d.press("s")
			d.wants("BY WEEKDAY")
		})
	}
}

// TestNoWeeklyReport: an engine without one is no error.
func TestNoWeeklyReport(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Empty(), 120, 40, testOptions())
		d.press("7", "s")
		d.send(tea.WindowSizeMsg{Width: 120, Height: 40})
		d.wants("weekly report")
	})
}

// TestFreshnessIsAskedOnce, not with every update.
func TestFreshnessIsAskedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 200, 60, testOptions())
		d.wants("1 tracked account is late")
		for i := range 20 {
			d.send(engine.Update{Seq: uint64(5000 + i)})
		}
		n := 0
		for _, q := range d.fake.Asked() {
			if _, ok := q.(engine.FreshnessQuery); ok {
				n++
			}
		}
		if n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}
