package block

import (
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
)

// What was cancelled is not done: no bar is full, no figure says all of them, and the
// word is another.
func TestCancelledIsNotDone(t *testing.T) {
	v := &page.View{Theme: themes.NewMono(themes.Unicode), Data: &page.Data{}}
	for _, c := range []struct {
		status engine.SyncStatus
		result string
		p      engine.Progress
		word   string
	}{
		{engine.SyncCancelled, "cancelled", engine.Progress{Total: 879, Stored: 300, Cancelled: 579}, "CANCELLED"},
		{engine.SyncCompleted, "incomplete", engine.Progress{Total: 879, Stored: 878, Cancelled: 1}, "INCOMPLETE"},
	} {
		a := engine.AccountRow{Status: c.status, Result: c.result, Run: "r", Phase: engine.PhaseDone, Matches: c.p, Timelines: c.p}
		cell := charts.ProgressOf(v, a)
		if cell.Ratio >= 1 || strings.HasPrefix(cell.Text, "879/") || cell.Token == themes.OK || new(page.Data).SyncWord(a) != c.word {
			t.Errorf("%s: %+v, %s", c.result, cell, new(page.Data).SyncWord(a))
		}
		if text := charts.Ended(a); !strings.Contains(text, "cancelled") {
			t.Errorf("%s: its end reads %q", c.result, text)
		}
	}
	word, text := Coverage(&engine.PlayReport{Matches: 876, Missing: 3, Cancelled: 1})
	if word != "PARTIAL" || !strings.HasSuffix(text, "2 could not be had, 1 cancelled") {
		t.Errorf("a report says %s %s", word, text)
	}
}
