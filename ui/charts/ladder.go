package charts

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// AxisSteps are the spans that a cell of an axis may stand for, the shortest first: such as people
// count in.
var AxisSteps = []time.Duration{
	time.Second, 2 * time.Second, 3 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour,
}

// StepOf is the shortest such span that is as long as asked for, or the longest there is.
func StepOf(least time.Duration) time.Duration { return AxisSteps[StepAt(least)] }

// StepAt is the place of that span in AxisSteps.
func StepAt(least time.Duration) int {
	i, _ := slices.BinarySearch(AxisSteps, least)
	return min(i, len(AxisSteps)-1)
}

// FitAxis is an axis of w cells, in the finest steps in which it holds a time back and one ahead.
// Cells that are left over lie ahead. Now stands at a tenth of the width or a multiple of it, so
// that it seldom moves.
func FitAxis(now time.Time, past, ahead time.Duration, w int) part.Axis {
	unit := max(w/10, 1)
	// The longest step is taken even where it does not hold all of the time.
	for _, step := range AxisSteps {
		back := max((int(past/step)+1+unit)/unit, 2) * unit
		if back+int(ahead/step)+3 <= w || step >= AxisSteps[len(AxisSteps)-1] {
			return part.NewAxis(now, step, min(back, w*9/10), w)
		}
	}
	return part.Axis{}
}

// AgainAt are the instants of a job's later tries, if its next try fails and each one after it does
// too.
func AgainAt(j *engine.JobRow) []time.Time {
	at := engine.Latest(j.Due, j.Starts)
	out := make([]time.Time, len(j.Then))
	for i, d := range j.Then {
		at = at.Add(d)
		out[i] = at
	}
	return out
}

// LastTry reports whether a job is given up if its next try fails.
func LastTry(j *engine.JobRow) bool { return j.MaxAttempts > 0 && j.Retrying() && len(j.Then) == 0 }

// DrawLadder draws on row y how a job failed and is tried again: its failures, its instant,
// how much later than that it goes, and what follows if it fails again.
func DrawLadder(v *page.View, c *part.Chart, y int, j *engine.JobRow) {
	g := v.Theme.Glyphs
	bad := v.Theme.State("FAILED")
	if first, ok := FirstFailure(j); ok {
		c.Run(y, c.At(first), c.Back, themes.Tick, g.Waited)
	}
	goes := DrawDue(v, c, y, j)
	for _, at := range j.Failed {
		c.Sign(y, c.At(at), bad.Token, bad.Glyph)
	}
	if goes < c.Width {
		drawAgain(v, c, y, goes, AgainAt(j), j.MaxAttempts > 0 && j.Retrying())
	}
}

// DrawDue draws the wait for a job's next try from now on, and returns the cell of that try; a cell
// beyond the axis if the try is far away, or if nobody knows when it is.
func DrawDue(v *page.View, c *part.Chart, y int, j *engine.JobRow) (goes int) {
	g, again := v.Theme.Glyphs, v.Theme.State("RETRYABLE")
	due := c.At(j.Due)
	c.Run(y, c.Back, due, themes.Planned(themes.Retry), g.Ahead)
	goes = max(due, c.Back)
	if j.LateBy != "" {
		if goes = c.Width; !j.Starts.IsZero() {
			goes = max(c.At(j.Starts), c.Back)
		}
		c.Run(y, max(due, c.Back), goes, themes.Planned(themes.Warn), g.Ahead)
		again.Token = themes.Warn
		// Its instant stays marked where it goes later than that.
		if due != goes {
			c.Sign(y, due, themes.Dim, v.Theme.State("SCHEDULED").Glyph)
		}
	}
	if goes >= c.Width {
		c.Sign(y, c.Width-1, again.Token, g.More)
		return goes
	}
	c.Sign(y, goes, again.Token, again.Glyph)
	return goes
}

// drawAgain draws the tries that only follow if all before them fail, and behind the last of them
// the sign that the job is given up. known says that its policy has an end.
func drawAgain(v *page.View, c *part.Chart, y, from int, tries []time.Time, known bool) {
	for _, at := range tries {
		x := c.At(at)
		// The tries go on beyond the axis: one sign at its end says so.
		if x >= c.Width {
			if from < c.Width-1 {
				c.Sign(y, c.Width-1, themes.Tick, v.Theme.Glyphs.More)
			}
			return
		}
		if x > from {
			c.Sign(y, x, themes.Planned(themes.Retry), v.Theme.Glyphs.Planned)
			from = x
		}
	}
	if known {
		c.Sign(y, from+2, themes.Planned(themes.Err), v.Theme.State("FAILED").Glyph)
	}
}

// FirstFailure is when a job failed first; false = it is not known.
func FirstFailure(j *engine.JobRow) (time.Time, bool) {
	if len(j.Failed) > 0 {
		return j.Failed[0], true
	}
	return lastFailure(j)
}

// RetryBars are counts by cell for a chart of two sides: the calls that failed before now, the
// tries that are due after it, and those that follow only if these fail.
type RetryBars struct {
	failed, due, again []float64
}

