package engine

import (
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
