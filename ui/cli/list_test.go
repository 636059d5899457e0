package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/cli"
)

// someMatches is a console with three matches, one of which was not fetched.
func someMatches() answering {
	rows := []engine.MatchRow{
		{ID: "KR_1", Status: "success", Bytes: 500, Duration: 20 * time.Minute, Champion: "=Lux", Played: friday, FetchedAt: friday, Attempts: 1},
		{ID: "KR_2", Status: "temporary_failure", LastError: "a, \"b\"", Attempts: 3},
		{ID: "KR_3", Status: "success", Bytes: 9000, Duration: 30 * time.Minute, Champion: "Ahri", Played: friday.Add(time.Hour), FetchedAt: friday, Attempts: 1},
	}
	return answering{answer: func(engine.Query) (engine.Answer, error) {
		return engine.MatchesPage{Matches: slices.Clone(rows), Hidden: 4}, nil
	}}
}

// A list is sorted, cut and told in the columns that were asked for, in every form.
func TestLists_AreShownAsAsked(t *testing.T) {
	t.Setenv("TZ", "UTC")
	view := func(sort string, limit int, columns ...string) cli.View {
		return cli.View{Sort: sort, Limit: limit, Columns: columns}
	}
	const hidden = "4 permanently unfetchable hidden: --all shows them\n"
	for name, tt := range map[string]struct {
		out  cli.Out
		want string
	}{
		"the greatest first":        {cli.Out{View: view("-size", 2, "id", "size")}, "MATCH  BYTES\nKR_3   9,000\nKR_1     500\n" + hidden},
		"the least first":           {cli.Out{View: view("size", 1, "id")}, "MATCH\nKR_2\n" + hidden},
		"no instant stands last":    {cli.Out{View: view("-played", 0, "id")}, "MATCH\nKR_3\nKR_1\nKR_2\n" + hidden},
		"either way":                {cli.Out{View: view("played", 0, "id")}, "MATCH\nKR_1\nKR_3\nKR_2\n" + hidden},
		"another word for a column": {cli.Out{View: view("-Tries", 1, "MATCH", "status")}, "MATCH  STATUS\nKR_2   temporary_failure\n" + hidden},
		"rows alone":                {cli.Out{View: cli.View{Columns: []string{"id"}, NoHeaders: true}}, "KR_1\nKR_2\nKR_3\n"},
		"JSON": {cli.Out{JSON: true, View: view("", 2, "id", "len", "champion", "played")},
			`{"id":"KR_1","len":1200,"champion":"=Lux","played":"2026-11-20T03:00:00.000Z"}` + "\n" + `{"id":"KR_2","len":0,"champion":null,"played":null}` + "\n"},
		"CSV":                  {cli.Out{CSV: true, View: view("-id", 0, "id", "champion", "err")}, "id,champion,err\nKR_3,Ahri,\nKR_2,,\"a, \"\"b\"\"\"\nKR_1,'=Lux,\n"},
		"CSV without its head": {cli.Out{CSV: true, View: cli.View{Columns: []string{"id"}, NoHeaders: true}}, "KR_1\nKR_2\nKR_3\n"},
	} {
		var b bytes.Buffer
		tt.out.W = &b
		if err := cli.Matches("", false).Show(t.Context(), someMatches(), tt.out); err != nil || b.String() != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, b.String(), tt.want)
		}
	}
}

// As JSON a row is all that is known of it, unless columns are named; a limit stops the
// reading of pages.
func TestLists_ALimitReadsNoMoreThanItNeeds(t *testing.T) {
	var asked []engine.Query
	var b bytes.Buffer
	o := cli.Out{W: &b, JSON: true, View: cli.View{Limit: 3}}
	if err := cli.Jobs("", true).Show(t.Context(), stored(&asked), o); err != nil || strings.Count(b.String(), "\n") != 3 || len(asked) != 1 || !strings.Contains(b.String(), `"kind":"match.fetch"`) {
		t.Errorf("%v, %d pages\n%s", err, len(asked), b.String())
	}
	// The live ones have an order of their own, which the engine knows; those that fit are put into it here
	// before they are cut.
	for filter, pages := range map[string]int{"": 1, "match": 3} {
		b.Reset()
		asked = nil
		if err := cli.Jobs(filter, false).Show(t.Context(), stored(&asked), o); err != nil || strings.Count(b.String(), "\n") != 3 || len(asked) != pages {
			t.Errorf("%v, %d pages\n%s", err, len(asked), b.String())
		}
	}
}

