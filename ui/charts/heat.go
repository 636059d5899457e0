package charts

import (
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// The steps of the scale end at these shares of its top, which is an hour, or the busiest cell
// where that is more: an hour of a weekday comes once in each week, so a report over several weeks
// has more than 60 minutes in a cell.
const (
	stepLow  = 0.25
	stepMid  = 0.5
	stepHigh = 0.75
)

// Tallest is how many rows a weekday gets at most. With numbers it is fewer: they are to be read
// together.
func (p *HeatMap) Tallest() int { return human.Either(p.Numbers, 2, 4) }

// What stands beside the hours of a weekday: its name with a margin, and its sum.
const (
	DayWidth   = 7 // of a weekday's name with its margin
	TotalWidth = 10
)

// HeatMap draws when somebody plays: a row for each weekday, a cell for each hour.
type HeatMap struct {
	Day, Hour int  // the cell of the cursor, Monday = 0; -1 = there is no cursor
	Numbers   bool // minutes in figures instead of shades
}

// CellWidth is how many cells of the screen an hour gets in a row of w cells, 1 to 4.
func (p *HeatMap) CellWidth(w int) int {
	return page.Clamp((w-DayWidth-TotalWidth-2)/24, 1, 4)
}

// perColumn is how many hours share a column. A number such as "112" needs three cells and a gap,
// so narrower hours are added up, four by four at one cell each.
func (p *HeatMap) perColumn(cell int) int {
	if !p.Numbers || cell >= 3 {
		return 1
	}
	return 4 / cell
}

// CellTop is the greatest cell of the map, in minutes. It sets the scale, see stepLow.
func CellTop(r *engine.PlayReport) float64 {
	d, h := Busiest(r)
	return r.Minutes[d][h]
}

// HoursRow names the hours, each one or as many as have room for their two digits.
func (p *HeatMap) HoursRow(v *page.View, cell, w int) string {
	l := part.NewLine(v.Theme, w).Gap(DayWidth)
	// A name takes two cells and at least one gap, so where an hour has less, only some are named.
	every := human.Either(cell >= 3, 1, max((4+cell-1)/cell, 1))
	for h := 0; h < 24; h += every {
		l.Field(part.As(themes.Dim, page.Two(h)), cell*every, part.Words)
	}
	return l.To(DayWidth+24*cell).Field(part.As(themes.Dim, "total"), TotalWidth-1, part.Number).String()
}

// DayRow is row number line of weekday d, 0 = Monday. A day that is several rows tall repeats its
// cells in each; its name and its sum stand in the first row. top is the top of the scale in
// minutes.
func (p *HeatMap) DayRow(v *page.View, r *engine.PlayReport, d, line, cell int, top float64, w int) string {
	l := part.NewLine(v.Theme, w).Gap(1)
	sign, name := " ", themes.Dim
	if d == p.Day {
		sign, name = v.Theme.Glyphs.Cursor, themes.Text
	}
	l.Cells(part.As(themes.Focus, sign)).Gap(1)
	if line == 0 {
		l.Field(part.As(name, Weekdays[d]), DayWidth-3, part.Words)
	}
	l.To(DayWidth)
	sum := 0.0
	per := p.perColumn(cell)
	for h := 0; h < len(r.Minutes[d]); h += per {
		m := 0.0
		for _, x := range r.Minutes[d][h : h+per] {
			m += x
		}
		p.cell(v, l, m, top*float64(per), line, cell*per, d == p.Day && h == p.Hour/per*per)
		sum += m
	}
	if line > 0 {
		return l.String()
	}
	return l.Field(part.Plain(Hours(sum)), TotalWidth-1, part.Number).String()
}

// cell draws one hour, or several that share a column. Shade and colour say the same, so that
// either is enough; at is the place of the cursor.
func (p *HeatMap) cell(v *page.View, l *part.Line, m, top float64, line, w int, at bool) {
	ratio := m / top
	token := human.Either(m <= 0, themes.Dim, HeatToken(ratio))
	if at {
		token = themes.Sel
	}
	// A number stands in the first row of its day alone.
	if p.Numbers && w >= 2 && line > 0 {
		l.Gap(w)
		return
	}
	// A cell that is one wide has no room for a number and its gap, so it stays a shade.
	if p.Numbers && w >= 2 {
		if token != themes.Sel && m > 0 && ratio < stepHigh {
			token = themes.Text // the dark end of the ramp cannot be read as a letter
		}
		// Nothing played is a dot: a field of zeros would hide the hours that have something.
		text := minutesText(m, w)
		if m <= 0 {
			text = v.Theme.Glyphs.BarNone
		}
		l.Field(part.As(token, text), w-1, part.Number)
		l.Gap(1)
		return
	}
	glyph := shade(v.Theme, m, ratio)
	// The cursor must be seen without colour too, where its cell is empty.
	if at && glyph == " " {
		glyph = v.Theme.Glyphs.BarNone
	}
	l.Glyph(token, glyph, w)
}

// HeatToken is the colour of a share. The end of the ramp that is next to the ground's own colour
// is left out: a little must not look like nothing.
func HeatToken(ratio float64) themes.Token { return themes.Heat(0.2 + 0.8*ratio) }

// minutesText fits a number of minutes in w-1 cells, as minutes or else as hours. What fits neither
// way is written in nines, which nobody takes for an exact number.
func minutesText(m float64, w int) string {
	text := strconv.Itoa(int(m + 0.5))
	if len(text) < w {
		return text
	}
	if text = strconv.Itoa(int(m/60+0.5)) + "h"; len(text) < w {
		return text
	}
	return "9" + strings.Repeat("9", max(w-2, 0))
}

// shade is the glyph of a share: ░ to █.
func shade(th *themes.Theme, m, ratio float64) string {
	signs := th.Glyphs.Shade
	switch {
	case m <= 0:
		return signs[0]
	case ratio < stepLow:
		return signs[1]
	case ratio < stepMid:
		return signs[2]
	case ratio < stepHigh:
		return signs[3]
	}
	return signs[4]
}

// TotalRow adds the days up, as columns with a scale of their own: on that of the map all sums of
// seven days would be at its top.
func (p *HeatMap) TotalRow(v *page.View, r *engine.PlayReport, cell, w int) string {
	var sums [24]float64
	all, high := 0.0, 0.0
	for d := range r.Minutes {
		for h, m := range r.Minutes[d] {
			sums[h] += m
			all += m
		}
	}
	for _, m := range sums {
		high = max(high, m)
	}
	l := part.NewLine(v.Theme, w).Gap(3).Field(part.As(themes.Dim, "all"), DayWidth-3, part.Words)
	for _, m := range sums {
		if m <= 0 {
			l.Gap(cell)
			continue
		}
		spark := v.Theme.Glyphs.Spark
		l.Glyph(themes.Run, spark[page.Clamp(int(m/high*float64(len(spark))), 0, len(spark)-1)], cell)
	}
	return l.Field(part.Plain(Hours(all)), TotalWidth-1, part.Number).String()
}

// Hours is a sum of minutes: 6.2 h. A few minutes are "<0.1 h", since 0.0 h would say that there
// are none.
func Hours(m float64) string {
	switch {
	case m <= 0:
		return part.None
	case m < 3:
		return "<0.1 h"
	}
	return human.Hours(m)
}

// ScaleRow explains the shades: up to how much time each stands for, and the keys that change what
// is shown.
func (p *HeatMap) ScaleRow(v *page.View, top float64, w int) string {
	l := part.NewLine(v.Theme, w).Gap(3)
	signs, steps := v.Theme.Glyphs.Shade, []float64{stepLow, stepMid, stepHigh, 1}
	if SpanOf(top*stepLow) == 0 { // less than two minutes in each hour: the first shade would stand for none
		steps = nil
	}
	for i, to := range steps {
		text := human.Either(i == 3, "to "+human.Dur(SpanOf(top)), "<"+human.Dur(SpanOf(top*to)))
		// The sample has the colour of the middle of its step.
		l.Glyph(HeatToken(to-stepLow/2), signs[i+1], 2).Cells(part.As(themes.Dim, " "+text)).Gap(3)
	}
	return l.Right(
		part.As(themes.Accent, v.Keyed("{numbers}")), part.As(themes.Dim, " numbers  "),
		part.As(themes.Accent, v.Keyed("{zone}")), part.As(themes.Dim, " zone "),
	).String()
}

// SpanOf is a number of minutes as a time, to the minute.
func SpanOf(minutes float64) time.Duration {
	return (time.Duration(minutes*60) * time.Second).Round(time.Minute)
}

// Busiest is the cell with the most minutes; of several the first one, and Monday at midnight of a
// report without minutes.
func Busiest(r *engine.PlayReport) (day, hour int) {
	for d := range r.Minutes {
		for h := range r.Minutes[d] {
			if r.Minutes[d][h] > r.Minutes[day][hour] {
				day, hour = d, h
			}
		}
	}
	return day, hour
}

// Weekdays are the names of the rows of a report, which begin on Monday.
var Weekdays = [7]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// WeekMap draws the hours of a week: their names, seven days, their sum.
func WeekMap(v *page.View, r *engine.PlayReport, w int) []string {
	still := HeatMap{Day: -1}
	cell, top := page.Clamp((w-DayWidth-TotalWidth)/24, 1, 4), max(CellTop(r), 1)
	rows := []string{still.HoursRow(v, cell, w)}
	for d := range r.Minutes {
		rows = append(rows, still.DayRow(v, r, d, 0, cell, top, w))
	}
	return append(rows, still.TotalRow(v, r, cell, w))
}

// WeekRows is how many rows a WeekMap takes with its title.
const WeekRows = 10

// BesideWeeks is how many weeks stand side by side where there is room.
const BesideWeeks = 4
