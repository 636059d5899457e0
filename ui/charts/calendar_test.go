package charts

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/page/pagetest"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestI2_CalendarDrawsWhatIsNotConfirmedYet: the calls of a command beside those in line, and
// the scheduled runs that fall into its time.
func TestI2_CalendarDrawsWhatIsNotConfirmedYet(t *testing.T) {
	limits := engine.LimitsRow{At: uitest.Noon, Buckets: []engine.BucketRow{
		{Host: "asia", Kind: "app", Window: time.Second, Limit: 20},
		{Host: "asia", Kind: "app", Window: 2 * time.Minute, Limit: 100, Used: 80, Reset: uitest.Noon.Add(41 * time.Second), Waiting: 300},
	}}
	v := pagetest.View(&page.Data{Ready: true, Limits: limits})
	plan := uitest.Beside(engine.Update{Limits: &limits}, 889, 25*time.Minute)
	rows := Budgeted(v, engine.Cost{Calls: 889, Takes: 25 * time.Minute, Bucket: "app:asia 120s", Calendar: plan}, []engine.ScheduleRow{
		{Name: "hourly", Next: []time.Time{uitest.Noon.Add(10 * time.Minute)}}, {Name: "off", Paused: true, Next: []time.Time{uitest.Noon.Add(time.Minute)}},
	}, 66)
	got := ansi.Strip(strings.Join(rows, "\n"))
	for _, want := range []string{"asia, 2 min", "+20 min", "calls in line", "with this 889", "~12:56 done", "scheduled runs", "hourly"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if n := strings.Count(got, v.Theme.State("SCHEDULED").Glyph); n != 1 {
		t.Errorf("%d scheduled runs are drawn, want 1:\n%s", n, got)
	}
	if rows := Budgeted(v, engine.Cost{Calls: 9}, nil, 66); rows != nil {
		t.Errorf("what cannot be foreseen is drawn:\n%s", strings.Join(rows, "\n"))
	}
}
