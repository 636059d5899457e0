package ui

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/farsight-console/farsight/ui/uitest"
)

// TestTwoConsolesOfOneUserLoseNothing: each remembers what was chosen in it, none
// forgets what the other one has chosen meanwhile.
func TestTwoConsolesOfOneUserLoseNothing(t *testing.T) {
	state := filepath.Join(t.TempDir(), "farsight", "console.json")
	with := func(f func(ana, bo *desk)) {
		bubble(t, func(t *testing.T) {
			sit := func() *desk {
				opt := testOptions()
				opt.Getenv, opt.Mine = trueColor, LoadMine([]string{t.TempDir()}, state)
				return open(t, uitest.Busy(), 120, 40, opt)
			}
			f(sit(), sit())
		})
	}
	with(func(ana, bo *desk) {
		ana.press("2", "o", "enter")
		bo.press("3", "/")
		bo.text("state:retryable")
		bo.press("enter", "*")
		bo.text("slow")
		bo.press("enter")
		ana.press("3", "c", "j", "enter", "esc")
		bo.line("fps 3")
		ana.line("fps 4")
		bo.line("theme hc-dark")
		ana.press("2", "O")
	})
	with(func(ana, bo *desk) {
		for _, d := range []*desk{ana, bo} {
			if d.m.theme.Name != "hc-dark" {
				t.Errorf("shows %s", d.m.theme.Name)
			}
			d.press("2")
			d.wants("sort: account ↓")
			d.press("3")
			d.lacks("QUEUE ")
			if !slices.Contains(d.m.kept.History, "fps 3") || !slices.Contains(d.m.kept.History, "fps 4") {
				t.Errorf("remembers the lines %q", d.m.kept.History)
			}
		}
		ana.line("f slow")
		ana.wants("/state:retryable")
		ana.line("f -slow") // what one takes away is away, whatever the other one does
		bo.line("theme dark")
	})
	with(func(ana, _ *desk) {
		ana.press("3")
		ana.line("f slow")
		ana.wants("no filter is saved for Jobs")
		if ana.m.theme.Name != "dark" {
			t.Errorf("shows %s", ana.m.theme.Name)
		}
	})
	if left, err := os.ReadDir(filepath.Dir(state)); err != nil || len(left) != 1 {
		t.Errorf("beside the file stand %v, %v", left, err)
	}
}
