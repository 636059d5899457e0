package charts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
)

// TestAnAxisOfThePastIsAsLongAsThePast: its oldest instant stands in the left half, whatever the span.
func TestAnAxisOfThePastIsAsLongAsThePast(t *testing.T) {
	v := pagetest.View(&page.Data{Ready: true})
	sign := v.Theme.State("DONE")
	for _, back := range []time.Duration{25 * time.Second, 61 * time.Second, 100 * time.Second, 70 * time.Minute, 91 * time.Minute, 200 * time.Minute, 50 * time.Hour} {
		rows := charts.TimeRows(v, 118, 2, back, 0, []charts.TimeRow{{Name: "ana", Signs: []charts.TimeSign{{At: v.Now.Add(-back), Sign: sign}}}})
		left, _, found := strings.Cut(ansi.Strip(rows[1])[26:], sign.Glyph)
		if at := ansi.StringWidth(left); !found || at > 46 {
			t.Errorf("%v back: at cell %d of 92\n%s", back, at, strings.Join(rows, "\n"))
		}
	}
}
