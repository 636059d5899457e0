package page

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
)

// shut is when the host that sets the pace lets calls through again, and how many it then
// brings; ok is false while something may be sent, or will be within a second, and while
// nobody knows when.
func (d *Data) shut(now time.Time) (until time.Time, calls int, ok bool) {
	pacing, _ := d.Limits.Pacing()
	for _, h := range d.Limits.Hosts {
		if h.Host == pacing.Host && h.Brings > 0 && h.Opens.Sub(now) > time.Second {
			return h.Opens, h.Brings, true
		}
	}
	return time.Time{}, 0, false
}

// NextCalls is the countdown to the next window and what it brings, for the title;
// "" while calls may be sent.
func (v *View) NextCalls() string {
	until, calls, ok := v.shut(v.Now)
	if !ok || v.Engine.State == engine.EngineBrowse {
		return ""
	}
	return human.Counted(calls, "call", "calls") + " in " + v.In(until)
}

// GoesAt is when a job goes: of a retry when there is room, of one in line its turn. Behind
// an outage nobody knows: only one job goes when it is looked whether it is over.
func GoesAt(j *engine.JobRow) time.Time {
	if j.Stand == engine.StandDown {
		return time.Time{}
	}
	if j.State == engine.Retryable && j.LateBy != "" {
		return j.Starts
	}
	return columns.NextAt(j)
}

// HeldUntil is when the hold ends that a 429 or 503 has put on the calls of a line, such as "full europe/match-v5.match";
// zero = none is on them, or an operator's.
func (v *View) HeldUntil(line string) (until time.Time) {
	_, lane, _ := strings.Cut(line, " ")
	host, method, _ := strings.Cut(strings.TrimSuffix(lane, "+"), "/")
	for _, b := range v.Limits.Buckets {
		if b.Host == host && (b.Method == "" || b.Method == method) && b.Blocked.After(v.Now) && !b.Frozen() {
			until = engine.Latest(until, b.Blocked)
		}
	}
	return until
}
