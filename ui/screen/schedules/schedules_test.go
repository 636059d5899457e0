package schedules

import (
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/ui/uitest"
)

// A console elsewhere tells the zone of the engine's host, not its own.
func TestTheHostsZoneIsTheEngines(t *testing.T) {
	for _, c := range []struct {
		zone   string
		offset int
		want   string
	}{
		{"Local", 9 * 3600, "local +09:00"}, {"Local", -5*3600 - 1800, "local -05:30"}, {"Asia/Seoul", 9 * 3600, "Asia/Seoul"},
	} {
		r := engine.ScheduleRow{Zone: c.zone, UTCOffset: c.offset, Next: []time.Time{uitest.Noon}}
		if got := columns.ZoneOf(&r); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
