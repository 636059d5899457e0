package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// Upper ends of the steps of the scale, in minutes of an hour. An hour of a
// weekday comes once in each week, so a report over several weeks goes beyond an
// hour: its steps are shares of the busiest cell then.
const (
	stepLow  = 0.25
	stepMid  = 0.5
	stepHigh = 0.75
)

// heat are the rows of the map, h of them: head, seven days, totals, the hour of the cursor,
// and the scale, which would run into the columns of the totals right below them.
// One row as it is drawn, an hour in two cells:
//
//	Sat   ░░░░          ▒▒▒▒▓▓▓▓████▓▓▒▒░░      6.2 h
func (p *Reports) heat(v *View, r *engine.PlayReport, w, h int) []string {
	cell := p.cellWidth(w)
	top := max(cellTop(r), 1)
	rows := []string{p.hoursRow(v, cell, w)}
	tall := clamp((h-4)/7, 1, p.tallest())
	for d := range r.Minutes {
		for line := range tall {
			rows = append(rows, p.dayRow(v, r, d, line, cell, top, w))
		}
	}
	rows = append(rows, p.totalRow(v, r, cell, w))
	if v.Size != L { // there it stands beside the map
		rows = append(rows, p.cursorRow(v, r, w))
	}
	return append(rows, p.scaleRow(v, top, w))
}

// tallest is how tall a day gets at most: numbers belong together.
func (p *Reports) tallest() int {
	if p.numbers {
		return 2
	}
	return 4
}

const (
	dayWidth   = 7 // of a weekday's name with its margin
	totalWidth = 10
)

// cellWidth is how many cells an hour gets.
func (p *Reports) cellWidth(w int) int {
	return clamp((w-dayWidth-totalWidth-2)/24, 1, 4)
}

// perColumn is how many hours share a column: a number needs room for its digits.
// "112" needs three cells and a gap; narrower hours are added up, four by four at one cell each.
func (p *Reports) perColumn(cell int) int {
	if !p.numbers || cell >= 3 {
		return 1
	}
	return 4 / cell
}

// cellTop is the greatest cell of the map, in minutes.
// It sets the scale: a report over a year has hundreds of minutes in an hour of a weekday.
func cellTop(r *engine.PlayReport) float64 {
	d, h := busiest(r)
	return r.Minutes[d][h]
}

// covers says of how many matches the report is made.
// A report that is not whole says so in its first line: see [coverage].
func (p *Reports) covers(v *View, r *engine.PlayReport) []part.Cell {
	word, text := coverage(r)
	sign := v.Theme.State(word)
	if word == "OK" {
		word = "COMPLETE"
	}
	return []part.Cell{part.As(sign.Token, sign.Glyph+" "+word), part.As(themes.Dim, "  "+text)}
}

// madeRow says when the report was made, of which time, and in which zone.
// What has no room is left out from the end; the zone, without which the hours mean nothing, never.
func (p *Reports) madeRow(v *View, r *engine.PlayReport, w int) string {
	tail := part.As(themes.Dim, p.tail(v)+" ")
	facts := v.fitting(w-4-safe.Width(tail.Text), part.As(themes.Dim, p.zone(r)), part.As(themes.Dim, playSpan(v, r)), part.As(themes.Dim, "built "+v.clock(r.Built)), p.leftOut(r))
	return part.NewLine(v.Theme, w).Gap(1).Cells(facts...).Right(tail).String()
}

// leftOut says which games are not counted, such as those without a known length.
func (p *Reports) leftOut(r *engine.PlayReport) part.Cell {
	if r.LeftOut == 0 {
		return part.Cell{}
	}
	return part.As(themes.Dim, r.Without())
}

// zone names the zone of the hours; Z adds how far it is from UTC.
func (p *Reports) zone(r *engine.PlayReport) string {
	if !p.utc {
		return r.Zone
	}
	return r.Zone + " (" + p.offset + ")"
}

// offsetOf is how far a report's zone was from UTC when it was made.
// The zone is the one that the report was made with, which another machine's console may not know.
func offsetOf(r *engine.PlayReport) string {
	loc, err := time.LoadLocation(r.Zone)
	if err != nil {
		return "its distance from UTC is not known here"
	}
	return "UTC" + r.Built.In(loc).Format("-07:00")
}

// playSpan is from when to when the games of a report were played; "" = it has none.
func playSpan(v *View, r *engine.PlayReport) string {
	if r.First.IsZero() {
		return ""
	}
	loc := v.Now.Location()
	return r.First.In(loc).Format("2 Jan 2006") + " to " + r.Last.In(loc).Format("2 Jan 2006")
}

