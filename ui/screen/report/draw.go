package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/engine/safe"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// heat are the rows of the map, h of them: head, seven days, totals, the hour of the cursor,
// and the scale, which would run into the columns of the totals right below them.
// One row as it is drawn, an hour in two cells:
//
//	Sat   ░░░░          ▒▒▒▒▓▓▓▓████▓▓▒▒░░      6.2 h
func (p *Screen) heat(v *page.View, r *engine.PlayReport, w, h int) []string {
	cell := p.CellWidth(w)
	top := max(charts.CellTop(r), 1)
	rows := []string{p.HoursRow(v, cell, w)}
	// Rows of a day: what the head, the totals, the cursor and the scale leave, shared by seven.
	tall := page.Clamp((h-4)/7, 1, p.Tallest())
	for d := range r.Minutes {
		for line := range tall {
			rows = append(rows, p.DayRow(v, r, d, line, cell, top, w))
		}
	}
	rows = append(rows, p.TotalRow(v, r, cell, w))
	if v.Size != page.L { // there it stands beside the map
		rows = append(rows, p.cursorRow(v, r, w))
	}
	return append(rows, p.ScaleRow(v, top, w))
}

// covers says of how many matches the report is made.
// A report that is not whole says so in its first line: see [block.Coverage].
func (p *Screen) covers(v *page.View, r *engine.PlayReport) []part.Cell {
	word, text := block.Coverage(r)
	sign := v.Theme.State(word)
	if word == "OK" {
		word = "COMPLETE"
	}
	return []part.Cell{part.As(sign.Token, sign.Glyph+" "+word), part.As(themes.Dim, "  "+text)}
}

// madeRow says when the report was made, of which time, and in which zone.
// What has no room is left out from the end; the zone, without which the hours mean nothing, never.
func (p *Screen) madeRow(v *page.View, r *engine.PlayReport, w int) string {
	tail := part.As(themes.Dim, p.tail(v)+" ")
	facts := v.Fitting(w-4-safe.Width(tail.Text), part.As(themes.Dim, p.zone(r)),
		part.As(themes.Dim, block.PlaySpan(v, r)), part.As(themes.Dim, "built "+v.Clock(r.Built)), p.leftOut(r))
	return part.NewLine(v.Theme, w).Gap(1).Cells(facts...).Right(tail).String()
}

// leftOut says which games are not counted, such as those without a known length.
// An empty cell when all are counted.
func (p *Screen) leftOut(r *engine.PlayReport) part.Cell {
	return part.If(r.LeftOut != 0, part.As(themes.Dim, r.Without()))
}

// zone names the zone of the hours; Z adds how far it is from UTC.
// Such as "Asia/Seoul (UTC+09:00)".
func (p *Screen) zone(r *engine.PlayReport) string {
	return human.Either(!p.utc, r.Zone, r.Zone+" ("+p.offset+")")
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

// cursorRow tells the cell of the cursor in words.
// On wide screens it stands in a panel beside the map.
func (p *Screen) cursorRow(v *page.View, r *engine.PlayReport, w int) string {
	return v.Row(w, append([]part.Cell{part.Plain(" ")}, p.cursorFacts(v, r)...)...)
}

// cursorFacts are the weekday and hour, how long was played in it over all weeks, and how many
// games began then: one that ran into the next hour is played in both and begun in one.
func (p *Screen) cursorFacts(v *page.View, r *engine.PlayReport) []part.Cell {
	d := max(p.Day, 0)
	m, games := r.Minutes[d][p.Hour], r.Games[d][p.Hour]
	return v.Join(
		part.As(themes.Focus, fmt.Sprintf("%s %s%s%s", charts.Weekdays[d], page.Two(p.Hour), v.Theme.Glyphs.Range,
			page.Two((p.Hour+1)%24))),
		part.Plain(human.Dur(charts.SpanOf(m))), part.Plain(human.Counted(games, "game", "games")+" begun"))
}

// cellPanel tells the cell of the cursor on wide screens, and what the map comes to.
// Without a cursor it tells of the first weekday.
func (p *Screen) cellPanel(v *page.View, r *engine.PlayReport, w int) part.Section {
	rows := []string{p.cursorRow(v, r, w), ""}
	for _, f := range playFacts(v, r) {
		rows = append(rows, part.NewLine(v.Theme, w).Gap(1).Field(part.As(themes.Dim, f.Key), 14, part.Words).Gap(1).
			Cells(part.Plain(f.Value)).String())
	}
	return part.Section{Title: "CELL", Rows: rows}
}

// playFacts are the busiest hour, how the week is shared between working days and
// weekend, and how long a game and a week are on average.
// An average is per game that is counted; a report of no match has none.
func playFacts(v *page.View, r *engine.PlayReport) []block.Fact {
	days, all := dayMinutes(r)
	day, hour := charts.Busiest(r)
	// Days are counted from Monday.
	weekend := days[5] + days[6]
	facts := []block.Fact{
		{Key: "busiest hour", Value: charts.Weekdays[day] + " " + page.Two(hour) + v.Theme.Glyphs.Range +
			page.Two((hour+1)%24) + ", " + human.Dur(charts.SpanOf(r.Minutes[day][hour]))},
		{Key: "Mon to Fri", Value: charts.Hours(all-weekend) + ", " + human.Percent((all-weekend)/max(all, 1))},
		{Key: "Sat and Sun", Value: charts.Hours(weekend) + ", " + human.Percent(weekend/max(all, 1))},
	}
	if r.Matches > 0 {
		facts = append(facts, block.Fact{Key: "a game",
			Value: human.Dur(charts.SpanOf(all/float64(r.Matches))) + " on average"})
	}
	return facts
}

// dayBars are the hours of each day of the week.
// They are in order of the week and not of their length.
func dayBars(r *engine.PlayReport) []block.Bar {
	days := make([]block.Bar, 0, 7)
	minutes, _ := dayMinutes(r)
	for d, sum := range minutes {
		days = append(days, block.Bar{Name: charts.Weekdays[d], Value: sum, Text: charts.Hours(sum)})
	}
	return days
}

// dayMinutes are the minutes of each day of the week, Monday first, and of all of them.
func dayMinutes(r *engine.PlayReport) (days [7]float64, all float64) {
	for d := range r.Minutes {
		for _, m := range r.Minutes[d] {
			days[d] += m
			all += m
		}
	}
	return days, all
}

// modeBars are the games by mode, the most frequent first; a map has no order of its own.
func modeBars(r *engine.PlayReport) []block.Bar {
	out := make([]block.Bar, 0, len(r.ByQueue))
	for id, n := range r.ByQueue {
		out = append(out, block.Bar{Name: columns.ModeName(id), Value: float64(n), Text: page.Count(n)})
	}
	slices.SortStableFunc(out, func(a, b block.Bar) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name))
	})
	return out
}
