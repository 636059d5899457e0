package block_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestOnlyTheSameIsToldAsSoManyTimes: two commands on two queues are two rows.
func TestOnlyTheSameIsToldAsSoManyTimes(t *testing.T) {
	v := pagetest.View(&page.Data{})
	for _, target := range []string{"queue a", "queue b", "queue b"} {
		v.Logs = append(v.Logs, engine.LogRow{Level: "info", Text: "command", Fields: []engine.LogField{{Key: "target", Value: target}}})
	}
	rows := block.LogRows(v, 80, 5, "")
	if all := ansi.Strip(strings.Join(rows, "|")); len(rows) != 2 || !strings.Contains(all, "queue b") || !strings.Contains(all, "2 times") || !strings.Contains(all, "queue a") {
		t.Errorf("%d rows: %s", len(rows), all)
	}
}