// What makes no sense is said before anything is asked.
func TestLists_RefuseAViewOfNothing(t *testing.T) {
	for says, tt := range map[string]struct {
		list cli.List
		out  cli.Out
	}{
		`--sort: there is no column "colour": use one of id, platform, state`:  {cli.Matches("", false), cli.Out{View: cli.View{Sort: "-colour"}}},
		`--columns: there is no column "stat": did you mean state? There are `: {cli.Queues(""), cli.Out{View: cli.View{Columns: []string{"stat"}}}},
		`--columns: there is no column "x"`:                                    {cli.Queues(""), cli.Out{View: cli.View{Columns: []string{"queue", "x"}}}},
		"--columns names no column":                                            {cli.Queues(""), cli.Out{View: cli.View{Columns: []string{}}}},
		"--limit -1":                                                           {cli.Alerts(), cli.Out{View: cli.View{Limit: -1}}},
		"--sort: nothing orders rows by":                                       {cli.Limits(""), cli.Out{View: cli.View{Sort: "state"}}},
		"this is no list of rows":                                              {cli.Status("", false), cli.Out{CSV: true}},
		"leave out --columns":                                                  {cli.Reports("Ana#EUW"), cli.Out{View: cli.View{Columns: []string{"built"}}}},
	} {
		err := tt.list.Show(t.Context(), nil, tt.out)
		if !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", says, err)
		}
	}
}

// rowsOfNothing has two rows for every list, of which nothing is known.
var rowsOfNothing = answering{answer: func(q engine.Query) (engine.Answer, error) {
	switch q.(type) {
	case engine.JobsQuery:
		return engine.JobsPage{Jobs: make([]engine.JobRow, 2)}, nil
	case engine.MatchesQuery:
		return engine.MatchesPage{Matches: make([]engine.MatchRow, 2)}, nil
	case engine.AccountsQuery:
		return engine.AccountsPage{Accounts: make([]engine.AccountRow, 2)}, nil
	case engine.LimitsQuery:
		return engine.LimitsRow{Buckets: make([]engine.BucketRow, 1), Breakers: make([]engine.BreakerRow, 1)}, nil
	case engine.SchedulesQuery:
		return engine.SchedulesPage{Schedules: make([]engine.ScheduleRow, 2)}, nil
	case engine.ReportsQuery:
		return engine.ReportsPage{Reports: make([]engine.ReportRow, 2)}, nil
	case engine.RanksQuery:
		return engine.RanksPage{Ranks: make([]engine.RankRow, 2)}, nil
	case engine.AuditQuery:
		return engine.AuditPage{Entries: make([]engine.AuditEntry, 2)}, nil
	case engine.AlertsQuery:
		return engine.AlertsAnswer{Alerts: make([]engine.AlertRow, 2)}, nil
	case engine.ClassesQuery:
		return engine.ClassesAnswer{Classes: make([]engine.ClassRow, 2)}, nil
	case engine.CollectionsQuery:
		return engine.CollectionsAnswer{Collections: make([]engine.CollectionRow, 2)}, nil
	}
	return engine.StatusAnswer{Queues: make([]engine.QueueRow, 2)}, nil
}}

// everyList are the lists of rows that have columns.
var everyList = map[string]cli.List{
	"jobs": cli.Jobs("", true), "matches": cli.Matches("", true), "accounts": cli.Accounts(""), "limits": cli.Limits(""), "schedules": cli.Schedules(""),
	"reports": cli.Reports(""), "ranks": cli.Ranks("a#b", ""), "audit": cli.Audit(engine.AuditQuery{}, 0), "alerts": cli.Alerts(), "classes": cli.Classes(""), "queues": cli.Queues(""),
	"collections": cli.Collections(""),
}

