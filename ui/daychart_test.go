package ui

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/ui/uitest"
)

// TestOverviewShowsTheLastDay: on a wide screen, with one scale, and it says from when
// on anything was counted; asked for once a minute.
func TestOverviewShowsTheLastDay(t *testing.T) {
	long(t)
	asked := func(d *desk) (n int) {
		for _, q := range d.fake.Asked() {
			if q == (engine.MetricsQuery{Traffic: true}) {
				n++
			}
		}
		return n
	}
	bubble(t, func(t *testing.T) {
		d := open(t, uitest.Busy(), 200, 60, testOptions())
		d.wants("SINCE 19 JAN 19:00", "per 30 min, one scale")
		for range 40 {
			d.wait(500 * time.Millisecond)
			d.send(tick{})
		}
		if n := asked(d); n != 1 {
			t.Errorf("asked %d times within the minute", n)
		}
		d.wait(time.Minute)
		d.send(tick{})
		if n := asked(d); n < 2 || n > 3 {
			t.Errorf("asked %d times in two minutes", n)
		}
	})
}
