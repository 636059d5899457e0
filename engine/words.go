package engine

import (
	"fmt"
	"strconv"
	"time"
)

// Span writes a duration in its two largest units, as every text for people does:
// 400 ms, 41 s, 4 min 00 s, 2 h 05 min, 3 d. Less than nothing is 0 ms: a clock that
// was set back makes waits negative (row P-36).
func Span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d", int(d.Hours())/24)
}

// WhyUntil is a reason with the time that is left of it: "app:europe 97/100, 41 s".
// Reasons are kept without it, since it goes on while they stand. until zero = nobody
// knows its end.
func WhyUntil(why string, until, now time.Time) string {
	left := until.Sub(now)
	if why == "" || until.IsZero() || left <= 0 {
		return why
	}
	return why + ", " + Span(left)
}

// Age writes a duration in one unit, where a rough word is enough: 41 s, 4 min, 47 h,
// 3 d.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(max(d, 0).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours())/24)
}

// Size writes how large a file of n bytes is: 0.4 KiB, 41.0 MiB.
func Size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// Count writes a number with thousands apart: 2,011.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted writes a number of things: 1 call, 2,011 calls.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(int64(n)) + " " + many
}
