package ui

import (
	"testing"

	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/uitest"
)

// A console of one screen shows that one alone, and says why there is no other.
func TestOnlyOneScreen(t *testing.T) {
	opt := testOptions()
	opt.Start, opt.Only = page.ScreenLimits, "a simulator knows limits only"
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 120, 40, opt)
		d.wants("5 Limits")
		d.lacks("1 Overview")
		for _, key := range []string{"1", "-", "shift+tab"} {
			d.press(key)
			if d.m.tab != page.ScreenLimits {
				t.Errorf("%s leads to %s", key, d.m.tab)
			}
		}
		d.press("1")
		d.wants("a simulator knows limits only", "5 Limits")
	})
}
