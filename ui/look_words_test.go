package ui

import (
	"regexp"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV3c_TheBoardUsesItsWidth: at 200 columns each call on the board says how long ago it was asked for, and why it
// leaves when it does; at 120 nothing is in the way of what it said before.
func TestV3c_TheBoardUsesItsWidth(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Demo(), 200, 60, testOptions())
		if head := d.rowWith("LEAVES"); !strings.Contains(head, "REMARK          WAITED  WHY") {
			t.Errorf("%q", head)
		}
		d.wants("s: 12 s window", "after 503 unavailable", "4th to leave")
		d = open(t, uitest.Demo(), 120, 40, testOptions())
		if head := d.rowWith("LEAVES"); strings.Contains(head, "WAITED") || !strings.Contains(head, "REMARK") {
			t.Errorf("%q", head)
		}
	})
}

// TestV11f_SyncsHaveNoIDs: a sync in line is told by its player and its mode.
func TestV11f_SyncsHaveNoIDs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := uitest.DevKey(60, uitest.Noon)
		for i := range 3 {
			a := s.Update.Accounts[i]
			j := &s.Jobs[i]
			j.Kind, j.Key, j.Owner, j.Player = "account.sync", "latest:01M8KM5DXKCZPP0SER9PJ1THX"+a.ID[:1], a.ID, a.RiotID
		}
		d := open(t, s, 120, 40, testOptions())
		d.press("3")
		if row := d.rowWith("▌"); !strings.Contains(row, "latest            sync      Player 1 ") {
			t.Errorf("%q", row)
		}
		if id := regexp.MustCompile(`[0-9A-Z]{6,}THX|latest:`).FindString(d.screen()); id != "" {
			t.Errorf("%q:\n%s", id, d.screen())
		}
	})
}

// TestTheLastCallLeavesAfterWhatIsKnown: while lists are still being read, the board below the chart says so as well.
func TestTheLastCallLeavesAfterWhatIsKnown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 120, 40, testOptions())
		d.wants("done after 12:48:16", "the last leaves after 12:48:16")
	})
}

// TestNothingIsToldByColourAlone: without colour no screen and no card of the tour explains itself by one.
func TestNothingIsToldByColourAlone(t *testing.T) {
	busy(t, func(d *desk) {
		for _, v := range views {
			v.open(d)
			d.lacks("colour =")
		}
		d.press("1")
		d.wants("height = ms, ✗ failed, ▲ 429")
	})
	for _, c := range cards {
		if strings.Contains(c.text, "colour") || strings.Contains(c.text, "bright") {
			t.Errorf("%s: %s", c.title, c.text)
		}
	}
}
