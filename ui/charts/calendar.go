package charts

import (
	"maps"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// How the figure of a command is laid out: the cells of the names before its charts, and the rows
// of each chart.
const (
	costNames = 18
	costHigh  = 2 // of a chart
)

// costSteps are the spans that a cell of the figure may stand for, the shortest first.
var costSteps = []time.Duration{
	2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour,
}

// Budgeted draws what a command would cost into what is promised of its limit already (I-2): the
// calls in line and the retries as they would go beside it, its own calls, and the scheduled runs.
// nil = the engine cannot foresee any of it, as before the first answer tells its limits.
func Budgeted(v *page.View, c engine.Cost, plans []engine.ScheduleRow, w int) []string {
	h := c.Calendar
	if h == nil || h.Limit <= 0 {
		return nil
	}
	end := lastCall(c, v.Now)
	width := max(w-costNames-1, 1)
	step := costSteps[len(costSteps)-1]
	// The shortest step is taken in which the last of the command's calls is still on the axis.
	for i := len(costSteps) - 1; i >= 0 && time.Duration(width-1)*costSteps[i] >= end.Sub(v.Now); i-- {
		step = costSteps[i]
	}
	// Nothing of the past is drawn: the axis begins with now.
	a := TimeAxis{part.NewAxis(v.Now, step, 0, width)}
	// The first row of each part; row 0 has the words of the axis.
	line, own, runs := 1, 1+costHigh, 1+2*costHigh
	chart := part.NewChart(v.Theme, a.Axis, runs+1)
	chart.Words(0)
	a.fills(chart, line, h, func(w engine.PlannedWindow) int { return w.Calls() - w.Command })
	a.fills(chart, own, h, func(w engine.PlannedWindow) int { return w.Command })
	done, row := a.At(end)+2, own+costHigh-1
	// The mark is only drawn with its words: alone it would look like a call.
	if chart.Try(row, done+2, themes.Text, "~"+v.Now.Add(c.Takes).Format("15:04")+" done") {
		chart.Sign(row, done, themes.OK, v.Theme.Glyphs.Mark)
	}
	chart.Seam(line, runs+1-line)
	sign := v.Theme.State("SCHEDULED")
	last := map[string]int{} // the cell of each schedule's last run, and its name behind it
	for _, p := range plans {
		for _, next := range p.Next {
			if !p.Paused && next.After(v.Now) {
				chart.Sign(runs, a.At(next), sign.Token, sign.Glyph)
				last[p.Name] = a.At(next)
			}
		}
	}
	// In the order of the names: of two that overlap always the same one is left out.
	for _, name := range slices.Sorted(maps.Keys(last)) {
		chart.Try(runs, last[name]+2, themes.Dim, name)
	}
	names := map[int]part.Cell{
		0:                   part.As(themes.Dim, h.Host+", "+human.Window(h.Window)),
		line + costHigh - 1: part.Plain("calls in line"),
		own + costHigh - 1:  part.As(themes.Figure, "with this "+page.Count(c.Calls)),
		runs:                part.Plain("scheduled runs"),
	}
	rows := make([]string, runs+1)
	l := part.NewLine(v.Theme, w)
	for y := range rows {
		l.Reset(w, false)
		rows[y] = chart.Row(l.Field(names[y], costNames, part.Words).Gap(1), y).String()
	}
	return rows
}

// lastCall is when the last of a command's calls is made. That may be later than c.Takes says,
// which is an estimate: the windows are what is drawn.
func lastCall(c engine.Cost, now time.Time) time.Time {
	end := now.Add(c.Takes)
	for _, w := range c.Calendar.Windows {
		if w.Command > 0 {
			end = engine.Latest(end, w.Begin)
		}
	}
	return end
}

// fills draws from row y on how many calls are taken of each window, on the scale of its limit. A
// cell that holds several windows shows the fullest of them.
func (a TimeAxis) fills(c *part.Chart, y int, h *engine.HostForecast, calls func(w engine.PlannedWindow) int) {
	values, odd := make([]float64, a.Width), make([]bool, a.Width)
	for n, w := range h.Windows {
		for i := max(a.At(w.Begin), 0); i < a.Width && a.Start(i).Before(w.End); i++ {
			values[i] = max(values[i], float64(calls(w)))
			odd[i] = n%2 == 1
		}
	}
	series := part.Series{Values: values, Top: float64(h.Limit)}
	// Odd windows are shaded to tell them from their neighbours. With narrow windows stripes would
	// be all there is to see.
	if h.Window >= 4*a.Step { // narrower stripes would be all there is to see
		series.Odd = func(cell int) bool { return odd[cell] }
	}
	c.Area(y, costHigh, series)
}
