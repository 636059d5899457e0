package page

import (
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// calendar is a budget with calls dealt into it that nobody has confirmed yet.
type calendar struct {
	*budget
	mine map[int]int // by window, of taken
}

// Budgeted draws what a command would cost into what is promised of its limit already
// (I-2): the calls in line and the retries as they would go beside it, its own calls,
// and the scheduled runs. None when the limit is not known, or is frozen.
func Budgeted(v *View, c engine.Cost, plans []engine.ScheduleRow, w int) []string {
	b := bucketAt(v, c.Bucket)
	if b == nil || b.stuck || c.Calls == 0 {
		return nil
	}
	plan := b.with(v, c)
	at := horizonOf(plan.end(c).Sub(v.Now))
	axis := w - calendarName - 1
	return []string{
		v.row(calendarName+1, part.As(themes.Dim, b.name())) + at.labels(v, axis),
		plan.lane(v, at, axis, "calls in line", themes.Held, func(n int) int { return plan.taken[n] - plan.mine[n] }),
		plan.lane(v, at, axis, "with this "+human.Count(int64(c.Calls)), themes.Run, func(n int) int { return plan.mine[n] }),
		runsLane(v, at, axis, plans),
	}
}

// calendarName is what the names of lanes take.
const calendarName = 18

// bucketAt is the application window that a bucket's name belongs to.
func bucketAt(v *View, name string) *budget {
	var found *budget
	for _, b := range v.Limits.Buckets {
		if b.Kind != "app" || b.Limit <= 0 || b.Window <= 0 || !strings.Contains(name, b.Host) {
			continue
		}
		if made := newBudget(v, b); found == nil || made.pace() < found.pace() {
			found = made
		}
	}
	return found
}

// with deals the calls evenly over the time they take, what is in line behind and
// beside them, and each retry into the first window from its instant that has room.
func (b *budget) with(v *View, c engine.Cost) calendar {
	plan := calendar{budget: b, mine: map[int]int{}}
	first := b.at(b.opens)
	last := max(b.at(v.Now.Add(c.Takes)), first)
	each := (c.Calls + last - first) / (last - first + 1)
	left := c.Calls
	for n := first; left > 0 && n < first+mostWindows; n++ {
		some := min(max(b.limit-b.taken[n], 0), left)
		if n <= last {
			some = min(some, each)
		}
		plan.mine[n], left = some, left-some
		b.taken[n], b.owed[n] = b.taken[n]+some, b.owed[n]+some
	}
	b.fill(b.bucket.Waiting)
	lines := queuedOf(v)
	for _, j := range v.Retries() {
		if lines.owners[j.Owner].region == b.host && callsRiot[j.Kind] {
			b.promise(j.Due, 0)
		}
	}
	return plan
}

// end is when the last of the calls is made.
func (c calendar) end(cost engine.Cost) time.Time {
	end := c.now.Add(cost.Takes)
	for n, calls := range c.mine {
		if from := c.begins(n); calls > 0 && from.After(end) {
			end = from
		}
	}
	return end
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
func (c calendar) lane(v *View, at horizon, axis int, name string, token themes.Token, calls func(n int) int) string {
	line := beginLane(v, axis, name)
	shades := v.Theme.Glyphs.Shade
	for i := range axis {
		most := 0
		for n := c.at(v.Now.Add(at.point(float64(i), axis))); n <= c.at(v.Now.Add(at.point(float64(i+1), axis)-1)); n++ {
			most = max(most, calls(n))
		}
		if most <= 0 {
			line.Glyph(themes.Off, v.Theme.Glyphs.BarNone, 1)
			continue
		}
		line.Glyph(token, shades[clamp(most*(len(shades)-1)/c.limit, 1, len(shades)-1)], 1)
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
	return line.Field(part.As(themes.Dim, name), calendarName, part.Words).Glyph(themes.Border, v.Theme.Glyphs.Vertical, 1)
}
