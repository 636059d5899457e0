package alerts

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

// TestAnAlertThatIsOverSaysSo, in the list and below it, though its count is above its limit for an hour.
func TestAnAlertThatIsOverSaysSo(t *testing.T) {
	r := engine.AlertRow{State: engine.AlertOK, Known: true, Value: 14, Limit: 10, Next: "see Riot's status"}
	for _, over := range []bool{true, false} {
		listed := slices.ContainsFunc(page.CellsOf(pagetest.View(&page.Data{}), columns.AlertList)(r, nil), func(c part.Cell) bool { return c.Text == "it is over" })
		if listed != over || strings.HasPrefix(nextStep(&r), "it is over") != over {
			t.Errorf("of %v: %v in the list, %q below it", r.Value, listed, nextStep(&r))
		}
		r.Value = 9
	}
}
