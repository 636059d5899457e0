package part

import (
	"testing"
	"time"
)

const (
	ms  = time.Millisecond
	sec = time.Second
	mnt = time.Minute
	hr  = time.Hour
)

func TestFormats(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 31, 35, 0, time.UTC)
	for _, c := range []struct{ got, want string }{
		{Of(134, 879), "134/879"}, {Of(3, 0), "3/?"}, {Of(12406, 1000000), "12,406/1,000,000"},
		{Clock(now.Add(-33*sec), now), "12:31:02"}, {Clock(now.Add(-13*hr), now), "20 Nov 23:31"}, {Clock(now.Add(12*hr-sec), now), "00:31:34"}, {Clock(now.Add(13*hr), now), "22 Nov 01:31"}, {Clock(now.AddDate(-2, 0, 0), now), "21 Nov 2024"}, {Clock(time.Time{}, now), "—"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
