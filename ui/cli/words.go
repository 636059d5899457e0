package cli

import (
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// count prints a number with thousands apart.
func count[T int | int64](n T) string { return human.Count(int64(n)) }

// ago says how long since, in one unit; "-" for never.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return human.Span(now.Sub(t)) + " ago"
}

// in says how long until, never negative.
func in(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return human.Span(t.Sub(now))
}

// stamp prints an instant with its date; "-" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
