package page

import (
	"fmt"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/part"
)

// played is an account week by week and champion by champion. It is asked for once for
// each report, where there is room to show it.
type played struct {
	answer
	of    string    // account
	built time.Time // of the report that it stands beside
	play  engine.Play
}

// want asks for the weeks that belong to a report.
func (p *played) want(v *View, r *engine.PlayReport) engine.Query {
	switch {
	case v.Size != L || r == nil || p.pending:
		return nil
	case p.of == r.Account && p.built.Equal(r.Built) && (p.err == nil || v.Now.Sub(p.at) < reloadEvery):
		return nil
	}
	if p.of != r.Account {
		p.play = engine.Play{}
	}
	p.of, p.built, p.pending, p.at = r.Account, r.Built, true, v.Now
	return engine.PlayQuery{Account: r.Account, Zone: r.Zone, Weeks: besideWeeks}
}

func (p *played) got(v *View, q engine.PlayQuery, a engine.Answer, err error) {
	if q.Account != p.of {
		return
	}
	if got, ok := a.(engine.Play); p.take(v, err) && ok {
		p.play = got
	}
}

// reload reads it again.
func (p *played) reload() { p.built = time.Time{} }

// weekBoxHeight is what a week takes below the map of all weeks: its facts, the hours,
// seven days, their sum, and the frame.
const weekBoxHeight = 12

// leastMap is what the map of all weeks needs above them.
const leastMap = 30

// weeksBeside reports whether there is room for single weeks below the map.
func (p *Reports) weeksBeside(v *View, r *engine.PlayReport) bool {
	return v.Size == L && v.H >= leastMap+weekBoxHeight && p.played.of == r.Account && (len(p.played.play.Weeks) > 0 || p.played.loading())
}

// drawWeeks draws an account's newest weeks side by side, with one scale.
func (p *Reports) drawWeeks(v *View) []string {
	weeks := p.played.play.Weeks
	top := 1.0
	for i := range weeks {
		top = max(top, cellTop(&engine.PlayReport{Minutes: weeks[i].Minutes}))
	}
	w := v.W / besideWeeks
	boxes := make([][]string, besideWeeks)
	for i := range boxes {
		width := w
		if i == besideWeeks-1 {
			width = v.W - w*i
		}
		panel := part.Section{Title: "NO OLDER WEEK", Height: weekBoxHeight - 2}
		switch {
		case i < len(weeks):
			panel = p.playWeek(v, &weeks[i], top, v.inner(width))
		case p.played.loading():
			panel.Title = "loading…"
		}
		boxes[i] = v.sections(0, 0, width, weekBoxHeight, panel)
	}
	return part.Beside(boxes...)
}

func (p *Reports) playWeek(v *View, week *engine.PlayWeek, top float64, w int) part.Section {
	r := &engine.PlayReport{Minutes: week.Minutes}
	still := *p // the cursor is on the map of all weeks
	still.day, still.numbers = -1, false
	cell := clamp((w-dayWidth-totalWidth)/24, 1, 4)
	rows := []string{p.weekFacts(v, week, top, w), still.hoursRow(v, cell, w)}
	for d := range r.Minutes {
		rows = append(rows, still.dayRow(v, r, d, 0, cell, top, w))
	}
	return part.Section{Title: weekTitle(&engine.WeeklyReport{Week: week.Week}), Rows: append(rows, still.totalRow(v, r, cell, w))}
}

// weekFacts are the games of a week, and the scale that all weeks share.
func (p *Reports) weekFacts(v *View, week *engine.PlayWeek, top float64, w int) string {
	l := part.NewLine(v.Theme, w).Gap(3).Cells(v.join(part.Plain(human.Counted(week.Games, "game", "games")), wonCell(week.Wins, week.Games))...)
	return l.Right(part.As(heatToken(1), v.Theme.Glyphs.Shade[4]), part.As(themes.Dim, " = "+human.Dur(spanOf(top))+" ")).String()
}

// wonCell is how many of some games were won.
func wonCell(wins, games int) part.Cell {
	if games == 0 {
		return part.Cell{}
	}
	return part.As(themes.Dim, count(wins)+" won, "+human.Percent(float64(wins)/float64(games)))
}

// championsPanel are the champions of the account, the most played first.
func (p *Reports) championsPanel(v *View, w, h int) part.Section {
	play := &p.played.play
	all := make([]bar, 0, len(play.Champions))
	for _, c := range play.Champions {
		name := c.Name
		if name == "" {
			name = "not told"
		}
		all = append(all, bar{name, float64(c.Games), fmt.Sprintf("%s %5s", count(c.Games), human.Percent(float64(c.Wins)/float64(max(c.Games, 1))))})
	}
	rows := bars(v, all, themes.Run, w)
	tail := "games, won"
	if hidden := max(len(rows)-h, 0) + play.More; hidden > 0 {
		tail = count(hidden) + " more " + v.Theme.Glyphs.Sep + " " + tail
	}
	if len(rows) == 0 && p.played.loading() {
		rows = []string{v.row(w, part.As(themes.Dim, "   loading the champions…"))}
	}
	return part.Section{Title: "CHAMPIONS", Tail: tail, Rows: slices.Clip(rows[:min(len(rows), max(h, 0))])}
}
