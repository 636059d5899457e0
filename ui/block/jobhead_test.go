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
