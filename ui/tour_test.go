package ui

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV9b_TourPointsAtWhatItExplains: each card lies on its screen, leaves the words it points at to be
// read, and has its arrow in their column or its edge nearest to them; enter and the arrows turn the
// cards, and esc ends them.
func TestV9b_TourPointsAtWhatItExplains(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			d.press("4")
			d.line("tour")
			for i, c := range cards {
				d.wants(c.title+" "+strconv.Itoa(i+1)+" of 6", "esc ends the tour")
				if d.m.tab != c.on {
					t.Errorf("%v: %s lies on %v", size, c.title, d.m.tab)
				}
				words := strings.ReplaceAll(c.at, "STATE", "LIVE")
				if words == "" {
					words = "enter open"
				}
				if size[0] >= 80 { // a smaller screen may not have them
					d.wants(words)
				}
				rows := strings.Split(ansi.Strip(d.m.frame), "\n")
				above, below := d.m.laid.y, d.m.laid.y+d.m.laid.h-1
				if size[0] >= 80 && !strings.Contains(rows[above]+rows[below], "↑") && !strings.Contains(rows[below], "↓") {
					t.Errorf("%v: %s has no arrow:\n%s", size, c.title, strings.Join(rows, "\n"))
				}
				d.press("enter")
			}
			d.lacks("esc ends the tour")
			d.line("tour")
			d.press("down", "up", "up")
			d.wants("1 of 6")
			d.press("enter", "esc")
			d.lacks("2 of 6", "esc ends the tour")
			if d.m.tab != page.ScreenOverview {
				t.Error("esc left the screen, too")
			}
		})
	}
}

// Somebody who never used the console is told for five minutes where to begin.
func TestNewcomersAreToldWhereToBegin(t *testing.T) {
	state := filepath.Join(t.TempDir(), "farsight", "console.json")
	start := func(use func(d *desk)) {
		bubble(t, func(t *testing.T) {
			opt := testOptions()
			opt.Mine = LoadMine([]string{t.TempDir()}, state)
			use(open(t, uitest.Busy(), 80, 24, opt))
		})
	}
	start(func(d *desk) {
		d.quiet()
		d.wants("try: t sync · 5 limits · ? keys · :tour")
		time.Sleep(5 * time.Minute)
		d.send(tick{})
		d.lacks("try: t sync")
		d.press("2", "O") // something worth remembering
	})
	start(func(d *desk) {
		d.quiet()
		d.lacks("try: t sync")
	})
}

// quiet waits until the message line is free.
func (d *desk) quiet() {
	time.Sleep(20 * time.Second)
	d.send(tick{})
}
