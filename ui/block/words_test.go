package block

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestTimelinesToCome: those of matches that are still to come are among them, as in the plan of the calls.
func TestTimelinesToCome(t *testing.T) {
	a := engine.AccountRow{WantsTimelines: true, Matches: engine.Progress{Total: 20, Stored: 8, Open: 12}, Timelines: engine.Progress{Total: 8, Open: 8}}
	if p := timelinesOf(a); p.Open != 20 || p.Total != 20 {
		t.Errorf("%+v are told", p)
	}
	a.Timelines = engine.Progress{Total: -1} // nobody knows yet
	if p := timelinesOf(a); p != a.Timelines {
		t.Errorf("%+v are told before one is asked for", p)
	}
}

// TestALongKeyKeepsItsDistance: the value of a fact never touches its key.
func TestALongKeyKeepsItsDistance(t *testing.T) {
	row := FactRow(pagetest.View(&page.Data{}), 40, Fact{Key: "schedule", Value: "sweep"})
	if !strings.Contains(row, "schedule sweep") {
		t.Errorf("it is drawn %q", row)
	}
}

// TestTheSpanOfAReport names a year once.
func TestTheSpanOfAReport(t *testing.T) {
	v := pagetest.View(&page.Data{})
	r := &engine.PlayReport{First: time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Last: time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)}
	if text := PlaySpan(v, r); text != "5 Jan to 5 Mar 2026" {
		t.Errorf("it is told %q", text)
	}
	r.First = r.First.AddDate(-1, 0, 0)
	if text := PlaySpan(v, r); text != "5 Jan 2025 to 5 Mar 2026" {
		t.Errorf("over the year it is told %q", text)
	}
}

// TestADraftIsOfAsManyMatchesAsItsReport: what is left out counts in neither.
func TestADraftIsOfAsManyMatchesAsItsReport(t *testing.T) {
	r := &engine.PlayReport{Matches: 19, LeftOut: 1}
	p := Played{Play: engine.Play{Draft: r}}
	_, draft := p.Report(engine.AccountRow{}, nil)
	if _, report := Coverage(r); draft != report {
		t.Errorf("the draft is %q, the report %q", draft, report)
	}
}

// TestTheFirstMomentsAreTold: one of a thing is told as one, and what a sync is at by the name of its stage.
func TestTheFirstMomentsAreTold(t *testing.T) {
	for n, want := range map[int64]string{1: "call", 2: "calls"} {
		v := pagetest.View(&page.Data{Engine: engine.EngineRow{SinceStart: true, Meter: engine.Meter{CallsPerMin: float64(n), Throttled: n}}})
		if all := Totals(v, &charts.Timetable{}, nil); all[0].Short != want || all[5].Short != "× 429" { // 1 429 would read as a number
			t.Errorf("%d: %q, %q", n, all[0].Short, all[5].Short)
		}
	}
	if a, b := StageName(engine.PhaseResolve), StageName(engine.PhaseList); a != "account" || b != "ids" {
		t.Errorf("%q, %q", a, b)
	}
}
