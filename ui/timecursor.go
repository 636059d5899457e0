package ui

import (
	"slices"
	"sort"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
)

// backFor is how far back a frozen view can go. The engine remembers as much.
const backFor = 10 * time.Minute

// Steps of the time cursor.
const (
	shortStep = time.Second
	longStep  = 10 * time.Second
)

// moments are how the engine stood, at most one per second, the oldest first.
type moments []engine.Moment

// add adds how the engine stands, if it is the first time in this second, and lets go of what is
// older than ten minutes. A moment costs its own few words: the rows in it are shared with the
// view.
func (m moments) add(d *page.Data, now time.Time) moments {
	if n := len(m); n > 0 && now.Sub(m[n-1].At) < shortStep && !now.Before(m[n-1].At) {
		return m
	}
	m = append(m, engine.Moment{At: now, Engine: d.Engine, Queues: d.Queues, Limits: d.Limits})
	// Not for each second: a quarter at a time, so that the copy is seldom made.
	if n := m.before(now.Add(-backFor)); n > 0 && n >= len(m)/4 {
		m = slices.Clone(m[n:])
	}
	return m
}

// before is how many moments are older than an instant.
func (m moments) before(at time.Time) int {
	return sort.Search(len(m), func(i int) bool { return !m[i].At.Before(at) })
}

// at is the last moment that is not after an instant: what the screen showed then; false = nothing
// is known of so long ago.
func (m moments) at(at time.Time) (engine.Moment, bool) {
	n := sort.Search(len(m), func(i int) bool { return m[i].At.After(at) })
	if n == 0 {
		return engine.Moment{}, false
	}
	return m[n-1], true
}

// with adds what the engine itself recorded, which is more than a console saw that was opened a
// minute ago. The console's own moments only fill the seconds that the engine lacks.
func (m moments) with(engines []engine.Moment) moments {
	if len(engines) == 0 {
		return m
	}
	out := slices.Clone(moments(engines))
	sort.SliceStable(out, func(i, j int) bool { return out[i].At.Before(out[j].At) })
	// Only the engine's moments are searched: those added here are not in order yet.
	known := len(out)
	for _, own := range m {
		n := moments(out[:known]).before(own.At.Add(-shortStep))
		if n < known && out[n].At.Sub(own.At) <= shortStep {
			continue
		}
		out = append(out, own)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].At.Before(out[j].At) })
	return out
}

// timeCursor is a view that stands still, and which instant of the last ten minutes it shows. The
// zero timeCursor is at the present.
type timeCursor struct {
	frozen  *page.Data // what is shown; nil = the present
	since   time.Time  // the instant it shows
	changes int        // rows that changed since the freeze

	gen     int // counts the freezes
	held    page.Data
	from    time.Time // of the freeze
	moments moments
	asked   bool // the engine's own record is on its way
}

// stop freezes the view; what this console saw of the past is there to step back in.
func (c *timeCursor) stop(d page.Data, seen moments, now time.Time) {
	*c = timeCursor{frozen: &d, since: now, gen: c.gen + 1, held: d, from: now, moments: slices.Clone(seen), asked: true}
}

// release goes back to the present. gen goes on, so that an answer to the last freeze is known for
// what it is.
func (c *timeCursor) release() { *c = timeCursor{gen: c.gen} }

// recall adds the engine's record to what this console saw itself. If it could not be had, the view
// goes back only as far as that.
func (c *timeCursor) recall(r remembered) {
	if c.frozen == nil || r.gen != c.gen {
		return
	}
	c.asked = false
	a, ok := r.answer.(engine.MomentsAnswer)
	if r.err != nil || !ok {
		return
	}
	// What the engine saw after the freeze belongs to a time that the view does not show.
	fit := slices.DeleteFunc(slices.Clone(a.Moments), func(x engine.Moment) bool { return x.At.After(c.from) })
	c.moments = c.moments.with(fit)
}

// reach is the instant that a step to at comes to: at most to the freeze, and at most ten minutes
// back. It is false if the view is there already.
func (c *timeCursor) reach(at time.Time) (time.Time, bool) {
	if len(c.moments) == 0 {
		return at, false
	}
	first := c.moments[0].At
	// Moments are let go of in portions, so there may be older ones than are promised.
	if oldest := c.from.Add(-backFor); oldest.After(first) {
		first = oldest
	}
	switch {
	case at.Before(first):
		at = first
	case at.After(c.from):
		at = c.from
	}
	return at, !at.Equal(c.since) && !at.After(c.from)
}

// edge says why a step leads nowhere.
func (c *timeCursor) edge(by time.Duration) string {
	switch {
	case by > 0:
		return "this is where the view was frozen: {live} goes back to live"
	case c.asked:
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
	if x, ok := c.moments.at(at); ok && at.Before(c.from) {
		d.Engine, d.Queues, d.Limits = x.Engine, x.Queues, x.Limits
	}
	c.frozen, c.since = &d, at.In(c.from.Location())
}

// text is what the last row of the page says of a frozen view.
func (c *timeCursor) text(th *themes.Theme, keyed func(string) string) string {
	sep := " " + th.Glyphs.Sep + " "
	text := th.State("FROZEN").Glyph + " FROZEN " + c.since.Format("15:04:05")
	if back := c.from.Sub(c.since); back >= shortStep {
		text += ", " + human.Dur(back.Round(shortStep)) + " back" + sep + "lists as of " + c.from.Format("15:04:05")
	}
	return text + sep + keyed("{second back} {second on} step") + sep + keyed("{live} live")
}

// remembered is the engine's record of the last minutes, or why it could not be had. gen is the
// freeze that it was asked for.
type remembered struct {
	gen    int
	answer engine.Answer
	err    error
}
