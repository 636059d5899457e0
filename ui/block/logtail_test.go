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

// TestRepeatedRecordsCostNoText: a frame has thousands of them to count.
func TestRepeatedRecordsCostNoText(t *testing.T) {
	v := pagetest.View(&page.Data{})
	texts := func(n int) float64 {
		v.Logs = make([]engine.LogRow, n)
		for i := range v.Logs {
			v.Logs[i] = engine.LogRow{Level: "info", Text: "command", Job: "j1", Fields: []engine.LogField{{Key: "target", Value: "queue a"}}}
		}
		return testing.AllocsPerRun(5, func() { block.LogRows(v, 80, 5, "") })
	}
	if few, many := texts(900), texts(999); many > few+1 {
		t.Errorf("%.0f allocations for 900 records and %.0f for 999", few, many)
	}
}