// hoursRow names the hours, each one or as many as have room for their two digits.
func (p *Reports) hoursRow(v *View, cell, w int) string {
	l := part.NewLine(v.Theme, w).Gap(dayWidth)
	every := max((4+cell-1)/cell, 1)
	if cell >= 3 {
		every = 1
	}
	for h := 0; h < 24; h += every {
		l.Field(part.As(themes.Dim, two(h)), cell*every, part.Words)
	}
	return l.To(dayWidth+24*cell).Field(part.As(themes.Dim, "total"), totalWidth-1, part.Number).String()
}

// dayRow is one row of a weekday. A day that is several rows tall repeats its cells in each; its
// name and its sum stand in the first.
func (p *Reports) dayRow(v *View, r *engine.PlayReport, d, line, cell int, top float64, w int) string {
	l := part.NewLine(v.Theme, w).Gap(1)
	sign, name := " ", themes.Dim
	if d == p.day {
		sign, name = v.Theme.Glyphs.Cursor, themes.Text
	}
	l.Cells(part.As(themes.Focus, sign)).Gap(1)
	if line == 0 {
		l.Field(part.As(name, weekdays[d]), dayWidth-3, part.Words)
	}
	l.To(dayWidth)
	sum := 0.0
	per := p.perColumn(cell)
	for h := 0; h < len(r.Minutes[d]); h += per {
		m := 0.0
		for _, x := range r.Minutes[d][h : h+per] {
			m += x
		}
		p.cell(v, l, m, top*float64(per), line, cell*per, d == p.day && h == p.hour/per*per)
		sum += m
	}
	if line > 0 {
		return l.String()
	}
	return l.Field(part.Plain(hours(sum)), totalWidth-1, part.Number).String()
}

// cell draws one hour: shade and colour say the same, so that either is enough.
func (p *Reports) cell(v *View, l *part.Line, m, top float64, line, w int, at bool) {
	ratio := m / top
	token := heatToken(ratio)
	if m <= 0 {
		token = themes.Dim
	}
	if at {
		token = themes.Sel
	}
	if p.numbers && w >= 2 && line > 0 {
		l.Gap(w)
		return
	}
	if p.numbers && w >= 2 {
		if token != themes.Sel && m > 0 && ratio < stepHigh {
			token = themes.Text // the dark end of the ramp cannot be read as a letter
		}
		text := minutesText(m, w)
		if m <= 0 {
			text = v.Theme.Glyphs.BarNone
		}
		l.Field(part.As(token, text), w-1, part.Number)
		l.Gap(1)
		return
	}
	glyph := shade(v.Theme, m, ratio)
	if at && glyph == " " {
		glyph = v.Theme.Glyphs.BarNone
	}
	l.Glyph(token, glyph, w)
}

// heatToken is the colour of a share; the end of the ramp that is next to the
// ground's own colour is left out, since a little is not nothing.
func heatToken(ratio float64) themes.Token { return themes.Heat(0.2 + 0.8*ratio) }

// minutesText fits a number of minutes in w-1 cells: minutes, else hours.
// What fits neither way is as much as can be shown, and no number that looks exact.
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

// totalRow adds the days up, as columns on their own scale.
// On a scale of their own: sums of seven days would all be at the top of the map's.
func (p *Reports) totalRow(v *View, r *engine.PlayReport, cell, w int) string {
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
	l := part.NewLine(v.Theme, w).Gap(3).Field(part.As(themes.Dim, "all"), dayWidth-3, part.Words)
	for _, m := range sums {
		if m <= 0 {
			l.Gap(cell)
			continue
		}
		spark := v.Theme.Glyphs.Spark
		l.Glyph(themes.Run, spark[clamp(int(m/high*float64(len(spark))), 0, len(spark)-1)], cell)
	}
	return l.Field(part.Plain(hours(all)), totalWidth-1, part.Number).String()
}

// hours is a sum of minutes: 6.2 h. What there is does not round to nothing.
func hours(m float64) string {
	switch {
	case m <= 0:
		return part.None
	case m < 3:
		return "<0.1 h"
	}
	return human.Hours(m)
}

// scaleRow explains the shades.
func (p *Reports) scaleRow(v *View, top float64, w int) string {
	l := part.NewLine(v.Theme, w).Gap(3)
	signs := v.Theme.Glyphs.Shade
	for i, to := range []float64{stepLow, stepMid, stepHigh, 1} {
		text := "<" + human.Dur(spanOf(top*to))
		if i == 3 {
			text = "to " + human.Dur(spanOf(top))
		}
		l.Glyph(heatToken(to-stepLow/2), signs[i+1], 2).Cells(part.As(themes.Dim, " "+text)).Gap(3)
	}
	return l.Right(part.As(themes.Accent, v.keyed("{numbers}")), part.As(themes.Dim, " numbers  "), part.As(themes.Accent, v.keyed("{zone}")), part.As(themes.Dim, " zone ")).String()
}

