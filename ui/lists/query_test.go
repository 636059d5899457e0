package lists

import (
	"testing"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestFilterKeepsTheLastGoodQuery: what is wrong with a query is told, and the
// rows stay as the last one left them.
func TestFilterKeepsTheLastGoodQuery(t *testing.T) {
	rows := uitest.Busy().Update.Accounts
	q := Query[engine.AccountRow]{Schema: columns.Accounts.Schema}
	for _, c := range []struct {
		text string
		rows int
		ok   bool
	}{{"", 6, true}, {"blue", 1, true}, {"blue kr", 1, true}, {"blue na1", 0, true}, {"HERON", 1, true}, {"state:syncing", 2, true}, {"nosuch:1", 2, false}, {"", 6, true}} {
		err := q.SetFilter(c.text)
		if got := len(q.Pick(rows, uitest.Noon)); got != c.rows || (err == nil) != c.ok {
			t.Errorf("%q leaves %d rows, want %d; error %v", c.text, got, c.rows, err)
		}
	}
}
