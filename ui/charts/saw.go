package charts

import (
	"math"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// Saw is how full a bucket was and will be: within a fixed window its count only grows, and
// falls to nothing when the window resets.
// The three have a value for each cell of the axis.
type Saw struct {
	Values []float64 // of its limit, by cell: counted up to now, planned from there on; NaN = not known
	held   []bool    // the bucket was held in the cell, by a 429 or an operator
	hits   []bool    // a 429 of it came in the cell
}

// SawOf is the course of a bucket on a timetable's axis. calls are those of the recorder, the oldest
// first. Calls are planned for a host as a whole, so the courses of its methods end now.
func (t *Timetable) SawOf(v *page.View, b engine.BucketRow, calls []engine.CallRow) Saw {
	a, h := t.TimeAxis, t.Plan
	s := Saw{Values: a.Unknown(), held: make([]bool, a.Width), hits: make([]bool, a.Width)}
	counted(a, &s, b, v.Past)
	for i := len(calls) - 1; i >= 0 && !calls[i].At.Before(a.Begin()); i-- {
		if cell := a.At(calls[i].At); cell < a.Back && calls[i].Status == 429 && hits(&calls[i], b) {
			s.hits[cell] = true
		}
	}
	if b.Limit > 0 && h != nil && !h.Stuck && h.Host == b.Host && (b.Kind == "app" || b.Paces) {
		promised(a, &s, v, b, h, t.Planned)
	}
	return s
}

// DrawSaw draws the course on the h rows from y on, with the windows as stripes where there is more than
// one row, and marks where the bucket was held and where a 429 came. A 429 hides a hold of the same
// cell, which it began.
func (t *Timetable) DrawSaw(v *page.View, c *part.Chart, y, h int, s Saw) {
	series := part.Series{Values: s.Values, Top: 1}
	if h > 1 {
		series.Odd = t.Odd()
	}
	c.Area(y, h, series)
	for x := range t.Back {
		if s.hits[x] && h > 1 { // above the chart, where no bar can be
			c.Mid(y-1, x, themes.Warn, "429")
		}
		switch {
		case s.hits[x]:
			c.Sign(y, x, themes.Warn, v.Theme.State("PAUSED").Glyph)
		case s.held[x]:
			c.Sign(y, x, themes.Warn, v.Theme.Glyphs.Waited)
		}
	}
}

// counted is what the server counted in each cell. A cell in which a window ends is of the
// window that has the most of it; one that holds several windows shows the fullest.
func counted(a TimeAxis, s *Saw, b engine.BucketRow, p *page.Past) {
	hint, sure := 0, make([]bool, a.Width)
	for _, m := range p.Since(a.Begin()) {
		cell := a.At(m.At)
		if cell >= min(a.Back, a.Width) {
			return
		}
		was, at, ok := sameBucket(m.Limits.Buckets, b, hint)
		if hint = at; !ok {
			continue
		}
		s.held[cell] = s.held[cell] || was.Frozen() || was.Blocked.After(m.At)
		if was.Limit <= 0 {
			continue
		}
		middle := a.Start(cell).Add(a.Step / 2)
		// A count of the window before, read in this cell, gives way to any count of the cell's own
		// window.
		of := was.Window <= a.Step || middle.Before(was.Reset) && !middle.Before(was.Reset.Add(-was.Window))
		used := float64(was.Counted(m.At)) / float64(was.Limit)
		if of && sure[cell] {
			used = max(used, s.Values[cell])
		}
		if of || !sure[cell] {
			s.Values[cell], sure[cell] = used, of
		}
	}
}

// promised adds planned calls up within each window. Of windows shorter than a cell it is
// what one of them holds on the average.
// It begins with what has been counted of the open window by now, and each reset begins at nothing.
// Values never go above the limit that is really used, a cap included.
func promised(a TimeAxis, s *Saw, v *page.View, b engine.BucketRow, h *engine.HostForecast, calls []float64) {
	reset, used, most := b.Reset, float64(b.Counted(v.Now)), float64(b.Most())
	from := a.Back
	if b.Paces && len(h.Windows) > 0 { // the plan is a moment old: its first window says what had been made by then
		reset, used = h.Windows[0].End, float64(h.Windows[0].Made)
		from = page.Clamp(a.At(h.Windows[0].Begin), 0, a.Back)
	}
	if !reset.After(v.Now) {
		reset, used = v.Now.Add(b.Window), 0
	}
	for i := from; i < a.Width; i++ {
		next := 0.0
		// No call is planned where the forecast does not reach.
		if !math.IsNaN(calls[i]) {
			next = calls[i]
		}
		value := next * float64(b.Window) / float64(a.Step)
		if b.Window >= a.Step {
			for middle := a.Start(i).Add(a.Step / 2); !middle.Before(reset); {
				reset, used = reset.Add(b.Window), 0
			}
			used += next
			value = used
		}
		if i >= a.Back && value > 0 {
			s.Values[i] = min(value/most, 1)
		}
	}
}

// hits reports whether a 429 was of a bucket: its kind is in the class of the call.
func hits(c *engine.CallRow, b engine.BucketRow) bool {
	kind := HitKind(c)
	return c.Host == b.Host && kind == b.Kind && (kind == "app" || c.Method == b.Method)
}

// HitKind is whose limit a 429 was of: app, method, service.
// The class of a 429's call is "429." with that word behind it.
func HitKind(c *engine.CallRow) string { return strings.TrimPrefix(string(c.Class), "429.") }

// SawAxis is the axis of the window that sets the pace, on w cells of which up to two fifths lie before
// now. Its steps are the shortest in which left, the time until the work is done, fits; a window keeps
// four cells at least, so that its tooth is seen. was is the axis before: its step stays until work
// fits well into a shorter one, or no longer into it. While what is known of the past fills no more than
// the cells of the title, it has those.
func SawAxis(v *page.View, window, left time.Duration, w int, was TimeAxis) TimeAxis {
	const title = 26
	now, _ := ChartNow(v)
	known := v.Engine.Started
	if seen := v.Past.Since(time.Time{}); len(seen) > 0 && seen[0].At.Before(known) {
		known = seen[0].At
	}
	width := max(w, 4)
	var fit TimeAxis
	for _, step := range AxisSteps[StepAt(max(window/12, 2*time.Second)):] {
		if fit.Step > 0 && step > window/4 {
			break
		}
		back := min(width*2/5, int(page.PastSpan/step))
		if now.Sub(known) < title*step {
			back = min(back, title)
		}
		fit = TimeAxis{part.NewAxis(now, step, back, width)}
		ahead := time.Duration(width-back) * step
		if step < was.Step {
			ahead = ahead * 4 / 5
		}
		if left <= ahead {
			break
		}
	}
	return fit
}
