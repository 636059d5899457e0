package report

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestAWeekOfNobodyIsNotComplete: it was made while no account was tracked, and has no shade to explain.
func TestAWeekOfNobodyIsNotComplete(t *testing.T) {
	v := pagetest.View(&page.Data{})
	v.W, v.H = 118, 36
	rows := ansi.Strip(strings.Join((&Screen{}).weekRows(v, &engine.WeeklyReport{Week: "2026-01-12", Zone: "UTC"}, 1, 118), "\n"))
	for text, want := range map[string]bool{"EMPTY 0 of 0 accounts": true, "COMPLETE": false, "<0 s": false} {
		if strings.Contains(rows, text) != want {
			t.Errorf("%q in it is not %v:\n%s", text, want, rows)
		}
	}
}