// Every column that a list offers can be printed of a row of which nothing is known, and
// told to a program.
func TestLists_EveryColumnCanBeAskedFor(t *testing.T) {
	for name, l := range everyList {
		for _, form := range []cli.Out{{}, {JSON: true}, {CSV: true}} {
			var b bytes.Buffer
			form.W = &b
			for _, c := range l.Columns {
				form.View.Columns = append(form.View.Columns, c.Name)
			}
			if err := l.Show(t.Context(), rowsOfNothing, form); err != nil || strings.Count(b.String(), "\n") < 2 {
				t.Errorf("%s: %v\n%s", name, err, b.String())
			}
		}
	}
}

// TestW14_ListsAreOneObjectPerLine: as JSON, with and without a view.
func TestW14_ListsAreOneObjectPerLine(t *testing.T) {
	for name, l := range everyList {
		for n := 2; n > 0; n-- {
			var b bytes.Buffer
			out := cli.Out{W: &b, JSON: true}
			if n == 1 {
				out.View.Limit = 1
			}
			if err := l.Show(t.Context(), rowsOfNothing, out); err != nil {
				t.Fatal(name, err)
			}
			said := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			for _, line := range said {
				var row map[string]any
				if err := json.Unmarshal([]byte(line), &row); err != nil || len(row) == 0 {
					t.Errorf("%s: %q is no object: %v", name, line, err)
				}
			}
			if len(said) != n {
				t.Errorf("%s has %d lines for %d rows:\n%s", name, len(said), n, b.String())
			}
		}
	}
}

// A list that is watched is drawn anew on a terminal when it has changed, and only then.
func TestWatch_DrawsWhatHasChanged(t *testing.T) {
	var b bytes.Buffer
	w := cli.NewWatch(cli.Out{W: &b, Width: 20, Height: 4})
	round := func(text, want string) {
		t.Helper()
		b.Reset()
		if err := w.Round(func(o cli.Out) error { _, err := o.W.Write([]byte(text)); return err }); err != nil || b.String() != want {
			t.Errorf("%v %q, want %q", err, b.String(), want)
		}
	}
	round("a\nb\n", "a\nb\n")
	round("a\nb\n", "")
	round("a\nc\n", "\x1b[2A\r\x1b[Ja\nc\n")
	round("1\n2\n3\n4\n5\n", "\x1b[2A\r\x1b[J1\n2\nand 3 more: --limit…\n")
	round("a line that is longer than the terminal\n", "\x1b[3A\r\x1b[Ja line that is long…\n")
}

// Into a pipe go the rows that are new or have changed, under one head.
func TestWatch_TellsAPipeWhatIsNew(t *testing.T) {
	row := func(id string, s engine.State) engine.JobRow {
		return engine.JobRow{Job: engine.Job{ID: engine.JobID(id), Key: "k" + id, State: s}}
	}
	rounds := [][]engine.JobRow{
		{row("1", engine.Running), row("2", engine.Running)}, {row("1", engine.Running), row("2", engine.Running)},
		{row("1", engine.Completed), row("2", engine.Running)}, nil, {row("2", engine.Running)}, {row("2", engine.Running)},
	}
	for name, tt := range map[string]struct {
		out  cli.Out
		want []string
	}{
		"table": {cli.Out{}, []string{"ID  STATE\n 1  RUNNING\n 2  RUNNING\n", "", " 1  COMPLETED\n", "no job is live\n", " 2  RUNNING\n", ""}},
		"json":  {cli.Out{JSON: true}, []string{`{"id":"1","state":"running"}` + "\n" + `{"id":"2","state":"running"}` + "\n", "", `{"id":"1","state":"completed"}` + "\n", "", `{"id":"2","state":"running"}` + "\n", ""}},
		"csv":   {cli.Out{CSV: true}, []string{"id,state\n1,running\n2,running\n", "", "1,completed\n", "", "2,running\n", ""}},
	} {
		var b bytes.Buffer
		tt.out.W, tt.out.View.Columns = &b, []string{"id", "state"}
		w := cli.NewWatch(tt.out)
		for i, rows := range rounds {
			b.Reset()
			c := answering{answer: func(engine.Query) (engine.Answer, error) { return engine.JobsPage{Jobs: slices.Clone(rows)}, nil }}
			if err := w.Round(func(o cli.Out) error { return cli.Jobs("", true).Show(t.Context(), c, o) }); err != nil || b.String() != tt.want[i] {
				t.Errorf("%s, round %d: %v\n%q\nwant\n%q", name, i, err, b.String(), tt.want[i])
			}
		}
	}
}
