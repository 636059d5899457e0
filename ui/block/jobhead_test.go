package block_test

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
)

// TestV7o_AHeadingSaysThatMoreHaveEnded: of those that have ended only the newest are read, and their count is not that of all.
func TestV7o_AHeadingSaysThatMoreHaveEnded(t *testing.T) {
	for n, want := range map[int]string{3: "", block.MostEnded: "the last to end"} {
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
