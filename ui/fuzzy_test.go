package ui

import "testing"

func TestPaletteFindsScatteredLettersOfOneWord(t *testing.T) {
	for _, c := range []struct {
		name, text string
		fits       bool
	}{
		{"schedules", "schd", true},
		{"retry the job now", "rtj", true},
		{"night heron#kr1", "nh", true},
		{"reschedule", "sch", true}, // whole, inside a word
		{"leave, the engine goes on detach", "sch", false},
		{"watch this account, or stop watch", "sch", false},
		{"overview", "xyz", false},
	} {
		if got := fuzzy(c.name, c.text) > 0; got != c.fits {
			t.Errorf("%q fits %q: %v, want %v", c.text, c.name, got, c.fits)
		}
	}
}
