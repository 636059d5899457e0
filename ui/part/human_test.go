package part

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
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
		{Dur(0), "0 s"}, {Dur(400 * ms), "0.4 s"}, {Dur(8*sec + 199*ms), "8.1 s"}, {Dur(9999 * ms), "9.9 s"}, {Dur(41 * sec), "41 s"},
		{Dur(62 * sec), "1m02"}, {Dur(90 * sec), "1m30"}, {Dur(16 * mnt), "16 m"}, {Dur(21*hr + 14*mnt), "21h14m"}, {Dur(2 * hr), "2 h"},
		{Dur(51 * hr), "2d3h"}, {Dur(48 * hr), "2 d"}, {Dur(-5 * sec), "0 s"},
		{Ago(0), "now"}, {Ago(-hr), "now"}, {Ago(2*hr + mnt), "2 h ago"}, {Ago(41 * sec), "41 s ago"}, {Ago(50 * hr), "2 d ago"},
		{Until(now.Add(12*sec), now), "+0:12"}, {Until(now.Add(11*sec+1), now), "+0:12"}, {Until(now.Add(3723*sec), now), "+1:02:03"},
		{Until(now, now), "due"}, {Until(now.Add(-4*sec), now), "due 4 s ago"},
		{Millis(118 * ms), "118 ms"}, {Millis(-1), "0 ms"}, {Millis(12 * sec), "12 s"},
		{Secs(1060 * ms), "1.06 s"}, {Secs(60800 * ms), "60.8 s"}, {Secs(2 * mnt), "2 m"},
		{Count(0), "0"}, {Count(999), "999"}, {Count(12406), "12,406"}, {Count(-1234567), "-1,234,567"}, {Count(-999), "-999"}, {Count(123456), "123,456"},
		{Bytes(1204), "1,204 B"}, {Bytes(41_230), "41 KB"}, {Bytes(3_150_000), "3.1 MB"}, {Bytes(2e9), "2.0 GB"}, {Bytes(-1), "0 B"},
		{Percent(0.152), "15 %"}, {Percent(0.001), "<1 %"}, {Percent(0.999), "99 %"}, {Percent(1), "100 %"}, {Percent(-1), "0 %"},
		{Of(134, 879), "134/879"}, {Of(3, 0), "3/?"}, {Of(12406, 1000000), "12,406/1,000,000"},
		{ETA(16*mnt, 19*mnt), "~16–19 min"}, {ETA(12*sec, 12*sec), "~12 s"}, {ETA(0, 500*ms), "finishing"}, {ETA(0, -1), "—"},
		{ETA(2*hr, 3*hr), "~2–3 h"}, {ETA(hr, mnt), "~60 s"}, {ETA(20*sec, 2*mnt), "~1–2 min"},
		{Clock(now.Add(-33*sec), now), "12:31:02"}, {Clock(now.Add(-13*hr), now), "20 Nov 23:31"}, {Clock(now.AddDate(-2, 0, 0), now), "21 Nov 2024"}, {Clock(time.Time{}, now), "—"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestP36_ShownTimesAreNeverNegative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(-1e11, 1e11).Draw(t, "now"), 0)
		d := time.Duration(rapid.Int64().Draw(t, "d"))
		for _, s := range []string{Dur(d), Coarse(d), Ago(d), Millis(d), Secs(d), ETA(d, d), ETA(-d, d), Until(now.Add(d), now)} {
			if strings.Contains(s, "-") {
				t.Errorf("%v is shown as %s", d, s)
			}
		}
	})
}

func TestP36_TimelineOfAClockThatWasSetBack(t *testing.T) {
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	tl := Timeline{Now: at.Add(-hr), Stages: []Stage{{Head: "1", At: at, Result: "FAILED", Segments: []Segment{
		{Limiter, at, at.Add(-mnt), ""}, {HTTP, at.Add(-mnt), at.Add(-2 * mnt), ""}, {Backoff, at, at.Add(-30 * sec), ""}}}}}
	for _, row := range append(tl.View(mono, 60), tl.Fold(mono, 60)...) {
		if err := checkRow(mono, row, 60); err != nil || strings.Contains(plain(row), "+-") {
			t.Errorf("%q: %v", row, err)
		}
	}
}
