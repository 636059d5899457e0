package engine

import (
	"testing"
	"time"
)

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
		{"app:europe 97/100", now.Add(4 * time.Minute), "app:europe 97/100, 4 min"},
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

// An alert of an hour is over before its value is within its limit again.
func TestAlertIsOver(t *testing.T) {
	for _, c := range []struct {
		row  AlertRow
		want bool
	}{
		{AlertRow{State: AlertOK, Known: true, Value: 14, Limit: 10, AtLimit: true}, true},
		{AlertRow{State: AlertOK, Known: true, Value: 10, Limit: 10, AtLimit: true}, true},
		{AlertRow{State: AlertOK, Known: true, Value: 9, Limit: 10, AtLimit: true}, false},
		{AlertRow{State: AlertOK, Known: true, Value: 0, Limit: 0}, false},
		{AlertRow{State: AlertOK, Known: true, Value: 0.1, Limit: 0.2, Below: true}, true},
		{AlertRow{State: AlertOK, Value: 0, Limit: 0.2, Below: true}, false},
		{AlertRow{State: AlertFiring, Known: true, Value: 14, Limit: 10}, false},
	} {
		if got := c.row.Over(); got != c.want {
			t.Errorf("%+v: over %t", c.row, got)
		}
	}
}
