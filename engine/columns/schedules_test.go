package columns

import (
	"strings"
	"testing"
	"time"

	"github.com/farsight-console/farsight/engine"
)

// The host's zone is the one of the engine's host, wherever the command runs: not
// this machine's.
func TestSchedulesGoByTheClockOfTheEngine(t *testing.T) {
	at := time.Date(2026, 11, 23, 21, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		zone   string
		offset int
		short  string
		want   string
	}{
		{"Local", 9 * 3600, "local +09:00", "Local, UTC+09:00|Tue 2026-11-24 06:00|21:00|Nov 23 06:00 ran"},
		{"Local", -5*3600 - 1800, "local -05:30", "Local, UTC-05:30|Mon 2026-11-23 15:30|21:00|Nov 22 15:30 ran"},
		{"Europe/Berlin", 3600, "Europe/Berlin", "Europe/Berlin|Mon 2026-11-23 22:00|21:00|Nov 22 22:00 ran"},
		{"Mars/Phobos", 7200, "Mars/Phobos", "Mars/Phobos|Mon 2026-11-23 23:00|21:00|Nov 22 23:00 ran"},
	} {
		s := engine.ScheduleRow{Zone: c.zone, UTCOffset: c.offset, Next: []time.Time{at}}
		s.Last.Planned = at.Add(-24 * time.Hour)
		s.Last.Result = engine.TickRan
		var row []string
		for _, c := range Schedules.Pick("zone next next_at result") {
			row = append(row, c.Print(&s, at))
		}
		if got := strings.Join(row, "|"); !strings.HasPrefix(got, c.want) || ZoneOf(&s) != c.short {
			t.Errorf("%s: %s, in short %s", c.zone, got, ZoneOf(&s))
		}
	}
}

// TestARunOfOneJobIsToldInEnglish: and of several the first is told.
func TestARunOfOneJobIsToldInEnglish(t *testing.T) {
	for n, want := range map[int]string{1: "ran: 1 job, which is completed", 2: "ran: 2 jobs, the first is completed"} {
		s := engine.ScheduleRow{Outcome: "completed"}
		s.Last.Planned, s.Last.Result, s.Last.Jobs = time.Date(2026, 11, 23, 21, 0, 0, 0, time.UTC), engine.TickRan, n
		if got := lastTick(&s); !strings.HasSuffix(got, want) {
			t.Errorf("of %d jobs: %s", n, got)
		}
	}
}
