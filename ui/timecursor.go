package ui

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
)

// Steps of the time cursor.
const (
	shortStep = time.Second
	longStep  = 10 * time.Second
)

// timeCursor is a view that stands still, and which instant of the last ten minutes it shows. The
// zero timeCursor is at the present.
type timeCursor struct {
	frozen  *page.Data // what is shown; nil = the present
	since   time.Time  // the instant it shows
	changes int        // rows that changed since the freeze

	held page.Data
	from time.Time // of the freeze
	seen page.Past // up to then
}

// stop freezes the view; what this console knows of the past is there to step back in.
func (c *timeCursor) stop(d page.Data, seen page.Past, now time.Time) {
	*c = timeCursor{frozen: &d, since: now, held: d, from: now, seen: seen}
}

// release goes back to the present.
func (c *timeCursor) release() { *c = timeCursor{} }

// reach is the instant that a step to at comes to: at most to the freeze, and at most ten minutes
// back. It is false if the view is there already.
func (c *timeCursor) reach(at time.Time) (time.Time, bool) {
	first := c.from
	// A moment holds until the next one: the first may be older than the span.
	if all := c.seen.Since(time.Time{}); len(all) > 0 {
		first = all[0].At
	}
	if end := c.from.Add(-page.PastSpan); first.Before(end) {
		first = end
	}
	switch {
	case at.Before(first):
		at = first
	case at.After(c.from):
		at = c.from
	}
	return at, !at.Equal(c.since)
}

// edge says why a step leads nowhere.
func (c *timeCursor) edge(by time.Duration) string {
	switch {
	case by > 0:
		return "this is where the view was frozen: {live} goes back to live"
	case !c.seen.Have && c.held.Engine.State != engine.EngineBrowse:
		return "the record of the last ten minutes is still being read"
	}
	return "there is no older record: it goes back ten minutes at most"
}

// seek shows counters, queues and limits as they stood at an instant. Lists stay as they were at
// the freeze: what a job was a minute ago is in its own history.
func (c *timeCursor) seek(at time.Time) {
	if at.After(c.from) {
		at = c.from
	}
	// Always from the rows of the freeze: a step must not build upon the one before.
	d := c.held
	if x := c.seen.At(at); x != nil && at.Before(c.from) {
		d.Engine, d.Queues, d.Limits = x.Engine, x.Queues, x.Limits
	}
	c.frozen, c.since = &d, at.In(c.from.Location())
}

// text is what the console says of a frozen view: it has no row of the page, which would hide what stands there.
func (c *timeCursor) text(th *themes.Theme, keyed func(string) string) string {
	sep := " " + th.Glyphs.Sep + " "
	text := "FROZEN " + c.since.Format("15:04:05")
	if back := c.from.Sub(c.since); back >= shortStep {
		text += ", " + human.Dur(back.Round(shortStep)) + " back" + sep + "lists as of " + c.from.Format("15:04:05")
	}
	return text + sep + keyed("{second back} {second on} step") + sep + keyed("{live} live")
}