// spanOf is a number of minutes as a time, to the minute.
func spanOf(minutes float64) time.Duration {
	return (time.Duration(minutes*60) * time.Second).Round(time.Minute)
}

// cursorRow tells the cell of the cursor in words.
func (p *Reports) cursorRow(v *View, r *engine.PlayReport, w int) string {
	return v.row(w, append([]part.Cell{part.Plain(" ")}, p.cursorFacts(v, r)...)...)
}

// cursorFacts are the weekday and hour, how long was played in it over all weeks, and how many
// games began then: one that ran into the next hour is played in both and begun in one.
func (p *Reports) cursorFacts(v *View, r *engine.PlayReport) []part.Cell {
	d := max(p.day, 0)
	m, games := r.Minutes[d][p.hour], r.Games[d][p.hour]
	return v.join(
		part.As(themes.Focus, fmt.Sprintf("%s %s%s%s", weekdays[d], two(p.hour), v.Theme.Glyphs.Range, two((p.hour+1)%24))),
		part.Plain(human.Dur(spanOf(m))), part.Plain(human.Counted(games, "game", "games")+" begun"))
}

// cellPanel tells the cell of the cursor on wide screens, and what the map comes to.
func (p *Reports) cellPanel(v *View, r *engine.PlayReport, w int) part.Section {
	rows := []string{p.cursorRow(v, r, w), ""}
	for _, f := range playFacts(v, r) {
		rows = append(rows, part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, f.key), 14, part.Words).Gap(1).Cells(part.Plain(f.value)).String())
	}
	return part.Section{Title: "CELL", Rows: rows}
}

// playFacts are the busiest hour, how the week is shared between working days and
// weekend, and how long a game and a week are on average.
func playFacts(v *View, r *engine.PlayReport) []fact {
	var days [7]float64
	all := 0.0
	for d := range r.Minutes {
		for _, m := range r.Minutes[d] {
			days[d] += m
			all += m
		}
	}
	day, hour := busiest(r)
	weekend := days[5] + days[6]
	facts := []fact{
		{"busiest hour", weekdays[day] + " " + two(hour) + v.Theme.Glyphs.Range + two((hour+1)%24) + ", " + human.Dur(spanOf(r.Minutes[day][hour]))},
		{"Mon to Fri", hours(all-weekend) + ", " + human.Percent((all-weekend)/max(all, 1))},
		{"Sat and Sun", hours(weekend) + ", " + human.Percent(weekend/max(all, 1))},
	}
	if r.Matches > 0 {
		facts = append(facts, fact{"a game", human.Dur(spanOf(all/float64(r.Matches))) + " on average"})
	}
	return facts
}

// dayBars are the hours of each day of the week.
func dayBars(r *engine.PlayReport) []bar {
	days := make([]bar, 0, 7)
	for d := range r.Minutes {
		sum := 0.0
		for _, m := range r.Minutes[d] {
			sum += m
		}
		days = append(days, bar{weekdays[d], sum, hours(sum)})
	}
	return days
}

// bar is one line of a bar chart.
type bar struct {
	name  string
	value float64
	text  string
}

// modeBars are the games by mode, the most frequent first; a map has no order of its own.
func modeBars(r *engine.PlayReport) []bar {
	out := make([]bar, 0, len(r.ByQueue))
	for id, n := range r.ByQueue {
		out = append(out, bar{columns.ModeName(id, ""), float64(n), count(n)})
	}
	slices.SortFunc(out, func(a, b bar) int {
		if a.value != b.value {
			return int(b.value - a.value)
		}
		return strings.Compare(a.name, b.name)
	})
	return out
}

// bars are rows of a name, a bar against the longest, and the number.
func bars(v *View, list []bar, t themes.Token, w int) []string {
	high := 0.0
	for _, b := range list {
		high = max(high, b.value)
	}
	rows := make([]string, 0, len(list))
	for _, b := range list {
		l := part.NewLine(v.Theme, w).Gap(1).Field(part.Plain(b.name), 15, part.Words).Gap(1)
		l.Bar(t, clamp(w-29, 4, 60), b.value/max(high, 1)).Gap(1).Field(part.Plain(b.text), 10, part.Number)
		rows = append(rows, l.String())
	}
	return rows
}