// RetryBarsOf counts the calls that failed, as far back as the recorder knows them, and the tries
// of jobs. A cell without any stays unknown, so that nothing is drawn there.
func RetryBarsOf(v *page.View, a TimeAxis, jobs []*engine.JobRow) RetryBars {
	b := RetryBars{failed: a.Unknown(), due: a.Unknown(), again: a.Unknown()}
	add := func(cells []float64, x int) {
		if x >= 0 && x < len(cells) {
			if math.IsNaN(cells[x]) {
				cells[x] = 0
			}
			cells[x]++
		}
	}
	for i := len(v.Calls) - 1; i >= 0 && !v.Calls[i].At.Before(a.Begin()); i-- {
		if at := a.At(v.Calls[i].At); page.FailedCall(&v.Calls[i]) && at < a.Back {
			add(b.failed, at)
		}
	}
	for _, j := range jobs {
		// What is overdue goes now.
		add(b.due, max(a.At(j.Due), a.Back))
		at := engine.Latest(j.Due, j.Starts)
		for _, d := range j.Then {
			at = at.Add(d)
			add(b.again, a.At(at))
		}
	}
	return b
}

// High is the top of the scale of what happened and what is due. It is one of a few round numbers,
// so that the scale seldom changes. Tries that may never come do not count: they may be cut.
func (b *RetryBars) High() int {
	most := 0.0
	for _, cells := range [][]float64{b.failed, b.due} {
		for _, n := range cells {
			if n > most {
				most = n
			}
		}
	}
	for _, top := range []int{3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000} {
		if float64(top) >= most {
			return top
		}
	}
	return int(most)
}

// Draw draws the counts on the h rows from y on. What is sure is drawn over what is not.
func (b *RetryBars) Draw(c *part.Chart, y, h int) {
	top := float64(b.High())
	c.Area(y, h, part.Series{Values: b.again, Top: top, Token: themes.Retry})
	c.Area(y, h, part.Series{Values: b.failed, Top: top, Token: themes.Err})
	c.Area(y, h, part.Series{Values: b.due, Top: top, Token: themes.Retry, Sure: true})
}

// leastRoom is how many cells a stretch of windows needs for its number of free calls.
const leastRoom = 5

// Room is how many calls are free in each stretch of windows to come.
type Room struct {
	Host  *engine.HostForecast
	Every time.Duration // of a stretch: one window, or several where they are short
}

// RoomOf is the room of the host that most retries go to, whatever the list shows of them, with those whose instant has
// come: they are in a line of its own; the zero one = nothing is foreseen.
func RoomOf(v *page.View, f *engine.Forecast, a TimeAxis) Room {
	var most *engine.HostForecast
	retries, inLine := 0, v.InState(engine.Available)
	for i := range f.Hosts {
		h := &f.Hosts[i]
		here := h.Retries
		for _, j := range inLine {
			here += page.Btoi(j.InLineAgain() && strings.Contains(j.Line, " "+h.Host+"/"))
		}
		if h.Window > 0 && (most == nil || here > retries) {
			most, retries = h, here
		}
	}
	if most == nil {
		return Room{}
	}
	windows := 1
	// Short windows are put together until a stretch of them has room for its number.
	for most.Window*time.Duration(windows) < time.Duration(max(leastRoom, len(page.Count(most.Limit*windows))+2))*a.Step {
		windows++
	}
	return Room{most, most.Window * time.Duration(windows)}
}

// Calls is how many calls a stretch holds.
func (r *Room) Calls() int { return r.Host.Limit * int(r.Every/r.Host.Window) }

// Draw writes into row y how many calls are free in each stretch. late are the instants of the
// retries that have no room before: the number of their stretch is in amber.
func (r *Room) Draw(v *page.View, c *part.Chart, y int, late []time.Time) {
	if r.Host == nil || len(r.Host.Windows) == 0 || r.Host.Stuck {
		return
	}
	begin, n := r.Host.Windows[0].Begin, 0
	for ; c.At(begin) < c.Width; begin = begin.Add(r.Every) {
		end, free := begin.Add(r.Every), r.Calls()
		// Half a window of grace: the forecast's windows follow a reset that moves by a little.
		for ; n < len(r.Host.Windows) && r.Host.Windows[n].Begin.Before(end.Add(-r.Host.Window/2)); n++ {
			free -= r.Host.Windows[n].Calls()
		}
		x := c.At(begin)
		if x > c.Back {
			c.Sign(y, x, themes.Tick, v.Theme.Glyphs.Below)
		}
		token := themes.Dim
		if slices.ContainsFunc(late, func(at time.Time) bool { return !at.Before(begin) && at.Before(end) }) {
			token = themes.Warn
		}
		// A number that does not fit before the end of its stretch would be read as the next one's.
		if text := page.Count(max(free, 0)); end.After(c.Now) && max(x, c.Back)+1+len(text) < min(c.At(end), c.Width)+1 {
			c.Put(y, max(x, c.Back)+1, token, text)
		}
	}
}
