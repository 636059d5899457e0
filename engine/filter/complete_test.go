package filter_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/filter"
)

func TestComplete(t *testing.T) {
	for query, want := range map[string]string{ // | is the cursor
		"que|":                    "queue:|",
		"a -ow|":                  "a -owner:|",
		"acc|":                    "owner:|",
		"sta|:run":                "state|:run, started|:run",
		"state:re|":               "state:retryable|",
		"-state:running,c|":       "-state:running,completed|, -state:running,cancelled|",
		"state:running,run|":      "",
		"hold:k|":                 `hold:"key invalid"|`,
		"hold:none,loc|,frozen x": `hold:none,"local network"|,frozen x`,
		"suspect:|":               "suspect:yes|, suspect:no|",
		"due<6|":                  "due<60s|",
		"created>y|":              "created>yesterday|",
		`"que|`:                   "",
		"/que|":                   "",
		"key:x|":                  "",
		"nosuch:|":                "",
		"/a/b pol|":               "/a/b policy:|",
		"state:,x pol|":           "state:,x policy:|",
		"zz|":                     "",
		"카인 pol|":                 "카인 policy:|",
	} {
		at := strings.IndexByte(query, '|')
		query = query[:at] + query[at+1:]
		var got []string
		for _, x := range columns.Jobs.Complete(query, at) {
			got = append(got, query[:x.From]+x.Text+"|"+query[x.To:])
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("Complete(%q, %d)\n got %s\nwant %s", query, at, s, want)
		}
	}
	if all := columns.Jobs.Complete("", 0); len(all) != len(columns.Jobs.Fields()) {
		t.Errorf("an empty query offers %d fields of %d", len(all), len(columns.Jobs.Fields()))
	}
}

// What is offered must parse, or the prompt would lead into an error.
func TestCompletionsParse(t *testing.T) {
	for _, f := range columns.Jobs.Fields() {
		query := f.Name + ":"
		for _, x := range columns.Jobs.Complete(query, len(query)) {
			if _, err := filter.Parse(query[:x.From]+x.Text, columns.Jobs.Schema); err != nil {
				t.Errorf("%s%s: %v", query, x.Text, err)
			}
		}
	}
}

// Every word of the engine is a word of the filter, and every state of a row
// answers to exactly its own words.
func TestWordsAreTheEngines(t *testing.T) {
	for _, state := range engine.States() {
		for _, other := range engine.States() {
			f, err := filter.Parse("state:"+state.String(), columns.Jobs.Schema)
			row := engine.JobRow{Job: engine.Job{State: other}}
			if err != nil || f.Match(&row, noon) != (state == other) {
				t.Errorf("state:%v on %v: %v", state, other, err)
			}
		}
	}
	for h := engine.HoldThrottled; h <= engine.HoldFrozen; h++ {
		f, err := filter.Parse(`hold:"`+h.String()+`" state:held`, columns.Jobs.Schema)
		row := engine.JobRow{Job: engine.Job{State: engine.Scheduled, Hold: h}}
		if err != nil || !f.Match(&row, noon) {
			t.Errorf("hold %v: %v", h, err)
		}
	}
	for s := engine.SyncNever; s <= engine.SyncCancelled; s++ {
		f, err := filter.Parse("state:"+s.String(), columns.Accounts.Schema)
		if err != nil || !f.Match(&engine.AccountRow{Status: s}, noon) || f.Match(&engine.AccountRow{Status: (s + 1) % 6}, noon) {
			t.Errorf("sync status %v: %v", s, err)
		}
	}
}

func TestNewRefusesABrokenSchema(t *testing.T) {
	value := func(*int, time.Time) filter.Value { return filter.Value{} }
	for name, fields := range map[string][]filter.Field[int]{
		"double":   {{Name: "a", Value: value}, {Name: "b", Aliases: []string{"a"}, Value: value}},
		"no value": {{Name: "a"}},
		"bad name": {{Name: "a:b", Value: value}},
		"unknown":  {{Name: "a", Of: []string{"b"}}},
		"nested":   {{Name: "a", Of: []string{"b"}}, {Name: "b", Of: []string{"c"}}, {Name: "c", Value: value}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: New must panic", name)
				}
			}()
			filter.New(filter.Options{}, fields...)
		}()
	}
}

func TestTimesFollowTheZoneAndTheDay(t *testing.T) {
	f, err := filter.Parse("created>=12:30 created:today", columns.Jobs.Schema)
	if err != nil {
		t.Fatal(err)
	}
	row := engine.JobRow{Job: engine.Job{Created: time.Date(2026, 11, 20, 12, 30, 0, 0, seoul)}}
	zurich := time.FixedZone("CET", 3600)
	for _, c := range []struct {
		now  time.Time
		want bool
	}{
		{time.Date(2026, 11, 20, 12, 31, 0, 0, seoul), true},
		{time.Date(2026, 11, 21, 12, 31, 0, 0, seoul), false},  // the next day
		{time.Date(2026, 11, 20, 12, 31, 0, 0, zurich), false}, // there it was 04:30
	} {
		if got := f.Match(&row, c.now); got != c.want {
			t.Errorf("at %v: %v", c.now, got)
		}
	}
}

// A clock that was set back makes ages negative; they count as 0 (row P-36).
func TestP36_AgesAreNeverNegative(t *testing.T) {
	row := engine.JobRow{Job: engine.Job{Created: noon.Add(time.Hour)}}
	for query, want := range map[string]bool{"age>=0s": true, "age:0s": true, "age<1s": true, "age<0s": false} {
		f, err := filter.Parse(query, columns.Jobs.Schema)
		if err != nil || f.Match(&row, noon) != want {
			t.Errorf("%s: want %v (%v)", query, want, err)
		}
	}
}

func TestSuggestionsKeepTheOrderOfFields(t *testing.T) {
	var names []string
	for _, x := range columns.Calls.Complete("a", 1) {
		names = append(names, x.Text)
	}
	if want := []string{"at:", "age:"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}
