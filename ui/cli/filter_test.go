package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/cli"
)

// stored answers list queries from 1,200 jobs and 3 matches, in pages.
func stored(asked *[]engine.Query) answering {
	jobs := make([]engine.JobRow, 1200)
	for i := range jobs {
		j := engine.Job{ID: engine.JobID("j" + strconv.Itoa(i)), Kind: "match.fetch", Key: "match:KR_" + strconv.Itoa(i), State: engine.Available}
		if i%100 == 0 {
			j.State, j.LastError, j.Tries = engine.Discarded, "404 not found", 1
		}
		jobs[i] = engine.JobRow{Job: j, Why: "9th in line"}
	}
	return answering{answer: func(q engine.Query) (engine.Answer, error) {
		*asked = append(*asked, q)
		switch q := q.(type) {
		case engine.JobsQuery:
			from, _ := strconv.Atoi(q.After)
			to := min(from+q.Limit, len(jobs))
			p := engine.JobsPage{Jobs: slices.Clone(jobs[from:to])}
			if to < len(jobs) {
				p.Next = strconv.Itoa(to)
			}
			return p, nil
		case engine.MatchesQuery:
			return engine.MatchesPage{Hidden: 2, Matches: []engine.MatchRow{{ID: "KR_1", Status: "success"}, {ID: "KR_2", Status: "temporary_failure"}}}, nil
		case engine.AccountsQuery:
			return engine.AccountsPage{}, nil
		}
		return nil, fmt.Errorf("%T", q)
	}}
}

// The lists of the command line speak the filter language of the console, over all
// pages.
func TestListsTakeTheFilterLanguage(t *testing.T) {
	for _, tt := range []struct {
		filter string
		rows   int
	}{
		{"", 1200}, {"state:discarded", 12}, {"state:available", 1188}, {"KR_119*", 11}, {"match:KR_7", 1 + 10 + 100},
		{"-state:available try>0", 12}, {`"404 not found" -KR_0`, 11}, {"kind:match.fetch id:j7", 1}, {"/KR_11[0-9]{2}$/", 100},
	} {
		for _, asJSON := range []bool{false, true} {
			var asked []engine.Query
			var b bytes.Buffer
			if err := cli.Jobs(tt.filter, true).Show(t.Context(), stored(&asked), cli.Out{W: &b, JSON: asJSON}); err != nil {
				t.Fatalf("%s: %v", tt.filter, err)
			}
			rows := strings.Count(b.String(), "\n")
			if !asJSON {
				rows-- // the head
			}
			if rows != tt.rows || len(asked) != 3 {
				t.Errorf("%q gives %d rows in %d pages, want %d in 3", tt.filter, rows, len(asked), tt.rows)
			}
		}
	}
}

func TestListsRefuseAWrongFilter(t *testing.T) {
	for filter, says := range map[string]string{
		"stat:discarded": `there is no field "stat": write state:`,
		"state:banana":   `state is never "banana"`,
		"try>many":       "column",
		`"open`:          "a quote begins here",
	} {
		var asked []engine.Query
		var b bytes.Buffer
		err := cli.Jobs(filter, true).Show(t.Context(), stored(&asked), cli.Out{W: &b})
		if !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", filter, err)
		}
		if len(asked) > 0 || b.Len() > 0 {
			t.Errorf("%s: asked %d times, printed %q", filter, len(asked), b.String())
		}
	}
}

func TestMatchesOfAnAccountAreFiltered(t *testing.T) {
	for filter, want := range map[string]struct {
		account string
		rows    int
	}{
		"":                            {"", 2},
		"Name#TAG":                    {"Name#TAG", 2},
		"Some Name#TAG state:success": {"Some Name#TAG", 1},
		"state:success":               {"", 1},
		`err:"#5"`:                    {"", 0},
		"달빛 여우#KR1 -state:success KR": {"달빛 여우#KR1", 1},
	} {
		var asked []engine.Query
		var b bytes.Buffer
		if err := cli.Matches(filter, false).Show(t.Context(), stored(&asked), cli.Out{W: &b}); err != nil {
			t.Fatalf("%s: %v", filter, err)
		}
		if got := asked[0].(engine.MatchesQuery).Account; got != want.account {
			t.Errorf("%s asks for account %q", filter, got)
		}
		if rows := strings.Count(b.String(), "KR_"); rows != want.rows || !strings.Contains(b.String(), "2 permanently unfetchable hidden") {
			t.Errorf("%s prints %d rows:\n%s", filter, rows, b.String())
		}
	}
}

// An empty list says so, and what else could be asked for.
func TestEmptyListsSaySo(t *testing.T) {
	none := answering{answer: func(q engine.Query) (engine.Answer, error) {
		switch q.(type) {
		case engine.JobsQuery:
			return engine.JobsPage{}, nil
		case engine.MatchesQuery:
			return engine.MatchesPage{}, nil
		case engine.AccountsQuery:
			return engine.AccountsPage{}, nil
		case engine.LimitsQuery:
			return engine.LimitsRow{}, nil
		case engine.SchedulesQuery:
			return engine.SchedulesPage{Schedules: []engine.ScheduleRow{{Name: "sweep"}}}, nil
		}
		return engine.StatusAnswer{}, nil
	}}
	for says, list := range map[string]func(cli.Out) error{
		"no job is live: --all":           func(o cli.Out) error { return cli.Jobs("", false).Show(t.Context(), none, o) },
		"nothing fits KR_1: --all":        func(o cli.Out) error { return cli.Jobs("KR_1", false).Show(t.Context(), none, o) },
		"no job waits for its next try":   func(o cli.Out) error { return cli.Retries("").Show(t.Context(), none, o) },
		"no match is stored yet":          func(o cli.Out) error { return cli.Matches("", true).Show(t.Context(), none, o) },
		"no account is known yet":         func(o cli.Out) error { return cli.Accounts("").Show(t.Context(), none, o) },
		"nothing fits state:failed":       func(o cli.Out) error { return cli.Accounts("state:failed").Show(t.Context(), none, o) },
		"no queue has a job":              func(o cli.Out) error { return cli.Queues("").Show(t.Context(), none, o) },
		"nothing fits asia":               func(o cli.Out) error { return cli.Limits("asia").Show(t.Context(), none, o) },
		"nothing fits daily":              func(o cli.Out) error { return cli.Schedules("daily").Show(t.Context(), none, o) },
		"matches stored 0, gave up 0":     func(o cli.Out) error { return cli.Status("", true).Show(t.Context(), none, o) },
		"no limits known yet: they are l": func(o cli.Out) error { return cli.Limits("").Show(t.Context(), none, o) },
	} {
		var b bytes.Buffer
		if err := list(cli.Out{W: &b}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), says) {
			t.Errorf("%q, want %q", b.String(), says)
		}
	}
}
