package charts

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestV7u_NoLineOfTheCallsStaysEmpty, also where another process leads from some time on, whose numbers are others, and
// a call more takes but one line.
func TestV7u_NoLineOfTheCallsStaysEmpty(t *testing.T) {
	var calls []engine.CallRow
	for i, seq := range []uint64{3, 4, 5, 6, 7, 8, 9, 5003, 5004, 5005} {
		calls = append(calls, engine.CallRow{Seq: seq, At: uitest.Noon, Method: "match-v5.match", Target: "KR_" + string(rune('a'+i)), Status: 200})
	}
	v, before := pagetest.View(&page.Data{Ready: true}), []string(nil)
	for n := 8; n <= len(calls); n++ {
		rows := CallsInPlace(v, calls[:n], 80, 7)
		moved := 0
		for y := range rows {
			rows[y] = strings.ReplaceAll(ansi.Strip(rows[y]), v.Theme.Glyphs.Crumb, " ")
			if rows[y] == "" {
				t.Errorf("of %d calls none stands on line %d", n, y)
			}
			if before != nil && rows[y] != before[y] {
				moved++
			}
		}
		if before != nil && moved != 1 {
			t.Errorf("call %d takes %d lines", n, moved)
		}
		before = rows
	}
}
