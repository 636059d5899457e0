package ui

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/ui/uitest"
)

// TestOneTableOfKeys: one line of a keys file changes what the key does, the hint
// line, the help and the palette alike; the page of the documentation is made of the
// same table (TestKeysPageIsFresh).
func TestOneTableOfKeys(t *testing.T) {
	dir := t.TempDir()
	text := "[all]\nsync = \"f\"\nfreeze = \"F\"\naudit = \"J\"\nquit = \"P\"\n[jobs]\n\"error classes\" = \"ctrl+e\"\n[overview]\nlimits = \"B\"\n"
	if err := os.WriteFile(filepath.Join(dir, "keys.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	bubble(t, func(t *testing.T) {
		opt := testOptions()
		opt.Mine = LoadMine([]string{dir}, "")
		if len(opt.Mine.Faults) > 0 {
			t.Fatal(opt.Mine.Faults)
		}
		d := open(t, uitest.Busy(), 120, 40, opt)
		hint := d.lastRow()
		if !strings.Contains(hint, " f sync") || strings.Contains(hint, " t sync") || !strings.Contains(hint, "P quit") {
			t.Errorf("the hint line is %q", hint)
		}
		d.press("f")
		d.wants("Name#TAG platform")
		d.press("esc", "?")
		for _, row := range []string{`\bf +sync an account`, `\bF +freeze the view`, `\bP +back, or quit`, `\bJ +who did what`} {
			if !regexp.MustCompile(row).MatchString(d.screen()) {
				t.Errorf("the help has no %q:\n%s", row, d.screen())
			}
		}
		d.press("esc", ":")
		d.text("Limits")
		if row := d.rowWith("Limits ", "screen"); !strings.Contains(row, " B ") {
			t.Errorf("the palette shows %q", row)
		}
		d.press("esc", ":")
		d.text("who did what")
		if row := d.rowWith("who did what", "audit"); !strings.Contains(row, " J ") {
			t.Errorf("the palette shows %q", row)
		}
		d.press("esc", "B")
		d.wants("FLIGHT RECORDER")
		d.press("3", "ctrl+e")
		d.wants("Error classes")
	})
}

// lastRow is the line of hints.
func (d *desk) lastRow() string {
	rows := strings.Split(d.screen(), "\n")
	return rows[len(rows)-1]
}

// rowOf is the row with all texts.
func (d *desk) rowWith(texts ...string) string {
	for row := range strings.Lines(d.screen()) {
		if holds(row, texts) {
			return row
		}
	}
	return ""
}
