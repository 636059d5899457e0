package part

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// None is what stands where there is no value.
const None = "—"

const day = 24 * time.Hour

// Dur writes a duration in at most two units: 0.4 s, 41 s, 1m30, 16 m,
// 21h14m, 2d3h. It never shows less than nothing: a clock that was set back
// makes ages negative (row P-36).
func Dur(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 10*time.Second:
		return tenths(d)
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return pair(int(d/time.Minute), "m", int(d%time.Minute/time.Second), "%dm%02d")
	case d < day:
		return pair(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "%dh%02dm")
	}
	return pair(int(d/day), "d", int(d%day/time.Hour), "%dd%dh")
}

// tenths writes 0.4 s, and 3 s for whole seconds.
func tenths(d time.Duration) string {
	n := int(d / (100 * time.Millisecond))
	if n%10 == 0 {
		return strconv.Itoa(n/10) + " s"
	}
	return strconv.Itoa(n/10) + "." + strconv.Itoa(n%10) + " s"
}

// pair leaves the small unit out when it is zero.
func pair(big int, unit string, small int, format string) string {
	if small == 0 {
		return strconv.Itoa(big) + " " + unit
	}
	return fmt.Sprintf(format, big, small)
}

// Coarse writes a duration in one unit: 41 s, 16 m, 2 h, 3 d.
func Coarse(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " m"
	case d < day:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	}
	return strconv.Itoa(int(d/day)) + " d"
}

// Ago writes how long ago something was: now, 41 s ago, 2 h ago.
func Ago(d time.Duration) string {
	if d < time.Second {
		return "now"
	}
	return Coarse(d) + " ago"
}

// Until writes the way to an instant: +0:12, +1:02:03, then due, and due 4 s
// ago when it is over.
func Until(at, now time.Time) string {
	d := at.Sub(now)
	switch {
	case d <= -time.Second:
		return "due " + Ago(-d)
	case d <= 0:
		return "due"
	}
	s := int64(d / time.Second)
	if d%time.Second > 0 { // the last second reads 0:01
		s++
	}
	if s < 3600 {
		return fmt.Sprintf("+%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("+%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Millis writes the time of a call: 118 ms; above ten seconds as Dur.
func Millis(d time.Duration) string {
	if d >= 10*time.Second {
		return Dur(d)
	}
	return strconv.Itoa(int(max(d, 0)/time.Millisecond)) + " ms"
}

// Secs writes a measured wait: 1.06 s, 60.8 s; longer ones as Dur.
func Secs(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Truncate(10*time.Millisecond).Seconds())
	case d < 100*time.Second:
		return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	}
	return Dur(d)
}

// Count writes a number with thousands: 12,406.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := len(s) % 3
	if n < 0 {
		first = (len(s)-1)%3 + 1
	}
	var b strings.Builder
	b.WriteString(s[:first])
	for i := first; i < len(s); i += 3 {
		if i > 0 && s[:i] != "-" {
			b.WriteByte(',')
		}
		b.WriteString(s[i : i+3])
	}
	return b.String()
}

// Bytes writes a size: 1,204 B, 41 KB, 3.1 MB; a KB is 1,000 bytes.
func Bytes(n int64) string {
	v := float64(max(n, 0))
	switch {
	case v < 1e4:
		return Count(int64(v)) + " B"
	case v < 1e6:
		return strconv.Itoa(int(v/1e3)) + " KB"
	case v < 1e9:
		return fmt.Sprintf("%.1f MB", math.Floor(v/1e5)/10)
	}
	return fmt.Sprintf("%.1f GB", math.Floor(v/1e8)/10)
}

// Percent writes a share: 15 %. Only all is 100 %, only nothing 0 %.
func Percent(ratio float64) string {
	switch {
	case math.IsNaN(ratio):
		return None
	case ratio <= 0:
		return "0 %"
	case ratio < 0.01:
		return "<1 %"
	case ratio < 1:
		return strconv.Itoa(min(int(math.Round(ratio*100)), 99)) + " %"
	}
	return strconv.Itoa(int(math.Round(math.Min(ratio, 9.99)*100))) + " %"
}

// Of writes progress: 134/879, and 134/? when the total is not known yet.
func Of(done, total int64) string {
	if total <= 0 {
		return Count(done) + "/?"
	}
	return Count(done) + "/" + Count(total)
}

// ETA writes what is left as a range in one unit: ~12 s, ~16–19 min. A
// negative high means that nobody can say. It is never 0 s.
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

func etaUnit(d time.Duration) (time.Duration, string) {
	switch {
	case d < 90*time.Second:
		return time.Second, "s"
	case d < 90*time.Minute:
		return time.Minute, "min"
	case d < 2*day:
		return time.Hour, "h"
	}
	return day, "d"
}

func etaRound(d, unit time.Duration) int64 { return max(int64(d.Round(unit)/unit), 1) }

// Clock writes an instant as briefly as now allows: 12:31:02 today, 20 Nov
// 23:41 this year, 01 Oct 2024 before. Both are shown in now's zone.
func Clock(at, now time.Time) string {
	if at.IsZero() {
		return None
	}
	at = at.In(now.Location())
	switch {
	case at.Year() != now.Year():
		return at.Format("02 Jan 2006")
	case at.YearDay() != now.YearDay():
		return at.Format("02 Jan 15:04")
	}
	return at.Format("15:04:05")
}
