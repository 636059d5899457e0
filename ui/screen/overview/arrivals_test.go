package overview

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
)

// TestV3e_ArrivedWithItsTimelines: a sync whose timelines still wait has not arrived, and its bar never moves back.
func TestV3e_ArrivedWithItsTimelines(t *testing.T) {
	matches := func(done int) engine.Progress { return engine.Progress{Total: 100, Stored: done} }
	was := -1.0
	for _, c := range []struct {
		name string
		row  engine.AccountRow
		want float64
	}{
		{"listing", engine.AccountRow{WantsTimelines: true, Phase: engine.PhaseList, Matches: engine.Progress{Total: -1}}, -1},
		{"half of the matches", engine.AccountRow{WantsTimelines: true, Phase: engine.PhaseMatches, Matches: matches(50), Timelines: engine.Progress{Total: 50}}, 0.25},
		{"all matches", engine.AccountRow{WantsTimelines: true, Phase: engine.PhaseMatches, Matches: matches(100), Timelines: engine.Progress{Total: 98}}, 0.5},
		{"timelines", engine.AccountRow{WantsTimelines: true, Phase: engine.PhaseTimelines, Matches: matches(100), Timelines: engine.Progress{Total: 60, Stored: 20}}, 0.75},
		{"all", engine.AccountRow{WantsTimelines: true, Phase: engine.PhaseReport, Matches: matches(100), Timelines: engine.Progress{Total: 60, Stored: 60}}, 1},
		{"all, none wanted", engine.AccountRow{Phase: engine.PhaseMatches, Matches: matches(100)}, 1},
	} {
		got := arrived(&c.row)
		if got != c.want || got < was {
			t.Errorf("%s: %v after %v, want %v", c.name, got, was, c.want)
		}
		was = got
	}
}

// TestLateForWhat: why retries are late is told without the limiter's own words.
func TestLateForWhat(t *testing.T) {
	v := &page.View{Data: &page.Data{Limits: engine.LimitsRow{Buckets: []engine.BucketRow{
		{Host: "europe", Paces: true, Limit: 100, Window: 12 * time.Second}, {Host: "asia"},
	}}}}
	for by, want := range map[string]string{
		"app:europe 100/12s":                      "the 12 s window is full",
		"app:asia 100/12s":                        "the limit of asia is full",
		"162nd in line":                           "others leave first",
		"app:asia 95/100, spread over the window": "the limit of asia is full",
	} {
		if got := full(v, by); got != want {
			t.Errorf("%s: %q, want %q", by, got, want)
		}
	}
}
