package human

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Span writes a duration in its two largest units, the second only where it says something,
// for sentences and tables of the command line: 400 ms, 41 s, 4 min, 2 h 05 min, 3 d. Less
// than nothing is 0 ms: a clock that was set back makes waits negative (row P-36). From two days on
// hours say nothing any more.
func Span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d/time.Millisecond)
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return strings.TrimSuffix(fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second), " 00 s")
	case d < 2*day:
		return strings.TrimSuffix(fmt.Sprintf("%d h %02d min", d/time.Hour, d%time.Hour/time.Minute), " 00 min")
	}
	return fmt.Sprintf("%d d", d/day)
}

// Figure is Span for a value that may be nothing or less: 120 ms, 24 h, -1 h, 0 s.
func Figure(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Figure(-d)
	case d == 0:
		return "0 s"
	}
	return Span(d)
}

// Expected is Span for a forecast: no better than to the minute once it takes ten.
func Expected(d time.Duration) string {
	if d >= 10*time.Minute && d < time.Hour {
		return Window(d.Round(time.Minute))
	}
	return Span(d.Round(time.Second))
}

// Age writes a duration in one unit: 41 s, 16 min, 47 h, 3 d.
func Age(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return whole(d, time.Second, " s")
	case d < time.Hour:
		return whole(d, time.Minute, " min")
	case d < 2*day:
		return whole(d, time.Hour, " h")
	}
	return whole(d, day, " d")
}

// whole writes whole units and drops the rest.
func whole(d, unit time.Duration, name string) string { return strconv.Itoa(int(d/unit)) + name }

// Dur writes a duration in at most two units, for a cell: 0.4 s, 41 s, 1m30, 16 min,
// 21h14m, 2d3h. It never shows less than nothing.
func Dur(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	case d >= time.Minute && d < time.Hour && d%time.Minute >= time.Second:
		return fmt.Sprintf("%dm%02d", d/time.Minute, d%time.Minute/time.Second)
	case d >= time.Hour && d < day && d%time.Hour >= time.Minute:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= day && d%day >= time.Hour:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	}
	return Age(d)
}

// Hours writes a sum of minutes, as play-time reports keep it: 6.2 h. It has no larger unit: a thousand
// hours are 1000.0 h.
func Hours(minutes float64) string { return fmt.Sprintf("%.1f h", minutes/60) }

// Ago writes how long ago something was: now, 41 s ago, 2 h ago.
func Ago(d time.Duration) string {
	if d < time.Second {
		return "now"
	}
	return Age(d) + " ago"
}

// SpanAgo says in a command's table how long since; "-" for never.
func SpanAgo(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return Span(now.Sub(t)) + " ago"
}

// SpanTo says in a command's table how long until, never negative; "-" = nobody knows.
func SpanTo(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return Span(t.Sub(now))
}

// Stamp writes an instant with its date in a command's table; "-" for none.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// UTC writes an instant of the future in a sentence: 15:04 UTC. The day is said when it is not this one: a line of 120
// columns has no room for it.
func UTC(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04 UTC")
	}
	return t.Format("2006-01-02 15:04 UTC")
}

// Until writes the way to an instant: +0:12, +1:02:03, then due, and due 4 s ago when
// it is over.
func Until(at, now time.Time) string {
	d := at.Sub(now)
	switch {
	case d <= -time.Second:
		return "due " + Ago(-d)
	case d <= 0:
		return "due"
	case d%time.Second > 0: // the last second reads 0:01
		d = d.Truncate(time.Second) + time.Second
	}
	return "+" + Stopwatch(d)
}

// Stopwatch writes a duration as it runs: 0:12, 4:05, 1:00:09.
func Stopwatch(d time.Duration) string {
	s := max(d, 0) / time.Second
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Millis writes the time of a call: 118 ms; above ten seconds as Dur.
func Millis(d time.Duration) string {
	if d >= 10*time.Second {
		return Dur(d)
	}
	return whole(max(d, 0), time.Millisecond, " ms")
}

// Secs writes a measured wait: 1.06 s, 60.8 s; longer ones as Dur.
func Secs(d time.Duration) string {
	d = max(d, 0)
	if cs := d.Round(10 * time.Millisecond); cs < 10*time.Second {
		return fmt.Sprintf("%.2f s", cs.Seconds())
	}
	if ds := d.Round(100 * time.Millisecond); ds < 100*time.Second {
		return fmt.Sprintf("%.1f s", ds.Seconds())
	}
	return Dur(d)
}

// Logged cuts a duration to what a record of the log says of it: 118ms, 4.21s, 1m21.6s. The log writes
// it as Go does, so that programs can read it.
func Logged(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

// Window names a limit's window or the wait before a try in the one unit that says it
// whole: 0.3 s, 90 s, 2 min, 1 h; a dash when it is not known.
func Window(d time.Duration) string {
	switch {
	case d <= 0:
		return None
	case d%time.Hour == 0:
		return whole(d, time.Hour, " h")
	case d%time.Minute == 0:
		return whole(d, time.Minute, " min")
	}
	return strconv.FormatFloat(d.Round(10*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
}

// Distance writes how far an instant of an axis is from now: 30 s, 1 min, 1:30, 2 h.
func Distance(d time.Duration) string {
	if d > time.Minute && d%time.Minute != 0 {
		return Stopwatch(d)
	}
	return Window(d)
}

// Tight is Window without spaces, for a title: 1s, 2m.
func Tight(d time.Duration) string {
	return strings.TrimSuffix(strings.ReplaceAll(Window(d), " ", ""), "in")
}

// ETA writes what is left as a range in one unit: ~12 s, ~16–19 min. A negative high
// means that nobody can say. It is never 0 s.
func ETA(low, high time.Duration) string {
	if high < 0 {
		return None
	}
	low = min(max(low, 0), high)
	if high < time.Second {
		return "finishing"
	}
	unit, name := etaUnit(high)
	from, to := etaRound(low, unit), etaRound(high, unit)
	if from == to {
		return fmt.Sprintf("~%d %s", to, name)
	}
	return fmt.Sprintf("~%d–%d %s", from, to, name)
}

// etaUnit is the unit in which a forecast is told: a larger one would be too rough, a smaller one would
// promise too much.
func etaUnit(d time.Duration) (time.Duration, string) {
	switch {
	case d < 90*time.Second && d != time.Minute:
		return time.Second, "s"
	case d < 3*time.Hour:
		return time.Minute, "min"
	case d < 2*day:
		return time.Hour, "h"
	}
	return day, "d"
}

// etaRound is a span in a unit, at least one: what is left is never nothing.
func etaRound(d, unit time.Duration) int64 { return max(int64(d.Round(unit)/unit), 1) }

// Spoken writes a duration in words, for a screen reader: 12 seconds, 2 minutes 5
// seconds, 3 hours.
func Spoken(d time.Duration) string {
	s := int(max(d, 0).Round(time.Second) / time.Second)
	switch {
	case s < 1:
		return "less than a second"
	case s < 60:
		return Counted(s, "second", "seconds")
	case s < 3600:
		return spokenPair(s/60, "minute", s%60, "second")
	case s < 86400:
		return spokenPair(s/3600, "hour", s%3600/60, "minute")
	}
	return spokenPair(s/86400, "day", s%86400/3600, "hour")
}

// spokenPair writes two units, the second only where there is some of it.
func spokenPair(big int, unit string, small int, below string) string {
	text := Counted(big, unit, unit+"s")
	if small > 0 {
		text += " " + Counted(small, below, below+"s")
	}
	return text
}
