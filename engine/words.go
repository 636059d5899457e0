package engine

import (
	"fmt"
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// WhyUntil is a reason with the time that is left of it: "app:europe 97/100, 41 s".
// Reasons are kept without it, since it goes on while they stand. until zero = nobody
// knows its end.
func WhyUntil(why string, until, now time.Time) string {
	left := until.Sub(now)
	if why == "" || until.IsZero() || left <= 0 {
		return why
	}
	return why + ", " + human.Span(left)
}

// Size writes how large a file of n bytes is: 0.4 KiB, 41.0 MiB.
func Size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
