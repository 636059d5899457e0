package ui

import (
	"testing"

	"github.com/farsight-console/farsight/ui/uitest"
)

// TestStranger_WhoCancelledThis: one key away from every screen stands who gave which
// command, when and why, and what can be taken back.
func TestStranger_WhoCancelledThis(t *testing.T) {
	for _, size := range sizes {
		bubble(t, func(t *testing.T) {
			d := open(t, uitest.Busy(), size[0], size[1], testOptions())
			for _, screen := range []string{"1", "3", "9"} {
				d.press(screen, "U")
				question{row: "cancel", answers: []string{"op@cli", "cancelled 2 of 3 jobs", "12:28:35"}}.ask(d)
				d.press("esc")
			}
			d.press("U", "j", "j")
			d.reads("because: the account was merged", "cancelled 2 of 3 jobs, 1 running")
			if size[1] >= 40 {
				d.wants("WHO", "2 op@cli", "now")
			}
			d.press("enter")
			d.reads("⊘ CANCELLED", "j017")
		})
	}
}
