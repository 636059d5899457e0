package ui

import (
	"time"

	"github.com/farsight-console/farsight/engine/human"
)

// whyFor is how long a reason waits for its command. One that was meant for another command must
// not end up in the audit of this one.
const whyFor = time.Minute

// why is the reason that the next command carries into the audit.
type why struct {
	text  string
	until time.Time
}

// armed is the reason that waits for its command; "" = none.
func (w *why) armed(now time.Time) string { return human.If(now.Before(w.until), w.text) }

// because gives a command that has no reason of its own the one that waits.
func (w *why) because(own string, now time.Time) string {
	if own != "" {
		return own
	}
	text := w.armed(now)
	// It is used up, also by a command that is refused then.
	*w = why{}
	return text
}
