package block_test

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestV7o_AHeadingSaysThatMoreHaveEnded: of those that have ended only the newest are read, and their count is not that of all.
func TestV7o_AHeadingSaysThatMoreHaveEnded(t *testing.T) {
	for n, want := range map[int]string{3: "", block.MostEnded: "the newest of them"} {
		rows := make([]*engine.JobRow, n)
		for i := range rows {
			rows[i] = &engine.JobRow{Job: engine.Job{State: engine.Completed}}
		}
		g := block.JobGroup{Rows: rows, Jobs: n}
		g.State = engine.Completed
		if text := g.HeadText(&page.View{Data: &page.Data{}}); text != want {
			t.Errorf("%d: %q", n, text)
		}
	}
}

// TestV1m_NoMoreRunThanThereAreWorkers: the rows come a moment before the ceiling.
func TestV1m_NoMoreRunThanThereAreWorkers(t *testing.T) {
	g := block.JobGroup{Jobs: 7}
	g.State = engine.Running
	v := &page.View{Data: &page.Data{}}
	v.Engine.Workers = 5
	if text := g.HeadText(v); text != "7 of 7 workers" {
		t.Error(text)
	}
}

// TestPendingJobsSayWhatTheyWaitFor: in a list too that has read none of them.
func TestPendingJobsSayWhatTheyWaitFor(t *testing.T) {
	for n, want := range map[int]string{1: "waits for what it has asked for", 27: "wait for what they have asked for"} {
		g := block.JobGroup{Jobs: n}
		g.State = engine.Pending
		if text := g.HeadText(&page.View{Data: &page.Data{}}); text != want {
			t.Errorf("%d: %q", n, text)
		}
	}
}

// TestAHeadingCountsNoAnswersOfJobsThatItHasNot: of a group that is known by its first the class alone is.
func TestAHeadingCountsNoAnswersOfJobsThatItHasNot(t *testing.T) {
	g := block.JobGroup{Jobs: 40}
	g.State, g.Why = engine.Retryable, engine.ReasonRow{Jobs: 40, First: engine.JobRow{Job: engine.Job{State: engine.Retryable, Class: "503"}}}
	if text := g.HeadText(pagetest.View(&page.Data{})); text != "back off after 503" {
		t.Errorf("%q", text)
	}
}

// TestAHeadingNamesWhatHoldsTheFirst, and not a window with room.
func TestAHeadingNamesWhatHoldsTheFirst(t *testing.T) {
	v := pagetest.View(&page.Data{Limits: engine.LimitsRow{Buckets: []engine.BucketRow{
		{Host: "europe", Kind: "app", Limit: 100, Used: 97, Window: 2 * time.Minute, Paces: true},
		{Host: "europe", Method: "match-v5.match", Kind: "method"},
	}}})
	g := block.JobGroup{Rows: []*engine.JobRow{{Line: "full europe/match-v5.match"}}, Jobs: 1}
	g.State, g.Shape = engine.Available, engine.ShapeInLine
	if text := g.HeadText(v); text != " 97 of 100 calls of the 2 min window used" {
		t.Error(text)
	}
	v.Limits.Buckets = append(v.Limits.Buckets, engine.BucketRow{Host: "asia", Kind: "app", Limit: 100, Used: 12, Window: 2 * time.Minute, Paces: true})
	if g.Rows[0].Line = "collect asia/match-v5.match"; g.HeadText(v) != " 12 of 100 calls of asia's 2 min window used" {
		t.Error(g.HeadText(v))
	}
	for _, line := range []string{"full americas/match-v5.match", ""} { // no other host's window
		if g.Rows[0].Line = line; g.HeadText(v) != "in line" {
			t.Error(g.HeadText(v))
		}
	}
	// The first starts now: it has left its line, the others have not.
	if g.Rows = append(g.Rows, &engine.JobRow{Line: "collect asia/match-v5.match"}); g.HeadText(v) != " 12 of 100 calls of asia's 2 min window used" {
		t.Error(g.HeadText(v))
	}
	g.Rows[0].Line, v.Limits.Buckets = "full europe/match-v5.match", v.Limits.Buckets[:2]
	v.Limits.Buckets[1].Blocked, v.Limits.Buckets[1].BlockedBy = v.Now.Add(2*time.Minute), "429 service"
	if text := g.HeadText(v); text != "held by a 429 service, it ends in 2 min" {
		t.Error(text)
	}
}

// TestV7n_WhatGoesNextStandsAboveWhatIsFrozen: whatever the words are that say why jobs stand.
func TestV7n_WhatGoesNextStandsAboveWhatIsFrozen(t *testing.T) {
	frozen := engine.JobRow{Job: engine.Job{State: engine.Available}, Why: "match calls to europe are frozen by an operator", Stand: engine.StandHeld}
	next := engine.JobRow{Job: engine.Job{State: engine.Available}, Why: "in line", Line: "full asia/match-v5.match", Place: 1}
	groups := block.GroupJobs([]*engine.JobRow{&frozen, &next}, nil, nil)
	if len(groups) != 2 || groups[0].Rows[0] != &next {
		t.Errorf("%+v", groups)
	}
}
