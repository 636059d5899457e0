package cli_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/cli"
)

func TestReportsAreListedPageByPage(t *testing.T) {
	t.Setenv("TZ", "UTC")
	row := engine.ReportRow{RiotID: "Ana#1", Platform: "euw1", Zone: "Europe/Paris", Built: friday, Minutes: 90, Matches: 3, Missing: 1, Day: 2, Hour: 21}
	c := answering{answer: func(q engine.Query) (engine.Answer, error) {
		if asked := q.(engine.ReportsQuery); asked.After == "" {
			return engine.ReportsPage{Next: "2"}, nil // a page without a report is not the end
		}
		return engine.ReportsPage{Reports: []engine.ReportRow{row}}, nil
	}}
	show := func(o cli.Out) error { return cli.Reports("ana").Show(t.Context(), c, o) }
	if text := printed(t, false, show); !strings.Contains(text, "Wed 21:00") || !strings.Contains(text, "90 min") {
		t.Error(text)
	}
	if text := printed(t, true, show); !strings.Contains(text, `"busiest_hour":21`) {
		t.Error(text)
	}
}

func TestThePlayTimeReportFitsInto80Columns(t *testing.T) {
	r := engine.PlayReport{Account: "a", Zone: "UTC", Built: friday, Matches: 1200, First: friday.Add(-time.Hour), Last: friday}
	for d := range r.Minutes {
		for h := range r.Minutes[d] {
			r.Minutes[d][h], r.Games[d][h] = float64(d*h)*10, 12
		}
	}
	detail := engine.AccountDetail{Row: engine.AccountRow{RiotID: "Ana\x1b[31m#1"}, Report: &r}
	c := answering{answer: func(engine.Query) (engine.Answer, error) { return detail, nil }}
	show := func(o cli.Out) error { o.ASCII = !o.JSON; return cli.Reports("Ana#1").Show(t.Context(), c, o) }
	text := printed(t, false, show)
	if strings.Contains(text, "\x1b") || !strings.Contains(text, "Sun    ") || !strings.Contains(text, "Sun 23:00 with 23.0 h") {
		t.Error(text)
	}
	for line := range strings.Lines(text) {
		if len(line) > 81 && !strings.HasPrefix(line, ".") && !strings.HasPrefix(line, "Ana") {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	if text := printed(t, true, show); !strings.Contains(text, `"minutes":[[0,`) {
		t.Error(text)
	}
	for _, c := range []struct {
		missing, cancelled, left int
		says                     string
	}{
		{0, 0, 0, " in 1,200 of 1,200 matches; hours of UTC"},
		{3, 1, 2, " in 1,200 of 1,203 matches, 2 could not be had, 1 cancelled; 2 without this player left out; hours of UTC"},
	} {
		r.Missing, r.Cancelled, r.LeftOut = c.missing, c.cancelled, c.left
		if text := printed(t, false, show); !strings.Contains(text, c.says) {
			t.Errorf("want %q in %s", c.says, text)
		}
	}
	detail.Report = nil
	if err := cli.Reports("Ana#1").Show(t.Context(), c, cli.Out{}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("without a report: %v", err)
	}
}

// A sync that became complete after its end says when, wherever accounts and reports are told.
func TestWhenASyncBecameCompleteIsSaid(t *testing.T) {
	t.Setenv("TZ", "UTC")
	row := engine.AccountRow{RiotID: "Ana#1", Status: engine.SyncCompleted, Result: "completed", Finished: friday, LastSync: friday, Closed: friday.Add(time.Hour)}
	r := engine.PlayReport{Account: "a", Zone: "UTC", Built: friday, Matches: 40}
	c := answering{answer: func(q engine.Query) (engine.Answer, error) {
		switch q.(type) {
		case engine.AccountsQuery:
			return engine.AccountsPage{Accounts: []engine.AccountRow{row}, Total: 1}, nil
		case engine.StatusQuery:
			return engine.StatusAnswer{}, nil
		}
		return engine.AccountDetail{Row: row, Report: &r}, nil
	}}
	for name, show := range map[string]func(o cli.Out) error{
		"accounts": func(o cli.Out) error { return cli.Accounts("").Show(t.Context(), c, o) },
		"status":   func(o cli.Out) error { return cli.Status("", true).Show(t.Context(), c, o) },
	} {
		if text := printed(t, false, show); !strings.Contains(text, ", complete ") {
			t.Errorf("%s: %s", name, text)
		}
		if text := printed(t, true, show); !strings.Contains(text, `"gaps_closed":"`) {
			t.Errorf("%s --json: %s", name, text)
		}
	}
	if text := printed(t, false, func(o cli.Out) error { return cli.Reports("Ana#1").Show(t.Context(), c, o) }); !strings.Contains(text, "it is complete since ") {
		t.Errorf("reports: %s", text)
	}
	row.Closed = time.Time{}
	if text := printed(t, false, func(o cli.Out) error { return cli.Accounts("").Show(t.Context(), c, o) }); strings.Contains(text, "complete ") {
		t.Errorf("a sync that was never incomplete: %s", text)
	}
}
