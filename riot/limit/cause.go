package limit

import (
	"fmt"
	"time"
)

// cause is why a call may not go now; the zero value says that it may.
type cause struct {
	kind  causeKind
	scope *scope
	win   *window
	until instant // never = no instant ends it, but an answer or a command
	spent int
	limit int
	why   Kind
}

type causeKind uint8

const (
	none causeKind = iota
	full
	paced
	kept // for an operator
	turn // of the bulk calls
	learning
	proving
	rampUp
	groping
	stopped
)

// later keeps the cause that holds longer.
func (c cause) later(d cause) cause {
	if c.kind == none || d.kind != none && d.until > c.until {
		return d
	}
	return c
}

// bucket names what is waited for.
func (c cause) bucket() string {
	switch {
	case c.win != nil:
		return c.win.name
	case c.scope != nil:
		return c.scope.name
	}
	return ""
}

// reason is one line for an operator: what holds the call and for how long.
func (c cause) reason(now instant) string {
	text := c.text()
	switch {
	case c.until == never || c.kind == none:
		return text
	case c.until-now < soon:
		return text + ", next call now"
	}
	return text + ", " + short(c.until-now)
}

// soon is the wait that a person cannot tell from none: short would write 0.0 s.
const soon = 100 * time.Millisecond

func (c cause) text() string {
	switch c.kind {
	case full:
		return fmt.Sprintf("%s %d/%d", c.scope.name, c.spent, c.limit)
	case paced:
		return fmt.Sprintf("%s %d/%d, spread over the window", c.scope.name, c.spent, c.limit)
	case kept:
		return fmt.Sprintf("%s %d/%d, the rest kept for the operator", c.scope.name, c.spent, c.limit)
	case turn:
		return c.scope.name + " a bulk call goes first"
	case learning:
		return c.scope.name + " limits not known yet, one call is under way"
	case proving:
		return c.scope.name + " one call is asking the server what it counts"
	case rampUp:
		return c.scope.name + " recovering from a 429"
	case groping:
		return c.scope.name + " refuses calls and states no limit: one at a time"
	case stopped:
		return c.scope.name + " " + c.stopText()
	}
	return ""
}

// FrozenWords stand in every reason that names a freeze.
const FrozenWords = "frozen by an operator"

func (c cause) stopText() string {
	switch c.why {
	case Frozen:
		if r := c.scope.freeze.reason; r != "" {
			return FrozenWords + " (" + r + ")"
		}
		return FrozenWords
	case Restart:
		return "state of the last run lost"
	case NoAnswer:
		return "limits not known yet, the last call got no answer"
	case Unknown:
		return "backing off after a 429 without a type" + c.asks()
	case Unavailable:
		return "held by a 503 with a Retry-After" + c.asks()
	}
	return fmt.Sprintf("held by a 429 (%s)", c.why) + c.asks()
}

// asks says of a long hold how it may end sooner.
func (c cause) asks() string {
	if c.scope.block.asks > 0 {
		return ", asked again every 10 min"
	}
	return ""
}

// short prints a wait as a person says it: "0.4 s", "41 s", "9 min 05 s".
func short(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		d = d.Round(time.Second)
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}
