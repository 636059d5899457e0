package page

import "time"

// Timed is a page whose cursor stands on an instant. While the view is frozen it
// and the time cursor move together.
type Timed interface {
	// Instant is where the page's cursor stands; ok is false when it is on nothing
	// that has a time.
	Instant(v *View) (at time.Time, ok bool)
	// ToInstant puts the cursor on what was the newest at an instant.
	ToInstant(v *View, at time.Time)
}
