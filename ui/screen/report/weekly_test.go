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

// TestAShareIsOfTheGamesThatItNames: remakes are neither won nor lost.
func TestAShareIsOfTheGamesThatItNames(t *testing.T) {
	v := pagetest.View(&page.Data{})
	week := &engine.PlayWeek{Week: "2026-W02", Games: 11, Wins: 5, Remakes: 2}
	if got := ansi.Strip((&Screen{}).weekFacts(v, week, 60, 66)); !strings.Contains(got, "11 games") || !strings.Contains(got, "5 of 9 won, 56 %") ||
		!strings.Contains(got, "2 remakes") {
		t.Error(got)
	}
	if got := ansi.Strip(weekAccountRow(v, engine.WeeklyAccount{Games: 11, Wins: 5, Remakes: 2}, 1, 78)); !strings.Contains(got, "5 of 9 won, 56 %") {
		t.Error(got)
	}
}
