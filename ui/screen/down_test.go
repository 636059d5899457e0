package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/screen/limits"
	"github.com/farsight-console/farsight/ui/screen/overview"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestI7_AnEndpointThatIsDownIsARowOfLimits: with since when, its next try and what waits, on
// Limits as on the overview, at every size; and before any limit is known.
func TestI7_AnEndpointThatIsDownIsARowOfLimits(t *testing.T) {
	breakers := []engine.BreakerRow{{Host: "asia", Method: "match-v5.match", Since: uitest.Noon.Add(-3 * time.Minute), Next: uitest.Noon.Add(12 * time.Second), Waiting: 33}}
	windows := []engine.BucketRow{
		{Host: "asia", Kind: "app", Window: time.Second, Limit: 20, Server: -1},
		{Host: "asia", Kind: "method", Method: "match-v5.match", Window: 10 * time.Second, Limit: 2000, Used: 7, Server: 7, Waiting: 33},
		{Host: "europe", Kind: "app", Window: time.Second, Limit: 20, Server: -1}, // the host has a column, which takes its room
	}
	for _, known := range [][]engine.BucketRow{nil, windows} {
		for size, wh := range map[page.Size][2]int{page.S: {80, 24}, page.M: {120, 36}, page.L: {200, 56}} {
			d := &page.Data{Ready: true, Limits: engine.LimitsRow{At: uitest.Noon, Buckets: known, Breakers: breakers}}
			for name, p := range map[string]page.Page{"limits": limits.New(), "overview": overview.New()} {
				v := pagetest.View(d)
				v.W, v.H, v.Size = wh[0], wh[1], size
				text := ansi.Strip(strings.Join(p.Draw(v), "\n"))
				next := "next try in 12 s"
				if name == "limits" && size == page.S {
					next = "try in 12 s"
				}
				for _, want := range []string{"match", "DOWN", next} {
					if !strings.Contains(text, want) {
						t.Errorf("%s at %dx%d with %d windows does not say %q:\n%s", name, wh[0], wh[1], len(known), want, text)
					}
				}
			}
		}
	}
	v := pagetest.View(&page.Data{Ready: true, Limits: engine.LimitsRow{Breakers: breakers}})
	v.Limits.Breakers[0].Next = time.Time{}
	if word, text := block.BucketState(v, page.LimitsOf(v)[0]); word != "DOWN" || !strings.HasPrefix(text, "tried now, 33 wait, since ") {
		t.Errorf("%s, %s", word, text)
	}
	// It is due, and a freeze keeps it: nothing is tried.
	v.Limits.Breakers[0].Next = v.Now.Add(-time.Minute)
	if _, text := block.BucketState(v, page.LimitsOf(v)[0]); !strings.HasPrefix(text, "try is due, 33 wait, since ") {
		t.Error(text)
	}
}
