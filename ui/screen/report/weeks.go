package report

import (
	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/block"
	"github.com/farsight-console/farsight/ui/charts"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// drawWeeks draws an account's newest weeks side by side, with one scale.
// A place without a week says that there is none, or that it is on its way.
func (p *Screen) drawWeeks(v *page.View, y int) []string {
	weeks := p.played.Play.Weeks
	top := 1.0
	for i := range weeks {
		top = max(top, charts.CellTop(&engine.PlayReport{Minutes: weeks[i].Minutes}))
	}
	none := part.Section{Title: "NO OLDER WEEK", Height: charts.WeekRows + 1}
	if p.played.Loading() {
		none.Title = "loading…"
	}
	return besideWeeks(v, y, charts.WeekRows+2, charts.BesideWeeks, func(i, w int) part.Section {
		if i < len(weeks) {
			return p.playWeek(v, &weeks[i], top, w)
		}
		return none
	})
}

// besideWeeks draws n sections of weeks side by side, h rows from row y on; panel makes number i
// for w cells. The last one has the cells that do not divide by n as well.
func besideWeeks(v *page.View, y, h, n int, panel func(i, w int) part.Section) []string {
	w := v.W / n
	boxes := make([][]string, n)
	for i := range boxes {
		width := human.Either(i == n-1, v.W-w*i, w)
		boxes[i] = v.Sections(w*i, y, width, h, panel(i, v.Inner(width)))
	}
	return part.Beside(boxes...)
}

// playWeek is a week as a section: its games, its hours by weekday and their sums.
func (p *Screen) playWeek(v *page.View, week *engine.PlayWeek, top float64, w int) part.Section {
	r := &engine.PlayReport{Minutes: week.Minutes}
	still := charts.HeatMap{Day: -1} // the cursor is on the map of all weeks
	cell := page.Clamp((w-charts.DayWidth-charts.TotalWidth)/24, 1, 4)
	rows := []string{p.weekFacts(v, week, top, w), still.HoursRow(v, cell, w)}
	for d := range r.Minutes {
		rows = append(rows, still.DayRow(v, r, d, 0, cell, top, w))
	}
	return part.Section{Title: weekTitle(&engine.WeeklyReport{Week: week.Week}),
		Rows: append(rows, still.TotalRow(v, r, cell, w))}
}

// weekFacts are the games of a week, and the scale that all weeks share.
func (p *Screen) weekFacts(v *page.View, week *engine.PlayWeek, top float64, w int) string {
	l := part.NewLine(v.Theme, w).Gap(3).
		Cells(v.Join(part.Plain(human.Counted(week.Games, "game", "games")), block.WonCell(week.Wins, week.Games, week.Remakes),
			part.If(week.Remakes > 0, part.As(themes.Dim, human.Counted(week.Remakes, "remake", "remakes"))))...)
	return l.Right(part.As(charts.HeatToken(1), v.Theme.Glyphs.Shade[4]),
		part.As(themes.Dim, " = "+human.Dur(charts.SpanOf(top))+" ")).String()
}
