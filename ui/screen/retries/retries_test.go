package retries

import (
	"slices"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/part"
)

// TestListsNameASyncByItsPlayer: its key is of the id of an account, which says nothing.
func TestListsNameASyncByItsPlayer(t *testing.T) {
	j := engine.JobRow{Job: engine.Job{ID: "7", Key: "full:01M7", State: engine.Retryable}, Player: "Ana#EUW"}
	v := pagetest.View(&page.Data{Ready: true})
	for name, cells := range map[string][]part.Cell{"jobs": page.CellsOf(v, columns.JobList)(j, nil), "retries": page.CellsOf(v, New().Fields)(j, nil)} {
		if !slices.ContainsFunc(cells, func(c part.Cell) bool { return strings.HasPrefix(c.Text, "Ana#EUW") }) {
			t.Errorf("%s shows %+v", name, cells)
		}
	}
}
