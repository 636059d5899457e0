package engine

import (
	"testing"
	"time"
)

func TestNumbersAndSpansForPeople(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Span(-time.Hour), "0 ms"}, {Span(0), "0 ms"}, {Span(400 * time.Millisecond), "400 ms"}, {Span(41 * time.Second), "41 s"},
		{Span(4 * time.Minute), "4 min 00 s"}, {Span(time.Hour - time.Second), "59 min 59 s"}, {Span(2*time.Hour + 5*time.Minute), "2 h 05 min"},
		{Span(47 * time.Hour), "47 h 00 min"}, {Span(3 * 24 * time.Hour), "3 d"},
		{Age(-time.Hour), "0 s"}, {Age(41 * time.Second), "41 s"}, {Age(4*time.Minute + 59*time.Second), "4 min"}, {Age(47 * time.Hour), "47 h"}, {Age(3 * 24 * time.Hour), "3 d"},
		{Size(0), "0.0 KiB"}, {Size(410), "0.4 KiB"}, {Size(41 << 20), "41.0 MiB"}, {Size(3 << 30), "3072.0 MiB"},
		{Count(0), "0"}, {Count(999), "999"}, {Count(2011), "2,011"}, {Count(-2011), "-2,011"}, {Count(-999), "-999"}, {Count(12_345_678), "12,345,678"},
		{Counted(0, "call", "calls"), "0 calls"}, {Counted(1, "call", "calls"), "1 call"}, {Counted(2011, "call", "calls"), "2,011 calls"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// A reason is told with what is left of it at the time of reading.
func TestWhyUntil(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		why   string
		until time.Time
		want  string
	}{
		{"", now.Add(time.Second), ""},
		{"queue paused by ana", time.Time{}, "queue paused by ana"},
		{"app:europe 97/100", now.Add(41 * time.Second), "app:europe 97/100, 41 s"},
		{"app:europe 97/100", now.Add(4 * time.Minute), "app:europe 97/100, 4 min 00 s"},
		{"app:europe 97/100", now, "app:europe 97/100"},
		{"app:europe 97/100", now.Add(-time.Minute), "app:europe 97/100"},
	} {
		if got := WhyUntil(c.why, c.until, now); got != c.want {
			t.Errorf("%q until %v: %q, want %q", c.why, c.until, got, c.want)
		}
	}
}

// An alert's figures are written as all spans are, and its limit reads in a sentence.
func TestAlertRowWords(t *testing.T) {
	for _, c := range []struct {
		row                AlertRow
		now, bound, limits string
	}{
		{AlertRow{Unit: AlertDuration, Known: true, Value: 64, Limit: 600}, "1 min 04 s", "> 10 min", "above 10 min"},
		{AlertRow{Unit: AlertDuration, Known: true, Value: 0.004, Limit: 0.1}, "4 ms", "> 100 ms", "above 100 ms"},
		{AlertRow{Unit: AlertDuration, Known: true, Value: 76440, Limit: 86400, Below: true}, "21 h 14 min", "< 24 h", "below 24 h"},
		{AlertRow{Unit: AlertDuration, Known: true, Value: -3600, Limit: 86400, Below: true}, "-1 h", "< 24 h", "below 24 h"},
		{AlertRow{Unit: AlertDuration, Known: true}, "0 s", "> 0 s", "above 0 s"},
		{AlertRow{Unit: AlertShare, Known: true, Value: 0.34, Limit: 0.3}, "34 %", "> 30 %", "above 30 %"},
		{AlertRow{Unit: AlertCount, Known: true, Value: 12, Limit: 10, AtLimit: true}, "12", "≥ 10", "from 10"},
		{AlertRow{Unit: AlertCount}, "—", "> 0", "above 0"},
	} {
		if now, bound, limits := c.row.Now(), c.row.Bound(), c.row.Limits(); now != c.now || bound != c.bound || limits != c.limits {
			t.Errorf("%+v is %q, %q, %q, want %q, %q, %q", c.row, now, bound, limits, c.now, c.bound, c.limits)
		}
	}
}
