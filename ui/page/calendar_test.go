package page

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestI2_CalendarDrawsWhatIsNotConfirmedYet: the calls are dealt over the windows they
// take, beside those in line, and no window holds more than its limit.
func TestI2_CalendarDrawsWhatIsNotConfirmedYet(t *testing.T) {
	limits := engine.LimitsRow{At: uitest.Noon, Buckets: []engine.BucketRow{
		{Host: "asia", Kind: "app", Window: time.Second, Limit: 20},
		{Host: "asia", Kind: "app", Window: 2 * time.Minute, Limit: 100, Used: 80, Reset: uitest.Noon.Add(41 * time.Second), Waiting: 300},
	}}
	v := view(&Data{Ready: true, Limits: limits})
	for _, c := range []struct {
		calls int
		takes time.Duration
	}{{12, 5 * time.Second}, {889, 20 * time.Minute}, {889, time.Minute}, {30_000, 24 * time.Hour}} {
		b := bucketAt(v, "app:asia 100/120s")
		plan := b.with(v, engine.Cost{Calls: c.calls, Takes: c.takes})
		mine := 0
		for n, calls := range plan.mine {
			if mine += calls; plan.taken[n] > b.limit {
				t.Errorf("%d calls: window %d holds %d of %d", c.calls, n, plan.taken[n], b.limit)
			}
		}
		if mine != c.calls {
			t.Errorf("%d of %d calls are drawn", mine, c.calls)
		}
	}
	rows := Budgeted(v, engine.Cost{Calls: 889, Takes: 25 * time.Minute, Bucket: "app:asia 100/120s"}, []engine.ScheduleRow{
		{Name: "hourly", Next: []time.Time{uitest.Noon.Add(10 * time.Minute)}}, {Name: "off", Paused: true, Next: []time.Time{uitest.Noon.Add(time.Minute)}},
	}, 66)
	got := ansi.Strip(strings.Join(rows, "\n"))
	for _, want := range []string{"app:asia 100/120s", "+30 min", "calls in line", "with this 889", "scheduled runs"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if n := strings.Count(got, v.Theme.State("SCHEDULED").Glyph); n != 1 {
		t.Errorf("%d scheduled runs are drawn, want 1:\n%s", n, got)
	}
	if rows := Budgeted(v, engine.Cost{Calls: 9}, nil, 66); rows != nil {
		t.Errorf("a limit that is not known is drawn:\n%s", strings.Join(rows, "\n"))
	}
}
