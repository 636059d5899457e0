package page

import (
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// calendar are the windows of a limit with the calls of a command in them.
type calendar struct {
	*engine.HostForecast
	now time.Time
}

// Budgeted draws what a command would cost into what is promised of its limit already
// (I-2): the calls in line and the retries as they would go beside it, its own calls,
// and the scheduled runs. None when nothing of it can be foreseen.
func Budgeted(v *View, c engine.Cost, plans []engine.ScheduleRow, w int) []string {
	if c.Calendar == nil {
		return nil
	}
	plan := calendar{c.Calendar, v.Now}
	at := horizonOf(plan.end(c).Sub(v.Now))
	axis := w - calendarName - 1
	return []string{
		v.row(calendarName+1, part.As(themes.Dim, plan.Bucket)) + at.labels(v, axis),
		plan.lane(v, at, axis, "calls in line", themes.Held, func(w engine.PlannedWindow) int { return w.Calls() - w.Command }),
		plan.lane(v, at, axis, "with this "+human.Count(int64(c.Calls)), themes.Run, func(w engine.PlannedWindow) int { return w.Command }),
		runsLane(v, at, axis, plans),
	}
}

// calendarName is what the names of lanes take.
const calendarName = 18

// end is when the last of the command's calls is made.
func (c calendar) end(cost engine.Cost) time.Time {
	end := c.now.Add(cost.Takes)
	for _, w := range c.Windows {
		if w.Command > 0 && w.Begin.After(end) {
			end = w.Begin
		}
	}
	return end
}

// between is the most that some calls take of a window that a stretch of time touches.
func between(windows []engine.PlannedWindow, from, to time.Time, calls func(w engine.PlannedWindow) int) (most int) {
	for _, w := range windows {
		if w.End.After(from) && w.Begin.Before(to) {
			most = max(most, calls(w))
		}
	}
	return most
}

// horizonOf is the nearest one that shows so much time.
func horizonOf(span time.Duration) horizon {
	for _, h := range horizons {
		if span <= h.breaks[len(h.breaks)-1] {
			return h
		}
	}
	return horizons[len(horizons)-1]
}

// lane draws how much of each window some calls take: of the windows that one cell
// holds, the fullest.
func (c calendar) lane(v *View, at horizon, axis int, name string, token themes.Token, calls func(w engine.PlannedWindow) int) string {
	line := beginLane(v, axis, name)
	shades := v.Theme.Glyphs.Shade
	for i := range axis {
		most := between(c.Windows, v.Now.Add(at.point(float64(i), axis)), v.Now.Add(at.point(float64(i+1), axis)), calls)
		if most <= 0 {
			line.Glyph(themes.Off, v.Theme.Glyphs.BarNone, 1)
			continue
		}
		line.Glyph(token, shades[clamp(most*(len(shades)-1)/c.Limit, 1, len(shades)-1)], 1)
	}
	return line.String()
}

// runsLane marks the scheduled runs that fall into the time.
func runsLane(v *View, at horizon, axis int, plans []engine.ScheduleRow) string {
	line := beginLane(v, axis, "scheduled runs")
	sign := v.Theme.State("SCHEDULED")
	marks := make([]bool, axis+1)
	for _, p := range plans {
		for _, next := range p.Next {
			if !p.Paused && next.After(v.Now) {
				marks[at.cell(next.Sub(v.Now), axis)] = true
			}
		}
	}
	for _, marked := range marks[:axis] {
		if marked {
			line.Glyph(sign.Token, sign.Glyph, 1)
			continue
		}
		line.Glyph(themes.Off, v.Theme.Glyphs.BarNone, 1)
	}
	return line.String()
}

// beginLane begins a lane with its name.
func beginLane(v *View, axis int, name string) *part.Line {
	line := part.NewLine(v.Theme, calendarName+1+axis)
	return line.Field(part.As(themes.Dim, name), calendarName, part.Words).Glyph(themes.Hairline, v.Theme.Glyphs.Vertical, 1)
}
