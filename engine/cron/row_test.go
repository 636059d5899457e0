package cron

import (
	"testing"
	"time"
)

// A row tells how far its zone is from UTC at its next run, summer time included: a
// console elsewhere cannot know what "Local" is here.
func TestARowTellsTheOffsetOfItsNextRun(t *testing.T) {
	for _, c := range []struct {
		zone string
		now  time.Time
		want int
	}{
		{"UTC", time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), 0},
		{"Asia/Seoul", time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), 9 * 3600},
		{"Europe/Berlin", time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), 2 * 3600},
		{"Europe/Berlin", time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), 3600},
		// the night before the clocks go forward: the next run is after it
		{"Europe/Berlin", time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC), 2 * 3600},
	} {
		sched, err := Parse("0 5 * * *", c.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := (entry{sched: sched}).row(State{}, c.now).UTCOffset; got != c.want {
			t.Errorf("%s at %v: %d s, want %d", c.zone, c.now, got, c.want)
		}
	}
}
