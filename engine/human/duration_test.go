package human

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

// One table for all registers, so that they can be compared.
func TestDurations(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 31, 35, 0, time.UTC)
	for _, c := range []struct{ got, want string }{
		{Span(-hr), "0 ms"}, {Span(0), "0 ms"}, {Span(400 * ms), "400 ms"}, {Span(41 * sec), "41 s"}, {Span(4 * mnt), "4 min"},
		{Span(hr - sec), "59 min 59 s"}, {Span(2*hr + 5*mnt), "2 h 05 min"}, {Span(47 * hr), "47 h"}, {Span(72 * hr), "3 d"},
		{Figure(0), "0 s"}, {Figure(-hr), "-1 h"}, {Figure(120 * ms), "120 ms"}, {Figure(4 * mnt), "4 min"}, {Figure(21*hr + 14*mnt), "21 h 14 min"},
		{Expected(9*mnt + 29*sec), "9 min 29 s"}, {Expected(10*mnt + 31*sec), "11 min"}, {Expected(2*hr + 5*mnt), "2 h 05 min"}, {Expected(400 * ms), "0 ms"},
		{Expected(59*mnt + 40*sec), "1 h"},
		{Age(-hr), "0 s"}, {Age(41 * sec), "41 s"}, {Age(4*mnt + 59*sec), "4 min"}, {Age(47 * hr), "47 h"}, {Age(72 * hr), "3 d"},
		{Distance(45 * sec), "45 s"}, {Distance(mnt), "1 min"}, {Distance(90 * sec), "1:30"}, {Distance(2 * hr), "2 h"},
		{Stopwatch(-sec), "0:00"}, {Stopwatch(12 * sec), "0:12"}, {Stopwatch(245 * sec), "4:05"}, {Stopwatch(hr + 9*sec), "1:00:09"},
		{Window(300 * ms), "0.3 s"}, {Window(2_000_001 * sec), "2000001 s"},
		{Logged(118_219 * time.Microsecond).String(), "118ms"}, {Logged(81_619_219 * time.Microsecond).String(), "1m21.6s"},
		{Window(0), "—"}, {Window(sec), "1 s"}, {Window(90 * sec), "90 s"}, {Window(2 * mnt), "2 min"}, {Window(24 * hr), "24 h"},
		{Tight(sec), "1s"}, {Tight(2 * mnt), "2m"}, {Tight(hr), "1h"},
		{Spoken(0), "less than a second"}, {Spoken(sec), "1 second"}, {Spoken(125 * sec), "2 minutes 5 seconds"}, {Spoken(3 * hr), "3 hours"}, {Spoken(25 * hr), "1 day 1 hour"},
		{Dur(0), "0 s"}, {Dur(400 * ms), "0.4 s"}, {Dur(8*sec + 199*ms), "8.1 s"}, {Dur(9999 * ms), "9.9 s"}, {Dur(41 * sec), "41 s"},
		{Dur(62 * sec), "1m02"}, {Dur(90 * sec), "1m30"}, {Dur(16 * mnt), "16 min"}, {Dur(21*hr + 14*mnt), "21h14m"}, {Dur(2 * hr), "2 h"},
		{Dur(51 * hr), "2d3h"}, {Dur(48 * hr), "2 d"}, {Dur(-5 * sec), "0 s"},
		{Ago(0), "now"}, {Ago(-hr), "now"}, {Ago(2*hr + mnt), "2 h ago"}, {Ago(41 * sec), "41 s ago"}, {Ago(50 * hr), "2 d ago"},
		{Until(now.Add(12*sec), now), "+0:12"}, {Until(now.Add(11*sec+1), now), "+0:12"}, {Until(now.Add(3723*sec), now), "+1:02:03"},
		{Until(now, now), "due"}, {Until(now.Add(-4*sec), now), "due 4 s ago"},
		{Millis(118 * ms), "118 ms"}, {Millis(-1), "0 ms"}, {Millis(12 * sec), "12 s"},
		{Secs(1060 * ms), "1.06 s"}, {Secs(49 * ms), "0.05 s"}, {Secs(9996 * ms), "10.0 s"}, {Secs(60800 * ms), "60.8 s"}, {Secs(99960 * ms), "1m39"}, {Secs(2 * mnt), "2 min"},
		{ETA(16*mnt, 19*mnt), "~16–19 min"}, {ETA(12*sec, 12*sec), "~12 s"}, {ETA(0, 500*ms), "finishing"}, {ETA(0, -1), "—"},
		{ETA(2*hr, 3*hr), "~2–3 h"}, {ETA(94*mnt, 94*mnt), "~94 min"}, {ETA(hr, mnt), "~1 min"}, {ETA(20*sec, 2*mnt), "~1–2 min"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestP36_DurationsAreNeverNegative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(-1e11, 1e11).Draw(t, "now"), 0)
		d := time.Duration(rapid.Int64().Draw(t, "d"))
		for _, s := range []string{Span(d), Age(d), Expected(d), Spoken(d), Stopwatch(d), Window(d), Tight(d), Dur(d), Distance(d), Ago(d), Millis(d), Secs(d), ETA(d, d), ETA(-d, d), Until(now.Add(d), now)} {
			if strings.Contains(s, "-") {
				t.Errorf("%v is shown as %s", d, s)
			}
		}
	})
}
