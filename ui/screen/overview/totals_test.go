package overview

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestV3l_FiguresNeverTouch: a longer one moves those behind it.
func TestV3l_FiguresNeverTouch(t *testing.T) {
	v := pagetest.View(&page.Data{Engine: engine.EngineRow{Stored: 12406, Failed: 3, Retrying: 26, Meter: engine.Meter{CallsPerMin: 46}}})
	v.Size = page.S
	for n, want := range map[int]string{
		7:      " 46 calls/min   12.4k stored  7 in line      26 retrying   3 gave up   0 × 429",
		123456: " 46 calls/min   12.4k stored  123,456 in line  26 retrying  3 gave up  0 × 429",
	} {
		v.Queues = []engine.QueueRow{{Counts: map[engine.State]int{engine.Available: n}}}
		if got := strings.TrimRight(ansi.Strip(totalRows(v, &charts.Timetable{}, nil, 80)[0]), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
